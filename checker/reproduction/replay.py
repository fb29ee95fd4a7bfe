"""A replay in progress: the cluster, the gates, the applications, and what was observed so far."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Callable

from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.frames import RESPONSE, Frame
from proofka.checker.cluster.gate import Gate, NotHeld
from proofka.checker.cluster.metadata_view import View
from proofka.checker.cluster.passed import PASSED, RELEASED
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.sends import Send, send_of
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.answers import error_of
from proofka.checker.reproduction.applications import Consuming, Producing
from proofka.checker.reproduction.gates import (
    METADATA,
    PRODUCE,
    PRODUCER_ID,
    Gates,
    broker_of,
    carried,
    follower_of,
    named_leaders,
    to_broker,
)
from proofka.checker.reproduction.observed import Read
from proofka.checker.reproduction.plan import Plan, PlannedStep
from proofka.checker.reproduction.transacting import Transacting
from proofka.properties.reproduced import Fact

SECONDS = 30.0
"""Longest wait for an observation that no timer of Kafka delays, in seconds."""
TIMER_SECONDS = 45.0
"""Longest wait for an observation that a timer of Kafka delays, in seconds."""

START_SECONDS = 90.0
"""Longest wait until a broker serves after its start, in seconds."""

ASKS_ELSEWHERE_SECONDS = 5.0
"""Time for which a producer can send a record while the answer to its question for the leader is held, in seconds."""

Steer = Callable[["Replay", PlannedStep], None]
"""The plan of an action: brings a step about, and waits for what shows the step."""
Content = tuple[str, int]
"""Content of an entry of a log ("record 1", "record 1 (send 2)", "commit"), and the model's leader epoch."""


