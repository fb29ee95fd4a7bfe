"""The controls of one producer of a run, and of the topic that only this producer writes into."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from proofka.checker.cluster.admin import Refused
from proofka.checker.cluster.client import ClientProcess, Event, event_is
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.errors import ClientEnded, NotSeen
from proofka.checker.cluster.gate import Gate
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.wire import NoAnswer
from proofka.checker.conformance.controls import Control
from proofka.checker.conformance.gathering import requests_of
from proofka.checker.conformance.observations import Done
from proofka.checker.conformance.watching import Watcher

SEND_SECONDS = 1.0
"""Seconds within which a call of ``send()`` returns; a call that takes longer goes on beside other controls."""

_ENDS = ("crash", "replace")
"""The controls that end the process of the producer."""

_HELD = ("request", "response")
"""The sides of the producer's connection to a broker that the proxy can hold."""


@dataclass(frozen=True)
class RunProducer:
    """A producer with its topic.

    ``number``: from 1. ``order``: the brokers in the order of the topic's replicas, the first leader first. ``base``:
    the first offset of the run. ``records``: the number of records that the run sends. ``first_event``: the number of
    events of the process before the run. ``earlier``: the events of processes of this run that were killed.
    """

    number: int
    topic: str
    order: tuple[int, ...]
    client_id: str
    process: ClientProcess
    base: int
    records: int
    first_event: int
    earlier: tuple[Event, ...] = ()

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of the process in this run."""
        return self.earlier + self.process.events[self.first_event :]


class ProducerControls:
    """The controls of one producer.

    ``done``: those that were used. ``commanded``: by record, the time of its command. ``restart``: starts another
    process for a producer; None for an application whose process never ends.
    """

    def __init__(
        self,
        cluster: Cluster,
        proxy: Proxy,
        watcher: Watcher,
        *,
        producer: RunProducer,
        restart: Callable[[RunProducer], ClientProcess] | None = None,
    ) -> None:
        self._cluster, self._proxy, self._watcher = cluster, proxy, watcher
        self.producer, self._restart = producer, restart
        self._forgotten: set[int] = set()
        self._first = len(proxy.seen)
        self._gates: dict[tuple[str, int], Gate] = {}
        self.commanded: dict[int, float] = {}
        self.done: list[Done] = []

    def possible(self, running: Sequence[int]) -> list[Control]:
        """Return the controls that can be used now. ``running``: the brokers that are up and not paused."""
        partition = self._watcher.partition(self.producer.topic)
        found: list[tuple[str, int]] = [(name, 0) for name in self._calls()]
        for name in _HELD:
            if partition.leader in running and (name, partition.leader) not in self._gates:
                found.append((f"hold_{name}", partition.leader))
            found += [(f"release_{name}", broker) for held, broker in sorted(self._gates) if held == name]
        for broker in running:
            if self._in_flight(broker):
                found.append(("drop_request", broker))
            gate = self._gates.get(("request", broker))
            if gate is not None and gate.held:
                found.append(("detach_request", broker))
            if broker in partition.isr and partition.leader not in (0, broker):
                found.append(("move_leader", broker))
        return [Control(name, broker, self.producer.number) for name, broker in found]

    def _calls(self) -> list[str]:
        """Return the controls of the application that can be used now."""
        found = []
        if len(self.commanded) < self.producer.records and not self._waits_for_request():
            found.append("send")
        if self._restart is not None and self._sends_returned() and not self.commanded.keys() <= self._over():
            found.append("crash")
        return found

    def _sends_returned(self) -> bool:
        """Tell whether each call of ``send()`` has returned."""
        returned = {event["record"] for event in self.producer.events if event["event"] == "sent"}
        return self.commanded.keys() <= returned

    def _waits_for_request(self) -> bool:
        """Tell whether a record waits in the client: the next one would share its batch."""
        return not self.commanded.keys() <= self._requested() | self._over()

    def _over(self) -> set[int]:
        """Return the records of which the application does not wait for a report."""
        return self._forgotten | {event["record"] for event in self.producer.events if event["event"] == "report"}

    def _requested(self) -> set[int]:
        """Return the records that a request had."""
        entries = tuple(self._proxy.seen)[self._first :]
        requests = requests_of(entries, self.producer.client_id, self.producer.records)
        return {record for request in requests for record in request.records}

    def _in_flight(self, broker: int) -> bool:
        link, client = f"client->{broker}", self.producer.client_id
        frames = (*self._proxy.waiting(link, "request"), *self._proxy.waiting(link, "response"))
        waiting = any(frame.client == client and frame.api == "Produce" for frame in frames)
        return waiting or self._proxy.outstanding(link, "Produce", self._client) > 0

    @property
    def sent(self) -> dict[int, float]:
        """The times of the commands to send, by record."""
        return self.commanded

    @property
    def _client(self) -> str:
        """The regular expression for the whole client id: that of another producer can begin with the same words."""
        return f"^{self.producer.client_id}$"

    def use(self, control: Control) -> None:
        """Use a control of this producer."""
        name, broker = control.name, control.broker
        begin = time.time()
        self._ways(broker)[name]()
        self.done.append(Done(name, broker, (begin, time.time())))
        if name in _ENDS:
            self._after_end()

    def _ways(self, broker: int) -> dict[str, Callable[[], object]]:
        """Return the function of each control."""
        ways: dict[str, Callable[[], object]] = {
            "send": self._send,
            "crash": self._end_program,
            "drop_request": lambda: self._proxy.cut(f"client->{broker}", self._client),
            "detach_request": lambda: self._detach(broker),
            "move_leader": lambda: self._move_leader(broker),
        }
        for held in _HELD:
            ways[f"hold_{held}"] = lambda held=held: self._hold(held, broker)  # type: ignore[misc]
            ways[f"release_{held}"] = lambda held=held: self._gates.pop((held, broker)).remove()  # type: ignore[misc]
        return ways

    def _after_end(self) -> None:
        """Start another process in place of one that was ended."""
        assert self._restart is not None, "a control that ends the process is possible only with a restart"
        process = self._restart(self.producer)
        earlier, first = self.producer.events, len(process.events)
        self.producer = replace(self.producer, process=process, first_event=first, earlier=earlier)

    def _hold(self, side: str, broker: int) -> None:
        self._gates[side, broker] = self._proxy.gate(f"client->{broker}", side, apis={"Produce"}, client=self._client)

    def _detach(self, broker: int) -> None:
        gate = self._gates["request", broker]
        for frame in gate.held[:1]:
            gate.detach(frame)

    def _send(self) -> None:
        self._send_record(len(self.commanded))

    def _send_record(self, record: int) -> None:
        process = self.producer.process
        self.commanded[record] = time.time()
        process.send("send", record=record)
        with suppress(NotSeen):
            sent, after = event_is("sent", record=record), self.producer.first_event
            process.wait_event(sent, what="sent", seconds=SEND_SECONDS, after=after)

    def _end_program(self) -> None:
        """End the process, and read its last events; what it has not reported then, nobody reports."""
        process = self.producer.process
        process.kill()
        with suppress(ClientEnded):
            process.wait_event(lambda event: False, what="the end of its events", seconds=SEND_SECONDS)
        self._forgotten |= self.commanded.keys() - self._over()

    def _move_leader(self, broker: int) -> None:
        """Elect the broker as the preferred leader, and put the replicas back into their order."""
        order, topic = self.producer.order, self.producer.topic
        with suppress(Refused, NoAnswer):
            self._cluster.admin.reorder_replicas(topic, (broker, *(each for each in order if each != broker)))
            with suppress(Refused, NoAnswer):
                self._cluster.admin.elect_preferred_leader(topic)
            self._cluster.admin.reorder_replicas(topic, order)

    def release(self) -> None:
        """Let go everything that is held."""
        for held, broker in sorted(self._gates):
            self.use(Control(f"release_{held}", broker, self.producer.number))

    def is_over(self) -> bool:
        """Tell whether all sends are over, and all logs are equal in one ISR."""
        return self._over() >= self.commanded.keys() and self._logs_are_equal()

    def _logs_are_equal(self) -> bool:
        topic, brokers = self.producer.topic, self._cluster.plan.brokers
        with suppress(NoAnswer):
            isr = set(self._cluster.view(CONTROLLER, topic).isr)
            logs = {self._cluster.batches(broker, topic) for broker in brokers}
            return isr == set(brokers) and len(logs) == 1
        return False
