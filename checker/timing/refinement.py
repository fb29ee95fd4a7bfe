"""Timing lemmas: reasons why runs that a system without clocks allows are impossible in time, and the restricted
system.

A counterexample is a candidate until times for its steps exist. A counterexample without times is refined away: its
contradiction is generalised to other brokers and records, and monitors composed with the system watch for it.

Reference: E. Clarke et al., "Counterexample-guided abstraction refinement", CAV 2000.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import z3

from proofka.checker.exploration import Question
from proofka.checker.kernel.layout import Layout
from proofka.checker.kernel.monitored import Monitors
from proofka.checker.questions import Prepared
from proofka.checker.solver import Replayer
from proofka.checker.timing.constraints import (
    Between,
    Bound,
    RunningClocks,
    bounds_of,
    constraints_along,
    deadline_of,
    waited_for,
    within,
)
from proofka.checker.timing.differences import NOW, Difference, differences_of, generalised
from proofka.checker.timing.monitors import compose, watch
from proofka.checker.timing.network import Contradiction, earliest_times, edges_of, minimal
from proofka.checker.timing.schedule import Schedule, schedule
from proofka.checker.timing.tables import tables
from proofka.checker.timing.timed_kernel import TimedKernel
from proofka.checker.traces import actions_of, replay
from proofka.model.language import Action, ActionKey, Clock, ClockKey, Need, Needs, State, TransitionSystem
from proofka.model.pipeline import Model

Item = TypeVar("Item")

Run = tuple[ActionKey, ...]
"""The names and arguments of a run's actions."""

MOST_REASONS = 6
"""Largest number of contradictions that are taken from one run."""


@dataclass(frozen=True)
class Lemma:
    """The reason why a pattern of events is impossible in time: a contradiction, and the differences for monitors."""

    contradiction: Contradiction
    differences: frozenset[Difference]

    @cached_property
    def bounds(self) -> frozenset[Bound]:
        """The bounds of the model that the lemma uses."""
        return self.contradiction.bounds

    def adds_to(self, others: Iterable[Lemma]) -> bool:
        """Tell whether the lemma adds something to the others."""
        known = list(others)
        has_bounds = _has_more(self.bounds, (one.bounds for one in known))
        return has_bounds or _has_more(self.differences, (one.differences for one in known))


def _has_more(own: frozenset[Item], others: Iterable[frozenset[Item]]) -> bool:
    """Tell whether a set has an item that is in none of the others."""
    left = own
    for other in others:
        left -= other
        if not left:
            return False
    return bool(left)


def bounds_in(lemmas: Iterable[Lemma]) -> frozenset[Bound]:
    """Return the bounds of the model that these lemmas use."""
    return frozenset[Bound]().union(*(one.bounds for one in lemmas))


def differences_in(lemmas: Iterable[Lemma]) -> frozenset[Difference]:
    """Return the differences that monitors watch for these lemmas."""
    return frozenset[Difference]().union(*(one.differences for one in lemmas))


class OtherSystem(Exception):
    """A model has other actions or variables."""


