"""Critical fault sets of a property: those that violate the property, and those of which no exploration knows this."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

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
    ``uncounted``: kinds whose faults do not count for ``complete_to``, because every number was explored.
    """

    sets: tuple[CutSet, ...]
    complete_to: int | None
    limits: Mapping[str, int]
    unexplored: frozenset[str]
    kinds: frozenset[str]
    uncounted: frozenset[str] = frozenset()

    def size(self, faults: Mapping[str, int]) -> int:
        """Return the number of faults that count for ``complete_to``."""
        return sum(count for kind, count in faults.items() if kind not in self.uncounted)

    def only(self, cut_set: CutSet) -> Critical:
        """Return the same with this fault set alone."""
        return Critical((cut_set,), None, {}, frozenset(), self.kinds, self.uncounted)

    @property
    def beyond(self) -> Critical:
        """The same without the sets that violate the property: those alone that were not explored."""
        return Critical((), self.complete_to, self.limits, self.unexplored, self.kinds, self.uncounted)


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
