"""A watcher of the disks of a cluster: logs of the topics of a run, and the controller's log, read again and again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from proofka.checker.cluster.batches import Batch
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.disk import segments
from proofka.checker.cluster.errors import ClusterError
from proofka.checker.cluster.metadata_log import BrokerState, PartitionState, read_states
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.sends import send_of
from proofka.checker.cluster.transaction_log import size_of_states, transaction_states
from proofka.checker.conformance.observations import BrokerDecision, CoordinatorDecision, Entry, Look, PartitionDecision

INTERVAL_SECONDS = 0.01
"""Seconds between two rounds of looks."""

MS = 1000
"""Milliseconds of a second."""

NS = 1_000_000_000
"""Nanoseconds of a second."""


QUIET_SECONDS = 0.1
"""Seconds after which a file that did not change is taken to be the file that was read."""

Decision = PartitionDecision | BrokerDecision
"""A decision in the controller's log."""

_Stamp = tuple[tuple[str, int, int], ...]
"""Name, size and time of the last change of each file of a log."""


class Watcher:
    """A thread that looks at the logs of topics on each broker, and at the logs of the controller and of coordinators.

    ``bases``: by topic, the offset from which on its logs belong to the run. ``transactional``: by topic, the
    transactional id of its producer, for producers that have one. Of equal looks in a row, the first and the last are
    kept.
    """

    def __init__(
        self, cluster: Cluster, bases: Mapping[str, int], transactional: Mapping[str, str] | None = None
    ) -> None:
        self._cluster = cluster
        self._bases = dict(bases)
        self._coordinated: dict[str, list[CoordinatorDecision]] = {each: [] for each in (transactional or {}).values()}
        self._transactional = dict(transactional or {})
        self._read_to: dict[int, int] = {}
        self._size_of_states = -1
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        places = [(topic, broker) for topic in bases for broker in cluster.plan.brokers]
        self._looks: dict[tuple[str, int], list[Look]] = {place: [] for place in places}
        self._stamps: dict[tuple[str, int], _Stamp] = {}
        self._size = -1
        self._decisions: list[tuple[str, Decision]] = []
        self._thread = threading.Thread(target=self._run, name="watcher of disks", daemon=True)
        self._round()
        self._first = len(self._decisions)
        self._first_coordinated = {each: len(found) for each, found in self._coordinated.items()}
        self._thread.start()

    def looks(self, topic: str) -> tuple[Look, ...]:
        """Return the looks at a topic so far, broker by broker."""
        self._check()
        with self._lock:
            return tuple(look for (of, _), looks in self._looks.items() if of == topic for look in looks)

    def decisions(self, topic: str) -> tuple[Decision, ...]:
        """Return the decisions about a topic, or about brokers, since the watcher's start."""
        return self._about(topic, self._first)

    def coordinated(self, topic: str) -> tuple[CoordinatorDecision, ...]:
        """Return what the coordinator wrote about the topic's producer since the watcher's start."""
        self._check()
        name = self._transactional[topic]
        with self._lock:
            return tuple(self._coordinated[name][self._first_coordinated[name] :])

    def coordinated_before(self, topic: str) -> CoordinatorDecision:
        """Return what the coordinator wrote last about the topic's producer before the start.

        Raises ClusterError where there is nothing.
        """
        name = self._transactional[topic]
        first = self._first_coordinated[name]
        if not first:
            raise ClusterError(f"the coordinator has no transactional id {name}; run again")
        return self._coordinated[name][first - 1]

    def partition(self, topic: str) -> PartitionDecision:
        """Return the last decision about a topic. Raises ClusterError where there is none."""
        return _partition(topic, self._about(topic, 0))

    def partition_before(self, topic: str) -> PartitionDecision:
        """Return the last decision about a topic before the start. Raises ClusterError where there is none."""
        self._check()
        with self._lock:
            return _partition(topic, [decision for of, decision in self._decisions[: self._first] if of == topic])

    @property
    def of_brokers(self) -> tuple[BrokerDecision, ...]:
        """The decisions about brokers so far, those before the watcher's start included."""
        return tuple(decision for decision in self._about("", 0) if isinstance(decision, BrokerDecision))

    def _about(self, topic: str, first: int) -> tuple[Decision, ...]:
        self._check()
        with self._lock:
            return tuple(decision for of, decision in self._decisions[first:] if of in ("", topic))

    @property
    def live(self) -> frozenset[int]:
        """The brokers that the controller does not treat as gone."""
        last = {decision.broker: decision.is_gone for decision in self.of_brokers}
        return frozenset(broker for broker, is_gone in last.items() if not is_gone)

    @property
    def changes(self) -> int:
        """A number that rises with every change that the watcher finds."""
        self._check()
        with self._lock:
            of_coordinator = sum(len(found) for found in self._coordinated.values())
            return len(self._decisions) + of_coordinator + sum(len(looks) for looks in self._looks.values())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the looks while logs are changed from outside."""
        with self._lock:
            yield

    def look(self) -> None:
        """Look at everything now."""
        self._round()

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
            for topic, broker in self._looks:
                self._look(topic, broker)
            self._read_decisions()
            if self._coordinated:
                self._read_coordinated()

    def _look(self, topic: str, broker: int) -> None:
        looks = self._looks[topic, broker]
        begin = time.time()
        stamp = _stamp(self._cluster.node(broker).data / f"{topic}-0")
        if looks and stamp == self._stamps.get((topic, broker)) and _is_quiet(stamp, begin):
            entries = looks[-1].entries
        else:
            entries = entries_of(self._cluster.batches(broker, topic), self._bases[topic])
            self._stamps[topic, broker] = stamp
        look = Look(broker, (begin, time.time()), entries)
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
        known = self._decisions[-1][1].offset if self._decisions else -1
        for state in states:
            if state.offset > known:
                self._decisions += self._decision(state, seen)
        self._size = size

    def _read_coordinated(self) -> None:
        data = self._cluster.node(CONTROLLER).data
        size = size_of_states(data)
        if size == self._size_of_states:
            return
        states = transaction_states(data)
        seen = time.time()
        for state in states:
            if state.offset <= self._read_to.get(state.partition, -1):
                continue
            self._read_to[state.partition] = state.offset
            if (found := self._coordinated.get(state.transactional_id)) is not None:
                producer = (state.producer_id, state.producer_epoch)
                found.append(CoordinatorDecision(state.time / MS, seen, state.name, producer))
        self._size_of_states = size

    def _decision(self, state: PartitionState | BrokerState, seen: float) -> Iterator[tuple[str, Decision]]:
        written = state.time / MS
        if isinstance(state, BrokerState):
            if state.broker in self._cluster.plan.brokers:
                yield (
                    "",
                    BrokerDecision(state.offset, written, seen, state.broker, state.is_fenced, state.is_shutting_down),
                )
        elif state.topic in self._bases:
            leader = max(state.leader, 0)
            found = PartitionDecision(state.offset, written, seen, leader, state.leader_epoch, state.isr)
            yield state.topic, found


def _partition(topic: str, decisions: Sequence[Decision]) -> PartitionDecision:
    found = next((one for one in reversed(decisions) if isinstance(one, PartitionDecision)), None)
    if found is None:
        raise ClusterError(f"the controller's log does not have topic {topic} of the run; run again")
    return found


def _stamp(folder: Path) -> _Stamp:
    """Return what changes with every write into a log; empty for a log that is being changed."""
    try:
        return tuple((path.name, (told := path.stat()).st_size, told.st_mtime_ns) for path in segments(folder))
    except FileNotFoundError:
        return ()


def _is_quiet(stamp: _Stamp, now: float) -> bool:
    """Tell whether the last change is so long ago that a later one would have another time."""
    return bool(stamp) and now - max(changed for _, _, changed in stamp) / NS > QUIET_SECONDS


def entries_of(batches: tuple[Batch, ...], base: int) -> tuple[Entry, ...]:
    """Return the entries of a log from an offset on. Raises ForeignValue."""
    found = []
    for batch in batches:
        producer = batch.producer_id, batch.producer_epoch
        if batch.marker is not None and batch.base_offset >= base:
            found.append(Entry(None, batch.leader_epoch, producer, -1, batch.marker))
        for place, record in enumerate(batch.records):
            if record.offset >= base and not batch.is_control:
                sequence = batch.base_sequence + place if batch.producer_id >= 0 else -1
                number = send_of(record.value).record
                found.append(Entry(number, batch.leader_epoch, producer, sequence))
    return tuple(found)
