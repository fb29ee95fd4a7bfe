"""Lengths of time: a setting in milliseconds, a range that is assumed of the environment, and sums of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf

JITTER = Fraction(1, 5)
"""How far a client's backoff or time to connect is off its setting, either way; backoffs of retries from 3.7 on only
(KIP-580)."""

CLIENT_LOOKS = 2
"""A client looks for requests that take longer than request.timeout.ms after it waited for answers as long (P5)."""

LONGEST = 2**53
"""What is said to take longer, in ms, never happens (285,000 years; the largest of a Java long is 292 million)."""

UNITS: Mapping[str, int] = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
"""What a length of time is read and told in, the shortest first, in ms."""


def in_units(milliseconds: int) -> str:
    """``2 d 17 min 2.1 s``, ``300 ms``: exact, for people."""
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
    """A length of time that has a name: ``least`` to ``most`` milliseconds, both the same where it is a setting.

    ``most`` is None where nothing limits it.
    """

    name: str
    least: int
    most: int | None

    def __post_init__(self) -> None:
        if self.least < 0 or (self.most is not None and self.most < self.least):
            raise ValueError(f"{self.name}: {self.least}..{self.most} is no range of durations")

    @property
    def is_fixed(self) -> bool:
        """There is only one value."""
        return self.least == self.most


ADDS_AGAIN = Quantity("the client's pause before it adds a partition to its transaction again", 500, 500)
"""With a client that drains, whatever its backoffs are (semantics 4.1)."""

SCAN = Quantity("the second between two looks of the client at what timed out", 1_000, 1_000)
"""How often librdkafka looks at requests in flight, and at messages that are queued (semantics 4.1)."""


@dataclass(frozen=True)
class Duration:
    """A sum of quantities, each with a factor.

    It stands for a range: each use of it in a run may come to another value within. Bounds are whole milliseconds,
    rounded outwards, so that no run that is possible is lost.
    """

    parts: tuple[tuple[Fraction, Quantity], ...]

    @staticmethod
    def of(quantity: Quantity, factor: Fraction | int = 1) -> Duration:
        """A quantity, or a multiple of it."""
        return Duration(((Fraction(factor), quantity),))

    def __add__(self, other: Duration) -> Duration:
        return Duration(tuple(_merged([*self.parts, *other.parts])))

    def __mul__(self, times: int) -> Duration:
        return Duration(tuple((factor * times, quantity) for factor, quantity in self.parts))

    def __sub__(self, other: Duration) -> Duration:
        return self + Duration(tuple((-factor, quantity) for factor, quantity in other.parts))

    def with_value(self, name: str, value: int) -> Duration:
        """The same where the quantity of this name, if it is among the parts, is so many ms."""
        changed = Quantity(name, value, value)
        return Duration(tuple((f, changed if quantity.name == name else quantity) for f, quantity in self.parts))

    def at_least(self) -> int:
        """The shortest it can be, in ms; never below 0."""
        total = Fraction(0)
        for factor, quantity in self.parts:
            value = quantity.least if factor > 0 else quantity.most
            if value is None:
                return 0
            total += factor * value
        return max(0, floor(total))

    @property
    def is_never(self) -> bool:
        """It is a setting that means so, or longer."""
        return any(factor > 0 and quantity.least >= LONGEST for factor, quantity in self.parts)

    def at_most(self) -> int | None:
        """The longest it can be, in ms; None where nothing limits it."""
        total = Fraction(0)
        for factor, quantity in self.parts:
            value = quantity.most if factor > 0 else quantity.least
            if value is None:
                return None
            total += factor * value
        return max(0, ceil(total))


STOPS_WITHIN = Quantity("a broker's patience when it is stopped", 300_000, 300_000)
"""So long a broker that is to stop waits for the controller; then it stops all the same (``BrokerServer.shutdown``)."""


def longest(quantity: Quantity) -> float:
    """The most of a range, in ms; infinity where nothing limits it."""
    return inf if quantity.most is None else quantity.most


def _merged(parts: list[tuple[Fraction, Quantity]]) -> Iterator[tuple[Fraction, Quantity]]:
    """Each quantity once; a range twice where one use adds and another takes away, as the two need not be equal."""
    factors: dict[tuple[Quantity, bool], Fraction] = {}
    for factor, quantity in parts:
        key = quantity, quantity.is_fixed or factor > 0
        factors[key] = factors.get(key, Fraction(0)) + factor
    return ((factor, quantity) for (quantity, _), factor in factors.items() if factor)
