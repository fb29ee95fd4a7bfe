"""Rates of faults and of common causes, as plain values (docs/risk.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from proofka.properties.verdict import CutSet

YEAR = 365 * 24 * 3600
"""Length of the year that rates are about, in seconds."""


class Per(StrEnum):
    """The component that a rate is about: each broker with a replica, or the whole pipeline."""

    BROKER = "broker"
    PIPELINE = "pipeline"


@dataclass(frozen=True)
class FaultRate:
    """The rate of one kind of fault.

    ``a_year``: number of faults a year of one component ``per``. ``lasts``: the longest time for which the fault has
    effects, in seconds. ``exposure``: the least share of these faults that hit the moment and the component of a trace,
    or None if unknown.
    """

    kind: str
    a_year: float
    per: Per
    lasts: float
    exposure: float | None = None


@dataclass(frozen=True)
class CommonCause:
    """A cause that makes several faults come together.

    ``a_year``: number of occurrences a year. ``lasts``: the longest time in seconds from the first fault until no fault
    of the occurrence has effects any more.
    """

    name: str
    faults: CutSet
    a_year: float
    lasts: float


@dataclass(frozen=True)
class Rates:
    """The rates of a pipeline: each fault by itself, and common causes. ``origin``: the file of the rates."""

    faults: tuple[FaultRate, ...]
    causes: tuple[CommonCause, ...]
    origin: str = ""

    def rate_of(self, kind: str) -> FaultRate | None:
        """Return the rate of a kind of fault, or None if nobody gave it."""
        return next((one for one in self.faults if one.kind == kind), None)

    def unrated(self, kinds: Iterable[str]) -> tuple[str, ...]:
        """Return those kinds that have no rate of their own."""
        return tuple(kind for kind in kinds if self.rate_of(kind) is None)
