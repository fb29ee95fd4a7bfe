"""Sources of faults: independent Poisson processes, each with the faults that one occurrence brings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from proofka.properties.rates import YEAR, Per, Rates


@dataclass(frozen=True)
class Source:
    """A Poisson process of occurrences.

    ``faults``: the faults of one occurrence, kind -> count. ``a_year``: occurrences a year. ``lasts``: the duration of
    their effects, in years. ``is_cause``: the source is a common cause.
    """

    name: str
    faults: Mapping[str, int]
    a_year: float
    lasts: float
    is_cause: bool = False

    @property
    def active(self) -> float:
        """Expected number of occurrences whose effects last at any moment."""
        return self.a_year * self.lasts

    def only(self, kinds: Collection[str]) -> Source:
        """Return the source without the faults of other kinds."""
        return replace(self, faults={kind: count for kind, count in self.faults.items() if kind in kinds})


def sources_of(rates: Rates, brokers: int) -> tuple[Source, ...]:
    """Return the sources of a pipeline whose partition has replicas on this number of brokers."""
    single = (
        Source(one.kind, {one.kind: 1}, one.a_year * (brokers if one.per is Per.BROKER else 1), one.lasts / YEAR)
        for one in rates.faults
    )
    causes = (Source(one.name, dict(one.faults), one.a_year, one.lasts / YEAR, True) for one in rates.causes)
    return (*single, *causes)
