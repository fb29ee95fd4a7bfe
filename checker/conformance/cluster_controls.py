"""The controls of a real cluster with some producers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.disk import DurableRecords, Partition
from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.gate import Gate
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.waiting import until
from proofka.checker.conformance.consumer_controls import ConsumerControls
from proofka.checker.conformance.controls import NOBODY, Control
from proofka.checker.conformance.observations import Done
from proofka.checker.conformance.producer_controls import ProducerControls
from proofka.checker.conformance.watching import Watcher

LONGEST_WAIT_SECONDS = 3.0
"""Seconds of the longest ``wait``."""

_HELD = ("fetch", "change", "metadata")
"""The traffic of a broker that the proxy can hold, for all topics."""


class ClusterControls:
    """The controls of a cluster, with those of each producer and of the consumers of their topics.

    ``done``: the shared controls that were used.

    ``end_seconds``: seconds within which a run comes to its end.
    """

    def __init__(
        self,
        cluster: Cluster,
        proxy: Proxy,
        watcher: Watcher,
        *,
        producers: Sequence[ProducerControls],
        consumers: Sequence[ConsumerControls] = (),
        end_seconds: float,
    ) -> None:
        self._cluster, self._proxy, self._watcher = cluster, proxy, watcher
        self._of = {controls.producer.number: controls for controls in producers}
        self._consumer_of = {controls.number: controls for controls in consumers}
        self._end_seconds = end_seconds
        self._gates: dict[tuple[str, int], Gate] = {}
        self._cut: set[int] = set()
        self.done: list[Done] = []

    @property
    def _up(self) -> list[int]:
        return [broker for broker in self._cluster.plan.brokers if self._cluster.node(broker).is_up]

    @property
    def _live(self) -> set[int]:
        """The brokers that the controller does not treat as gone, and has taken back since their last start."""
        return {broker for broker in self._watcher.live if self._back_since(broker) >= self._started(broker)}

    def _started(self, broker: int) -> float:
        starts = (done.when[0] for done in self.done if (done.control, done.broker) == ("restart", broker))
        return max(starts, default=0.0)

    def _back_since(self, broker: int) -> float:
        decisions = (decision for decision in self._watcher.of_brokers if decision.broker == broker)
        return max((decision.seen for decision in decisions if not decision.is_gone), default=0.0)

    def possible(self) -> Sequence[Control]:
        up = self._up
        running = [broker for broker in up if not self._cluster.node(broker).is_paused]
        leaders = {self._watcher.partition(each.producer.topic).leader for each in self._of.values()}
        can_hold = {
            "fetch": [broker for broker in running if leaders - {broker}],
            "change": [broker for broker in running if broker in leaders],
            "metadata": running,
        }
        found = [Control("wait")]
        for name in _HELD:
            found += [Control(f"hold_{name}", broker) for broker in can_hold[name] if (name, broker) not in self._gates]
            found += [Control(f"release_{name}", broker) for held, broker in sorted(self._gates) if held == name]
        for broker in self._cluster.plan.brokers:
            found += self._of_broker(broker, up, running)
        own = (each.possible(running) for each in self._of.values())
        of_consumers = (each.possible() for each in self._consumer_of.values())
        return [*found, *(control for controls in (*own, *of_consumers) for control in controls)]

    def _of_broker(self, broker: int, up: Sequence[int], running: Sequence[int]) -> list[Control]:
        names: list[str] = []
        if broker in running:
            names += ["reconnect"] if broker in self._cut else ["cut_off"]
            names += ["pause"] if len(running) > 1 else []
        if broker in up and len(up) > 1:
            names += ["kill", "lose_power"] if broker in self._live else ["kill"]
            names += ["stop"] if broker in self._live and self._can_stop(running) else []
        if broker in up and broker not in running:
            names.append("resume")
        if broker not in up:
            names.append("restart")
        return [Control(name, broker) for name in names]

    def _can_stop(self, running: Sequence[int]) -> bool:
        """Tell whether a stop comes to its end: it waits for what the controller has for each running broker."""
        held = {what for what, _ in self._gates}
        return not self._cut and not held & {"metadata", "change"} and set(self._live) == set(running) == set(self._up)

    def use(self, control: Control, choice: float) -> None:
        name, broker = control.name, control.broker
        if control.is_of_consumer:
            self._consumer_of[control.producer].use(control)
        elif control.producer != NOBODY:
            self._of[control.producer].use(control)
        elif name.startswith("hold_"):
            self._do(control, lambda: self._hold(name.removeprefix("hold_"), broker))
        elif name.startswith("release_"):
            self._do(control, self._gates.pop((name.removeprefix("release_"), broker)).remove)
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
            "stop": lambda: self._cluster.stop(broker),
            "restart": lambda: self._cluster.restart(broker),
            "pause": lambda: self._cluster.pause(broker),
            "resume": lambda: self._cluster.resume(broker),
            "cut_off": lambda: self._cut_off(broker),
            "reconnect": lambda: self._reconnect(broker),
        }

    def _hold(self, what: str, broker: int) -> None:
        link, side, api, client = {
            "fetch": (r"replica->\d+", "request", "Fetch", f"broker-{broker}-fetcher"),
            "change": (f"{broker}->controller", "response", "AlterPartition", ""),
            "metadata": (f"{broker}->controller", "response", "Fetch", ""),
        }[what]
        self._gates[what, broker] = self._proxy.gate(link, side, apis={api}, client=client)

    def _wait(self, seconds: float) -> None:
        """Wait until something changes on a disk or at a client, for some seconds at most."""
        before = self._state()
        with suppress(NotSeen):
            until(lambda: self._state() != before, what="a change", seconds=seconds)

    def _state(self) -> tuple[int, int]:
        return self._watcher.changes, sum(len(each.producer.process.events) for each in self._of.values())

    def _lose_power(self, broker: int, choice: float) -> None:
        ends: dict[Partition, int] = {}
        kept: dict[Partition, int] = {}
        for each in self._of.values():
            at, end = (each.producer.topic, 0), self._cluster.log_end(broker, each.producer.topic)
            least = min(each.producer.base, end)
            ends[at], kept[at] = end, least + int(choice * (end - least + 1))
        try:
            self._cluster.power_loss(broker, kept)
        except DurableRecords:
            self._cluster.power_loss(broker, ends)

    def _cut_off(self, broker: int) -> None:
        self._cut.add(broker)
        self._proxy.refuse(f"{broker}->controller")

    def _reconnect(self, broker: int) -> None:
        self._cut.discard(broker)
        self._proxy.accept(f"{broker}->controller")

    def finish(self) -> None:
        """Release, resume and start everything; wait until the sends are over, and all logs are equal in one ISR.

        Raises NotSeen.
        """
        for (what, broker), gate in sorted(self._gates.items()):
            self._do(Control(f"release_{what}", broker), gate.remove)
        self._gates.clear()
        for each in self._of.values():
            each.release()
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
        for consumer in self._consumer_of.values():
            consumer.finish()

    def _is_over(self) -> bool:
        return all(each.is_over() for each in self._of.values())
