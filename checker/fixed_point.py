"""Verdicts for any number of faults: a search to a fixed point, with ranked epochs to make the state space finite.

Fault kinds without a limit are ordinary steps here, so nothing counts them. Every election raises the leader epoch, so
ranks replace leader epochs (checker/reductions/ranking.py). A search that ends has seen every state that any number of
these faults leads to. Kinds with a limit are still explored combination by combination.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import z3

from proofka.checker.budget import Meter
from proofka.checker.combinations import Combination
from proofka.checker.engine import Asked, Explorer, explore_layer
from proofka.checker.exploration import AnyExploration, Violation
from proofka.checker.kernel.canonical import Canonical
from proofka.checker.questions import LIMIT, WITNESS, Group, Prepared, group, prepare
from proofka.checker.reductions.always import always_reduced
from proofka.checker.reductions.ranking import rankings
from proofka.checker.solver import Replayer
from proofka.checker.timing.constraints import bounds_on
from proofka.checker.timing.network import Contradiction
from proofka.checker.timing.schedule import schedule
from proofka.checker.traces import actions_of, build_trace, replay
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault
from proofka.model.language import Ranked, TransitionSystem
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from proofka.properties.property import Property
from proofka.properties.verdict import Trace

STOPS = ("time", "states", "memory", "interrupted")
LEADER_EPOCH = "leader epoch"
RANKS = (15, 31)
"""Highest leader epochs for the ranking, tried in order. The first value suffices if no reachable state needs more."""


@dataclass(frozen=True)
class FixedPoint:
    """All states that any number of faults leads to, up to the labels of leader epochs.

    ``prepared``: the model that was explored, with more leader epochs than the deployment's bound.
    """

    prepared: Prepared
    exploration: AnyExploration


@dataclass(frozen=True)
class Closure:
    """The result for one property for any number of faults: a fixed point, a violation (``trace``), or the reason of
    ``unknown``.

    ``stopped``: the limit that ended the search early, if any. ``fixed_point``: the states behind a pass.
    """

    states: int
    bounds_reached: tuple[str, ...]
    witnessed: bool
    trace: Trace | None = None
    unknown: str | None = None
    stopped: str | None = None
    fixed_point: FixedPoint | None = None

    @property
    def holds(self) -> bool:
        """Tell whether the search saw every state and no state violates the property."""
        return self.trace is None and self.unknown is None


def close(
    deployment: Deployment,
    properties: Sequence[Property],
    meter: Meter,
    explorer: Explorer,
    explored: list[AnyExploration],
    on_progress: Callable[[AnyExploration], Callable[[Combination], None] | None] = lambda _: None,
) -> dict[str, Closure]:
    """Decide properties for any number of the faults that ``deployment`` does not limit; return closures by property.

    ``explorer`` makes the explorations, which are added to ``explored`` for their cost. ``on_progress`` makes the
    function that reports progress of an exploration.
    """
    found: dict[str, Closure] = {}
    for ranks in RANKS:
        wide = with_epochs(deployment, ranks)
        prepared = prepare(build(wide))
        waiting = [prop for prop in prepared_properties(prepared, properties) if prop.name not in found]
        for one in group(prepared, waiting):
            found |= _close_group(wide, prepared, one, meter, explorer, explored, on_progress, last=ranks == RANKS[-1])
        if len(found) == len(properties):
            break
    return found


def prepared_properties(prepared: Prepared, properties: Sequence[Property]) -> list[Property]:
    """Return the same properties for another model of the pipeline."""
    names = {prop.name for prop in properties}
    return [prop for prop in properties_of(prepared.model.pipeline) if prop.name in names]


def leader_epochs_only(system: TransitionSystem) -> TransitionSystem:
    """Return the system with leader epochs as the only ranked family. Other epochs have bounds of their own."""
    return replace(system, ranked=tuple(family for family in system.ranked if family.name == LEADER_EPOCH))


def predicates_of(one: Group) -> list[z3.BoolRef]:
    """Return the predicates of a group that have to keep their values when leader epochs are ranked: all but their
    bound.
    """
    others = {name: term for name, term in one.question.observations.items() if name != LIMIT + "epochs"}
    return replace(one.question, observations=others).predicates


def with_epochs(deployment: Deployment, epochs: int) -> Deployment:
    """Return the deployment with another bound on leader epochs."""
    return replace(deployment, bounds=replace(deployment.bounds, epochs=epochs))


def _close_group(
    deployment: Deployment,
    prepared: Prepared,
    one: Group,
    meter: Meter,
    explorer: Explorer,
    explored: list[AnyExploration],
    on_progress: Callable[[AnyExploration], Callable[[Combination], None] | None],
    *,
    last: bool,
) -> dict[str, Closure]:
    asked = one.question
    limits = {name for name in asked.limits if name != LIMIT + "epochs"}
    ranking = rankings(leader_epochs_only(one.system), predicates_of(one), prepared.constants)
    names = [prop.name for prop in one.properties]
    if LEADER_EPOCH in ranking.refused:
        return {name: Closure(0, (), False, unknown=ranking.refused[LEADER_EPOCH]) for name in names}

    faults = deployment.faults
    at_most = {Fault(kind): most for kind, most in faults.at_most if kind not in faults.any_number}
    exploration = explorer.exploration(
        Asked(
            one.system,
            asked,
            at_most,
            meter,
            optimised=True,
            unlimited=frozenset(Fault(kind) for kind in faults.any_number),
            canonical=Canonical(ranking.families),
            kept=False,
        )
    )
    stopped = None
    while stopped is None and not exploration.exhausted():
        exploration, report = explore_layer(explorer, exploration, on_progress(exploration))
        stopped = report.stopped
    explored.append(exploration)
    observed = exploration.observed()
    if LIMIT + "epochs" in observed and not last:
        return {}
    reached = tuple(sorted(name.removeprefix(LIMIT) for name in observed if name in limits))
    if LIMIT + "epochs" in observed:
        stopped = stopped or "more leader epochs are in use at a time than the ranking allows"
    closures = {}
    for name in names:
        violations = exploration.cut_sets(name)
        prop = next(prop for prop in one.properties if prop.name == name)
        traces = (
            _concrete_trace(deployment, prop, one.cones[name], exploration, violation, ranking.families)
            for violation in violations
        )
        trace = next((trace for trace in traces if trace is not None), None)
        unknown = None
        if trace is None and violations:
            unknown = "the violating runs that were found are impossible in time, and no others were searched for"
        elif trace is None and stopped is not None:
            unknown = stopped
        elif trace is None and name in exploration.undecided:
            unknown = "from some state every continuation ends at a bound"
        ended = stopped if stopped in STOPS else None
        witnessed = WITNESS + name in observed
        fixed_point = FixedPoint(prepared, exploration) if trace is None and unknown is None else None
        closures[name] = Closure(exploration.states, reached, witnessed, trace, unknown, ended, fixed_point)
    return closures


def _concrete_trace(
    deployment: Deployment,
    prop: Property,
    cone: TransitionSystem,
    exploration: AnyExploration,
    violation: Violation,
    families: tuple[Ranked, ...],
) -> Trace | None:
    """Return the run behind the ranked states, with real epochs, replayed through Z3; None if it is impossible in
    time.
    """
    labels = exploration.path(violation)
    concrete = always_reduced(build(with_epochs(deployment, len(labels) + 2))).system
    actions = actions_of(concrete, [exploration.system.actions[label] for label in labels])
    replayer = Replayer(concrete)
    states = replay(concrete, replayer, actions)
    times = schedule(len(actions), bounds_on(concrete, cone, actions, states))
    if isinstance(times, Contradiction):
        return None
    found = exploration.states_along(violation)
    return build_trace(concrete, replayer, prop, actions, found, families, times.times)
