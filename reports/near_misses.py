"""Near misses: the closest violations that the check found for a property that holds.

A property that holds has no trace, and this module explores nothing. Near misses come from other values of assumptions
with up to one fault (:mod:`checker.sensitivity`), from other durations (:mod:`checker.thresholds`), and from timing
lemmas, which exist because a run without clocks violates the property.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports import wording

NOT_TRIED = "not searched: other values of assumptions and durations were not {}tried"


def near_misses(verdict: Verdict, result: Result) -> Iterator[str]:
    """Yield the near misses of a property, or a line about the missing search; at least one line."""
    found = [*_in_time(verdict), *_around(verdict, result)]
    yield from found
    if verdict.status is Status.UNKNOWN:
        yield "not known: the property itself is undecided"
    elif result.others_tried is None:
        yield "this result does not say whether other values of assumptions and durations were tried"
    elif not result.others_tried:
        yield NOT_TRIED.format("all " if result.sensitivities or result.thresholds else "")
    elif not found:
        yield "none found: with up to one fault, no other value of an assumption that was tried violates it"


def _in_time(verdict: Verdict) -> Iterator[str]:
    if verdict.lemmas:
        tightest = verdict.lemmas[0].inequality
        which = f"; the tightest of {len(verdict.lemmas)} such inequalities" if len(verdict.lemmas) > 1 else ""
        without = "a run without clocks violates the property; these durations (in ms) leave no time for it"
        yield f"{without}: {tightest}{which}"


def _around(verdict: Verdict, result: Result) -> Iterator[str]:
    """Yield the other values of assumptions, and the thresholds."""
    for item in result.sensitivities:
        if item.property == verdict.property and item.status is Status.VIOLATED:
            yield wording.sensitivity(item)
        elif item.property == verdict.property and item.status is Status.UNKNOWN:
            yield f"undecided with {item.assumption}={item.value}: no time was left"
    for threshold in result.thresholds:
        if threshold.property == verdict.property:
            yield wording.threshold(threshold)
