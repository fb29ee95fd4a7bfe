"""A watcher of the disks of a cluster: logs of one partition, and the controller's log, read again and again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from checker.cluster.batches import Batch
from checker.cluster.cluster import Cluster
from checker.cluster.metadata_log import BrokerState, PartitionState, read_states
from checker.cluster.plan import CONTROLLER
from checker.cluster.sends import send_of
from checker.conformance.observations import BrokerDecision, Entry, Look, PartitionDecision

INTERVAL_SECONDS = 0.01
"""Seconds between two rounds of looks."""

MS = 1000
"""Milliseconds of a second."""


class Watcher:
    """A thread that looks at the log of each broker, from the offset ``base`` on, and at the controller's log.

    Of equal looks in a row, the first and the last are kept.
    """

    def __init__(self, cluster: Cluster, topic: str, base: int) -> None:
        self._cluster = cluster
        self._topic = topic
        self._base = base
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._looks: dict[int, list[Look]] = {broker: [] for broker in cluster.plan.brokers}
        self._size = -1
        self._decisions: list[PartitionDecision | BrokerDecision] = []
        self._thread = threading.Thread(target=self._run, name="watcher of disks", daemon=True)
        self._round()
        self.first = len(self._decisions)
        self._thread.start()

    @property
    def looks(self) -> tuple[Look, ...]:
        """The looks so far, broker by broker."""
        self._check()
        with self._lock:
            return tuple(look for looks in self._looks.values() for look in looks)

    @property
    def decisions(self) -> tuple[PartitionDecision | BrokerDecision, ...]:
        """The decisions so far; the first ``first`` of these stand before the watcher's start."""
        self._check()
        with self._lock:
            return tuple(self._decisions)

    @property
    def live(self) -> frozenset[int]:
        """The brokers that the controller does not treat as gone."""
        last = {d.broker: d.is_fenced for d in self.decisions if isinstance(d, BrokerDecision)}
        return frozenset(broker for broker, is_fenced in last.items() if not is_fenced)

    @property
    def changes(self) -> int:
        """A number that rises with every change that the watcher finds."""
        self._check()
        with self._lock:
            return len(self._decisions) + sum(len(looks) for looks in self._looks.values())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the looks while logs are changed from outside."""
        with self._lock:
            yield

    def stop(self) -> None:
        """Look once more, and end the thread."""
        self._stop.set()
        self._thread.join()
        self._check()
        self._round()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            while not self._stop.wait(INTERVAL_SECONDS):
                self._round()
        except BaseException as error:
            self._error = error

    def _round(self) -> None:
        with self._lock:
            for broker in self._cluster.plan.brokers:
                self._look(broker)
            self._read_decisions()

    def _look(self, broker: int) -> None:
        begin = time.time()
        entries = entries_of(self._cluster.batches(broker, self._topic), self._base)
        look = Look(broker, (begin, time.time()), entries)
        looks = self._looks[broker]
        if len(looks) > 1 and looks[-1].entries == looks[-2].entries == entries:
            looks.pop()
        looks.append(look)

    def _read_decisions(self) -> None:
        data = self._cluster.node(CONTROLLER).data
        size = sum(path.stat().st_size for path in (data / "__cluster_metadata-0").glob("*.log"))
        if size == self._size:
            return
        states = read_states(data)
        seen = time.time()
        known = self._decisions[-1].offset if self._decisions else -1
        for state in states:
            if state.offset > known:
                self._decisions += self._decision(state, seen)
        self._size = size

    def _decision(
        self, state: PartitionState | BrokerState, seen: float
    ) -> Iterator[PartitionDecision | BrokerDecision]:
        written = state.time / MS
        if isinstance(state, BrokerState):
            if state.broker in self._cluster.plan.brokers:
                yield BrokerDecision(state.offset, written, seen, state.broker, state.is_fenced)
        elif state.topic == self._topic:
            leader = max(state.leader, 0)
            yield PartitionDecision(state.offset, written, seen, leader, state.leader_epoch, state.isr)


def entries_of(batches: tuple[Batch, ...], base: int) -> tuple[Entry, ...]:
    """Return the entries of a log from an offset on. Raises ForeignValue."""
    found = []
    for batch in batches:
        for place, record in enumerate(batch.records):
            if record.offset >= base and not batch.is_control:
                sequence = batch.base_sequence + place if batch.producer_id >= 0 else -1
                number = send_of(record.value).record
                found.append(Entry(number, batch.leader_epoch, (batch.producer_id, batch.producer_epoch), sequence))
    return tuple(found)
