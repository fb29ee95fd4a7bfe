"""Placeholders that name another key of the same application: Spring and SmallRye look there before a default counts.

``PropertySourcesPropertyResolver`` and SmallRye Config's expressions: ``${app.acks:all}`` is the value of ``app.acks``
in whichever file of the application, and the default only without that key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.hiding import is_secret
from proofka.model.deployment.values import has_placeholder

LONGEST = 1_000
"""The largest length, in characters, of a value that matters."""

_BEGIN = re.compile(r"\$\{\s*([^${}:]+?)\s*(?=[:}])")

Names = tuple[str, ...]
Parse = Callable[[str], Names]
"""A function that returns the names of a key in a framework's form."""


@dataclass
class References:
    """The values of an application's files under each name; None if they do not count for every profile."""

    parse: Parse
    fillings: Fillings
    _known: dict[Names, list[str | None]] = field(default_factory=dict)

    def add(self, names: Names, value: str, always: bool) -> None:
        """Add a value of the application. ``always``: it counts for every profile."""
        self._known.setdefault(names, []).append(value if always else None)

    def followed(self, said: Said) -> Said:
        """Return the value with its references replaced by the application's own values.

        If a reference is uncertain, only its default is removed, so that the user must give the value if it matters.
        """
        if "${" not in said.value or len(said.value) > LONGEST:
            return said
        return replace(said, value=_followed(said.value, self._value_of))

    def _value_of(self, name: str) -> str | None:
        """Return the replacement of a reference; None for a name without a value, or with a value from the user."""
        said = self._known.get(self.parse(name))
        if said is None or name in self.fillings:
            return None
        only = said[0] if len(said) == 1 else None
        if only is None or has_placeholder(only) or is_secret(name):
            return f"${{{name}}}"
        return only


def _followed(text: str, value_of: Callable[[str], str | None]) -> str:
    parts: list[str] = []
    at = 0
    for match in _BEGIN.finditer(text):
        value = value_of(match[1]) if match.start() >= at else None
        end = None if value is None else _end(text, match.end())
        if value is not None and end is not None:
            parts += text[at : match.start()], value
            at = end
    return "".join((*parts, text[at:]))


def _end(text: str, at: int) -> int | None:
    """Return the position after the brace that closes a placeholder, which can contain others."""
    depth = 1
    for match in re.finditer(r"\$\{|\}", text[at:]):
        depth += 1 if match[0] == "${" else -1
        if not depth:
            return at + match.end()
    return None
