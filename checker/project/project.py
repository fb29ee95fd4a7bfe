"""A project file as plain values: pipelines with what is asked of them, budgets, and acceptances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proofka.properties.accepted import Acceptance
from proofka.properties.rates import Rates

FILE = "proofka.yaml"
"""The name of a project file."""


@dataclass(frozen=True)
class Entry:
    """Pipelines that a pattern matches, and what is asked of them; what the whole file says is already applied.

    ``assume``: assumptions, ``KEY=VALUE``. ``budget``: the budget of faults, ``KEY=NUMBER``, empty without a budget.
    """

    pattern: str
    line: int
    kafka: str | None = None
    profile: str | None = None
    require: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    budget: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Project:
    """The content of a project file. ``rates``: its rates of faults, or None without the section ``rates``."""

    file: Path
    entries: tuple[Entry, ...]
    exclude: tuple[str, ...] = ()
    accepted: tuple[Acceptance, ...] = ()
    rates: Rates | None = None

    @property
    def root(self) -> Path:
        """The folder to which patterns are relative."""
        return self.file.parent

    def matching(self, pattern: str) -> frozenset[Path]:
        """Return the files and folders that a pattern matches; ``**`` at the end also matches files."""
        if pattern in (".", "./"):
            return frozenset({self.root})
        patterns = (pattern, f"{pattern}/*") if pattern.endswith("**") else (pattern,)
        return frozenset(path for one in patterns for path in self.root.glob(one))

    def means(self, patterns: Iterable[str], path: Path) -> bool:
        """Tell whether one of the patterns matches a path, or a folder around the path."""
        matched = {one for pattern in patterns for one in self.matching(pattern)}
        return not matched.isdisjoint((path, *path.parents))
