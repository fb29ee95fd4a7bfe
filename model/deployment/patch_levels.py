"""Patch levels: the releases of each line that exist, as known on the day of the register of defects.

``tables/releases.csv``: the last patch of each line (before 1.0, the last fourth number of three), and whether more
patches of the line may come.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

Numbers = tuple[int, ...]

FIRST_OF_TWO_NUMBERS = (1, 0)
"""The first line that has two numbers; before, a line has three, as 0.10.2."""


@dataclass(frozen=True)
class PatchLevels:
    """The patch levels of a line, from 0 to ``last``. ``more_may_come``: the line had releases lately."""

    line: Numbers
    last: int
    more_may_come: bool

    @property
    def newest(self) -> Numbers:
        """The newest known release of the line."""
        return (*self.line, self.last)


def lines_of_two_numbers() -> Iterator[tuple[int, int]]:
    """Yield the lines from 1.0 on, oldest first."""
    yield from ((major, minor) for major, minor, *_ in _lines() if (major, minor) >= FIRST_OF_TWO_NUMBERS)


def patch_levels_of(release: Numbers) -> PatchLevels | None:
    """Return the patch levels of the line of a release with a patch level; None for a line without one, and for lines
    outside of the table."""
    return _lines().get(release[:-1])


def newest_of_line(release: Numbers) -> Numbers | None:
    """Return the newest known release of a release's line; None unless the given release is newer."""
    levels = patch_levels_of(release)
    return levels.newest if levels is not None and release[-1] > levels.last else None


def releases_of(major: int, minor: int) -> tuple[Numbers, ...]:
    """Return the known releases of a line in three numbers, oldest first; 0.10 has 0.10.0 to 0.10.2."""
    levels = _lines().get((major, minor))
    if levels is not None:
        return tuple((major, minor, patch) for patch in range(levels.last + 1))
    return tuple(line for line in _lines() if line[:2] == (major, minor))


def never_released(release: Numbers) -> str:
    """Return the near releases that exist, for a release that does not; empty for a release that exists or may come."""
    levels = patch_levels_of(release)
    if levels is None or release[-1] <= levels.last or levels.more_may_come:
        return ""
    line = ".".join(map(str, levels.line))
    return f"{line}.0 to {line}.{levels.last}"


@cache
def _lines() -> dict[Numbers, PatchLevels]:
    with Path(__file__).with_name("tables").joinpath("releases.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    lines = [(tuple(map(int, row["line"].split("."))), row) for row in rows]
    return {line: PatchLevels(line, int(row["last"]), row["more_may_come"] == "yes") for line, row in lines}
