"""A producer or consumer of aiokafka, driven by the line protocol. The library runs in the program's event loop.

Producer: the library connects, and asks for the producer id, in start(), which "prepare" calls, or "init" where there
was no "prepare". So the producer id of a transactional producer comes with the first of these two commands. "report"
comes from the future that send() returns. No record is written before "send".

Consumer: "join" calls start(), which joins the group and waits for the first assignment. "poll" calls getmany(), with
"count" for max_records; the library fetches ahead by itself, and a record that it has not handed over does not change
the position. Heartbeats, rebalances and automatic commits go on in the event loop between commands, as the library does
by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict
from threading import Thread
from typing import Any

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition

from proofka.checker.cluster.programs.python.protocol import (
    Client,
    Command,
    Ended,
    Events,
    chosen,
    commands,
    deadline,
    send_in,
    start,
    told,
)
from proofka.checker.cluster.programs.python.settings import Started, classes_of, python_settings

ASSIGNORS = "partition_assignment_strategy"
"""The setting whose values are classes."""
MODULES = (
    "aiokafka.coordinator.assignors.range",
    "aiokafka.coordinator.assignors.roundrobin",
    "aiokafka.coordinator.assignors.sticky.sticky_assignor",
)
"""The modules of the assignors."""


async def thrown(call: Awaitable[object]) -> dict[str, Any]:
    """Return the fields that tell how a call ended."""
    try:
        await call
    except Exception as error:
        return told(error)
    return told(None)


class _Looping:
    """A client in an event loop of its own, which commands reach from the standard input."""

    methods: Mapping[str, Callable[[Command], Awaitable[None]]]

    def __init__(self, given: Started, events: Events) -> None:
        self.topic = given.topic
        self.partition = TopicPartition(given.topic, 0)
        self.events = events
        self.settings = python_settings(given.settings)
        if ASSIGNORS in given.settings:
            self.settings[ASSIGNORS] = classes_of(given.settings[ASSIGNORS], MODULES)
        self.settings["bootstrap_servers"] = given.bootstrap.split(",")
        self.loop = asyncio.new_event_loop()
        self.loop.run_until_complete(self.make())

    async def make(self) -> None:
        """Make the library's client, which needs the running loop."""
        raise NotImplementedError

    def serve(self) -> None:
        """Run commands until "close", or the end of the input; the library runs all the time."""
        self.loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        waiting: asyncio.Queue[Command | None] = asyncio.Queue()
        Thread(target=self._read_into, args=(waiting,), daemon=True).start()
        while (command := await waiting.get()) is not None:
            try:
                await chosen(command["do"], self.methods)(command)
            except Ended:
                raise
            except Exception as error:
                self.events.fail(command, error)

    def _read_into(self, waiting: asyncio.Queue[Command | None]) -> None:
        for command in commands():
            self.loop.call_soon_threadsafe(waiting.put_nowait, command)
        self.loop.call_soon_threadsafe(waiting.put_nowait, None)


class _Producing(_Looping):
    async def make(self) -> None:
        """Make the producer, without a connection."""
        self.producer = AIOKafkaProducer(**self.settings)
        self._started = False
        self.methods = {
            "prepare": self._prepare,
            "send": self._send,
            "init": self._init,
            "begin": lambda command: self._tell("begun", self.producer.begin_transaction()),
            "commit": lambda command: self._tell("committed", self.producer.commit_transaction()),
            "abort": lambda command: self._tell("aborted", self.producer.abort_transaction()),
            "send_offsets": self._send_offsets,
            "close": self._close,
        }

    async def _start(self, seconds: float) -> None:
        if not self._started:
            await asyncio.wait_for(self.producer.start(), seconds)
            self._started = True

    async def _prepare(self, command: Command) -> None:
        await self._start(deadline(command) - time.monotonic())
        partitions = sorted(await self.producer.partitions_for(self.topic))
        numbering = self.producer._txn_manager
        number = None if numbering is None else numbering.producer_id
        self.events.say("prepared", partitions=partitions, producer_id=number)

    async def _init(self, command: Command) -> None:
        self.events.say("initialised", **await thrown(self._start(deadline(command) - time.monotonic())))

    async def _send(self, command: Command) -> None:
        if not self._started:
            raise RuntimeError("The producer has not started: prepare it, or initialise it, before")
        send = send_in(command)

        def report(future: asyncio.Future[Any]) -> None:
            error = future.exception()
            offset = None if error is not None else future.result().offset
            known = offset if offset is not None and offset >= 0 else None
            self.events.say("report", **asdict(send), offset=known, **told(error))

        future = await self.producer.send(self.topic, send.value.encode(), partition=0)
        self.events.say("sent", **asdict(send))
        future.add_done_callback(report)

    async def _tell(self, event: str, call: Awaitable[object]) -> None:
        self.events.say(event, **await thrown(call))

    async def _send_offsets(self, command: Command) -> None:
        source = TopicPartition(command.get("topic", self.topic), int(command.get("partition", 0)))
        offsets = {source: int(command["offset"])}
        await self._tell("offsets_sent", self.producer.send_offsets_to_transaction(offsets, command["group"]))

    async def _close(self, command: Command) -> None:
        await self.producer.stop()
        self.events.say("closed")
        raise Ended


