"""Lengths of time: a setting in milliseconds, an assumed range of the environment, and sums of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf

JITTER = Fraction(1, 5)
"""The random part of a client's backoff or time to connect, as a fraction of the setting, up or down; for backoffs
of retries from 3.7 on only (KIP-580)."""

CLIENT_LOOKS = 2
"""The number of request.timeout.ms within which a client notices a request that takes too long: it can wait for
answers for one before it looks (P5)."""

LONGEST = 2**53
"""The number of ms from which on a length of time means never (285,000 years; the largest of a Java long is 292
million years)."""

UNITS: Mapping[str, int] = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
"""The units in which lengths of time are read and shown, the shortest first, each in ms."""


def in_units(milliseconds: int) -> str:
    """Return a number of ms in exact words for people: ``2 d 17 min 2.1 s``, ``300 ms``."""
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    found = []
    for unit in ("d", "h", "min"):
        count, milliseconds = divmod(milliseconds, UNITS[unit])
        if count:
            found.append(f"{count} {unit}")
    if milliseconds:
        found.append(f"{milliseconds // 1_000}.{milliseconds % 1_000:03}".rstrip("0").rstrip(".") + " s")
    return " ".join(found)


@dataclass(frozen=True)
class Quantity:
    """A named length of time: ``least`` to ``most`` milliseconds, which are equal for a setting.

    ``most`` is None where nothing limits the quantity.
    """

    name: str
    least: int
    most: int | None

    def __post_init__(self) -> None:
        if self.least < 0 or (self.most is not None and self.most < self.least):
            raise ValueError(f"{self.name}: {self.least}..{self.most} is no range of durations")

    @property
    def is_fixed(self) -> bool:
        """The property of having only one value."""
        return self.least == self.most


ADDS_AGAIN = Quantity("the client's pause before it adds a partition to its transaction again", 500, 500)
"""The pause, in ms, of a client that drains before it adds a partition to its transaction again, whatever its
backoffs are (4.1)."""

SCAN = Quantity("the second between two looks of the client at what timed out", 1_000, 1_000)
"""The time, in ms, between two checks of librdkafka for timeouts of requests in flight and of queued messages (4.1)."""


@dataclass(frozen=True)
class Duration:
    """A sum of quantities, each with a factor.

    The sum stands for a range: each use in a run can have another value of the range. Bounds are whole milliseconds,
    rounded outwards, so that no possible run is lost.
    """

    parts: tuple[tuple[Fraction, Quantity], ...]

    @staticmethod
    def of(quantity: Quantity, factor: Fraction | int = 1) -> Duration:
        """Return the duration of a quantity, or of a multiple of it."""
        return Duration(((Fraction(factor), quantity),))

    def __add__(self, other: Duration) -> Duration:
        return Duration(tuple(_merged([*self.parts, *other.parts])))

    def __mul__(self, times: int) -> Duration:
        return Duration(tuple((factor * times, quantity) for factor, quantity in self.parts))

    def __sub__(self, other: Duration) -> Duration:
        return self + Duration(tuple((-factor, quantity) for factor, quantity in other.parts))

    def with_value(self, name: str, value: int) -> Duration:
        """Return the same duration with the part of this name, if there is one, set to ``value`` ms."""
        changed = Quantity(name, value, value)
        return Duration(tuple((f, changed if quantity.name == name else quantity) for f, quantity in self.parts))

    def at_least(self) -> int:
        """Return the shortest length, in ms; never below 0."""
        total = Fraction(0)
        for factor, quantity in self.parts:
            value = quantity.least if factor > 0 else quantity.most
            if value is None:
                return 0
            total += factor * value
        return max(0, floor(total))

    @property
    def is_never(self) -> bool:
        """The property of a sum with a part that means never."""
        return any(factor > 0 and quantity.least >= LONGEST for factor, quantity in self.parts)

    def at_most(self) -> int | None:
        """Return the longest length, in ms; None where nothing limits it."""
        total = Fraction(0)
        for factor, quantity in self.parts:
            value = quantity.most if factor > 0 else quantity.least
            if value is None:
                return None
            total += factor * value
        return max(0, ceil(total))


STOPS_WITHIN = Quantity("a broker's patience when it is stopped", 300_000, 300_000)
"""The longest time, in ms, that a stopping broker waits for the controller before it stops anyway
(``BrokerServer.shutdown``)."""


def longest(quantity: Quantity) -> float:
    """Return the most of a range, in ms; infinity where nothing limits it."""
    return inf if quantity.most is None else quantity.most


def _merged(parts: list[tuple[Fraction, Quantity]]) -> Iterator[tuple[Fraction, Quantity]]:
    """Merge equal quantities; a range that is added and subtracted stays twice, as its two uses need not be equal."""
    factors: dict[tuple[Quantity, bool], Fraction] = {}
    for factor, quantity in parts:
        key = quantity, quantity.is_fixed or factor > 0
        factors[key] = factors.get(key, Fraction(0)) + factor
    return ((factor, quantity) for (quantity, _), factor in factors.items() if factor)
