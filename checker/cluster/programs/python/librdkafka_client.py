"""A producer or consumer of librdkafka (confluent-kafka), driven by the line protocol.

librdkafka sends, retries, fetches and sends heartbeats in threads of its own. It calls callbacks only in the
application's calls.

Producer: the program calls poll() all the time, which runs callbacks and does nothing else. "report" comes from the
delivery callback. "prepare" fetches metadata with list_topics(); librdkafka asks for the producer id by itself as soon
as a broker is there, and the program sees the id's state in the statistics ("eos"). No record is written.

Consumer: "poll" takes messages one at a time until the first is there, then what is at hand, at most "count". The
program holds no record back; librdkafka stores the offset of each message that it hands over, unless
enable.auto.offset.store is false. The partition is paused while "join" polls for the assignment. There is no poll
between commands.

The program sets statistics.interval.ms, if the settings do not: statistics are for the application alone.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from queue import Empty, Queue
from threading import Thread
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition, libversion

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
)
from proofka.checker.cluster.programs.python.settings import Started

STATISTICS_MILLISECONDS = 50
"""The interval of librdkafka's statistics, in milliseconds."""


def telling(error: KafkaError | None) -> dict[str, Any]:
    """Return the fields that tell an error of librdkafka: its text and its name."""
    return {"error": None, "code": None} if error is None else {"error": error.str(), "code": error.name()}


def thrown(call: Callable[[], object]) -> dict[str, Any]:
    """Return the fields that tell how a call ended."""
    try:
        call()
    except KafkaException as error:
        return telling(error.args[0])
    return telling(None)


class _Client:
    """The callbacks that producers and consumers have alike."""

    def __init__(self, given: Started, events: Events) -> None:
        self.topic = given.topic
        self.events = events
        self.statistics: dict[str, Any] = {}
        self.settings = {
            "statistics.interval.ms": str(STATISTICS_MILLISECONDS),
            **given.settings,
            "bootstrap.servers": given.bootstrap,
            "stats_cb": self._take_statistics,
            "error_cb": self._tell_error,
        }

    def _take_statistics(self, text: str) -> None:
        self.statistics = json.loads(text)

    def _tell_error(self, error: KafkaError) -> None:
        self.events.say("error", **telling(error), fatal=error.fatal())


class _Producing(_Client):
    def __init__(self, given: Started, events: Events) -> None:
        super().__init__(given, events)
        self.producer = Producer(self.settings)
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
        """Run commands and callbacks until "close", or the end of the input."""
        waiting: Queue[Command | None] = Queue()
        Thread(target=_read_into, args=(waiting,), daemon=True).start()
        while True:
            self.producer.poll(0.005)
            try:
                command = waiting.get_nowait()
            except Empty:
                continue
            if command is None:
                return
            run(command, self.methods, self.events)

    def _prepare(self, command: Command) -> None:
        end = deadline(command)
        found = self.producer.list_topics(self.topic, timeout=end - time.monotonic()).topics[self.topic]
        if found.error is not None:
            raise KafkaException(found.error)
        self.statistics = {}
        while not self._is_numbered():
            if time.monotonic() > end:
                raise TimeoutError(f"The producer has no producer id yet: {self.statistics.get('eos')}")
            self.producer.poll(0.02)
        numbering = self.statistics.get("eos", {})
        partitions = sorted(found.partitions)
        self.events.say("prepared", partitions=partitions, producer_id=numbering.get("producer_id"))

    def _is_numbered(self) -> bool:
        """Tell whether statistics show the producer id, or that "prepare" need not wait for the id."""
        if "transactional.id" in self.settings:
            return True
        return bool(self.statistics) and self.statistics.get("eos", {}).get("idemp_state", "Assigned") == "Assigned"

    def _send(self, command: Command) -> None:
        send = send_in(command)

        def report(error: KafkaError | None, message: Message) -> None:
            offset = message.offset()
            known = error is None and offset is not None and offset >= 0
            self.events.say("report", **asdict(send), offset=offset if known else None, **telling(error))

        try:
            self.producer.produce(self.topic, send.value.encode(), partition=0, on_delivery=report)
        except KafkaException as error:  # A producer that has stopped permanently refuses the record itself.
            self.events.say("report", **asdict(send), offset=None, **telling(error.args[0]))
        self.events.say("sent", **asdict(send))

    def _tell(self, event: str, call: Callable[[], object]) -> None:
        self.events.say(event, **thrown(call))

    def _send_offsets(self, command: Command) -> None:
        source = TopicPartition(
            command.get("topic", self.topic), int(command.get("partition", 0)), int(command["offset"])
        )
        member = self._membership(command)
        self._tell("offsets_sent", lambda: self.producer.send_offsets_to_transaction([source], member))

    def _membership(self, command: Command) -> bytes:
        """Return the membership from a consumer's event "assigned"; without it, that of a consumer outside the group.

        The Python package makes such an object only from a consumer, which connects and joins nothing.
        """
        if command.get("membership"):
            return base64.b64decode(command["membership"])
        consumer = Consumer({"bootstrap.servers": self.settings["bootstrap.servers"], "group.id": command["group"]})
        try:
            found: bytes = consumer.consumer_group_metadata()
            return found
        finally:
            consumer.close()

    def _close(self, command: Command) -> None:
        self.producer.flush()
        self.events.say("closed")
        raise Ended


