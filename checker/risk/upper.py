"""The upper end: the expected number of occurrences a year that complete a critical fault set (docs/risk.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from proofka.checker.risk.bands import banded
from proofka.checker.risk.criticality import Critical
from proofka.checker.risk.diagram import Diagram
from proofka.checker.risk.sources import Source


class Completions:
    """The occurrences of these sources that complete a critical fault set."""

    def __init__(self, sources: Sequence[Source], critical: Critical) -> None:
        relevant = (source.only(critical.kinds) for source in sources)
        self._sources = tuple(source for source in relevant if source.faults)
        self._critical = critical
        found = banded(self._sources, critical)
        self._active = found.active
        self._arriving = [(source, Diagram(found.active, found.critical, source.faults)) for source in found.arriving]

    @property
    def a_year(self) -> float:
        """Expected number of such occurrences a year."""
        return sum(source.a_year * diagram.probability(source.faults) for source, diagram in self._arriving)

    def without(self, name: str) -> float:
        """Return the same number if the source ``name`` had no occurrence."""
        return Completions(self._with_rate(name, 0.0), self._critical).a_year

    def for_one_more(self, name: str) -> float:
        """Return the derivative of the number by the rate of a source: the number that one more occurrence a year adds.

        The derivative of an expectation by the mean of a Poisson variable is the expectation of the difference that
        one more occurrence makes.
        """
        bands = [band for band in self._active if band.name == name]
        found = 0.0
        for source, diagram in self._arriving:
            alone = diagram.probability(source.faults)
            found += alone if source.name == name else 0.0
            for band in bands:
                beside = diagram.probability(_together(source.faults, band.faults))
                found += source.a_year * band.lasts * (beside - alone)
        return found

    def _with_rate(self, name: str, a_year: float) -> tuple[Source, ...]:
        return tuple(replace(one, a_year=a_year) if one.name == name else one for one in self._sources)


def _together(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {kind: one.get(kind, 0) + other.get(kind, 0) for kind in {**one, **other}}
