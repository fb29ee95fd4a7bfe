"""The lab: runs of a deployment on a throw-away cluster, recorded as events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from proofka.checker.cluster.admin import Refused
from proofka.checker.cluster.batches import Batch
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.errors import ClientEnded, CommandFailed, NotSeen
from proofka.checker.cluster.jars import newest_patch, release_of_home
from proofka.checker.cluster.passed import Passed
from proofka.checker.cluster.plan import ClusterPlan
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.wire import NoAnswer
from proofka.checker.conformance.cluster_controls import ClusterControls
from proofka.checker.conformance.consumer_controls import ConsumerControls
from proofka.checker.conformance.errors import ConformanceError
from proofka.checker.conformance.events import Recording
from proofka.checker.conformance.gathering import changes_passed, changes_proposed, reports_of, requests_of, sends_of
from proofka.checker.conformance.lab_clients import LabClients
from proofka.checker.conformance.lab_consumers import LabConsumers, is_read
from proofka.checker.conformance.lab_producers import START_SECONDS, LabProducers
from proofka.checker.conformance.lab_settings import LAG, lab_settings, milliseconds_of
from proofka.checker.conformance.observations import Observations, OfTransactions
from proofka.checker.conformance.producer_controls import ProducerControls, RunProducer
from proofka.checker.conformance.recording import events_of
from proofka.checker.conformance.renumbering import by_place
from proofka.checker.conformance.scheduler import Schedule
from proofka.checker.conformance.transacting import TransactingApplication
from proofka.checker.conformance.transactional_controls import TransactionalControls
from proofka.checker.conformance.transactions_as_modelled import as_modelled
from proofka.checker.conformance.watching import MS, Watcher
from proofka.checker.real_settings import effective_of, features_of
from proofka.model.deployment.choices import OnRestart
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.explored import Bounds
from proofka.model.durations import Quantity
from proofka.model.transactions.sending import group_of

AGAIN_SECONDS = 20.0
"""Seconds within which a producer of the run before sends the first record of the next run."""

END_SECONDS = 90.0
"""Seconds within which a run comes to its end."""

ATTEMPTS = 5
"""The number of times that new topics are tried for a run."""

PRODUCERS = 4
"""Default number of producers of a run."""

BOUNDS = Bounds(records=2, log=5, sends=1, epochs=15, producer_epochs=4)
"""The bounds of the model of a run: far enough for what a short run does."""

BOUNDS_WITH_TRANSACTIONS = Bounds(records=3, log=7, sends=1, epochs=15, producer_epochs=8)
"""The same with transactions, whose ends are entries of logs, and give the producer another epoch."""


class NotRunnable(ConformanceError):
    """A deployment that the lab cannot run."""

    code = "E05"


@dataclass(frozen=True)
class Asked:
    """A request for runs of a deployment, a run for each seed.

    ``records``: the number of records of each producer; None for that of the bounds. ``producers``: the number of
    producers of a run, each with a topic of its own. ``consumers``: each topic has a consumer, if the lab has one for
    the deployment. ``kafka_home``: an installation in place of jars.
    """

    deployment: Deployment
    seeds: Sequence[int]
    records: int | None = None
    steps: int = 24
    faults: int = 3
    producers: int = PRODUCERS
    consumers: bool = True
    kafka_home: Path | None = None

    @property
    def modelled(self) -> Deployment:
        """The deployment with the bounds of the runs, and with the lag of the runs.

        The model has brokers that start before they are registered where a leader can drop a dead broker from the ISR
        before the controller fences the broker.
        """
        lag = Quantity(LAG, milliseconds_of(LAG), milliseconds_of(LAG))
        durations = replace(self.deployment.durations, replica_lag=lag)
        return replace(self.deployment, bounds=self.bounds, durations=durations)

    @property
    def bounds(self) -> Bounds:
        """The bounds of the model of a run."""
        bounds = BOUNDS if self.deployment.producer.transactional is None else BOUNDS_WITH_TRANSACTIONS
        return bounds if self.records is None else replace(bounds, records=self.records)


def expect_runnable(deployment: Deployment) -> None:
    """Raise :class:`NotRunnable` for a deployment that the lab cannot run, with what to do."""
    if deployment.cluster.zookeeper:
        raise NotRunnable(
            "the lab reads the controller's log, which clusters with ZooKeeper lack: name brokers of Kafka 3.3 or "
            "later, without zookeeper.connect"
        )


Told = Callable[[str], None]
"""A function that shows a line of progress."""


def record_runs(asked: Asked, tell: Told) -> Iterator[Recording]:
    """Yield the recordings of a run for each seed, one for each producer of the run.

    Runs share a cluster as long as each run comes to its end.

    Raises ClusterError where a cluster or a client does not start, and :class:`NotRunnable`.
    """
    waiting = list(asked.seeds)
    while waiting:
        with ExitStack() as stack:
            lab = _Lab(asked, stack, tell)
            while waiting:
                recordings = lab.run(waiting.pop(0))
                yield from recordings
                if any("unfinished" in recording.about for recording in recordings):
                    break


_Pair = tuple[RunProducer, ConsumerControls | None]
"""A producer of a run, and the consumer of its topic, if there is one."""


class _Lab:
    """A cluster for the runs of a deployment."""

    def __init__(self, asked: Asked, stack: ExitStack, tell: Told) -> None:
        deployment = asked.deployment
        expect_runnable(deployment)
        self._asked, self._tell = asked, tell
        self._effective = effective_of(deployment)
        home = asked.kafka_home
        self.release = str(newest_patch(self._effective["broker.release"]) if home is None else release_of_home(home))
        self._supervisor, self._proxy = stack.enter_context(Supervisor()), stack.enter_context(Proxy())
        plan = ClusterPlan(
            self.release,
            brokers=tuple(range(1, deployment.cluster.replicas + 1)),
            kafka_home=asked.kafka_home,
            broker_settings=lab_settings(deployment, "broker"),
            features=features_of(deployment),
        )
        tell(f"Apache Kafka {self.release}: a controller and {len(plan.brokers)} brokers start on this machine")
        self._cluster = stack.enter_context(Cluster(plan, self._supervisor, self._proxy))
        self._cluster.start()
        self._producers = LabProducers(
            deployment, self._cluster, self._clients("producer"), records=asked.bounds.records
        )
        self._consumers: LabConsumers | None = None
        if asked.consumers and is_read(deployment):
            self._consumers = LabConsumers(deployment, self._cluster, self._clients("consumer"))
        self._transacts = deployment.producer.transactional is not None
        self._idle: list[RunProducer] = []

    def _clients(self, role: str) -> LabClients:
        return LabClients(self._asked.deployment, self._cluster, self._supervisor, release=self.release, role=role)

    def run(self, seed: int) -> list[Recording]:
        """Run a schedule on topics of its own; return a recording for each producer."""
        with ThreadPoolExecutor(self._asked.producers) as pool:
            begun, watcher = self._begun(seed, pool)
        first = len(self._proxy.seen)
        producers = [producer for producer, _ in begun]
        consumers = {consumer.number: consumer for _, consumer in begun if consumer is not None}
        own = [self._controls(producer, watcher) for producer in producers]
        controls = ClusterControls(
            self._cluster,
            self._proxy,
            watcher,
            producers=own,
            consumers=list(consumers.values()),
            end_seconds=END_SECONDS,
        )
        warm = {one.topic: self._cluster.batches(one.order[0], one.topic) for one in producers}
        unfinished: dict[str, object] = {}
        try:
            Schedule(seed, steps=self._asked.steps, faults=self._asked.faults).run(controls)
        except (NotSeen, CommandFailed) as error:
            unfinished = {"unfinished": str(error)}
        finally:
            watcher.stop()
            for consumer in consumers.values():
                consumer.kill()
        # A producer that has run is known to brokers, so another one begins a run in which they know none.
        goes_on = not unfinished and self._effective.get("application.producer_id") != "new"
        self._idle = [each.producer for each in own] if goes_on else []
        entries = tuple(self._proxy.seen)[first:]
        about = {"seed": seed, **unfinished}
        return [
            self._recording(each, consumers.get(each.producer.number), controls, watcher, warm, entries, about)
            for each in own
        ]

    def _controls(self, producer: RunProducer, watcher: Watcher) -> ProducerControls:
        """Return the controls of a producer. A process that ends is possible where the next one sends nothing again."""
        deployment = self._asked.modelled
        forgets = deployment.application.on_restart is OnRestart.FORGET
        if deployment.producer.transactional is None:
            restart = self._producers.start_again if forgets else None
            return ProducerControls(self._cluster, self._proxy, watcher, producer=producer, restart=restart)
        groups: dict[int, list[int]] = {}
        for record in range(producer.records):
            groups.setdefault(group_of(deployment, record), []).append(record)
        return TransactionalControls(
            self._cluster,
            self._proxy,
            watcher,
            producer=producer,
            restart=self._producers.start_again,
            crashes=forgets,
            transactions=TransactingApplication(list(groups.values())),
        )

    def _recording(
        self,
        own: ProducerControls,
        consumer: ConsumerControls | None,
        shared: ClusterControls,
        watcher: Watcher,
        warm: Mapping[str, Sequence[Batch]],
        entries: Sequence[Passed],
        about_run: Mapping[str, object],
    ) -> Recording:
        """Return what is known of one producer of a run."""
        producer, records = own.producer, self._asked.bounds.records
        last = next((batch for batch in reversed(warm[producer.topic]) if not batch.is_control), None)
        transactions = _of_transactions(own, watcher)
        numbers = (last.producer_id, last.producer_epoch) if last is not None and last.producer_id >= 0 else None
        counted = last.base_sequence + 1 if last is not None else 0
        if transactions is not None:
            counted, numbers = counted if numbers == transactions.producer else 0, transactions.producer
        looks, events = watcher.looks(producer.topic), producer.events
        done = sorted((*own.done, *shared.done), key=lambda one: one.when)
        seen = Observations(
            brokers=self._cluster.plan.brokers,
            first=watcher.partition_before(producer.topic),
            decisions=watcher.decisions(producer.topic),
            warm=counted,
            producer=numbers,
            sends=sends_of(events, own.sent, looks[-1].when[1]),
            requests=requests_of(entries, producer.client_id, records),
            reports=reports_of(events, records),
            looks=looks,
            done=tuple(done),
            changes_passed=changes_passed(entries),
            changes_proposed=changes_proposed(entries),
            lag=milliseconds_of(LAG) / MS,
            session=self._cluster.plan.session_ms / MS,
            end=max(look.when[1] for look in looks),
            transactions=transactions,
            consumer=consumer.seen() if consumer is not None else None,
        )
        used = sorted((*done, *(consumer.done if consumer is not None else ())), key=lambda one: one.when)
        about = {
            **about_run,
            "producer": producer.number,
            "kafka": self.release,
            "client": self._producers.client(producer.process),
            "replicas": list(producer.order),
            "records": records,
            "controls": [f"{one.control}({one.broker})" for one in used],
        }
        return Recording(self._asked.modelled, events_of(as_modelled(by_place(seen, producer.order))), about)

    def _begun(self, seed: int, pool: ThreadPoolExecutor) -> tuple[list[_Pair], Watcher]:
        """Return the producers and consumers of a run that begins as the model does, and the watcher.

        A slow machine can change leader or ISR of a topic before the run begins. The run leaves such a topic out; with
        no topic left, others are tried.
        """
        brokers = self._cluster.plan.brokers
        for attempt in range(ATTEMPTS):
            idle = {producer.number: producer for producer in self._idle}
            self._idle = []
            started = list(
                pool.map(
                    lambda number: self._ready(f"{seed}-{attempt}-{number}", number, idle.get(number)),  # noqa: B023
                    range(1, self._asked.producers + 1),
                )
            )
            watcher = Watcher(
                self._cluster,
                {producer.topic: producer.base for producer, _ in started},
                {producer.topic: producer.client_id for producer, _ in started} if self._transacts else {},
            )
            left = []
            for producer, consumer in started:
                partition = watcher.partition_before(producer.topic)
                if partition.leader == producer.order[0] and set(partition.isr) == set(brokers) == set(watcher.live):
                    left.append((producer, consumer))
                    continue
                self._end(producer)
                if consumer is not None:
                    consumer.kill()
            if left:
                return left, watcher
            watcher.stop()
        raise NotSeen("a topic with its first leader and all replicas in sync", START_SECONDS)

    def _ready(self, name: str, number: int, idle: RunProducer | None) -> _Pair:
        """Return a producer that has sent a record, and the consumer of its topic.

        The producer is the idle one of the run before, or a new one with a new topic.
        """
        producer = None
        if idle is not None:
            try:
                producer = self._again(idle)
            except (NotSeen, ClientEnded, CommandFailed):
                self._end(idle)
        producer = producer or self._producers.new(name, number)
        return producer, None if self._consumers is None else self._consumers.join(name, producer)

    def _again(self, idle: RunProducer) -> RunProducer:
        """Give a topic its first leader again, and let its producer send a record.

        Raises NotSeen and ClientEnded where the producer cannot go on.
        """
        with suppress(Refused, NoAnswer):
            self._cluster.admin.elect_preferred_leader(idle.topic)
        self._cluster.wait_view(
            lambda view: view.leader == idle.order[0] and set(view.isr) == set(idle.order),
            idle.topic,
            what=f"leader {idle.order[0]} of {idle.topic}, and all its replicas in sync",
            seconds=AGAIN_SECONDS,
        )
        return self._producers.warm(idle, AGAIN_SECONDS)

    def _end(self, producer: RunProducer) -> None:
        producer.process.kill()
        with suppress(Refused, NoAnswer):
            self._cluster.admin.delete_topic(producer.topic)


def _of_transactions(own: ProducerControls, watcher: Watcher) -> OfTransactions | None:
    """Return what was seen of the transactions of a producer; None for a producer without transactions."""
    if not isinstance(own, TransactionalControls):
        return None
    before, calls = watcher.coordinated_before(own.producer.topic).producer, own.transactions
    return OfTransactions(
        before, tuple(own.decisions()), tuple(calls.ended), tuple(own.delayed), tuple(calls.committing)
    )
