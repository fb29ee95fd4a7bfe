"""Windows over all runs: the time within which two faults have to come, in every run that violates a property.

The window of a trace is that of one run. Here the model gets a clock that runs from the first fault on, and every later
fault needs a value of this clock. If the property holds then, no run with these faults leaves so much time between
them. Otherwise the run that was found allows more time than all before, and the search goes on behind this time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from proofka.checker.risk.windows import window_of
from proofka.model.durations import in_units

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from proofka.checker.budget import Budget
    from proofka.model.deployment.deployment import Deployment
    from proofka.model.pipeline import Model
    from proofka.properties.rates import Rates
    from proofka.properties.verdict import CutSet, Result, Verdict

MOST_CHECKS = 8
"""Number of checks after which a window is given up."""

FAULTS = 2
"""Number of faults of the sets that have windows: with more faults, the clock would have to know the last one."""


BETWEEN = "the time between the faults"
"""The name of the time that the clock needs, in the inequalities of timing lemmas."""

Proofs = dict[tuple[str, int], "Proof"]
"""The proof for each fault set of two faults, by property and by the position of the set in its verdict."""


@dataclass(frozen=True)
class Proof:
    """The answer about all runs with the faults of a set.

    ``most``: the greatest time in ms between the two faults in any run that violates the property, or None if it is
    unknown or has no limit. ``because``: the inequality of durations that excludes more time, or the reason for which
    no window is known.
    """

    most: int | None
    because: str


def proofs_of(
    deployment: Deployment, result: Result, rates: Rates, properties: Collection[str], budget_of: Callable[[], Budget]
) -> Proofs:
    """Return the proofs of the windows of these properties' sets of two faults, where both kinds have rates.

    Raise :class:`checker.solver.SolverUndecided` and :class:`checker.traces.ReplayMismatch` as a check does.
    """
    found: Proofs = {}
    for verdict in result.verdicts:
        for number, cut_set in enumerate(verdict.cut_sets):
            lasts = [one.lasts for one in rates.faults if one.kind in dict(cut_set)]
            if verdict.property in properties and has_two_faults(cut_set) and len(lasts) == len(cut_set):
                within = 1000 * max(lasts)
                found[verdict.property, number] = window_over_all_runs(
                    deployment, verdict.property, cut_set, within, budget_of
                )
    return found


def has_two_faults(cut_set: CutSet) -> bool:
    """Tell whether a fault set can have a window over all runs."""
    return sum(count for _, count in cut_set) == FAULTS


def window_over_all_runs(
    deployment: Deployment, name: str, cut_set: CutSet, within: float, budget_of: Callable[[], Budget]
) -> Proof:
    """Return the proof of the window of a smallest fault set of two faults.

    ``name``: the property. ``within``: the time in ms from which a window is of no use. ``budget_of``: a function that
    returns the budget of a check.
    """
    most = 0
    for _ in range(MOST_CHECKS):
        if most >= within:
            return Proof(None, f"some run has {in_units(most)} between these faults, and their effects last for less")
        verdict, found = checked_apart(deployment, name, cut_set, most + 1, budget_of())
        if verdict.coverage.complete_to < FAULTS or verdict.coverage.stopped is not None:
            return Proof(None, "a check ended at a limit before it decided the window")
        if not verdict.traces:
            if verdict.status.value not in ("holds", "vacuous"):
                return Proof(None, "it was not decided whether more time is possible")
            return Proof(most, _inequality(verdict))
        if found is None:
            return Proof(None, "in some run any time passes between these faults")
        most = max(most + 1, found)
    return Proof(None, f"not decided within {MOST_CHECKS} checks; some run has {in_units(most)} between these faults")


def _inequality(verdict: Verdict) -> str:
    """Return the inequality of a timing lemma that excludes more time between the faults."""
    of_all = [lemma.inequality for lemma in verdict.lemmas]
    return next((one for one in of_all if BETWEEN in one), "no run leaves more time")


def apart(model: Model, least: int) -> Model:
    """Return the model in which a fault comes only ``least`` ms after the first fault, or later."""
    from proofka.model.durations import Duration, Quantity
    from proofka.model.language import Clock, Need
    from proofka.model.language.terms import IntVal
    from proofka.model.language.variables import flag

    came = flag("a_fault_came")
    clock = Clock("since_the_first_fault", {}, came.is_set, "the first fault")
    need = Need(clock, at_least=Duration.of(Quantity(BETWEEN, least, least)))
    system = model.system
    actions, needs = [], dict(system.needs)
    for action in system.actions:
        if action.fault is not None:
            actions.append(replace(action, updates={**action.updates, came: IntVal(1)}))
            needs[action.key] = (*needs.get(action.key, ()), need)
        else:
            actions.append(action)
    changed = replace(
        system,
        variables=(*system.variables, came),
        actions=tuple(actions),
        clocks=(*system.clocks, clock),
        needs=needs,
        history=(*system.history, came),
    )
    return replace(model, system=changed)


def checked_apart(
    deployment: Deployment, name: str, cut_set: CutSet, least: int, budget: Budget
) -> tuple[Verdict, int | None]:
    """Return the verdict on a property with exactly these faults, at least ``least`` ms apart, and the greatest time
    between the faults of the run that was found (None: any time).
    """
    from proofka.checker.check import Run
    from proofka.checker.questions import group, prepare
    from proofka.checker.solver import Replayer
    from proofka.checker.timing.constraints import bounds_on
    from proofka.checker.traces import actions_of_steps, replay
    from proofka.model.deployment.explored import FaultBudget
    from proofka.model.pipeline import build
    from proofka.properties.catalogue import properties_of

    narrowed = replace(deployment, faults=FaultBudget.allowing([cut_set]))
    model = apart(build(narrowed), least)
    prepared = prepare(model)
    asked = {prop.name: prop for prop in properties_of(model.pipeline)}[name]
    groups = group(prepared, [asked])
    run = Run(narrowed, prepared, groups, budget)
    run.explore(None)
    (verdict,) = run.verdicts()
    if not verdict.traces:
        return verdict, None
    (trace,) = verdict.traces
    system = prepared.model.system
    actions = actions_of_steps(system, trace.steps)
    states = replay(system, Replayer(system), actions)
    bounds = bounds_on(system, groups[0].cones[name], actions, states)
    return verdict, window_of(trace, bounds).span[1]
