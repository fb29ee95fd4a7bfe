"""A replay on a fake cluster with fake clients, of which a test brings about one step after the other."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any, cast

from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.sends import Send
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.applications import Consuming, Producing
from proofka.checker.reproduction.comparing import compare
from proofka.checker.reproduction.gates import carried, close_gates
from proofka.checker.reproduction.plan import Plan
from proofka.checker.reproduction.replay import Replay
from proofka.checker.reproduction.run import PLANS
from proofka.properties.reproduced import Outcome
from tests.checker.cluster.wire import SECONDS
from tests.checker.reproduction import messages
from tests.checker.reproduction.fake_clients import FakeConsumer, FakeProducer
from tests.checker.reproduction.fake_cluster import FIRST_EPOCH, FakeCluster
from tests.checker.reproduction.traces import Trace


class Scene:
    """A fake cluster, and at most one replay on it. ``producer``: the producer that started last."""

    release = "4.0.2"
    changed = ()

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.proxy = stack.enter_context(Proxy())
        self.cluster = FakeCluster(self.proxy, stack)
        self.consumers: list[FakeConsumer] = []
        self.first_fetches: dict[int, int] = {}
        self.producer_options: dict[str, Any] = {}
        self.producer: FakeProducer
        self.replay: Replay

    def begin(self, trace: Trace | Plan, **changes: Any) -> Replay:
        """Close the gates as a replay does before the first step. ``changes``: of the plan."""
        plan = trace.plan(**changes) if isinstance(trace, Trace) else trace
        self.replay = Replay(
            plan=plan,
            cluster=cast(Cluster, self.cluster),
            proxy=self.proxy,
            topic=messages.TOPIC,
            group="group",
            gates=close_gates(self.proxy, 3, channels=self.cluster.channels, topic=messages.TOPIC, leader=1),
            producing=Producing(cast(Any, self._start_producer)),
            consuming=Consuming(
                cast(Any, lambda number: self.consumers[number - 1]), None, lambda number: self.first_fetches[number]
            ),
            base=1,
            epochs={1: FIRST_EPOCH},
            began=time.monotonic(),
        )
        return self.replay

    def play(self, *numbers: int) -> None:
        """Bring about these steps, or all, and compare the logs after each."""
        for step in self.replay.plan.steps:
            if not numbers or step.number in numbers:
                self.replay.step = step.number
                PLANS[step.action](self.replay, step)
                compare(self.replay, step)

    def wait_request(self, record: int, broker: int) -> Frame:
        """Return the request of a record's first send that waits on its way to a broker, and that no step knows."""
        return until(
            lambda: self.replay.waiting_request(Send(record), broker),
            what=f"record {record} on its way to broker {broker}",
            seconds=SECONDS,
        )

    def values(self, broker: int) -> list[int]:
        """Return the numbers of the records in the log of a broker, behind the record before the trace."""
        return [int(value.split("-")[1]) for value, _ in self.cluster.logs[broker][1:]]

    def delivered(self, record: int) -> int:
        """Return the number of requests of a record's first send that the proxy let through to brokers."""
        fates = [
            entry.fate
            for entry in self.proxy.seen
            if entry.frame.api == "Produce" and entry.frame.side == "request" and Send(record) in carried(entry.frame)
        ]
        return sum(fate in ("passed", "released") for fate in fates)

    def follow(self) -> None:
        """Have brokers 2 and 3 fetch from broker 1, whose first fetches wait at the gate."""
        for follower in (2, 3):
            self.cluster.follow(follower, 1)
        for follower in (2, 3):
            self.replay.wait_fetch(follower, 1, seconds=SECONDS)

    # What an outcome asks of a cluster that runs

    def prepare(self, plan: Plan, tell: object) -> Replay:
        """Return the replay of a plan."""
        return self.begin(plan)

    def clients(self) -> tuple[str, ...]:
        """Return the clients that ran."""
        return ("java 4.0.2",)

    def outcome(self, trace: Trace, **changes: Any) -> Outcome:
        """Replay a trace from its first step to its outcome."""
        from proofka.checker.reproduction.run import reproduce

        return reproduce(trace.plan(**changes), cast(Any, self), lambda line: None)

    def _start_producer(self, number: int) -> FakeProducer:
        self.producer = FakeProducer(self.cluster, number, **self.producer_options)
        self._stack.callback(self.producer.kill)
        return self.producer
