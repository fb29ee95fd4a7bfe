"""A throw-away cluster of Apache Kafka on this machine: one controller, and brokers behind a proxy."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from proofka.checker.cluster import metadata_view
from proofka.checker.cluster.admin import Admin, Refused
from proofka.checker.cluster.batches import Batch
from proofka.checker.cluster.channels import Channels
from proofka.checker.cluster.configuration import Changed
from proofka.checker.cluster.disk import (
    NEVER,
    Cut,
    Partition,
    cut_log,
    cut_metadata,
    cut_to_recovery_points,
    flushed_end,
    log_end,
    partition_folders,
    read_batches,
)
from proofka.checker.cluster.errors import ClusterError
from proofka.checker.cluster.jars import Release, default_folder, jars_of, jars_of_home, release_of_home
from proofka.checker.cluster.metadata_view import Range, View
from proofka.checker.cluster.node import IsDown, Node
from proofka.checker.cluster.nodes_of_modes import nodes_of
from proofka.checker.cluster.plan import CONTROLLER, ClusterPlan
from proofka.checker.cluster.ports import Ports
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.waiting import until
from proofka.checker.cluster.wire import HOST, NoAnswer

SECONDS = 120.0
"""Seconds within which nodes start, and the metadata of a change reaches all brokers."""
_INTERNAL_TOPICS = Path(__file__).parent / "internal_topics.csv"
_COMMITTED = "__consumer_offsets"
_LOADING = frozenset({"COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"})


class KeepsMetadata(ClusterError):
    """The loss of the only disk that has the cluster's metadata."""

    code = "K48"