class Timing:
    """Timing of the runs of one model."""

    def __init__(self, prepared: Prepared, replayer: Replayer) -> None:
        self._prepared = prepared
        self._system = prepared.model.system
        self._replayer = replayer
        self._clocks = RunningClocks.of(self._system)
        self._mattering = frozenset(clock.key for clock in self._system.clocks)
        self._actions = {action.key: action for action in self._system.actions}
        self._known: dict[Run, list[Between]] = {}
        self._running: dict[frozenset[str], RunningClocks] = {}
        self._schedules: dict[tuple[Run, frozenset[ClockKey]], Schedule | Contradiction] = {}

    def that_matters_to(self, part: TransitionSystem) -> Timing:
        """Return the timing for a part of the model, whose runs are timed against the part's own clocks alone.

        Both objects share their cached results on runs.
        """
        other = copy(self)
        other._mattering = frozenset(clock.key for clock in part.clocks)
        return other

    def with_times_of(self, model: Model) -> Timing:
        """Return the timing of a model that differs only in its durations. Raise :class:`OtherSystem`."""
        actions = {action.key for action in model.system.actions}
        if actions != self._actions.keys() or model.system.variables != self._system.variables:
            raise OtherSystem
        return Timing(replace(self._prepared, model=model), self._replayer)

    def put_into(self, system: TransitionSystem) -> TransitionSystem:
        """Return a part of the model, with this model's clocks and needs."""
        keys = {clock.key for clock in system.clocks}
        clocks = tuple(clock for clock in self._system.clocks if clock.key in keys)
        return replace(system, clocks=clocks, needs=self._system.needs)

    def of_the_whole(self, actions: Sequence[Action], states: Sequence[State]) -> tuple[list[Action], list[State]]:
        """Return the whole model's actions for a run of a part, and the states in the whole model's variables.

        Raise :class:`~checker.traces.ReplayMismatch` if the whole lacks one of the actions.
        """
        names = {variable.name for variable in self._system.variables}
        kept: list[State] = [{name: value for name, value in state.items() if name in names} for state in states]
        return actions_of(self._system, actions), kept

    def schedule(self, actions: Sequence[Action]) -> Schedule | Contradiction:
        """Return times for a run of the model, or a contradiction."""
        asked = _keys(actions), self._mattering
        if asked not in self._schedules:
            self._schedules[asked] = schedule(len(actions), self._constraints(actions))
        return self._schedules[asked]

    def is_excluded(self, clocks: RunningClocks, actions: Sequence[Action], states: Sequence[State]) -> bool:
        """Tell whether those of a part's clocks that matter exclude a run, given by its states in the part."""
        known = within(constraints_along(clocks, actions, self.remembering(actions, states)), self._mattering)
        return isinstance(earliest_times(len(actions), edges_of(len(actions), known)), Contradiction)

    def contradiction_with(self, actions: Sequence[Action], name: str, value: int) -> Contradiction | None:
        """Return the contradiction of a run if the setting ``name`` has ``value`` ms; None if times exist."""
        constraints = [one.with_value(name, value) for one in self._constraints(actions)]
        outcome = earliest_times(len(actions), edges_of(len(actions), constraints))
        return outcome if isinstance(outcome, Contradiction) else None

    def needed_by(self, actions: Sequence[Action]) -> set[str]:
        """Return the names of the quantities for which a run must wait."""
        needs = (one.need for one in self._constraints(actions) if one.need is not None)
        return waited_for(bound for need in needs for bound in bounds_of(need))

    def _constraints(self, actions: Sequence[Action]) -> list[Between]:
        run = _keys(actions)
        if run not in self._known:
            own = [self._actions[key] for key in run]
            self._known[run] = constraints_along(self._clocks, own, replay(self._system, self._replayer, own))
        return within(self._known[run], self._mattering)

    def clocks_in(self, system: TransitionSystem) -> RunningClocks:
        """Return the clocks that a part of the model sees completely, with its history (see :meth:`remembering`)."""
        names = frozenset(variable.name for variable in system.variables)
        if names not in self._running:
            self._running[names] = RunningClocks(*self._seen_in(system), self._system.needs)
        return self._running[names]

    def _seen_in(self, system: TransitionSystem) -> tuple[list[Clock], list[z3.BoolRef]]:
        names = {variable.name for variable in (*system.variables, *self._prepared.system.history)}
        seen = [(clock, runs) for clock, runs in self._conditions if self._prepared.free.of(runs) <= names]
        return [clock for clock, _ in seen], [runs for _, runs in seen]

    @cached_property
    def _conditions(self) -> list[tuple[Clock, z3.BoolRef]]:
        """The condition of each clock, with constants filled in, without clocks that never run."""
        conditions = [(clock, self._prepared.specialise(clock.runs)) for clock in self._system.clocks]
        return [(clock, runs) for clock, runs in conditions if not z3.is_false(runs)]

    def that_speak_of(self, system: TransitionSystem, lemmas: Iterable[Lemma]) -> list[Lemma]:
        """Return the lemmas whose clocks a part of the model sees."""
        clocks, _ = self._seen_in(system)
        keys = {NOW, *(clock.key for clock in clocks)}
        return [lemma for lemma in lemmas if all({one.earlier, one.later} <= keys for one in lemma.differences)]

    def lemmas_with(self, lemmas: Iterable[Lemma], name: str, value: int) -> list[Lemma]:
        """Return the lemmas that stay valid if the setting ``name`` has ``value`` ms."""
        found: list[Lemma] = []
        for lemma in lemmas:
            changed = lemma.contradiction.with_value(name, value)
            if changed is not None:
                differences = differences_of(changed, differences_in(found))
                found.append(Lemma(changed, generalised(differences, self._system.clocks)))
        return found

    def remembering(self, actions: Sequence[Action], states: Sequence[State]) -> list[State]:
        """Return the states of a run of a part of the model, with the variables that only clocks read."""
        history = {variable.name: variable.initial for variable in self._prepared.system.history}
        found: list[State] = [{**states[0], **history}]
        for action, state in zip(actions, states[1:], strict=True):
            updates = self._actions[action.key].updates
            for variable in self._prepared.system.history:
                if variable in updates:
                    history[variable.name] = updates[variable].as_long()
            found.append({**state, **history})
        return found

    def lemmas(
        self, clocks: RunningClocks, actions: Sequence[Action], states: Sequence[State], known: Collection[Difference]
    ) -> list[Lemma]:
        """Return every reason for which a run is impossible in time, in terms of known differences if these suffice.

        The run itself can be wrong: each lemma is sound for every run of the system.
        """
        constraints = constraints_along(clocks, actions, self.remembering(actions, states))
        # Monitors look ahead, so needs about earlier steps are used only if no other contradiction exists.
        at_their_step = [one for one in constraints if one.need is None or one.need.until is None]
        return self._lemmas(actions, at_their_step, known) or self._lemmas(actions, constraints, known)

    def _lemmas(
        self, actions: Sequence[Action], constraints: list[Between], known: Collection[Difference]
    ) -> list[Lemma]:
        found: list[Lemma] = []
        while len(found) < MOST_REASONS:
            outcome = earliest_times(len(actions), edges_of(len(actions), constraints))
            if not isinstance(outcome, Contradiction):
                break
            outcome = minimal(len(actions), outcome)
            differences = differences_of(outcome, {*known, *(one for lemma in found for one in lemma.differences)})
            found.append(Lemma(outcome, generalised(differences, self._system.clocks)))
            used = [edge.because for edge in outcome.edges if edge.because is not None and edge.because.need is None]
            constraints = [one for one in constraints if not any(one is other for other in used)]
            if not used:
                break
        return found

    def kernel(
        self, system: TransitionSystem, questions: Iterable[Question], begin: Layout | None = None
    ) -> TimedKernel:
        """Return the machine code for re-exploring slices of a part of the model (:class:`TimedKernel`), not compiled
        yet.
        """
        clocks, conditions = self._seen_in(system)
        return TimedKernel(system, questions, {c.key: runs for c, runs in zip(clocks, conditions, strict=True)}, begin)

    def monitors(
        self, system: TransitionSystem, lemmas: Iterable[Lemma], places: Mapping[ClockKey, int] | None = None
    ) -> Monitors:
        """Return the monitors that remove the runs excluded by the lemmas from a part of the model.

        Monitors know only the bounds of the lemmas, so results with them rest on these bounds alone. ``places``: the
        place of each clock in the machine code, if the part has none of its own. Raise :class:`TooManyFlags`.
        """
        known = list(lemmas)
        bounds = bounds_in(known)
        _, conditions = self._seen_in(system)
        at_first = self.clocks_in(system).running(system.initial)
        clocks, needs = self._bounded(system, bounds)
        watched = watch(clocks, conditions)
        return tables(system.actions, needs, watched, at_first, differences_in(known), places, self._prepared.free)

    def composed(
        self,
        system: TransitionSystem,
        bounds: Collection[Bound],
        differences: Iterable[Difference],
        filled: Callable[[z3.BoolRef], z3.BoolRef],
    ) -> TransitionSystem:
        """Return a part of the model with a flag for each difference whose clocks the part sees, as a variable.

        The system has the runs that :meth:`monitors` leaves, and terms that no solver simplified. ``filled``: a
        function that fills constants into the condition of a clock.
        """
        clocks, needs = self._bounded(system, bounds)
        watched = watch(clocks, [filled(clock.runs) for clock in clocks])
        seen = {*watched, NOW}
        chosen = [one for one in differences if one.earlier in seen and one.later in seen]
        return compose(replace(system, needs=needs), watched, chosen, simplify=lambda term: term)

    def _bounded(self, system: TransitionSystem, bounds: Collection[Bound]) -> tuple[list[Clock], Needs]:
        """Return the clocks that a part of the model sees, and what its actions need of them, with these bounds."""
        seen, _ = self._seen_in(system)
        clocks = [clock if deadline_of(clock) in bounds else replace(clock, at_most=None) for clock in seen]
        return clocks, {action.key: tuple(_kept(system.needs_of(action), bounds)) for action in system.actions}


def _kept(needs: Iterable[Need], bounds: Collection[Bound]) -> Iterator[Need]:
    """Yield the needs restricted to these bounds."""
    for need in needs:
        kept = {bound.is_least: bound.duration for bound in bounds_of(need) if bound in bounds}
        if kept:
            yield replace(need, at_least=kept.get(True), at_most=kept.get(False))


def _keys(actions: Sequence[Action]) -> Run:
    return tuple(action.key for action in actions)
