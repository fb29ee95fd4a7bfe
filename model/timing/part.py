"""The base of every part of the clocks: the actions by name, their needs, and the deadlines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import z3

from proofka.model.language import Action, Clock, Duration, Need
from proofka.model.language.terms import And, Not, Or
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.wording import record_name

LAG_IS_CHECKED = Fraction(1, 2)
"""The time between a leader's checks for followers that lag, as a fraction of replica.lag.time.max.ms (semantics 2)."""

Requirement = tuple[tuple[str, ...], dict[str, int], Need]
"""The names of actions, arguments that these must have, and what all of these actions need."""


class Part:
    """The clocks of a part of a pipeline; ``actions`` include the actions that the clocks concern."""

    def __init__(self, pipeline: Pipeline, actions: Sequence[Action]) -> None:
        self._pipeline = pipeline
        self._actions = actions
        self._times = pipeline.deployment.durations
        self._network = Duration.of(self._times.network)
        self._news = Duration.of(self._times.metadata)
        self._batches = pipeline.producer.batches

    def needs(self) -> Iterator[Requirement]:
        """Yield what actions need of the clocks; needs of actions that the pipeline does without are dropped."""
        raise NotImplementedError

    def deadlines(self) -> Iterator[Clock]:
        """Yield the clocks with the deadlines of what is due."""
        raise NotImplementedError

    def age(self, batch: Batch) -> Clock:
        """Return the clock of a record's age, which retention.ms counts from the timestamp taken in send() (10)."""
        since = f"the application sent {record_name(batch)}"
        return Clock("age", {"batch": batch.number}, Not(batch.is_(Fate.UNSENT)), since)

    def named(self, names: Sequence[str], **arguments: int) -> list[Action]:
        """Return the actions with these names that have these arguments among theirs."""
        return [a for a in self._actions if a.name in names and arguments.items() <= dict(a.arguments).items()]

    def _guard(self, *names: str, **arguments: int) -> z3.BoolRef:
        """Return the condition that one of these actions can happen."""
        return Or(*(action.guard for action in self.named(names, **arguments)))

    def _due(self, name: str, since: str, at_most: Duration, names: Sequence[str], **arguments: int) -> Clock:
        """Return the clock by whose deadline one of these actions happens, or something makes all impossible."""
        return one_of(name, arguments, since, at_most, self.named(names, **arguments))


def one_of(name: str, arguments: Mapping[str, int], since: str, at_most: Duration, actions: Sequence[Action]) -> Clock:
    """Return the clock that runs while one of these actions can happen, with a deadline for that."""
    can = Or(*(action.guard for action in actions))
    return Clock(name, arguments, can, since, at_most, frozenset(action.key for action in actions))


def without_news(brokers: Iterable[Replica], epoch: z3.ArithRef) -> z3.BoolRef:
    """Tell whether a running broker is cut off and knows no epoch so new: it gives clients old answers (9)."""
    return Or(*(And(b.up.is_set, b.cut_off.is_set, b.epoch.term < epoch) for b in brokers))


def until_dropped(pipeline: Pipeline) -> Duration:
    """Return the longest time until a leader drops a follower that lags: one at a time, after each other one (6.2)."""
    times, changes = pipeline.deployment.durations, len(pipeline.replicas) - 1
    looks = Duration.of(times.replica_lag, 1 + LAG_IS_CHECKED * changes)
    return looks + Duration.of(times.network) + Duration.of(times.metadata)
