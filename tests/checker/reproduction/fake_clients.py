"""Client programs without a library: a producer that speaks to the proxy, a consumer that polls what a test says."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import count, cycle
from typing import Any

from proofka.checker.cluster.bodies.metadata import metadata_response
from proofka.checker.cluster.bodies.producing import produce_response
from proofka.checker.cluster.frames import RESPONSE, Frame
from proofka.checker.cluster.metadata_view import error_name
from proofka.checker.cluster.sends import Send
from proofka.checker.cluster.waiting import INTERVAL, until
from tests.checker.cluster.wire import SECONDS, Client, hang_up
from tests.checker.reproduction import messages
from tests.checker.reproduction.fake_cluster import BROKERS, FakeCluster

RETRIED = frozenset({"NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT"})
"""Errors after which the producer sends a record again."""


class FakeProducer:
    """A producer that asks broker after broker for the leader before it sends a refused or unanswered record again.

    ``acks``: as in its requests. ``retries``: whether it sends a record again whose connection ends. ``leader``: as it
    knows.
    """

    def __init__(self, cluster: FakeCluster, number: int, *, acks: int = -1, retries: bool = True) -> None:
        self.events: list[dict[str, Any]] = []
        self.commands: list[str] = []
        self.leader: int | None = 1
        self.is_killed = False
        self._cluster = cluster
        self._name = f"proofka-producer-{number}"
        self._acks = acks
        self._retries = retries
        self._lock = threading.RLock()
        self._connections: dict[int, Client] = {}
        self._unanswered: dict[int, tuple[int, Send]] = {}
        self._correlations = count(1)
        self._unread: set[int] = set()
        self._threads: list[threading.Thread] = []

    def ask(self, command: str, *, seconds: float, **arguments: Any) -> dict[str, Any]:
        """Obey a command of a replay."""
        return {"event": command}

    def send(self, command: str, *, record: int, attempt: int) -> None:
        """Obey the command to send a record."""
        send = Send(record, attempt)
        self.transmit(send)
        self.events.append({"event": "sent", **asdict(send)})

    @property
    def process(self) -> FakeProducer:
        """The process of the program."""
        return self

    def pause(self) -> None:
        """Stand still."""
        self.commands.append("pause")

    def resume(self) -> None:
        """Go on."""
        self.commands.append("resume")

    def kill(self) -> None:
        """End all connections and threads."""
        with self._lock:
            self.is_killed = True
            ends = list(self._connections.values())
        for end in ends:
            hang_up(end.socket)
        for thread in self._threads:
            thread.join()

    def transmit(self, send: Send) -> None:
        """Send a request with a record to the leader that the producer knows; keep the record if it knows none."""
        with self._lock:
            correlation = next(self._correlations)
            self._unanswered[correlation] = (self.leader or 0, send)
            if self.leader is None or self.is_killed:
                return
            with contextlib.suppress(OSError):
                body = messages.produce(send, acks=self._acks)
                self._connection(self.leader).send(*messages.PRODUCE, correlation, client=self._name, body=body)
            if not self._acks:
                self._report(send, None, None)

    def ask_for_leader_before_sending(self, broker: int) -> None:
        """Ask a broker for the leader, on the connection for records, and do not look at the answer."""
        with self._lock:
            correlation = next(self._correlations)
            self._unread.add(correlation)
            self._connection(broker).send(*messages.METADATA, correlation, client=self._name)

    def expire(self, send: Send) -> None:
        """Report that the time of a record is over, as a producer does that waits for an answer no longer."""
        self._report(send, None, "TimeoutException")

    def close(self, broker: int) -> None:
        """Close the connection to a broker, as a producer does whose request has waited too long."""
        hang_up(self._connections[broker].socket)

    def wait_end(self, broker: int) -> None:
        """Wait until the producer has seen the end of its connection to a broker."""
        until(lambda: broker not in self._connections, what=f"no connection to broker {broker}", seconds=SECONDS)

    def _connection(self, broker: int) -> Client:
        if broker not in self._connections:
            end = self._cluster.connect(self._cluster.clients[broker])
            self._connections[broker] = end
            thread = threading.Thread(target=self._read, args=(broker, end), daemon=True)
            self._threads.append(thread)
            thread.start()
        return self._connections[broker]

    def _read(self, broker: int, end: Client) -> None:
        with contextlib.suppress(OSError):
            while (data := end.receive()) is not None:
                self._take(data)
        with self._lock:
            del self._connections[broker]
            lost = [one for one, (to, _) in self._unanswered.items() if to == broker]
            sends = [self._unanswered.pop(one)[1] for one in lost]
        if sends and self._retries and self._learn():
            for send in sends:
                self.transmit(send)

    def _take(self, data: bytes) -> None:
        if int.from_bytes(data[:4], "big") in self._unread:
            return
        frame = _answer("Produce", messages.PRODUCE[1], data)
        with self._lock:
            _, send = self._unanswered.pop(frame.correlation)
        (told,) = produce_response(frame).partitions
        error = error_name(told.error_code) or None
        if error not in RETRIED:
            self._report(send, told.base_offset, error)
        elif error != "NOT_LEADER_OR_FOLLOWER" or self._learn():
            self.transmit(send)

    def _report(self, send: Send, offset: int | None, error: str | None) -> None:
        self.events.append({"event": "report", **asdict(send), "offset": offset, "error": error, "code": error})

    def _learn(self) -> bool:
        """Ask brokers for the leader until one names a leader. Tell whether the producer still runs."""
        self.leader = None
        for broker in cycle(BROKERS):
            if self.is_killed:
                return False
            with contextlib.suppress(OSError):
                data = self._ask_for_leader(broker)
                if data is not None:
                    (named,) = metadata_response(_answer("Metadata", messages.METADATA[1], data))
                    self.leader = named.leader
                    return True
            time.sleep(INTERVAL)
        raise AssertionError("a cycle has no end")

    def _ask_for_leader(self, broker: int) -> bytes | None:
        end = self._cluster.connect(self._cluster.clients[broker])
        with self._lock:
            self._connections[-broker] = end
            if self.is_killed:
                return None
        end.send(*messages.METADATA, 1, client=self._name)
        data = end.receive()
        hang_up(end.socket)
        return data


class FakeConsumer:
    """A consumer that begins at ``position``, or does not tell where (None).

    Its polls return the next of ``polls``: (offset, record) pairs.
    """

    def __init__(
        self, position: int | None, polls: Iterable[list[tuple[int, int]]] = (), *, on_commit: str = ""
    ) -> None:
        self.events: list[dict[str, Any]] = []
        self.commands: list[tuple[str, dict[str, Any]]] = []
        self.on_poll: Callable[[], None] = lambda: None
        self._position = position
        self._polls = list(polls)
        self._error = on_commit

    def ask(self, command: str, *, seconds: float, **arguments: Any) -> dict[str, Any]:
        """Obey a command of a replay, and return the answer."""
        self.commands.append((command, arguments))
        if command == "poll":
            found = self._polls.pop(0) if self._polls else []
            return {"records": [{"offset": offset, "value": f"record-{record}"} for offset, record in found]}
        return {"position": self._position, "error": self._error or None}

    def send(self, command: str, **arguments: Any) -> None:
        """Obey a command that a replay does not wait for."""
        self.commands.append((command, arguments))
        self.on_poll()

    def kill(self) -> None:
        """Note the end of the program."""
        self.commands.append(("kill", {}))


def _answer(api: str, version: int, data: bytes) -> Frame:
    correlation = int.from_bytes(data[:4], "big")
    return Frame("", RESPONSE, api, version=version, correlation=correlation, client="", body=data[4:], at=0.0)
