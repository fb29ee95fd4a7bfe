"""The part of a model that the events of a run can depend on, with its machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import z3

from proofka.checker.cone import FreeVariables, propagate_constants, slice_to, specialise
from proofka.checker.conformance.asked_event import SILENT, Explanation, seen_as
from proofka.checker.conformance.conditions import Condition
from proofka.checker.conformance.events import Event, faults_of
from proofka.checker.conformance.explanations import explain
from proofka.checker.kernel.layout import Layout, lay_out
from proofka.checker.kernel.native import Kernel, compile_kernel
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.explored import MOST_OF_A_KIND, FaultBudget
from proofka.model.language import Action, TransitionSystem
from proofka.model.language.terms import Or
from proofka.model.pipeline import Model, build

SILENTLY = "silently"
"""The name of the kernel's function for all silent actions; each other function has the name of its actions."""


@dataclass(frozen=True)
class Way:
    """An event's explanation, ready for packed states: the names of the kernel's functions, labels and conditions."""

    functions: tuple[str, ...]
    labels: frozenset[int]
    before: Condition
    after: Condition
    stays: Condition | None
    permits: bool


@dataclass(frozen=True)
class ObservedSystem:
    """The system of a model for the events of some runs.

    ``actions``: each label's action. ``limits``: by the name of a bound, the condition that the bound stops a
    behaviour. ``constants``: the variables that nothing changes, with their values.
    """

    system: TransitionSystem
    actions: Sequence[Action]
    layout: Layout
    kernel: Kernel
    limits: Mapping[str, Condition]
    constants: Mapping[str, int]
    _ways: Mapping[str, tuple[Way, ...]]

    def ways(self, event: Event) -> tuple[Way, ...]:
        """Return the explanations of one of the events that the system was made for."""
        return self._ways[event.content]


def model_for(deployment: Deployment, events: Sequence[Event]) -> Model:
    """Build the deployment's model with the faults that the events can need, each any number of times."""
    kinds = tuple((kind.value, MOST_OF_A_KIND) for kind in sorted(faults_of(events)))
    return build(replace(deployment, faults=FaultBudget(None, kinds)))


def observed(model: Model, events: Sequence[Event]) -> ObservedSystem:
    """Return the part of ``model`` that explains the events.

    Raise :class:`checker.conformance.errors.ConformanceError` for an event that the model cannot express.
    """
    different = {event.content: event for event in events}
    explanations = {
        content: explain(model.pipeline, model.system.actions, event) for content, event in different.items()
    }
    system, substitution = _with_steps(model, [one for found in explanations.values() for one in found])
    labelled = list(enumerate(system.actions))
    names = {action.key: SILENTLY if seen_as(action) == SILENT else action.name for action in system.actions}
    groups: dict[str, list[tuple[int, Action]]] = {SILENTLY: []}
    for label, action in labelled:
        groups.setdefault(names[action.key], []).append((label, action))
    layout = lay_out(system.variables)

    def condition(term: z3.BoolRef) -> Condition:
        return Condition(specialise(term, substitution), layout)

    def way(explanation: Explanation) -> Way:
        mine = [(label, action) for label, action in labelled if action.key in explanation.steps]
        never = z3.is_false(specialise(explanation.stays, substitution))
        return Way(
            tuple(sorted({names[action.key] for _, action in mine})),
            frozenset(label for label, _ in mine),
            condition(explanation.before),
            condition(explanation.after),
            None if never else condition(explanation.stays),
            explanation.permits,
        )

    limits = {name: condition(limit) for name, limit in (model.system.limits or {}).items()}
    kernel = compile_kernel(layout, groups, [])
    ways = {content: tuple(map(way, found)) for content, found in explanations.items()}
    constants = {str(variable): value.as_long() for variable, value in substitution}
    return ObservedSystem(system, system.actions, layout, kernel, limits, constants, ways)


def _with_steps(
    model: Model, explanations: Sequence[Explanation]
) -> tuple[TransitionSystem, list[tuple[z3.ExprRef, z3.ExprRef]]]:
    """Return the system of the silent actions and of those that explain an event, without what no event depends on.

    The silent actions of a consumer are left out where no event shows a consumer.
    """
    explaining = frozenset().union(*(explanation.steps for explanation in explanations))
    shown = [action for action in model.system.actions if action.key in explaining]
    reads = any(action.lane == "consumer" for action in shown)
    silent = [
        action for action in model.system.actions if seen_as(action) == SILENT and (reads or action.lane != "consumer")
    ]
    kept = {action.key for action in (*shown, *silent)}
    actions = tuple(action for action in model.system.actions if action.key in kept)
    small, substitution = propagate_constants(replace(model.system, actions=actions, clocks=(), needs={}))
    roots = [specialise(term, substitution) for one in explanations for term in one.conditions]
    roots += [specialise(limit, substitution) for limit in (model.system.limits or {}).values()]
    roots += [action.guard for action in small.actions if action.key in explaining]
    sliced = slice_to(small, [Or(*roots)], FreeVariables())
    names = set(sliced.variables)
    left = [
        replace(action, updates={v: value for v, value in action.updates.items() if v in names})
        for action in small.actions
    ]
    useful = tuple(action for action in left if action.updates or action.key in explaining)
    return replace(sliced, actions=useful, ranked=(), symmetries=(), unread=()), substitution
