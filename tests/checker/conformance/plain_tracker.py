"""A second tracker, in plain Python over whole states: nothing is shared with the kernel, nothing is sliced away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import z3

from proofka.checker.conformance.asked_event import SILENT, Explanation, seen_as
from proofka.checker.conformance.events import Event
from proofka.checker.conformance.explanations import explain
from proofka.checker.evaluation import Evaluator
from proofka.model.language import Action, ActionKey, State
from proofka.model.pipeline import Model

Place = tuple[tuple[int, ...], frozenset[int]]
"""A state, and the events of open intervals that have happened."""


class PlainTracker:
    """The compatible states of one model, as tuples of the values of all variables."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.names = [variable.name for variable in model.system.variables]
        self._guards = {action.key: Evaluator([action.guard]) for action in model.system.actions}
        self._updates = {action.key: Evaluator(action.updates.values()) for action in model.system.actions}
        self._by_key = {action.key: action for action in model.system.actions}
        self._silent = [
            action.key for action in model.system.actions if seen_as(action) == SILENT and action.lane != "consumer"
        ]
        self._conditions: dict[int, tuple[z3.BoolRef, Evaluator]] = {}
        self._known: dict[tuple[ActionKey, tuple[int, ...]], tuple[int, ...] | None] = {}

    def rejected_at(self, events: Sequence[Event]) -> int | None:
        """Return the number of the event that the model does not allow, or None."""
        explanations = [explain(self.model.pipeline, self.model.system.actions, event) for event in events]
        initial = self.model.system.initial
        places: set[Place] = {(tuple(initial[name] for name in self.names), frozenset())}
        marks = [(event.opens, 0, number) for number, event in enumerate(events)]
        marks += [(event.closes, 1, number) for number, event in enumerate(events)]
        opened: list[int] = []
        for _, closes, number in sorted(marks):
            if not closes:
                opened.append(number)
                continue
            places = self._closure(places, opened, explanations, events)
            opened.remove(number)
            if any(one.permits for one in explanations[number]):
                continue
            places = {(state, happened - {number}) for state, happened in places if number in happened}
            if not places:
                return number
        return None

    def _closure(
        self,
        places: set[Place],
        opened: Sequence[int],
        explanations: Sequence[tuple[Explanation, ...]],
        events: Sequence[Event],
    ) -> set[Place]:
        found = set(places)
        waiting = list(places)
        while waiting:
            state, happened = waiting.pop()
            new: list[Place] = [(after, happened) for after in self._after(self._silent, state)]
            for number in opened:
                if number in happened or self._waits(number, opened, happened, events):
                    continue
                for explanation in explanations[number]:
                    now = happened if explanation.permits else happened | {number}
                    if self._holds(explanation.stays, state):
                        new.append((state, now))
                    if self._holds(explanation.before, state):
                        new += [
                            (after, now)
                            for after in self._after(explanation.steps, state)
                            if self._holds(explanation.after, after)
                        ]
            waiting += set(new) - found
            found |= set(new)
        return found

    @staticmethod
    def _waits(number: int, opened: Sequence[int], happened: frozenset[int], events: Sequence[Event]) -> bool:
        chain = events[number].chain
        return bool(chain) and any(o < number and o not in happened and events[o].chain == chain for o in opened)

    def _after(self, keys: Iterable[ActionKey], state: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [after for key in keys if (after := self._step(key, state)) is not None]

    def _step(self, key: ActionKey, state: tuple[int, ...]) -> tuple[int, ...] | None:
        place = key, state
        if place not in self._known:
            self._known[place] = self._computed(self._by_key[key], self._named(state))
        return self._known[place]

    def _computed(self, action: Action, state: State) -> tuple[int, ...] | None:
        if not self._guards[action.key].values(state)[0]:
            return None
        values = self._updates[action.key].values(state)
        after = {**state, **{v.name: int(value) for v, value in zip(action.updates, values, strict=True)}}
        return tuple(after[name] for name in self.names)

    def _named(self, state: tuple[int, ...]) -> State:
        return dict(zip(self.names, state, strict=True))

    def _holds(self, condition: z3.BoolRef, state: tuple[int, ...]) -> bool:
        key = condition.get_id()
        if key not in self._conditions:
            self._conditions[key] = condition, Evaluator([condition])
        _, evaluator = self._conditions[key]
        return bool(evaluator.values(self._named(state))[0])
