"""What every part of the clocks is made of: the actions by name, what they need, and by when they are due."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import z3

from model.language import Action, Clock, Duration, Need
from model.state import Batch, Fate, Pipeline, Replica
from model.wording import record_name

Requirement = tuple[tuple[str, ...], dict[str, int], Need]
"""Names of actions, arguments that they must have, and what all of these need."""


class Part:
    """The clocks of a part of a pipeline, among whose ``actions`` are those that they are about."""

    def __init__(self, pipeline: Pipeline, actions: Sequence[Action]) -> None:
        self._pipeline = pipeline
        self._actions = actions
        self._times = pipeline.deployment.durations
        self._network = Duration.of(self._times.network)
        self._news = Duration.of(self._times.metadata)
        self._batches = pipeline.producer.batches

    def needs(self) -> Iterator[Requirement]:
        """What actions need of the clocks."""
        raise NotImplementedError

    def deadlines(self) -> Iterator[Clock]:
        """By when what is due must have happened."""
        raise NotImplementedError

    def age(self, batch: Batch) -> Clock:
        """retention.ms counts from a record's timestamp, which the client takes in send() (semantics 10)."""
        since = f"the application sent {record_name(batch)}"
        return Clock("age", {"batch": batch.number}, z3.Not(batch.is_(Fate.UNSENT)), since)

    def named(self, names: Sequence[str], **arguments: int) -> list[Action]:
        """The actions with these names, and with these arguments among theirs."""
        return [a for a in self._actions if a.name in names and arguments.items() <= dict(a.arguments).items()]

    def _guard(self, *names: str, **arguments: int) -> z3.BoolRef:
        """One of these actions can happen."""
        return z3.Or(*(action.guard for action in self.named(names, **arguments)))

    def _due(self, name: str, since: str, at_most: Duration, names: Sequence[str], **arguments: int) -> Clock:
        """Once one of these actions can happen, one of them happens in time, or something makes all impossible."""
        return one_of(name, arguments, since, at_most, self.named(names, **arguments))


def one_of(name: str, arguments: Mapping[str, int], since: str, at_most: Duration, actions: Sequence[Action]) -> Clock:
    """The clock that runs while one of these actions can happen, and has a deadline for it."""
    can = z3.Or(*(action.guard for action in actions))
    return Clock(name, arguments, can, since, at_most, frozenset(action.key for action in actions))


def without_news(brokers: Iterable[Replica], epoch: z3.ArithRef) -> z3.BoolRef:
    """Some broker runs that is cut off and knows of no epoch so new: it tells clients what was so before (9)."""
    return z3.Or(*(z3.And(b.up.is_set, b.cut_off.is_set, b.epoch.term < epoch) for b in brokers))
