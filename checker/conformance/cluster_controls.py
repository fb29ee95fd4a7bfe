"""The controls of a real cluster with a producer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from checker.cluster.admin import Refused
from checker.cluster.client import ClientProcess, event_is
from checker.cluster.cluster import Cluster
from checker.cluster.disk import DurableRecords
from checker.cluster.errors import NotSeen
from checker.cluster.gate import Gate
from checker.cluster.plan import CONTROLLER
from checker.cluster.proxy import Proxy
from checker.cluster.waiting import until
from checker.cluster.wire import NoAnswer
from checker.conformance.controls import Control
from checker.conformance.gathering import requests_of
from checker.conformance.observations import BrokerDecision, Done, PartitionDecision
from checker.conformance.watching import Watcher

LONGEST_WAIT_SECONDS = 3.0
"""Seconds of the longest ``wait``."""

SEND_SECONDS = 1.0
"""Seconds within which a call of ``send()`` returns; a call that takes longer goes on beside other controls."""

_HELD = ("request", "response", "fetch", "change", "metadata")
"""The traffic of a broker that the proxy can hold."""


class ClusterControls:
    """The controls of a cluster: ``records`` to send into ``topic``, by one producer.

    ``base``: the first offset of the run. ``end_seconds``: seconds within which a run comes to its end.
    """

    def __init__(
        self,
        cluster: Cluster,
        proxy: Proxy,
        watcher: Watcher,
        *,
        producer: ClientProcess,
        client_id: str,
        topic: str,
        base: int,
        records: int,
        end_seconds: float,
    ) -> None:
        self._cluster, self._proxy, self._watcher = cluster, proxy, watcher
        self._producer, self._client_id, self._topic = producer, client_id, topic
        self._base, self._records, self._end_seconds = base, records, end_seconds
        self._first = len(proxy.seen)
        self._gates: dict[tuple[str, int], Gate] = {}
        self._cut: set[int] = set()
        self.commanded: dict[int, float] = {}
        self.done: list[Done] = []

    @property
    def _up(self) -> list[int]:
        return [broker for broker in self._cluster.plan.brokers if self._cluster.node(broker).is_up]

    @property
    def _partition(self) -> PartitionDecision:
        return next(d for d in reversed(self._watcher.decisions) if isinstance(d, PartitionDecision))

    def _requested(self) -> set[int]:
        """Return the records that a request had: a record that waits in the client would share the next one's batch."""
        requests = requests_of(tuple(self._proxy.seen)[self._first :], self._client_id, self._records)
        return {record for request in requests for record in request.records}

    @property
    def _live(self) -> set[int]:
        """The brokers that the controller does not treat as gone, and has taken back since their last start."""
        return {broker for broker in self._watcher.live if self._back_since(broker) >= self._started(broker)}

    def _started(self, broker: int) -> float:
        starts = (done.when[0] for done in self.done if (done.control, done.broker) == ("restart", broker))
        return max(starts, default=0.0)

    def _back_since(self, broker: int) -> float:
        decisions = (d for d in self._watcher.decisions if isinstance(d, BrokerDecision) and d.broker == broker)
        return max((decision.seen for decision in decisions if not decision.is_fenced), default=0.0)

    def possible(self) -> Sequence[Control]:
        up, partition = self._up, self._partition
        running = [broker for broker in up if not self._cluster.node(broker).is_paused]
        found = [Control("wait")]
        if len(self.commanded) < self._records and self.commanded.keys() <= self._requested():
            found.append(Control("send"))
        for name in _HELD:
            brokers = (
                running if name == "metadata" else [b for b in running if (b == partition.leader) != (name == "fetch")]
            )
            found += [Control(f"hold_{name}", broker) for broker in brokers if (name, broker) not in self._gates]
            found += [Control(f"release_{name}", broker) for held, broker in sorted(self._gates) if held == name]
        for broker in self._cluster.plan.brokers:
            found += self._of_broker(broker, up=up, running=running, partition=partition)
        return found

    def _of_broker(
        self, broker: int, *, up: Sequence[int], running: Sequence[int], partition: PartitionDecision
    ) -> list[Control]:
        names: list[str] = []
        if broker in running:
            names += ["reconnect"] if broker in self._cut else ["cut_off"]
            names += ["pause"] if len(running) > 1 else []
            names += ["move_leader"] if broker in partition.isr and partition.leader not in (0, broker) else []
            if self._in_flight(broker):
                names.append("drop_request")
            gate = self._gates.get(("request", broker))
            if gate is not None and gate.held:
                names.append("detach_request")
        if broker in up and len(up) > 1:
            names += ["kill", "lose_power"] if broker in self._live else ["kill"]
        if broker in up and broker not in running:
            names.append("resume")
        if broker not in up:
            names.append("restart")
        return [Control(name, broker) for name in names]

    def _in_flight(self, broker: int) -> bool:
        link = f"client->{broker}"
        frames = (*self._proxy.waiting(link, "request"), *self._proxy.waiting(link, "response"))
        waiting = any(frame.client == self._client_id and frame.api == "Produce" for frame in frames)
        return waiting or self._proxy.outstanding(link, "Produce", self._client_id) > 0

    def use(self, control: Control, choice: float) -> None:
        name, broker = control.name, control.broker
        if name.startswith("hold_"):
            self._do(control, lambda: self._hold(name.removeprefix("hold_"), broker))
        elif name.startswith("release_"):
            self._do(control, self._gates.pop((name.removeprefix("release_"), broker)).remove)
        elif name == "send":
            self._send()
        elif name == "wait":
            self._wait(choice * LONGEST_WAIT_SECONDS)
        elif name == "lose_power":
            with self._watcher.paused():
                self._do(control, lambda: self._lose_power(broker, choice))
        else:
            self._do(control, self._ways(broker)[name])

    def _do(self, control: Control, action: Callable[[], object]) -> None:
        begin = time.time()
        action()
        self.done.append(Done(control.name, control.broker, (begin, time.time())))

    def _ways(self, broker: int) -> dict[str, Callable[[], object]]:
        return {
            "kill": lambda: self._cluster.kill(broker),
            "restart": lambda: self._cluster.restart(broker),
            "pause": lambda: self._cluster.pause(broker),
            "resume": lambda: self._cluster.resume(broker),
            "cut_off": lambda: self._cut_off(broker),
            "reconnect": lambda: self._reconnect(broker),
            "drop_request": lambda: self._proxy.cut(f"client->{broker}", self._client_id),
            "detach_request": lambda: self._detach(broker),
            "move_leader": lambda: self._move_leader(broker),
        }

    def _hold(self, what: str, broker: int) -> None:
        link, side, api, client = {
            "request": (f"client->{broker}", "request", "Produce", self._client_id),
            "response": (f"client->{broker}", "response", "Produce", self._client_id),
            "fetch": (r"replica->\d+", "request", "Fetch", f"broker-{broker}-fetcher"),
            "change": (f"{broker}->controller", "response", "AlterPartition", ""),
            "metadata": (f"{broker}->controller", "response", "Fetch", ""),
        }[what]
        self._gates[what, broker] = self._proxy.gate(link, side, apis={api}, client=client)

    def _detach(self, broker: int) -> None:
        gate = self._gates["request", broker]
        for frame in gate.held[:1]:
            gate.detach(frame)

    def _send(self) -> None:
        record = len(self.commanded)
        self.commanded[record] = time.time()
        self._producer.send("send", record=record)
        with suppress(NotSeen):
            self._producer.wait_event(event_is("sent", record=record), what="sent", seconds=SEND_SECONDS)

    def _wait(self, seconds: float) -> None:
        """Wait until something changes on a disk or at the client, for some seconds at most."""
        before = self._state()
        with suppress(NotSeen):
            until(lambda: self._state() != before, what="a change", seconds=seconds)

    def _state(self) -> tuple[int, int]:
        return self._watcher.changes, len(self._producer.events)

    def _lose_power(self, broker: int, choice: float) -> None:
        end = self._cluster.log_end(broker, self._topic)
        at = (self._topic, 0)
        least = min(self._base, end)
        try:
            self._cluster.power_loss(broker, {at: least + int(choice * (end - least + 1))})
        except DurableRecords:
            self._cluster.power_loss(broker, {at: end})

    def _cut_off(self, broker: int) -> None:
        self._cut.add(broker)
        self._proxy.refuse(f"{broker}->controller")

    def _reconnect(self, broker: int) -> None:
        self._cut.discard(broker)
        self._proxy.accept(f"{broker}->controller")

    def _move_leader(self, broker: int) -> None:
        """Elect the broker as the preferred leader, and put the replicas back into their order."""
        order = self._cluster.plan.brokers
        with suppress(Refused, NoAnswer):
            self._cluster.admin.reorder_replicas(self._topic, (broker, *(each for each in order if each != broker)))
            with suppress(Refused, NoAnswer):
                self._cluster.admin.elect_preferred_leader(self._topic)
            self._cluster.admin.reorder_replicas(self._topic, order)

    def finish(self) -> None:
        """Release, resume and start everything; wait until the sends are over, and all logs are equal in one ISR.

        Raises NotSeen.
        """
        for (what, broker), gate in sorted(self._gates.items()):
            self._do(Control(f"release_{what}", broker), gate.remove)
        self._gates.clear()
        for broker in self._cluster.plan.brokers:
            node = self._cluster.node(broker)
            if broker in self._cut:
                self._do(Control("reconnect", broker), lambda broker=broker: self._reconnect(broker))  # type: ignore[misc]
            if node.is_paused and node.is_up:
                self._do(Control("resume", broker), node.resume)
            if not node.is_up:
                self._do(Control("restart", broker), node.start)
        for broker in self._cluster.plan.brokers:
            self._cluster.wait_up(broker, seconds=self._end_seconds)
        until(self._is_over, what="the end of all sends, and one ISR with equal logs", seconds=self._end_seconds)

    def _is_over(self) -> bool:
        reported = {event["record"] for event in self._producer.events if event["event"] == "report"}
        if not reported >= self.commanded.keys():
            return False
        with suppress(NoAnswer):
            isr = set(self._cluster.view(CONTROLLER, self._topic).isr)
            logs = {self._cluster.batches(broker, self._topic) for broker in self._cluster.plan.brokers}
            return isr == set(self._cluster.plan.brokers) and len(logs) == 1
        return False
