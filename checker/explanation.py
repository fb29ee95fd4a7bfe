"""Single changes that would have prevented a violation, found by exploring the same faults with each change."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from proofka.checker.budget import Budget
from proofka.checker.candidate import Candidate
from proofka.checker.check import Run
from proofka.checker.likely_changes import likeliest_first
from proofka.checker.processes import as_completed
from proofka.checker.run_transfer import Counterexample, run_of
from proofka.model.deployment.changing import brought, changed, changes_of, turned
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.explored import FaultBudget
from proofka.properties.verdict import CutSet, Prevention, Result, Status, Verdict

SECONDS_EACH = 30.0
"""Seconds for each change, in a command that a user waits for."""

SECONDS_HERE = 4.0
"""Seconds for the likeliest change in this process, whose code is there already. New processes need seconds to begin,
and more on a busy machine: the obvious change would not be found in a short search."""


Prevented = Mapping[str, bool | None]
"""For each violated property, whether a change prevents its violation; None if undecided."""


@dataclass(frozen=True)
class Target:
    """A violation to prevent: a property, the first of its smallest fault sets, and its printed run."""

    counterexample: Counterexample
    cut_set: CutSet

    @property
    def property(self) -> str:
        """Name of the property."""
        return self.counterexample.property


def preventions(
    deployment: Deployment,
    verdicts: Sequence[Verdict],
    stop: threading.Event | None = None,
    seconds: float | None = SECONDS_EACH,
) -> tuple[Prevention, ...]:
    """Return, for each violated property, the changes that prevent its violation by the faults of its first trace, and
    fewer, cheapest first.

    The likeliest changes are tried first, so that an early end leaves out the others.

    Undecided changes are included, and marked as undecided. A change that makes the property vacuous prevents nothing.
    Raise :class:`model.deployment.changing.Unchangeable`.
    """
    targets = tuple(
        Target(Counterexample(v.property, run_of(v.traces[0].steps)), v.cut_sets[0])
        for v in verdicts
        if v.status is Status.VIOLATED
    )
    if not targets:
        return ()
    changes = changes_of(deployment)
    variants = [changed(deployment, [change]) for change in changes]
    order = likeliest_first(changes, verdicts)
    outcomes: dict[int, Prevented] = {}
    is_stopped = stop is not None and stop.is_set()
    for number in () if is_stopped else order[:1]:
        here = SECONDS_HERE if seconds is None else min(seconds, SECONDS_HERE)
        outcome = prevented(variants[number], targets, here, stop)
        if None not in outcome.values():
            outcomes[number] = outcome
    tried = as_completed(
        partial(_prevented_by_numbered, targets=targets, seconds=seconds),
        [(number, variants[number]) for number in order if number not in outcomes],
        stop,
    )
    outcomes |= {number: outcome for (number, _), outcome in tried}
    not_tried: Prevented = {target.property: None for target in targets}
    return tuple(
        Prevention(
            target.property,
            target.cut_set,
            str(change),
            decided=outcome[target.property] is not None,
            settings=turned(deployment, variant, change),
            brings=tuple(brought(deployment, variant, change)),
        )
        for number, (change, variant) in enumerate(zip(changes, variants, strict=True))
        for target in targets
        if (outcome := outcomes.get(number, not_tried))[target.property] is not False
    )


def _prevented_by_numbered(
    numbered: tuple[int, Deployment], targets: Sequence[Target], seconds: float | None
) -> Prevented:
    """Return :func:`prevented` of a deployment with the number of its change."""
    return prevented(numbered[1], targets, seconds)


def single_changes(run: Run, result: Result, stop: threading.Event, seconds: float) -> Result:
    """Add to a result the single changes that prevent its violations, cheapest first, until ``stop`` is set.

    Each change takes at most ``seconds``. Untried changes are marked as undecided. A deployment that was not read from
    files has no settings to change one by one, and its result stays unchanged.
    """
    if run.deployment.given is None or stop.is_set():
        return result
    return replace(result, preventions=preventions(run.deployment, result.verdicts, stop, seconds))


def prevented(
    deployment: Deployment, targets: Sequence[Target], seconds: float | None, stop: threading.Event | None = None
) -> Prevented:
    """Tell, for each target, whether its faults and fewer do not violate its property in this deployment.

    If the known run is also possible in this deployment, no exploration is needed: the violation is not prevented. What
    ``stop`` interrupts is undecided.
    """
    until = None if seconds is None else time.monotonic() + seconds
    possible = FaultBudget.allowing(target.cut_set for target in targets)
    candidate = Candidate(replace(deployment, faults=possible))
    left = [target for target in targets if not candidate.has(target.counterexample)]
    found: dict[str, bool | None] = {target.property: False for target in targets}
    for together in _asked_together(left):
        budget = FaultBudget.allowing(target.cut_set for target in together)
        within = candidate if budget == possible else Candidate(replace(deployment, faults=budget))
        time_left = None if until is None else max(until - time.monotonic(), 0.0)
        budget_of_run = Budget(threads=1, seconds=time_left, stop=threading.Event() if stop is None else stop)
        run = within.explored({target.property for target in together}, budget_of_run)
        verdicts = {verdict.property: verdict for verdict in run.verdicts()}
        found.update({one.property: _is_prevented(run, verdicts[one.property], one.cut_set) for one in together})
    return found


def _asked_together(targets: Sequence[Target]) -> list[list[Target]]:
    """Group all targets with at most one fault, and the others by their faults.

    Larger groups would allow more faults than any target.
    """
    found: dict[CutSet, list[Target]] = {}
    for target in targets:
        alone = target.cut_set if FaultBudget.allowing([target.cut_set]).total != 1 else ()
        found.setdefault(alone, []).append(target)
    return list(found.values())


def _is_prevented(run: Run, verdict: Verdict, cut_set: CutSet) -> bool | None:
    """Tell whether nothing within these faults violates the property and its witness is reached; None if open."""
    if verdict.status is not Status.VIOLATED:
        return {Status.HOLDS: True, Status.VACUOUS: False}.get(verdict.status)
    within, in_time = FaultBudget.allowing([cut_set]), run.in_time(verdict.property)
    if any(map(within.allows, verdict.cut_sets)):
        return False
    covered = within.total is not None and verdict.coverage.complete_to >= within.total and in_time.stopped is None
    if not covered or any(map(within.allows, in_time.undecided)):
        return None
    return verdict.witness_reached