@dataclass
class Replay:
    """The state of a replay.

    ``topic``: the tested topic, with one partition. ``group``: the consumer's group. ``base``: offset at which the
    modelled log begins. ``epochs``: the cluster's leader epoch by the model's. ``requests``: the request in flight of
    each batch. ``abandoned``: requests that nobody waits for, by batch. ``detached``: connections without a client, by
    number. ``deferred``: batches that are sent later than in the trace. ``answered``: batches whose answer came
    earlier. ``silent``: brokers to which the producer's connection is open, although their machine went down.
    ``unregistered``: by broker that started early, the gate before its registration. ``lost``: batches whose request no
    broker gets. ``known``: requests that a step has counted. ``facts``: what was observed. ``shown``: the log of each
    broker as last noted. ``step``: number of the step. ``transacting``: None without transactions. ``read_before``: by
    offset, the first record that readers could be given.
    """

    plan: Plan
    cluster: Cluster
    proxy: Proxy
    topic: str
    group: str
    gates: Gates
    producing: Producing
    consuming: Consuming
    base: int
    epochs: dict[int, int]
    began: float
    transacting: Transacting | None = None
    requests: dict[int, Frame] = field(default_factory=dict)
    abandoned: dict[int, Frame] = field(default_factory=dict)
    detached: list[int] = field(default_factory=list)
    deferred: list[int] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)
    silent: set[int] = field(default_factory=set)
    unregistered: dict[int, Gate] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    known: list[Frame] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    shown: dict[int, tuple[Content, ...]] = field(default_factory=dict)
    read_before: dict[int, Read] = field(default_factory=dict)
    step: int = 0

    @property
    def brokers(self) -> tuple[int, ...]:
        """Ids of the brokers that have the tested partition."""
        return tuple(range(1, self.plan.replicas + 1))

    def note(self, source: str, text: str) -> None:
        """Add an observation."""
        self.facts.append(Fact(self.step, source, text, round(time.monotonic() - self.began, 3)))

    def send_of(self, step: PlannedStep) -> Send:
        """Return the call of ``send()`` that made a step's batch."""
        return self.plan.sends[step.arguments["batch"]]

    def log(self, broker: int) -> tuple[Content, ...]:
        """Return what the log of a broker holds on disk, with leader epochs in the model's counting."""
        return tuple((content, self._modelled_epoch(epoch)) for _, content, epoch in self.modelled_entries(broker))

    def modelled_entries(self, broker: int) -> tuple[tuple[int, str, int], ...]:
        """Return the entries of a broker's log on disk from ``base`` on."""
        return tuple(entry for entry in self.entries(broker) if entry[0] >= self.base)

    def entries(self, broker: int) -> tuple[tuple[int, str, int], ...]:
        """Return (offset, content, leader epoch) of each entry of a broker's log on disk."""
        found = []
        for batch in self.cluster.batches(broker, self.topic):
            if batch.marker is not None:
                found.append((batch.base_offset, batch.marker, batch.leader_epoch))
                continue
            for record in batch.records:
                found.append((record.offset, str(send_of(record.value)), batch.leader_epoch))
        return tuple(found)

    def _modelled_epoch(self, epoch: int) -> int:
        """Return the model's leader epoch of a leader epoch of the cluster: the latest that began at or before it."""
        begun = [model for model, real in self.epochs.items() if real <= epoch]
        return max(begun, default=min(self.epochs))

    def view(self, broker: int = CONTROLLER) -> View:
        """Return leader, epoch and ISR of the tested partition as a broker believes."""
        return self.cluster.view(broker, self.topic)

    @property
    def leader(self) -> int | None:
        """The leader that the controller has chosen, or None if there is none."""
        return self.view().chosen

    def held_fetch(self, follower: int, leader: int | None = None) -> Frame | None:
        """Return the fetch of a follower that a gate holds, or None. ``leader``: only a fetch from this broker."""
        for frame in self.gates.fetches.held:
            is_wanted = follower_of(frame) == follower and leader in (None, broker_of(frame))
            # A follower that reconnects leaves an old request behind, whose answer nobody reads.
            if is_wanted and self.proxy.has_client(frame.connection):
                return frame
        return None

    def wait_fetch(self, follower: int, leader: int | None = None, *, seconds: float = SECONDS) -> Frame:
        """Return the fetch of a follower that a gate holds, once there is one."""
        whom = "its leader" if leader is None else f"broker {leader}"
        return until(
            lambda: self.held_fetch(follower, leader),
            what=f"a fetch of broker {follower} from {whom}",
            seconds=seconds,
        )

    def waiting_request(self, send: Send, broker: int | None = None) -> Frame | None:
        """Return the first new Produce request of a call of ``send()`` that waits at the proxy, or None.

        A request waits at a gate, or behind another request of its connection, which still has its client.
        ``broker``: only a request to this broker.
        """
        link = r"client->\d+" if broker is None else to_broker(broker)
        for frame in self.proxy.waiting(link, "request"):
            is_wanted = frame.api == PRODUCE and send in carried(frame) and frame not in self.known
            if is_wanted and self.proxy.has_client(frame.connection):
                return frame
        return None

    def held_response(self, batch: int) -> Frame | None:
        """Return the held response to the request of a batch, or None."""
        request = self.requests.get(batch)
        held = self.gates.produce_responses.held
        return next((frame for frame in held if request is not None and frame.request is request), None)

    def sent_again(self, batch: int, broker: int) -> Frame | None:
        """Return the next request with a batch to a broker that waits at the proxy, or None.

        A refusal after which the producer retries reaches the producer first. The broker can take a while to refuse, so
        ask until the request is there.
        """
        send = self.plan.sends[batch]
        if batch in self.requests:
            self.let_metadata_ahead_pass(self.requests[batch])
        refusal = self.held_response(batch)
        if refusal is not None and error_of(refusal):
            self.note(f"broker {broker_of(refusal)}", f"answers {send}: {error_of(refusal)}")
            self.gates.produce_responses.release(refusal)
        return self.waiting_request(send, broker)

    def let_metadata_ahead_pass(self, request: Frame) -> None:
        """Let held answers with metadata pass that are ahead of the answer to a request, on the request's connection.

        A producer can ask a broker for the leader before it sends the request. The broker answers in the order of the
        requests, so the answer to the request would wait for the held answer without end.
        """
        waiting = [
            frame for frame in self.proxy.waiting(request.link, RESPONSE) if frame.connection == request.connection
        ]
        place = next((place for place, frame in enumerate(waiting) if frame.request is request), 0)
        for frame in waiting[:place]:
            if frame in self.gates.other_leaders.held:
                self.gates.other_leaders.release(frame)

    def abandon(self, broker: int) -> None:
        """End the producer's connection to a broker.

        Requests on the way to the broker stay with the proxy, which can deliver them later as abandoned requests;
        requests of batches in ``lost`` are never delivered.
        """
        link = to_broker(broker)
        self.silent.discard(broker)
        waiting = self.proxy.waiting(link, "request")
        for batch, frame in list(self.requests.items()):
            if frame.link == link:
                del self.requests[batch]
                if frame in waiting and batch not in self.lost:
                    self.abandoned[batch] = frame
                self.lost.discard(batch)
        held = [
            frame for frame in self.gates.produce_requests.held if frame.link == link and not self.is_abandoned(frame)
        ]
        for frame in held:
            self.gates.produce_requests.detach(frame)
            self.detached.append(frame.connection)
        if not held:
            self.proxy.cut(link, client=self.producer_id)

    def have_ask_elsewhere(self, broker: int) -> None:
        """Have the producer ask another broker, if this broker has named another leader than the trace has.

        A broker that does not know yet of its election names the leader before. The proxy holds such answers, and some
        producers wait for the answer instead of asking another broker. Others send the record meanwhile, on the same
        connection, so the connection ends after a while only. Where a request of the trace is on the connection, the
        answer passes instead.

        librdkafka asks a broker to which it is connected again and again, and sends nothing while five of its requests
        have no answer. So a producer that asks again without waiting is kept from the broker until another has told it.
        """
        busy = {frame.connection for frame in self.requests.values()}
        for frame in self.gates.other_leaders.held:
            if frame.link != to_broker(broker):
                continue
            has_waited = time.time() - frame.at > ASKS_ELSEWHERE_SECONDS
            with suppress(NotHeld):
                if frame.connection in busy:
                    if has_waited:
                        self.gates.other_leaders.release(frame)
                elif self._is_asked_again(frame):
                    self._keep_from(broker)
                elif has_waited:
                    self.gates.other_leaders.drop(frame)

    def _is_asked_again(self, answer: Frame) -> bool:
        """Tell whether another answer with metadata waits behind an answer, on the same connection."""
        return any(
            frame.api == METADATA and frame.connection == answer.connection and frame is not answer
            for frame in self.proxy.waiting(answer.link, RESPONSE)
        )

    def _keep_from(self, leader: int) -> None:
        """Keep clients from a broker until another broker has told the producer that this broker leads."""
        self.proxy.refuse(to_broker(leader))
        try:
            with suppress(NotSeen):
                until(
                    lambda: self.believed_leader() == leader,
                    what=f"another broker's answer that broker {leader} leads",
                    seconds=ASKS_ELSEWHERE_SECONDS,
                )
        finally:
            self.proxy.accept(to_broker(leader))

    def end_silence(self, broker: int) -> None:
        """End the producer's connection to a broker whose machine went down and runs again.

        Such a machine refuses what comes on the connection, and a producer with nothing in flight there connects again.
        """
        if broker in self.silent and self.cluster.node(broker).is_up:
            self.silent.discard(broker)
            self.proxy.cut(to_broker(broker), client=self.producer_id)

    def is_abandoned(self, frame: Frame) -> bool:
        """Tell whether nobody waits for the answer to a request any more."""
        return frame.connection in self.detached

    def believed_leader(self) -> int | None:
        """Return the leader that the last answer to the running producer names; None if no answer names one."""
        for entry in reversed(tuple(self.proxy.seen)):
            frame = entry.frame
            is_told = entry.fate in (PASSED, RELEASED) and frame.side == RESPONSE and frame.api == METADATA
            if is_told and frame.client == self.producer_id:
                for leader in named_leaders(frame, self.topic):
                    return leader
        return None

    @contextmanager
    def only_brokers_that_name(self, leader: int) -> Iterator[None]:
        """Keep clients from brokers that name another leader, unless a request to such a broker is on its way.

        A client asks any broker for the leader. In the trace the client knows ``leader``, so it must not go by the
        answer of a broker whose metadata is older or newer.
        """
        busy = {frame.link for frame in self.requests.values()}
        refused = [
            to_broker(broker)
            for broker in self.brokers
            if broker != leader and self.cluster.node(broker).is_up and to_broker(broker) not in busy
            if self.view(broker).leader != leader
        ]
        for link in refused:
            self.proxy.refuse(link)
        try:
            yield
        finally:
            for link in refused:
                self.proxy.accept(link)

    @property
    def producer_id(self) -> str:
        """The client id of the running producer."""
        return f"{PRODUCER_ID}-{self.producing.programs}"
