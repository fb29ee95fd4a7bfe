"""Disks of a cluster without Kafka: logs of topics, and the controller's log, that a test writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from proofka.checker.cluster.batches import Batch
from proofka.checker.cluster.disk import log_end, read_batches
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.wire import int32, int64
from tests.checker.cluster.segments import TIME, batch, marker
from tests.checker.cluster.test_metadata_log import changed, created, framed, ids, registered, topic
from tests.checker.cluster.test_transaction_log import key as state_key
from tests.checker.cluster.test_transaction_log import value as state_value

BROKERS = (1, 2)
"""The brokers of the cluster; both have each topic's replicas."""


class Disks:
    """The part of a cluster that a watcher reads. The controller's log begins with the topic ``t`` of leader 1."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.plan = SimpleNamespace(brokers=BROKERS)
        self.nodes = {
            number: SimpleNamespace(data=folder / str(number), is_up=True, is_paused=False)
            for number in (*BROKERS, CONTROLLER)
        }
        self.coordinated: list[tuple[str, int, int]] = []
        self.written: list[bytes] = [topic("t"), created()]
        self._write_metadata()

    def node(self, number: int) -> SimpleNamespace:
        """Return a node."""
        return self.nodes[number]

    def batches(self, broker: int, name: str) -> tuple[Batch, ...]:
        """Return the log of a topic on a broker."""
        return read_batches(self.nodes[broker].data / f"{name}-0")

    def log_end(self, broker: int, name: str) -> int:
        """Return the end of the log of a topic on a broker."""
        return log_end(self.nodes[broker].data / f"{name}-0")

    def write(self, broker: int, name: str, *records: int) -> None:
        """Write a log with these numbers of records."""
        folder = self.nodes[broker].data / f"{name}-0"
        folder.mkdir(parents=True, exist_ok=True)
        data = b"".join(batch(at, [b"record-%d" % record], epoch=0) for at, record in enumerate(records))
        replace_log(folder, data)

    def decide(self, leader: int, isr: Sequence[int]) -> None:
        """Let the controller write another leader and ISR of topic ``t``."""
        self.written.append(changed({0: ids(*isr), 1: int32(leader)}))
        self._write_metadata()

    def take_back(self, broker: int) -> None:
        """Let the controller register a broker, and take it back."""
        self.written += [registered(broker, 5, version=1), framed(8, int32(broker) + int64(5))]
        self._write_metadata()

    def coordinate(self, name: str, epoch: int, status: int) -> None:
        """Let the coordinator of transactions write a state of a transactional id (0 is empty, 1 ongoing, ...)."""
        self.coordinated.append((name, epoch, status))
        folder = self.nodes[CONTROLLER].data / "__transaction_state-0"
        folder.mkdir(parents=True, exist_ok=True)
        written = [
            batch(at, [state_value(epoch, status)], key=state_key(name), time=TIME + at)
            for at, (name, epoch, status) in enumerate(self.coordinated)
        ]
        replace_log(folder, b"".join(written))

    def _write_metadata(self) -> None:
        folder = self.nodes[CONTROLLER].data / "__cluster_metadata-0"
        folder.mkdir(parents=True, exist_ok=True)
        batches = [batch(at, [record], time=TIME + at) for at, record in enumerate(self.written, 1)]
        replace_log(folder, marker(0, 1, producer_id=-1) + b"".join(batches))


def replace_log(folder: Path, data: bytes) -> None:
    """Put a log into a partition's folder in one step, so that no reader sees a part of the log."""
    new = folder / "new"
    new.write_bytes(data)
    new.replace(folder / f"{0:020d}.log")
