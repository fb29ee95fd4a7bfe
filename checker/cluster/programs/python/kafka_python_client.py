"""A producer or consumer of kafka-python, driven by the line protocol.

Producer: a thread of the library sends and retries. "report" comes from the future that send() returns. "prepare"
fetches metadata with partitions_for(); the library's thread asks for the producer id of an idempotent producer by
itself, and the program looks at the library's own transaction manager. No record is written.

Consumer: "poll" calls poll(), with "count" for max_records; the library holds further records back, before the
position. A poll for no record takes one at most, which the program holds for the next poll. Automatic commits and
rebalances happen in the library's poll(), the heartbeats in a thread of the library, up to max_poll_interval_ms. The
partition is paused while "join" polls for the assignment. There is no poll between commands. The first assignment is
often empty: the library can compute it before it has metadata.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import kafka
from kafka.consumer.subscription_state import ConsumerRebalanceListener

from proofka.checker.cluster.programs.python.protocol import (
    Client,
    Command,
    Ended,
    Events,
    commands,
    deadline,
    run,
    send_in,
    start,
    thrown,
    told,
)
from proofka.checker.cluster.programs.python.settings import Started, classes_of, python_settings

ASSIGNORS = "partition_assignment_strategy"
"""The setting whose values are classes."""
MODULES = (
    "kafka.coordinator.assignors.range",
    "kafka.coordinator.assignors.roundrobin",
    "kafka.coordinator.assignors.sticky.sticky_assignor",
    "kafka.coordinator.assignors.cooperative_sticky",
)
"""The modules of the assignors."""


def committed_at(offset: int) -> Any:
    """Return an offset as the library's release takes it for a commit."""
    fields = {"offset": offset, "metadata": "", "leader_epoch": -1}
    return kafka.OffsetAndMetadata(**{name: fields[name] for name in kafka.OffsetAndMetadata._fields})


class _Producing:
    def __init__(self, given: Started, events: Events) -> None:
        self.topic = given.topic
        self.events = events
        self.producer = kafka.KafkaProducer(
            **python_settings(given.settings), bootstrap_servers=given.bootstrap.split(",")
        )
        self.methods = {
            "prepare": self._prepare,
            "send": self._send,
            "init": lambda command: self._tell("initialised", self.producer.init_transactions),
            "begin": lambda command: self._tell("begun", self.producer.begin_transaction),
            "commit": lambda command: self._tell("committed", self.producer.commit_transaction),
            "abort": lambda command: self._tell("aborted", self.producer.abort_transaction),
            "send_offsets": self._send_offsets,
            "close": self._close,
        }

    def serve(self) -> None:
        """Run commands until "close", or the end of the input."""
        for command in commands():
            run(command, self.methods, self.events)

    def _prepare(self, command: Command) -> None:
        end = deadline(command)
        partitions = sorted(self.producer.partitions_for(self.topic))
        numbering = getattr(self.producer, "_transaction_manager", None)
        number = None
        if numbering is not None and not numbering.is_transactional():
            while not numbering.has_producer_id():
                if time.monotonic() > end:
                    raise TimeoutError("The producer has no producer id yet")
                time.sleep(0.01)  # between two looks at what the library's thread got
            number = numbering.producer_id_and_epoch.producer_id
        self.events.say("prepared", partitions=partitions, producer_id=number)

    def _send(self, command: Command) -> None:
        send = send_in(command)

        def report(offset: int | None, error: BaseException | None) -> None:
            known = offset if offset is not None and offset >= 0 else None
            self.events.say("report", **asdict(send), offset=known, **told(error))

        future = self.producer.send(self.topic, send.value.encode(), partition=0)
        self.events.say("sent", **asdict(send))
        future.add_callback(lambda metadata: report(metadata.offset, None))
        future.add_errback(lambda error: report(None, error))

    def _tell(self, event: str, call: Callable[[], object]) -> None:
        self.events.say(event, **thrown(call))

    def _send_offsets(self, command: Command) -> None:
        source = kafka.TopicPartition(command.get("topic", self.topic), int(command.get("partition", 0)))
        offsets = {source: committed_at(int(command["offset"]))}
        member: Any = command["group"]
        if command.get("membership"):
            member = kafka.ConsumerGroupMetadata(*command["membership"])
        self._tell("offsets_sent", lambda: self.producer.send_offsets_to_transaction(offsets, member))

    def _close(self, command: Command) -> None:
        self.producer.close()
        self.events.say("closed")
        raise Ended