class _Consuming(_Client):
    def __init__(self, given: Started, events: Events) -> None:
        super().__init__(given, events)
        self.consumer = Consumer(self.settings)
        self._joining = self._assigned = False
        self.methods = {
            "join": self._join,
            "poll": self._poll,
            "commit": self._commit,
            "stored": self._store,
            "close": self._close,
        }

    def serve(self) -> None:
        """Run commands until "close", or the end of the input."""
        for command in commands():
            run(command, self.methods, self.events)

    def _join(self, command: Command) -> None:
        end = deadline(command)
        self._joining = True
        self.consumer.subscribe([self.topic], self._on_assigned, self._on_revoked, self._on_lost)
        while not (self._assigned and self._is_positioned(command.get("partitions", 1))):
            if time.monotonic() > end:
                raise TimeoutError("The group has given the consumer no assignment yet")
            self._take(self.consumer.poll(0.02))
        self._joining = False
        partitions = self.consumer.assignment()
        self.consumer.resume(partitions)
        self.events.say(
            "assigned",
            partitions=[one.partition for one in partitions],
            position=self._position() if partitions else None,
            membership=base64.b64encode(self.consumer.consumer_group_metadata()).decode(),
        )

    def _of_partition(self) -> dict[str, Any]:
        found: dict[str, Any] = self.statistics.get("topics", {}).get(self.topic, {}).get("partitions", {}).get("0", {})
        return found

    def _position(self) -> int | None:
        """Return the next offset that librdkafka will fetch, as its statistics tell; None if there is no position."""
        offset = int(self._of_partition().get("next_offset", -1))
        return offset if offset >= 0 else None

    def _is_positioned(self, least: int) -> bool:
        """Tell whether ``least`` partitions are assigned, and partition 0, if assigned, has a position."""
        assigned = [one.partition for one in self.consumer.assignment()]
        return len(assigned) >= least and (0 not in assigned or self._of_partition().get("fetch_state") == "active")

    def _on_assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if self._joining:
            self.statistics = {}
            self._assigned = True
            if self._is_incremental():
                consumer.incremental_assign(partitions)
            else:
                consumer.assign(partitions)
            consumer.pause(partitions)
        self._tell_rebalance("assigned", partitions)

    def _is_incremental(self) -> bool:
        cooperative = self.settings.get("partition.assignment.strategy") == "cooperative-sticky"
        return cooperative or self.settings.get("group.protocol") == "consumer"

    def _on_revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._tell_rebalance("revoked", partitions)

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._tell_rebalance("lost", partitions)

    def _tell_rebalance(self, kind: str, partitions: list[TopicPartition]) -> None:
        self.events.say("rebalance", kind=kind, partitions=[one.partition for one in partitions])

    def _take(self, message: Message | None) -> dict[str, Any] | None:
        """Return a record's fields; tell an error in place of a record."""
        if message is None:
            return None
        if message.error() is not None:
            self.events.say("error", **telling(message.error()), fatal=message.error().fatal())
            return None
        return {"offset": message.offset(), "value": message.value().decode()}

    def _poll(self, command: Command) -> None:
        end = time.monotonic() + command["milliseconds"] / 1000
        records: list[dict[str, Any]] = []
        if not command["count"]:
            time.sleep(command["milliseconds"] / 1000)  # librdkafka does everything by itself meanwhile
        while len(records) < command["count"]:
            left = 0.0 if records else max(0.0, end - time.monotonic())
            record = self._take(self.consumer.poll(left))
            if record is not None:
                records.append(record)
            elif left == 0.0:
                break
        self.events.say("polled", records=records, held=0)

    def _commit(self, command: Command) -> None:
        offset = command.get("offset")
        chosen = {} if offset is None else {"offsets": [TopicPartition(self.topic, 0, offset)]}
        result: list[dict[str, Any]] = []

        def call() -> None:
            result.extend(telling(one.error) for one in self.consumer.commit(asynchronous=False, **chosen))

        outcome = thrown(call)
        refused = [one for one in result if one["error"] is not None]
        self.events.say("committed", offset=offset, **(refused[0] if refused else outcome))

    def _store(self, command: Command) -> None:
        offset = int(command["offset"])
        outcome = thrown(lambda: self.consumer.store_offsets(offsets=[TopicPartition(self.topic, 0, offset)]))
        self.events.say("stored", offset=offset, **outcome)

    def _close(self, command: Command) -> None:
        self.consumer.close()
        self.events.say("closed")
        raise Ended


def _read_into(waiting: Queue[Command | None]) -> None:
    for command in commands():
        waiting.put(command)
    waiting.put(None)


def make(given: Started, events: Events) -> Client:
    """Return the client that the command line asks for."""
    return _Producing(given, events) if given.role == "producer" else _Consuming(given, events)


if __name__ == "__main__":
    start(make, libversion()[0])
