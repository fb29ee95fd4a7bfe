"""Affected releases: from which release on a defect exists, and which releases have the fix."""

from __future__ import annotations

import re
from dataclasses import dataclass

Release = tuple[int, ...]
"""The numbers of a release: (3, 9, 1); releases of Kafka before 1.0 have four."""


def release_from(text: str) -> Release:
    """Return the numbers of ``"3.9.1"``; of a text without numbers, none."""
    match = re.match(r"\d+(\.\d+)*", text)
    return tuple(int(number) for number in match[0].split(".")) if match else ()


def line_of(release: Release) -> Release:
    """Return the numbers that the patch releases of a line share: (3, 9) of 3.9.1, (0, 11, 0) of 0.11.0.2."""
    return release[: -1 if _has_four_numbers(release) else 2] if len(release) > 2 else release


def _has_four_numbers(release: Release) -> bool:
    return release[0] == 0 and len(release) == 4


@dataclass(frozen=True)
class Affected:
    """The releases that have a defect.

    ``first``: the oldest of them (empty: the oldest one that the register covers). ``last``: the newest release of the
    main line without the fix. ``fixed``: the first release with the fix in each line that has the fix; none where no
    known release has the fix.
    """

    first: Release
    last: Release
    fixed: tuple[Release, ...]

    def has(self, release: Release) -> bool:
        """Tell whether a release has the defect.

        A release that names only its line (3.9) has the defect if some release of that line has.
        """
        return self._has(self._oldest_affected_of(release))

    def _oldest_affected_of(self, named: Release) -> Release:
        """Return the first release that a text can mean: of a line, where the defect begins if it begins there."""
        if self.first[: len(named)] == named:
            return max(self.first, named)
        numbers = 4 if named[:1] == (0,) and named[1:2] in ((10,), (11,)) else 3
        return (*named, *[0] * (numbers - len(named)))

    def _has(self, release: Release) -> bool:
        if release < self.first:
            return False
        if not self.fixed:
            return True
        is_fixed_in_line = any(line_of(one) == line_of(release) and release >= one for one in self.fixed)
        return not is_fixed_in_line and _bare(release) <= _bare(max(self.last, self.first))


def _bare(release: Release) -> Release:
    """Return a release without zeros at its end: 0.10.0.0 of Kafka's lines is 0.10.0 of a library."""
    return _bare(release[:-1]) if release[-1:] == (0,) else release
