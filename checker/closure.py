"""Any number of faults: the space closed under them, with epochs ranked so that it is finite.

Kinds of which any number may happen are steps like others here, so nothing counts them; leader epochs, which every
election raises, are replaced by their ranks (checker/reductions/ranking.py). If the search ends, it has seen every
state that any number of such faults leads to. Kinds with a limit are still explored combination by combination.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from checker.budget import Meter
from checker.combinations import Combination
from checker.engine import Asked, Explorer, explore_layer
from checker.exploration import AnyExploration, Violation
from checker.kernel.canonical import Canonical
from checker.questions import LIMIT, WITNESS, Group, Prepared, group, prepare
from checker.reductions.ranking import rankings
from checker.solver import Replayer
from checker.timing.constraints import bounds_on
from checker.timing.network import Contradiction
from checker.timing.schedule import schedule
from checker.traces import actions_of, build_trace, replay
from model.deployment.deployment import Deployment
from model.faults import Fault
from model.language import Ranked, TransitionSystem
from model.pipeline import build
from properties.catalogue import properties_of
from properties.property import Property
from properties.verdict import Trace

STOPS = ("time", "states", "memory", "interrupted")
LEADER_EPOCH = "leader epoch"
RANKS = (15, 31)
"""Highest leader epochs to rank in: the first with which no reachable state needs more is enough."""


@dataclass(frozen=True)
class Closure:
    """What closing the space said of one property: it is closed, or violated by ``trace``, or why nothing is known.

    ``stopped``: which limit ended the search early, if one did.
    """

    states: int
    bounds_reached: tuple[str, ...]
    witnessed: bool
    trace: Trace | None = None
    unknown: str | None = None
    stopped: str | None = None

    @property
    def holds(self) -> bool:
        """No state violates the property, and there is none that was not seen."""
        return self.trace is None and self.unknown is None


def close(
    deployment: Deployment,
    properties: Sequence[Property],
    meter: Meter,
    explorer: Explorer,
    explored: list[AnyExploration],
    on_progress: Callable[[AnyExploration], Callable[[Combination], None] | None] = lambda _: None,
) -> dict[str, Closure]:
    """Decide properties for any number of those faults that ``deployment`` does not limit; by property.

    ``explorer`` makes the explorations; they are added to ``explored``, for what they cost. ``on_progress`` makes what
    is told of their progress.
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
    """The same properties, of another model of the pipeline."""
    names = {prop.name for prop in properties}
    return [prop for prop in properties_of(prepared.model.pipeline) if prop.name in names]


def leader_epochs_only(system: TransitionSystem) -> TransitionSystem:
    """The system without the declaration of other epochs, which have bounds of their own."""
    return replace(system, ranked=tuple(family for family in system.ranked if family.name == LEADER_EPOCH))


def with_epochs(deployment: Deployment, epochs: int) -> Deployment:
    """The deployment with another bound on leader epochs."""
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
    others = {name: term for name, term in asked.observations.items() if name != LIMIT + "epochs"}
    predicates = replace(asked, observations=others).predicates
    ranking = rankings(leader_epochs_only(one.system), predicates, prepared.constants)
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
        stopped = stopped or "more leader epochs are alive at a time than are ranked"
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
            unknown = "there is no time for the runs that were found to violate it, and others were not looked for"
        elif trace is None and stopped is not None:
            unknown = stopped
        elif trace is None and name in exploration.undecided:
            unknown = "from some state every way on ends at a bound"
        ended = stopped if stopped in STOPS else None
        closures[name] = Closure(exploration.states, reached, WITNESS + name in observed, trace, unknown, ended)
    return closures


def _concrete_trace(
    deployment: Deployment,
    prop: Property,
    cone: TransitionSystem,
    exploration: AnyExploration,
    violation: Violation,
    families: tuple[Ranked, ...],
) -> Trace | None:
    """The run whose ranked states were found, with real epochs, replayed through Z3; None where there is no time."""
    labels = exploration.path(violation)
    concrete = build(with_epochs(deployment, len(labels) + 2)).system
    actions = actions_of(concrete, [exploration.system.actions[label] for label in labels])
    replayer = Replayer(concrete)
    states = replay(concrete, replayer, actions)
    times = schedule(len(actions), bounds_on(concrete, cone, actions, states))
    if isinstance(times, Contradiction):
        return None
    found = exploration.states_along(violation)
    return build_trace(concrete, replayer, prop, actions, found, families, times.times)
