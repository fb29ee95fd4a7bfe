"""The difference between two cases of a claim. A condition is checked both ways if nothing else differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofka.properties.claims.claim import Answer, Case
from proofka.properties.verdict import CutSet, Status

FAULTS = "assume.faults"
"""The key of the fault budget, and the name of a difference in faults."""
PROPERTY = "property"
"""The name of a difference in the property: the condition says which of two properties counts."""
RELEASE = "kafka"
"""The key of the release of brokers and clients."""


def is_checked_both_ways(right: Answer, answers: Sequence[Answer]) -> bool:
    """Tell whether a violated case differs from the passing case ``right`` in one thing, which the condition is.

    Another release besides does not count: a case is asked of several releases, and its opposite of the usual one.
    """
    violated = (one for one in answers if one.verdict.status is Status.VIOLATED)
    found = [differences(right, one) for one in violated]
    return any(len(each - {RELEASE}) == 1 or each == {RELEASE} for each in found)


def differences(passing: Answer, violated: Answer) -> frozenset[str]:
    """Return the differences between two cases: keys of settings, :data:`PROPERTY` and :data:`FAULTS`.

    The faults differ if no smallest fault set of the violated case is within the budget of the passing case.
    """
    found = settings_that_differ(passing.case, violated.case)
    if not any(_is_within(one, passing.case) for one in violated.verdict.cut_sets):
        found |= {FAULTS}
    return found


def settings_that_differ(one: Case, other: Case) -> frozenset[str]:
    """Return the keys whose values differ between two cases, the fault budget aside, and :data:`PROPERTY`."""
    keys = (one.asked.keys() | other.asked.keys()) - {FAULTS}
    found = frozenset(key for key in keys if one.asked.get(key) != other.asked.get(key))
    return found if one.property == other.property else found | {PROPERTY}


def _is_within(faults: CutSet, case: Case) -> bool:
    budget = case.asked[FAULTS]
    assert isinstance(budget, Mapping)
    return sum(count for _, count in faults) <= budget["total"] and all(
        count <= budget.get(kind, 0) for kind, count in faults
    )
