"""Critical fault sets of a property: those that violate the property, and those of which no exploration knows this."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from proofka.model.deployment.budget import kinds_by_default
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import OF_SOME_RELEASES
from proofka.properties.verdict import Coverage, CutSet, Verdict


@dataclass(frozen=True)
class Critical:
    """The smallest critical fault sets of a property.

    ``sets``: fault sets that violate the property. ``complete_to``: every set of more faults is critical; None if no
    number of faults is. ``limits``: kind -> the explored number of faults of this kind; more are critical.
    ``unexplored``: kinds of which a single fault is critical. ``kinds``: the kinds that matter to the property.
    ``uncounted``: kinds whose faults do not count for ``complete_to``, because every number was explored. ``windows``:
    the time in years within which the faults of a set have to come. ``larger``: sets of one fault more than a set with
    a window, which no exploration decided outside this window.
    """

    sets: tuple[CutSet, ...]
    complete_to: int | None
    limits: Mapping[str, int]
    unexplored: frozenset[str]
    kinds: frozenset[str]
    uncounted: frozenset[str] = frozenset()
    windows: Mapping[CutSet, float] = field(default_factory=dict)
    larger: tuple[CutSet, ...] = ()

    @property
    def every_set(self) -> tuple[CutSet, ...]:
        """The sets that violate the property, and the larger sets that were not decided."""
        return (*self.sets, *self.larger)

    def size(self, faults: Mapping[str, int]) -> int:
        """Return the number of faults that count for ``complete_to``."""
        return sum(count for kind, count in faults.items() if kind not in self.uncounted)

    def only(self, cut_set: CutSet) -> Critical:
        """Return the same with this fault set alone."""
        return Critical((cut_set,), None, {}, frozenset(), self.kinds, self.uncounted, self.windows)

    def within(self, windows: Mapping[CutSet, float]) -> Critical:
        """Return the same with windows for some of its sets.

        A run with one fault more than such a set was not explored, so the larger set has no window.
        """
        counted = sorted(self.kinds - self.uncounted)
        larger = {_with(one, kind): None for one in windows for kind in counted}
        return replace(self, windows=windows, larger=tuple(larger))

    @property
    def beyond(self) -> Critical:
        """The same without the sets that violate the property: those alone that were not explored."""
        return replace(self, sets=(), windows={})


def _with(cut_set: CutSet, kind: str) -> CutSet:
    """Return a fault set with one fault more."""
    counts = dict(cut_set)
    counts[kind] = counts.get(kind, 0) + 1
    return tuple(sorted(counts.items()))


def critical_of(verdict: Verdict, deployment: Deployment, rated: Collection[str]) -> Critical:
    """Return the critical fault sets of a verdict. ``rated``: the kinds that have rates, which can happen therefore."""
    coverage = verdict.coverage
    explored = {kind for kind, _ in coverage.kinds}
    possible = {kind.value for kind in deployment.faults.possible}
    of_other_releases = {kind.value for kind in OF_SOME_RELEASES - set(kinds_by_default(deployment.cluster))}
    # A kind that was possible and is not among the explored kinds changes nothing that the property depends on.
    without_effect = (possible | of_other_releases) - explored
    unexplored = frozenset(set(rated) - explored - without_effect)
    numbers = _limits(coverage)
    return Critical(
        verdict.cut_sets,
        None if not numbers and coverage.any_number else coverage.complete_to,
        numbers,
        unexplored,
        frozenset(explored | unexplored),
        frozenset(coverage.any_number),
    )


def _limits(coverage: Coverage) -> dict[str, int]:
    return {kind: most for kind, most in coverage.kinds if kind not in coverage.any_number}