class _Consuming(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, given: Started, events: Events) -> None:
        self.topic = given.topic
        self.partition = kafka.TopicPartition(given.topic, 0)
        self.events = events
        settings = python_settings(given.settings)
        if ASSIGNORS in given.settings:
            settings[ASSIGNORS] = classes_of(given.settings[ASSIGNORS], MODULES)
        self.grouped = settings.get("group_id") is not None
        self.consumer = kafka.KafkaConsumer(**settings, bootstrap_servers=given.bootstrap.split(","))
        self.held: list[dict[str, Any]] = []
        self._joining = self._assigned = False
        self.methods = {"join": self._join, "poll": self._poll, "commit": self._commit, "close": self._close}

    def serve(self) -> None:
        """Run commands until "close", or the end of the input."""
        for command in commands():
            run(command, self.methods, self.events)

    def _join(self, command: Command) -> None:
        if self.grouped:
            self._joining = True
            self._wait_for_assignment(deadline(command), command.get("partitions", 1))
            self._joining = False
        else:
            self.consumer.assign([self.partition])
        assigned = self.consumer.assignment()
        group_metadata = getattr(self.consumer, "group_metadata", None)
        self.events.say(
            "assigned",
            partitions=sorted(one.partition for one in assigned),
            position=self.consumer.position(self.partition) if self.partition in assigned else None,
            membership=list(group_metadata()) if self.grouped and group_metadata is not None else None,
        )

    def _wait_for_assignment(self, end: float, least: int) -> None:
        self.consumer.subscribe([self.topic], listener=self)
        while not self._assigned or len(self.consumer.assignment()) < least:
            if time.monotonic() > end:
                raise TimeoutError("The group has given the consumer no assignment yet")
            if self.consumer.poll(timeout_ms=100):
                raise RuntimeError("a record came from a paused partition")
        self.consumer.resume(*self.consumer.assignment())

    def on_partitions_assigned(self, assigned: Iterable[kafka.TopicPartition]) -> None:
        """Tell the assignment; pause it while "join" runs."""
        if self._joining:
            self.consumer.pause(*assigned)
        self._assigned = True
        self._tell_rebalance("assigned", assigned)

    def on_partitions_revoked(self, revoked: Iterable[kafka.TopicPartition]) -> None:
        """Tell what the group takes."""
        self._tell_rebalance("revoked", revoked)

    def on_partitions_lost(self, lost: Iterable[kafka.TopicPartition]) -> None:
        """Tell what the group took before."""
        self._tell_rebalance("lost", lost)

    def _tell_rebalance(self, kind: str, changed: Iterable[kafka.TopicPartition]) -> None:
        self.events.say("rebalance", kind=kind, partitions=sorted(one.partition for one in changed))

    def _poll(self, command: Command) -> None:
        end = time.monotonic() + command["milliseconds"] / 1000
        count = int(command["count"])
        left = 1.0
        while not self.held and left > 0:
            left = max(0.0, end - time.monotonic())
            for several in self.consumer.poll(timeout_ms=int(left * 1000), max_records=max(1, count)).values():
                self.held += [{"offset": one.offset, "value": one.value.decode()} for one in several]
        records, self.held = self.held[:count], self.held[count:]
        self.events.say("polled", records=records, held=len(self.held))

    def _commit(self, command: Command) -> None:
        offset = command.get("offset")
        chosen = () if offset is None else ({self.partition: committed_at(offset)},)
        self.events.say("committed", offset=offset, **thrown(lambda: self.consumer.commit(*chosen)))

    def _close(self, command: Command) -> None:
        self.consumer.close()
        self.events.say("closed")
        raise Ended


def make(given: Started, events: Events) -> Client:
    """Return the client that the command line asks for."""
    return _Producing(given, events) if given.role == "producer" else _Consuming(given, events)


if __name__ == "__main__":
    start(make, kafka.__version__)
