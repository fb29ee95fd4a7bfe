"""The lab: runs of a deployment on a throw-away cluster, recorded as events."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from checker.cluster.client import ClientProcess, event_is
from checker.cluster.cluster import Cluster
from checker.cluster.errors import ClusterError, NotSeen
from checker.cluster.jars import jars_of, newest_patch
from checker.cluster.plan import ClusterPlan
from checker.cluster.proxy import Proxy
from checker.cluster.supervisor import Supervisor
from checker.conformance.cluster_controls import ClusterControls
from checker.conformance.errors import ConformanceError
from checker.conformance.events import Recording
from checker.conformance.gathering import changes_passed, reports_of, requests_of, sends_of
from checker.conformance.observations import Observations, PartitionDecision
from checker.conformance.recording import events_of
from checker.conformance.scheduler import Schedule
from checker.conformance.watching import MS, Watcher
from checker.real_settings import client_of, effective_of, features_of, given_settings
from model.deployment.deployment import Deployment
from model.deployment.explored import Bounds

_TABLE = Path(__file__).parent / "tables" / "lab_settings.csv"
_ROWS = tuple(csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines()))

WARM = 90
"""The number of the record before a run; the records of a run have smaller numbers."""

START_SECONDS = 90.0
"""Seconds within which a client starts and sends its first record."""

END_SECONDS = 90.0
"""Seconds within which a run comes to its end."""

ATTEMPTS = 5
"""The number of topics that are tried for a run."""

BOUNDS = Bounds(records=2, log=5, sends=1, epochs=15, producer_epochs=4)
"""The bounds of the model of a run: far enough for what a short run does."""


class NotRunnable(ConformanceError):
    """A deployment that the lab cannot run."""

    code = "L05"


@dataclass(frozen=True)
class Asked:
    """A request for runs of a deployment, a run for each seed.

    ``records``: the number of records of a run. ``kafka_home``: an installation in place of jars.
    """

    deployment: Deployment
    seeds: Sequence[int]
    records: int = 2
    steps: int = 24
    faults: int = 3
    kafka_home: Path | None = None

    @property
    def modelled(self) -> Deployment:
        """The deployment with the bounds of the runs."""
        return replace(self.deployment, bounds=replace(BOUNDS, records=self.records))


Told = Callable[[str], None]
"""A function that shows a line of progress."""


def record_runs(asked: Asked, tell: Told) -> Iterator[Recording]:
    """Yield a recording for each seed. Runs share a cluster as long as each run comes to its end.

    Raises ClusterError where a cluster or a client does not start, and :class:`NotRunnable`.
    """
    waiting = list(asked.seeds)
    while waiting:
        with ExitStack() as stack:
            lab = _Lab(asked, stack, tell)
            while waiting:
                seed = waiting.pop(0)
                recording = lab.run(seed)
                yield recording
                if "unfinished" in recording.about:
                    break


class _Lab:
    """A cluster for the runs of a deployment."""

    def __init__(self, asked: Asked, stack: ExitStack, tell: Told) -> None:
        deployment = asked.deployment
        if deployment.producer.transactional is not None:
            raise NotRunnable("the lab has no transactions yet: use a deployment without transactional.id")
        self._asked, self._tell = asked, tell
        self._effective = effective_of(deployment)
        self._library, version = client_of(deployment, "producer")
        self.release = str(newest_patch(self._effective["broker.release"]))
        if deployment.cluster.zookeeper:
            raise NotRunnable(
                "the lab reads the controller's log, which clusters with ZooKeeper lack: name brokers of Kafka 3.3 or "
                "later, without zookeeper.connect"
            )
        self._client_release = version or self.release
        self._supervisor, self._proxy = stack.enter_context(Supervisor()), stack.enter_context(Proxy())
        plan = ClusterPlan(
            self.release,
            brokers=tuple(range(1, deployment.cluster.replicas + 1)),
            kafka_home=asked.kafka_home,
            broker_settings=self._settings("broker", ""),
            features=features_of(deployment),
        )
        tell(f"Apache Kafka {self.release}: a controller and {len(plan.brokers)} brokers start on this machine")
        self._cluster = stack.enter_context(Cluster(plan, self._supervisor, self._proxy))
        self._cluster.start()

    def _settings(self, role: str, library: str) -> dict[str, str]:
        own = given_settings(self._asked.deployment, role)
        for key in ("client.id", "bootstrap.servers"):
            own.pop(key, None)
        return own | {row["setting"]: row["value"] for row in _ROWS if (row["role"], row["library"]) == (role, library)}

    def run(self, seed: int) -> Recording:
        """Run a schedule on a topic of its own."""
        asked, order = self._asked, self._cluster.plan.brokers
        topic, client_id, producer, watcher, base = self._begun(seed)
        first = len(self._proxy.seen)
        controls = ClusterControls(
            self._cluster,
            self._proxy,
            watcher,
            producer=producer,
            client_id=client_id,
            topic=topic,
            base=base,
            records=asked.records,
            end_seconds=END_SECONDS,
        )
        about: dict[str, object] = {"seed": seed, "kafka": self.release, "client": self._effective["producer.client"]}
        schedule = Schedule(seed, steps=asked.steps, faults=asked.faults)
        warm = self._cluster.batches(order[0], topic)
        try:
            schedule.run(controls)
        except NotSeen as error:
            about["unfinished"] = str(error)
        finally:
            producer.kill()
            watcher.stop()
        about["controls"] = [f"{done.control}({done.broker})" for done in controls.done]
        seen = Observations(
            brokers=order,
            first=_partition_before(watcher),
            decisions=watcher.decisions[watcher.first :],
            warm=base,
            producer=(warm[-1].producer_id, warm[-1].producer_epoch) if warm and warm[-1].producer_id >= 0 else None,
            sends=sends_of(producer.events, controls.commanded, watcher.looks[-1].when[1]),
            requests=requests_of(tuple(self._proxy.seen)[first:], client_id, asked.records),
            reports=reports_of(producer.events, asked.records),
            looks=watcher.looks,
            done=tuple(controls.done),
            changes_passed=changes_passed(tuple(self._proxy.seen)[first:]),
            lag=self._milliseconds("replica.lag.time.max.ms"),
            session=self._cluster.plan.session_ms / MS,
            end=max(look.when[1] for look in watcher.looks),
        )
        return Recording(asked.modelled, events_of(seen), about)

    def _begun(self, seed: int) -> tuple[str, str, ClientProcess, Watcher, int]:
        """Return topic, client id, producer, watcher and first offset of a run that begins as the model does.

        A slow machine can change leader or ISR before the run begins; then another topic is tried.
        """
        order = self._cluster.plan.brokers
        settings = self._settings("topic", "")
        for attempt in range(ATTEMPTS):
            topic, client_id = f"lab-{seed}-{attempt}", f"lab-producer-{seed}-{attempt}"
            self._cluster.create_topic(topic, (order,), settings)
            producer = self._producer(topic, client_id)
            base = self._cluster.log_end(order[0], topic)
            watcher = Watcher(self._cluster, topic, base)
            partition = _partition_before(watcher)
            if partition.leader == order[0] and set(partition.isr) == set(order) == set(watcher.live):
                return topic, client_id, producer, watcher, base
            producer.kill()
            watcher.stop()
        raise NotSeen(f"a topic with leader {order[0]} and all replicas in sync", START_SECONDS)

    def _milliseconds(self, setting: str) -> float:
        return int(next(row["value"] for row in _ROWS if row["setting"] == setting)) / MS

    def _producer(self, topic: str, client_id: str) -> ClientProcess:
        """Start the producer, and let it send a record; wait until each broker has the record."""
        program = ClientProcess.start(
            self._supervisor,
            self._library,
            "producer",
            bootstrap=self._cluster.bootstrap,
            topic=topic,
            client_id=client_id,
            settings=self._settings("producer", self._library),
            classpath=self._classpath() if self._library == "java" else (),
        )
        program.ask("prepare", seconds=START_SECONDS)
        if self._effective.get("application.producer_id") != "new":
            program.ask("send", record=WARM, seconds=START_SECONDS)
            program.wait_event(
                event_is("report", record=WARM, error=None), what="the first report", seconds=START_SECONDS
            )
        self._cluster.wait_copied(topic, seconds=START_SECONDS)
        return program

    def _classpath(self) -> Sequence[Path]:
        """Return the jars of the client; a client of the brokers' release has theirs."""
        if self.release.startswith(self._client_release):
            return self._cluster.classpath
        return jars_of(newest_patch(self._client_release))


def _partition_before(watcher: Watcher) -> PartitionDecision:
    found = [d for d in watcher.decisions[: watcher.first] if isinstance(d, PartitionDecision)]
    if not found:
        raise ClusterError("the controller's log does not have the topic of the run; run again")
    return found[-1]
