"""A cluster without Kafka: brokers that change logs and views as messages of the real proxy reach them."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

from proofka.checker.cluster.batches import Batch, batches
from proofka.checker.cluster.bodies.controlling import alter_partition_request
from proofka.checker.cluster.bodies.producing import produce_request
from proofka.checker.cluster.frames import Frame, request_frame
from proofka.checker.cluster.kraft_channels import KRaftChannels
from proofka.checker.cluster.metadata_view import Range, View
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.waiting import INTERVAL, until
from tests.checker.cluster.segments import batch
from tests.checker.cluster.wire import SECONDS, Accepted, Broker, Client, hang_up
from tests.checker.reproduction import messages

BROKERS = (1, 2, 3)
FIRST_EPOCH = 7
"""The cluster's leader epoch as a trace begins."""
NOT_LEADER = 6
"""Code of the error NOT_LEADER_OR_FOLLOWER."""
NOBODY = 1
"""A port at which nobody listens."""
PATIENT_SECONDS = 120.0
"""Time after which a silent connection counts as stuck, in seconds."""

Entry = tuple[str, int]
"""Value and leader epoch of a record."""


class FakeCluster:
    """Brokers 1 to 3 and a controller behind a proxy. Every log begins with the record before the trace.

    ``logs``, ``views``: by broker, what a broker has and believes. ``errors``: codes of the errors with which a broker
    answers a record, one after the other. ``silent``: brokers that never answer a Produce request. ``empty``: by
    follower, the number of answers without records that come first. ``expands``: the ISR that a leader proposes at the
    fetch of a follower that has all records. ``refusals``: the number of proposals that the controller refuses first.
    ``committed``: the offset that the group has.
    """

    channels = KRaftChannels()

    def __init__(self, proxy: Proxy, stack: ExitStack) -> None:
        self.proxy = proxy
        self.logs: dict[int, list[Entry]] = {broker: [("record-0", FIRST_EPOCH)] for broker in BROKERS}
        view = View(leader=1, epoch=FIRST_EPOCH, isr=BROKERS, replicas=BROKERS, error="")
        self.views: dict[int, View] = dict.fromkeys((*BROKERS, CONTROLLER), view)
        self.errors: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.silent: set[int] = set()
        self.empty: dict[int, int] = defaultdict(int)
        self.expands: dict[int, tuple[int, ...]] = {}
        self.refusals = 0
        self.fetched: list[int] = []
        self.done: list[tuple[object, ...]] = []
        self.committed: int | None = 0
        self.admin = SimpleNamespace(committed_offset=lambda group, topic: self.committed)
        self.down: set[int] = set()
        self.fenced: set[int] = set()
        self._stack = stack
        self._is_stopped = False
        self._lock = threading.RLock()
        self._asking: dict[int, tuple[Accepted, int]] = {}
        self._servers = {broker: Broker(self._handler(broker)) for broker in (*BROKERS, CONTROLLER)}
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        stack.callback(self.stop)
        self.clients = {broker: proxy.listen(f"client->{broker}", self._servers[broker].port) for broker in BROKERS}
        self.replicas = {broker: proxy.listen(f"replica->{broker}", self._servers[broker].port) for broker in BROKERS}
        port = self._servers[CONTROLLER].port
        self.controllers = {broker: proxy.listen(f"{broker}->controller", port) for broker in BROKERS}
        for broker in BROKERS:
            self._run(self._hear, broker)

    def stop(self) -> None:
        """End all connections and threads."""
        self._is_stopped = True
        for server in self._servers.values():
            server.stop()
        for end in self._sockets:
            hang_up(end)
        for thread in self._threads:
            thread.join()

    # What a replay asks of a cluster

    def batches(self, broker: int, topic: str) -> tuple[Batch, ...]:
        """Return the log of a broker."""
        with self._lock:
            log = enumerate(self.logs[broker])
            return tuple(batches(b"".join(batch(at, [value.encode()], epoch=epoch) for at, (value, epoch) in log)))

    def range_of(self, broker: int, topic: str) -> Range:
        """Return the offsets that a broker gives to consumers: all of its log."""
        return Range(start=0, high_watermark=len(self.logs[broker]), error="")

    def harness_port(self, broker: int) -> int:
        """Return a port at which nobody answers: these brokers give nothing to readers."""
        assert broker in self.views
        return NOBODY

    def view(self, broker: int, topic: str) -> View:
        """Return the view of a broker."""
        return self.views[broker]

    def node(self, broker: int) -> SimpleNamespace:
        """Return a node that tells whether it is up."""
        return SimpleNamespace(is_up=broker not in self.down)

    def kill(self, broker: int) -> None:
        """End a broker with its connections."""
        self.done.append(("kill", broker))
        self.down.add(broker)
        self._servers[broker].stop()

    def power_loss(self, broker: int, keep: Mapping[tuple[str, int], int]) -> None:
        """End a broker, and cut its log to what is kept."""
        self.kill(broker)
        (end,) = keep.values()
        del self.logs[broker][end:]

    def lose_disk(self, broker: int) -> None:
        """End a broker, and empty its log."""
        self.kill(broker)
        self.logs[broker].clear()

    def restart(self, broker: int) -> None:
        """Start a broker again, which then hears from the controller as soon as gates let it."""
        self.done.append(("restart", broker))
        self.down.discard(broker)
        self._servers[broker] = Broker(self._handler(broker), port=self._servers[broker].port)

    def is_fenced(self, broker: int) -> bool:
        """Tell whether the controller has fenced a broker."""
        return broker in self.fenced

    def wait_serving(self, broker: int, *, by: int, seconds: float) -> None:
        """Note that a replay waits for a broker."""
        self.done.append(("wait_serving", broker))

    def ask_to_move_leader(self, topic: str, to: int) -> None:
        """Have the controller move leadership."""
        self.decide(leader=to)

    # What a test brings about

    def decide(self, *, leader: int | None = None, isr: Sequence[int] | None = None) -> None:
        """Have the controller decide on another leader, in a new epoch, or on another ISR."""
        with self._lock:
            before = self.views[CONTROLLER]
            view = before if leader is None else replace(before, leader=leader, epoch=before.epoch + 1)
            self.views[CONTROLLER] = view if isr is None else replace(view, isr=tuple(isr))
            asking, self._asking = self._asking, {}
            for connection, correlation in asking.values():
                connection.answer(correlation)

    def wait_learned(self, broker: int) -> None:
        """Wait until a broker believes what the controller has decided."""
        until(
            lambda: self.views[broker] == self.views[CONTROLLER], what=f"the view of broker {broker}", seconds=SECONDS
        )

    def follow(self, follower: int, leader: int) -> Client:
        """Have a follower fetch from a leader, one fetch after the other. Return the follower's connection."""
        end = self.connect(self.replicas[leader])
        self._run(self._fetch, follower, end)
        return end

    def propose(self, leader: int, isr: Sequence[int]) -> None:
        """Have a leader propose an ISR to the controller."""
        end = self.connect(self.controllers[leader])
        end.send(*messages.ALTER_PARTITION, 1, client=str(leader), body=messages.proposal(leader, isr))

    def connect(self, port: int) -> Client:
        """Return a connection that ends with the cluster."""
        end = Client(port, seconds=PATIENT_SECONDS)
        self._sockets.append(end.socket)
        return end

    def _run(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _fetch(self, follower: int, end: Client) -> None:
        with contextlib.suppress(OSError):
            for correlation in count(1):
                end.send(*messages.FETCH, correlation, client=f"broker-{follower}-fetcher-0")
                if end.receive() is None:
                    return

    def _hear(self, broker: int) -> None:
        """Ask the controller again and again, and believe what it has decided whenever it answers."""
        while not self._is_stopped:
            with contextlib.suppress(OSError):
                end = self.connect(self.controllers[broker])
                for correlation in count(1):
                    end.send(*messages.FETCH, correlation, client=str(broker))
                    if end.receive() is None:
                        break
                    self.views[broker] = self.views[CONTROLLER]
            time.sleep(INTERVAL)

    # What happens when a request reaches a node

    def _handler(self, node: int) -> Callable[[Accepted, bytes], None]:
        def handle(connection: Accepted, data: bytes) -> None:
            frame = request_frame(data, link=str(node), connection=0, at=0.0)
            with self._lock, contextlib.suppress(OSError):
                if node == CONTROLLER:
                    self._control(connection, frame)
                elif frame.api == "Produce":
                    self._produce(node, connection, frame)
                elif frame.api == "Metadata":
                    connection.answer(frame.correlation, messages.metadata(self.views[node].leader))
                else:
                    self._copy(node, int(frame.client.split("-")[1]))
                    connection.answer(frame.correlation)

        return handle

    def _produce(self, broker: int, connection: Accepted, frame: Frame) -> None:
        asked = produce_request(frame)
        (value,) = asked.partitions[0].values
        name = (value or b"").decode()
        errors = self.errors[broker, int(name.split("-")[1])]
        error = errors.pop(0) if errors else 0 if self.views[broker].leader == broker else NOT_LEADER
        if not error:
            self.logs[broker].append((name, self.views[broker].epoch))
        if asked.acks and broker not in self.silent:
            connection.answer(frame.correlation, messages.produced(error, len(self.logs[broker]) - 1))

    def _copy(self, leader: int, follower: int) -> None:
        self.fetched.append(follower)
        log, copy = self.logs[leader], self.logs[follower]
        equal = next(
            (at for at, pair in enumerate(zip(log, copy, strict=False)) if pair[0] != pair[1]), min(len(log), len(copy))
        )
        if self.empty[follower]:
            self.empty[follower] -= 1
        elif len(copy) > equal:
            del copy[equal:]
        else:
            copy.extend(log[equal : equal + 1])
        if copy == log and follower in self.expands:
            self.propose(leader, self.expands.pop(follower))

    def _control(self, connection: Accepted, frame: Frame) -> None:
        if frame.api == "AlterPartition" and self.refusals:
            self.refusals -= 1
        elif frame.api == "AlterPartition":
            self.decide(isr=alter_partition_request(frame).partitions[0].new_isr)
        elif self.views[int(frame.client)] != self.views[CONTROLLER]:
            connection.answer(frame.correlation)
        else:
            self._asking[int(frame.client)] = connection, frame.correlation
