"""An event to explain, the form of an explanation, and the table of the events that show each action."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import z3

from proofka.checker.conformance.errors import UnknownAction
from proofka.checker.conformance.events import Event
from proofka.model.language import Action, ActionKey
from proofka.model.language.terms import BoolVal
from proofka.model.state.pipeline import Batch, Pipeline, Replica

_TABLE = Path(__file__).parent / "tables" / "silent.csv"

ACTION_ROWS: Mapping[str, Mapping[str, str]] = {
    row["action"]: row for row in csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines())
}
"""Name of an action -> its row of the table: the kinds of event that show the action, none for a silent action."""

SILENT: tuple[str, ...] = ()
"""The kinds of event that show a silent action."""

NEVER = ("never",)
"""The entry of the table for an action that no run of the lab has."""


def seen_as(action: Action) -> tuple[str, ...]:
    """Return the kinds of event that show the action, SILENT or NEVER. Raise :class:`UnknownAction`."""
    row = ACTION_ROWS.get(action.name)
    if row is None:
        raise UnknownAction(action.name)
    return tuple(row["seen_as"].split())


ALWAYS, NEVER_TRUE = BoolVal(True), BoolVal(False)


@dataclass(frozen=True)
class Explanation:
    """The ways in which an event can have happened.

    Either one of ``steps`` (keys of actions) happened, from a state with ``before`` to a state with ``after``; or no
    step of the model was needed, in a state with ``stays``. With ``permits`` the steps can happen as often as one
    likes as long as the event's interval is open, and need not happen.
    """

    steps: frozenset[ActionKey] = frozenset()
    before: z3.BoolRef = ALWAYS
    after: z3.BoolRef = ALWAYS
    stays: z3.BoolRef = NEVER_TRUE
    permits: bool = False

    @property
    def conditions(self) -> tuple[z3.BoolRef, ...]:
        """The conditions on the model's state."""
        return self.before, self.after, self.stays


@dataclass(frozen=True)
class AskedEvent:
    """An event to explain, with the pipeline and the actions that can explain the event."""

    pipeline: Pipeline
    actions: Sequence[Action]
    event: Event

    def argument(self, name: str) -> Any:
        return self.event.arguments[name]

    @property
    def broker(self) -> Replica:
        number = self.argument("broker")
        if not 1 <= number <= len(self.pipeline.replicas):
            raise IndexError(f"broker {number}")
        return self.pipeline.replica(number)

    @property
    def batches(self) -> list[Batch]:
        """The batches of the event's record."""
        found = self.pipeline.producer.of_record(self.argument("record"))
        if not found:
            raise IndexError(f"record {self.argument('record')}")
        return found

    @property
    def batch(self) -> Batch:
        number = self.argument("batch")
        if number < 0:
            raise IndexError(f"batch {number}")
        batch: Batch = self.pipeline.producer.batches[number]
        return batch

    def steps(
        self, matches: Callable[[Mapping[str, int]], bool] | None = None, error: int | None = None
    ) -> frozenset[ActionKey]:
        """Return the keys of the actions that the kind of event shows, and whose arguments match.

        Without ``matches``, the arguments with the names of the event's arguments must be equal. With ``error``, only
        actions that Kafka answers with this error.
        """
        found = [action for action in self.actions if self.event.kind in seen_as(action)]
        if error is not None:
            found = [action for action in found if str(error) in ACTION_ROWS[action.name]["errors"].split()]
        wanted = self.event.arguments
        if matches is None:
            return frozenset(
                action.key
                for action in found
                if all(wanted[name] == value for name, value in action.arguments.items() if name in wanted)
            )
        return frozenset(action.key for action in found if matches(action.arguments))

    def steps_of_record(self, error: int | None = None) -> frozenset[ActionKey]:
        """Return the keys of the actions for the event's record at the event's broker."""
        numbers = {batch.number for batch in self.batches}
        broker = self.broker.number
        return self.steps(
            lambda given: given["batch"] in numbers and broker in (given.get("leader"), given.get("broker")), error
        )
