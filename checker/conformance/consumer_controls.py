"""The controls of the consumer that reads the topic of one producer of a run.

The consumer commits all that it was given, or nothing, before its process ends: the model leaves out the commits in
between (semantics 12.1). A client that commits by itself does so in each call of poll(), or never while its process
lasts, by the interval with which the process was started.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from proofka.checker.cluster.client import ClientProcess, Event
from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.sends import send_of
from proofka.checker.cluster.waiting import until
from proofka.checker.conformance.controls import Control
from proofka.checker.conformance.gathering import CLOCK_SECONDS
from proofka.checker.conformance.observations import Done, Given, Joined, OfConsumer
from proofka.model.deployment.choices import Commit

POLL_MILLISECONDS = 300
"""Longest time of a call of poll(), in milliseconds."""

MOST_RECORDS = 100
"""The number of records that one call of poll() can return to the application: all that the client has."""

LAST_POLLS = 3
"""The number of calls of poll() without a record after which a consumer has read what there is."""

ANSWER_SECONDS = 30.0
"""Seconds within which a call of the consumer returns."""

JOIN_SECONDS = 90.0
"""Seconds within which a consumer that starts is given the partition."""


@dataclass(frozen=True)
class ConsumerStart:
    """A start of the consumer's process.

    ``commits``: a client that commits by itself does so in each call of poll().
    """

    process: ClientProcess
    when: float
    commits: bool


class ConsumerControls:
    """The controls of one consumer. ``number``: that of the producer. ``done``: the controls that were used.

    ``base``: the first offset of the run. ``start``: starts another process; its argument tells whether a client that
    commits by itself does so. ``committed``: returns the offset that the group has committed.
    """

    def __init__(
        self,
        number: int,
        base: int,
        *,
        commit: Commit,
        first: ConsumerStart,
        start: Callable[[bool], ClientProcess],
        committed: Callable[[], int | None],
    ) -> None:
        self.number, self.base = number, base
        self._commit, self._start, self._committed = commit, start, committed
        self._starts = [first]
        self._first_event = len(first.process.events)
        self.done: list[Done] = []

    @property
    def _process(self) -> ClientProcess:
        return self._starts[-1].process

    def possible(self) -> list[Control]:
        """Return the controls that can be used now: none before the consumer has its partition."""
        if not self._has_partition():
            return []
        names = ["poll"]
        by_client = self._commit.is_by_client
        if not by_client or not self._starts[-1].commits:
            names.append("crash_consumer")
        if self._commit is not Commit.BEFORE and (not by_client or self._starts[-1].commits):
            names.append("commit_and_crash")
        return [Control(name, producer=self.number) for name in names]

    def _has_partition(self) -> bool:
        return len(self._starts) == 1 or any(map(_is_join, self._process.events))

    def use(self, control: Control) -> None:
        """Use a control. Raises NotSeen where a call does not return, or a commit fails."""
        begin = time.time()
        if control.name == "poll":
            self._poll(MOST_RECORDS)
            if self._commit is Commit.BEFORE:
                self._commit_all()
        else:
            if control.name == "commit_and_crash":
                self._commit_all()
            self._process.kill()
        self.done.append(Done(control.name, 0, (begin, time.time())))
        if control.name != "poll":
            self._start_again()

    def _poll(self, count: int) -> Event:
        return self._process.ask("poll", count=count, milliseconds=POLL_MILLISECONDS, seconds=ANSWER_SECONDS)

    def _commit_all(self) -> None:
        """Commit all that the application was given."""
        if self._commit.is_by_client:
            end = max((given.offset + 1 for given in self._given()), default=0) + self.base
            self._poll(0)
            until(lambda: (self._committed() or 0) >= end, what=f"the commit of offset {end}", seconds=ANSWER_SECONDS)
            return
        if not self._is_given_any():
            return  # Some libraries refuse a commit without an offset.
        told = self._process.ask("commit", seconds=ANSWER_SECONDS)
        if told.get("error"):
            raise NotSeen(f"a commit of the consumer ({told['error']})", ANSWER_SECONDS)

    def _is_given_any(self) -> bool:
        """Tell whether the application was given a record since its last start."""
        return any(event["event"] == "polled" and event["records"] for event in self._events_of(self._starts[-1]))

    def _start_again(self) -> None:
        commits = not self._starts[-1].commits
        begin = time.time()
        process = self._start(commits)
        process.send("join", seconds=JOIN_SECONDS)
        self._starts.append(ConsumerStart(process, begin, commits))

    def finish(self) -> None:
        """Let the consumer be given its partition, and all that it can read. Raises NotSeen."""
        until(self._has_partition, what="the partition for the consumer", seconds=JOIN_SECONDS)
        empty = 0
        while empty < LAST_POLLS:
            empty = 0 if self._poll(MOST_RECORDS)["records"] else empty + 1

    def seen(self) -> OfConsumer:
        """Return what was seen of the consumer in the run."""
        ended = tuple(done.when for done in self.done if done.control != "poll")
        return OfConsumer(tuple(self._joined()), tuple(self._given()), ended)

    def _joined(self) -> Iterator[Joined]:
        for start in self._starts[1:]:
            for event in filter(_is_join, start.process.events):
                yield Joined(event["position"] - self.base, (start.when, event["at"] + CLOCK_SECONDS))

    def _given(self) -> Iterator[Given]:
        """Yield the records that poll() returned: the client can have fetched them since poll() returned before."""
        for start in self._starts:
            since = start.when
            for event in self._events_of(start):
                records = event["records"] if event["event"] == "polled" else ()
                for record in records:
                    if record["offset"] >= self.base:
                        number = send_of(record["value"].encode()).record
                        yield Given(record["offset"] - self.base, number, (since, event["at"] + CLOCK_SECONDS))
                if records or _is_join(event):
                    since = event["at"]

    def _events_of(self, start: ConsumerStart) -> Sequence[Event]:
        return start.process.events[self._first_event if start is self._starts[0] else 0 :]

    def kill(self) -> None:
        """End the process at the end of the run."""
        self._process.kill()


def _is_join(event: Event) -> bool:
    return event["event"] == "assigned" and event.get("position") is not None
