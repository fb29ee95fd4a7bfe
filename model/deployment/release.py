"""Releases of Apache Kafka: the known releases and their order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from proofka.model.deployment.patch_levels import lines_of_two_numbers, never_released, patch_levels_of
from proofka.model.deployment.vendor_releases import vendor_release

_LINES = tuple(lines_of_two_numbers())
_PATTERN = re.compile(r"(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})(?:\.(0|[1-9]\d{0,2}))?(?:\.(0|[1-9]\d{0,2}))?", re.ASCII)

JAVA = "java"
"""The library of clients that is released with the brokers."""

OLDEST = (0, 10)
"""The oldest release line whose defaults are known."""

NEWEST = max(_LINES)
"""The newest release line whose defaults are known."""

FIRST_IDEMPOTENT = (0, 11)
"""The first release in which producers number their records and brokers check the numbers (KIP-98)."""

IDEMPOTENT = (2, 5)
"""The first release whose idempotent producers recover from sequence gaps by themselves (KIP-360), and whose brokers
accept any first sequence number of an unknown producer."""


class ReleaseError(ValueError):
    """A text that names no known release. The message lists the known releases."""


@dataclass(frozen=True)
class Release:
    """A release such as 3.9.1; ``patch`` is None if only the line (3.9) was named.

    ``fix``: the fourth number that releases before 1.0 have (0.11.0.2).
    """

    major: int
    minor: int
    patch: int | None = None
    fix: int | None = None

    @property
    def line(self) -> tuple[int, int]:
        """The release line, which determines the defaults: (3, 9) for 3.9.1."""
        return (self.major, self.minor)

    @property
    def full(self) -> tuple[int, int, int]:
        """Three numbers; a line without a patch level counts as its first release."""
        return (self.major, self.minor, self.patch or 0)

    def __str__(self) -> str:
        return ".".join(str(n) for n in (self.major, self.minor, self.patch, self.fix) if n is not None)


def lines() -> tuple[tuple[int, int], ...]:
    """Return every release line whose defaults are known, oldest first."""
    return (OLDEST, FIRST_IDEMPOTENT, *_LINES)


def parse_release(text: str) -> Release:
    """Read ``"4.0"``, ``"3.9.1"`` or a vendor's spelling such as ``"2.4.1.1"``. Raises ReleaseError for any other text
    or a release that does not exist."""
    known = f"known releases are {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}, for example 4.0 or 3.9.1"
    vendors = vendor_release(text)
    named = text.strip() if vendors is None else vendors.apache
    match = _PATTERN.fullmatch(named)
    if match is None:
        raise ReleaseError(f"{text.strip()[:40]!r} is not a release of Apache Kafka; {known}")
    numbers = tuple(int(number) for number in match.groups() if number is not None)
    if near := never_released(numbers):
        raise ReleaseError(f"Kafka {named} was never released; the releases of its line are {near}")
    if numbers[0] == 0:
        # Before 1.0 a line has two numbers, of which the zero never changed: 0.10.2.1 is fix 1 of patch 2 of 0.10.
        exists = len(numbers) == 2 or patch_levels_of((*numbers[:3], 0)) is not None
        if numbers[1] not in (10, 11) or not exists:
            raise ReleaseError(f"no defaults are known for Kafka {named}; {known}")
        return Release(0, *numbers[1:])
    if numbers[:2] > NEWEST:
        newest = f"{NEWEST[0]}.{NEWEST[1]}"
        instead = (
            f"for an answer about {newest} name {newest} (existing files: --kafka for brokers, --client for clients)"
        )
        raise ReleaseError(f"no defaults are known for Kafka {named}; {known}; {instead}")
    if len(numbers) > 3 or numbers[:2] not in _LINES:
        raise ReleaseError(f"no defaults are known for Kafka {named}; {known}")
    return Release(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else None)