class _Consuming(_Looping, ConsumerRebalanceListener):  # type: ignore[misc]
    async def make(self) -> None:
        """Make the consumer, without a connection."""
        self.consumer = AIOKafkaConsumer(**self.settings)
        self.methods = {"join": self._join, "poll": self._poll, "commit": self._commit, "close": self._close}

    async def _join(self, command: Command) -> None:
        end = deadline(command)
        if self.settings.get("group_id") is not None:
            self.consumer.subscribe([self.topic], listener=self)
        else:
            self.consumer.assign([self.partition])
        await asyncio.wait_for(self.consumer.start(), end - time.monotonic())
        while len(self.consumer.assignment()) < command.get("partitions", 1):
            if time.monotonic() > end:
                raise TimeoutError("The group has given the consumer too few partitions yet")
            await asyncio.sleep(0.01)  # between two looks
        assigned = self.consumer.assignment()
        self.events.say(
            "assigned",
            partitions=sorted(one.partition for one in assigned),
            position=await self.consumer.position(self.partition) if self.partition in assigned else None,
        )

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Tell the assignment."""
        self._tell_rebalance("assigned", assigned)

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Tell what the group takes; at the first assignment the library names nothing here."""
        self._tell_rebalance("revoked", revoked)

    def _tell_rebalance(self, kind: str, changed: Iterable[TopicPartition]) -> None:
        self.events.say("rebalance", kind=kind, partitions=sorted(one.partition for one in changed))

    async def _poll(self, command: Command) -> None:
        end = time.monotonic() + command["milliseconds"] / 1000
        records: list[dict[str, Any]] = []
        left = 1.0 if command["count"] else 0.0
        if not command["count"]:
            await asyncio.sleep(command["milliseconds"] / 1000)  # the library does everything by itself meanwhile
        while not records and left > 0:
            left = max(0.0, end - time.monotonic())
            found = await self.consumer.getmany(timeout_ms=int(left * 1000), max_records=command["count"])
            for several in found.values():
                records += [{"offset": one.offset, "value": one.value.decode()} for one in several]
        await self._let_go()
        self.events.say("polled", records=records, held=0)

    async def _let_go(self) -> None:
        """Have the library fetch again if it has handed over all that it fetched.

        getmany() with ``max_records`` keeps what it has fetched until the next call, and fetches nothing before.
        """
        for partition in self.consumer.assignment():
            if self.consumer.highwater(partition) == await self.consumer.position(partition):
                await self.consumer.getmany(partition, timeout_ms=0)

    async def _commit(self, command: Command) -> None:
        offset = command.get("offset")
        chosen_offsets = () if offset is None else ({self.partition: int(offset)},)
        self.events.say("committed", offset=offset, **await thrown(self.consumer.commit(*chosen_offsets)))

    async def _close(self, command: Command) -> None:
        await self.consumer.stop()
        self.events.say("closed")
        raise Ended


def make(given: Started, events: Events) -> Client:
    """Return the client that the command line asks for."""
    return _Producing(given, events) if given.role == "producer" else _Consuming(given, events)


if __name__ == "__main__":
    start(make, aiokafka.__version__)