class Cluster:
    """A cluster of a plan; its processes and its folder belong to the supervisor.

    The first cluster of a release on a machine takes longer: jars are downloaded, and a node starts for practice.
    The harness reaches each broker at a listener of its own, so its requests pass no gate of the proxy.
    """

    def __init__(self, plan: ClusterPlan, supervisor: Supervisor, proxy: Proxy) -> None:
        self.plan = plan
        self._ports = Ports()
        self._nodes: dict[int, Node] = {}
        self._maker = nodes_of(plan, ports=self._ports, supervisor=supervisor, proxy=proxy)
        home = plan.kafka_home
        self.release = Release(plan.release) if home is None else release_of_home(home)
        self.classpath = jars_of(plan.release) if home is None else jars_of_home(home)
        self._maker.prepare(self.classpath, default_folder().parent / "nodes")
        self.admin = Admin(self._responsive_port, self.harness_port)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill the nodes, and give their ports back; the folder stays with the supervisor."""
        for node in self._nodes.values():
            if node.is_up:
                node.kill()
        self._maker.close()
        self._ports.close()

    @property
    def changed(self) -> tuple[Changed, ...]:
        """The settings of the plan that some node has not as given, each once; ports are those of one node."""
        nodes = (*self.plan.brokers, CONTROLLER)
        found = [change for node in nodes for change in self._maker.properties(node)[1]]
        return tuple({(change.setting, change.given): change for change in reversed(found)}.values())[::-1]

    @property
    def class_archive(self) -> Path:
        """The archive of loaded classes; a Java program whose class path begins with ``classpath`` starts faster with
        the option ``-XX:SharedArchiveFile=``.
        """
        return self._maker.archive

    @property
    def channels(self) -> Channels:
        """The ways between brokers and the controller through the proxy."""
        return self._maker.channels

    @property
    def bootstrap(self) -> str:
        """The addresses at which clients reach the brokers of the plan through the proxy."""
        return ",".join(f"{HOST}:{self._maker.clients[broker]}" for broker in self.plan.brokers)

    def start(self, *, seconds: float = SECONDS) -> None:
        """Start all nodes, wait until each broker sees all others registered and unfenced, and create internal topics.

        Raises ``CannotStart``, ``NotSeen``.
        """
        self._nodes = {number: self._maker.make(number) for number in self.plan.nodes}
        self._maker.start(self._nodes, seconds=seconds)
        for broker in self.plan.all_brokers:
            self.wait_live(broker, seconds=seconds)
        if self.plan.hosts_internal_topics:
            for topic, settings in _internal_topics():
                self.create_topic(topic, [(CONTROLLER,)], settings)
            until(self._coordinates, what="the coordinator of consumer groups, loaded", seconds=seconds)

    def _coordinates(self) -> bool:
        try:
            self.admin.committed_offset("proofka-harness", _COMMITTED)
        except Refused as refused:
            if refused.error not in _LOADING:
                raise
            return False
        return True

    def node(self, number: int) -> Node:
        """Return a node."""
        return self._nodes[number]

    def harness_port(self, broker: int) -> int:
        """Return the port at which the harness asks a broker."""
        port = self._nodes[broker].ports.harness
        assert port is not None, "the node is no broker"
        return port

    # What is observed

    def view(self, broker: int, topic: str, *, partition: int = 0) -> View:
        """Return the state of a partition as a broker believes it. Raises ``NoAnswer``."""
        return metadata_view.metadata_of(self.harness_port(broker), topic, partition=partition)

    def eligible_leaders(self, broker: int, topic: str, *, partition: int = 0) -> tuple[int, ...]:
        """Return the eligible leader replicas as a broker believes them (Kafka 4.0 on). Raises ``NoAnswer``."""
        return metadata_view.eligible_leaders(self.harness_port(broker), topic, partition=partition)

    def range_of(self, broker: int, topic: str, *, partition: int = 0) -> Range:
        """Return the offsets that a broker gives to consumers. Raises ``NoAnswer``."""
        return metadata_view.range_of(self.harness_port(broker), topic, partition=partition)

    def log_end(self, broker: int, topic: str, partition: int = 0) -> int:
        """Return the offset after the last record that a broker has on disk."""
        return log_end(self._nodes[broker].data / f"{topic}-{partition}")

    def wait_copied(self, topic: str, partition: int = 0, *, seconds: float) -> None:
        """Wait until the logs of all brokers end at the same offset. Raises ``NotSeen``."""
        until(
            lambda: len({self.log_end(broker, topic, partition) for broker in self.plan.brokers}) == 1,
            what=f"the records of {topic}-{partition} on the disks of all brokers",
            seconds=seconds,
        )

    def batches(self, broker: int, topic: str, partition: int = 0) -> tuple[Batch, ...]:
        """Return the batches that a broker has on disk; the broker may be up or down."""
        return read_batches(self._nodes[broker].data / f"{topic}-{partition}")

    def wait_view(
        self,
        matching: Callable[[View], bool],
        topic: str,
        *,
        what: str,
        brokers: Iterable[int] | None = None,
        partition: int = 0,
        seconds: float = SECONDS,
    ) -> View:
        """Return the last of the views of brokers, once all match; by default those of all brokers that answer.

        Raises ``NotSeen``.
        """
        asked = tuple(self.responsive if brokers is None else brokers)

        def seen() -> View | None:
            views = [self._view_if_answered(broker, topic, partition) for broker in asked]
            return views[-1] if all(view is not None and matching(view) for view in views) else None

        return until(seen, what=what, seconds=seconds)

    def _view_if_answered(self, broker: int, topic: str, partition: int) -> View | None:
        try:
            return self.view(broker, topic, partition=partition)
        except NoAnswer:
            return None

    @property
    def responsive(self) -> tuple[int, ...]:
        """The brokers that are up and not paused; node 100 is the last."""
        up = (self._nodes[broker] for broker in self.plan.all_brokers)
        return tuple(node.number for node in up if node.is_up and not node.is_paused)

    def _responsive_port(self) -> int:
        if not self.responsive:
            raise IsDown("no broker is up that could answer; start or resume a broker first")
        return self.harness_port(self.responsive[-1])

    # What is done to nodes

    def kill(self, number: int) -> None:
        """Kill a node (SIGKILL); its data stays. Raises ``IsDown``."""
        self._nodes[number].kill()

    def stop(self, number: int) -> None:
        """Shut a node down (SIGTERM), and wait for its end. Raises ``IsDown``, ``NotSeen``."""
        self._nodes[number].stop()

    def pause(self, number: int) -> None:
        """Stop a node where it is (SIGSTOP). Raises ``IsDown``."""
        self._nodes[number].pause()

    def resume(self, number: int) -> None:
        """Let a paused node go on. Raises ``IsDown``."""
        self._nodes[number].resume()

    def restart(self, number: int) -> None:
        """Start a node that is down, as soon as its mode allows a start; see :meth:`wait_up`.

        Raises ``IsUp``, ``NotSeen``.
        """
        self._nodes[number].check_is_down()
        self._maker.wait_startable(number, self._live_for_controller, seconds=SECONDS)
        self._nodes[number].start()

    def _live_for_controller(self) -> Iterable[int]:
        return metadata_view.live_brokers(self.harness_port(CONTROLLER))

    def wait_up(self, number: int, *, seconds: float = SECONDS) -> None:
        """Wait until a node has started, and until each broker that answers sees the node unfenced.

        Raises ``CannotStart``, ``NotSeen``.
        """
        self._nodes[number].wait_started(seconds=seconds)
        if number in self.plan.all_brokers:
            for broker in self.responsive:
                self._wait_brokers(broker, {number}, seconds=seconds)

    def wait_serving(self, number: int, *, by: int, seconds: float) -> None:
        """Wait until a broker has started, and until one other broker sees the broker as registered and unfenced.

        Raises ``CannotStart``, ``NotSeen``.
        """
        self._nodes[number].wait_started(seconds=seconds)
        self._wait_brokers(by, {number}, seconds=seconds)

    def is_fenced(self, number: int) -> bool:
        """Tell whether the controller has fenced a broker. Raises ``NoAnswer``."""
        return number not in metadata_view.live_brokers(self.harness_port(CONTROLLER))

    def wait_live(self, broker: int, *, seconds: float = SECONDS) -> None:
        """Wait until a broker sees all brokers that are up as registered and unfenced. Raises ``NotSeen``."""
        self._wait_brokers(broker, {each for each in self.plan.all_brokers if self._nodes[each].is_up}, seconds=seconds)

    def _wait_brokers(self, broker: int, expected: set[int], *, seconds: float) -> None:
        def seen() -> bool:
            try:
                return expected.issubset(metadata_view.live_brokers(self.harness_port(broker)))
            except NoAnswer:
                return False

        names = ", ".join(map(str, sorted(expected)))
        until(seen, what=f"brokers {names} registered and unfenced, as broker {broker} believes", seconds=seconds)

    def power_loss(self, number: int, keep: Mapping[Partition, int] | None = None) -> dict[Partition, Cut]:
        """Kill a node, and take from its logs what it has not flushed; return the cut of each partition.

        ``keep``: end offsets of partitions that lose less. Raises ``DurableRecords``, ``NoAnswer``.
        """
        node = self._nodes[number]
        folders = partition_folders(node.data)
        intervals = {topic: self._flush_interval(topic) for topic, _ in folders}
        if node.is_up:
            node.kill()
        flushed = {at: flushed_end(folder, interval=intervals[at[0]]) for at, folder in folders.items()}
        if number != CONTROLLER and not self._observers_flush:
            cut_metadata(node.data)
        return cut_to_recovery_points(node.data, keep, flushed=flushed)

    def _flush_interval(self, topic: str) -> int:
        try:
            return int(self.admin.settings_of_topic(topic)["flush.messages"] or NEVER)
        except Refused as refused:
            if refused.error != "UNKNOWN_TOPIC_OR_PARTITION":
                raise
            return NEVER  # the topic is deleted, and its folder is not yet

    @property
    def _observers_flush(self) -> bool:
        return self.release.numbers < (3, 5)

    def cut_log(self, number: int, topic: str, end: int, *, partition: int = 0) -> None:
        """Kill a node, and take from one log what is at or above an end offset, flushed or not."""
        node = self._nodes[number]
        if node.is_up:
            node.kill()
        cut_log(node.data / f"{topic}-{partition}", end)

    def lose_disk(self, number: int) -> None:
        """Kill a broker, and give it an empty disk with the same id. Raises ``KeepsMetadata`` for the controller."""
        if number == CONTROLLER:
            raise KeepsMetadata(f"node {number} has the only copy of the metadata; take the disk of another node")
        node = self._nodes[number]
        if node.is_up:
            node.kill()
        self._maker.erase(node)

    # What is done to topics

    def create_topic(
        self,
        name: str,
        assignment: Sequence[Sequence[int]] = ((1, 2, 3),),
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Create a topic, and wait until each broker that answers sees all replicas of its partitions in sync.

        Raises ``Refused``, ``NotSeen``.
        """
        self.admin.create_topic(name, assignment, settings or {})
        for number, replicas in enumerate(assignment):
            self.wait_view(
                lambda view, replicas=replicas: view.leader == replicas[0] and set(view.isr) == set(replicas),  # type: ignore[misc]
                name,
                what=f"leader {replicas[0]} of {name}-{number}, and all its replicas in sync",
                partition=number,
            )

    def move_leader(self, topic: str, to: int, *, partition: int = 0, seconds: float = SECONDS) -> View:
        """Make a replica the leader without moving data, and wait until each broker that answers knows.

        Return the last view. Raises ``Refused``, for example when the replica is not in the ISR, and ``NotSeen``.
        """
        self.ask_to_move_leader(topic, to, partition=partition)
        what = f"leader {to} of {topic}-{partition}"
        return self.wait_view(lambda view: view.leader == to, topic, what=what, partition=partition, seconds=seconds)

    def ask_to_move_leader(self, topic: str, to: int, *, partition: int = 0) -> None:
        """Make a replica the leader without moving data, and wait for no broker. Raises ``Refused``."""
        replicas = self.view(self.responsive[-1], topic, partition=partition).replicas
        self.admin.reorder_replicas(topic, (to, *(each for each in replicas if each != to)), partition=partition)
        self.admin.elect_preferred_leader(topic, partition=partition)


def _internal_topics() -> Iterable[tuple[str, dict[str, str]]]:
    with _INTERNAL_TOPICS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield row["topic"], dict(setting.split("=", 1) for setting in row["settings"].split())
