"""The cluster on which traces are replayed, and what happens before the first step of a trace."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

from proofka.checker.cluster.bodies.fetching import fetch_request
from proofka.checker.cluster.client import ClientProcess, event_is
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.coordination import transaction_of
from proofka.checker.cluster.errors import JarsUnavailable
from proofka.checker.cluster.frames import REQUEST, RESPONSE
from proofka.checker.cluster.jars import (
    OLDEST_JAVA_CLIENT,
    Release,
    jars_of,
    jars_of_home,
    newest_patch,
    release_of_home,
)
from proofka.checker.cluster.java import java_home
from proofka.checker.cluster.launching import Launch, launch_of, libraries
from proofka.checker.cluster.plan import CONTROLLER, KRAFT, ZOOKEEPER, ClusterPlan
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.adjusting import LEARNS_BY_AGE, adjusted, adjusted_client, session_of, situations_of
from proofka.checker.reproduction.applications import START_SECONDS, Consuming, Producing
from proofka.checker.reproduction.errors import CannotBegin
from proofka.checker.reproduction.expected import epoch_of, first_leaders, leader_of
from proofka.checker.reproduction.gates import CONSUMER_ID, FETCH, METADATA, PRODUCER_ID, close_gates, to_broker
from proofka.checker.reproduction.keeping import ways_in
from proofka.checker.reproduction.plan import Plan, PlannedClient
from proofka.checker.reproduction.replay import SECONDS, Replay
from proofka.checker.reproduction.steps.consuming import PLANS as OF_CONSUMER
from proofka.checker.reproduction.steps.consuming import REBALANCE_SECONDS
from proofka.checker.reproduction.steps.membership import PLANS as OF_MEMBERS
from proofka.checker.reproduction.transacting import Transacting, close_transaction_gates
from proofka.properties.reproduced import ChangedSetting

TOPIC = "proofka"
"""Name of the tested topics, before the number of the trace."""
_KEEPS = {KRAFT: "a controller", ZOOKEEPER: "ZooKeeper, a controller"}
Told = Callable[[str], None]
"""A function that shows a line of progress."""


def clients_that_run(plan: Plan) -> dict[str, PlannedClient]:
    """Return the clients that the trace needs, by role."""
    found = {}
    if plan.has("send", "delay_earlier_end", "begin_later"):
        found["producer"] = plan.producer
    if plan.has(*OF_CONSUMER, *OF_MEMBERS):
        found["consumer"] = plan.consumer
    return found


class RunningCluster:
    """A cluster that runs, for one trace after another.

    ``release``: Kafka's release. ``changed``: the settings with other values than the deployment's.
    """

    def __init__(
        self, plan: Plan, supervisor: Supervisor, proxy: Proxy, *, kafka_home: Path | None, tell: Told
    ) -> None:
        self.supervisor = supervisor
        self.proxy = proxy
        self._started: list[str] = []
        self._launches: dict[str, Launch] = {}
        self._traces = 0
        self._replay: Replay | None = None
        settings, changed = adjusted(plan, "broker", "", plan.broker_settings)
        self.changed: tuple[ChangedSetting, ...] = changed
        self.release = str(newest_patch(plan.kafka)) if kafka_home is None else release_of_home(kafka_home)
        self._check_programs(plan, kafka_home)
        if self.release.split(".")[:2] != plan.kafka.split(".")[:2]:
            tell(
                f"the trace is one of Kafka {plan.kafka}, and {kafka_home} has Kafka {self.release}: a divergence can "
                "be a difference of these releases"
            )
        brokers = "a broker" if plan.replicas == 1 else f"{plan.replicas} brokers"
        tell(f"Apache Kafka {self.release}: {_KEEPS[plan.mode]} and {brokers} start on this machine")
        self.cluster = Cluster(
            ClusterPlan(
                release=self.release,
                mode=plan.mode,
                kafka_home=kafka_home,
                brokers=tuple(range(1, plan.replicas + 1)),
                broker_settings=settings,
                features=plan.features,
                session_ms=session_of(plan),
            ),
            supervisor,
            proxy,
        )
        self.cluster.start()
        self._add_changed(
            tuple(
                ChangedSetting("broker", one.setting, one.given, one.used or "", one.reason)
                for one in self.cluster.changed
            )
        )
        self._of_cluster = self.changed

    def clients(self) -> tuple[str, ...]:
        """Return the clients that ran, each once."""
        return tuple(dict.fromkeys(self._started))

    def prepare(self, plan: Plan, tell: Told) -> Replay:
        """Bring topic and clients into the state in which the trace begins, and close the gates."""
        self.changed, self._started = self._of_cluster, []
        self._traces += 1
        topic = f"{TOPIC}-{self._traces}"
        self._create_topic(plan, topic)
        producing = Producing(self._starter(plan, "producer", plan.producer, topic=topic, prefix=PRODUCER_ID))
        consuming = Consuming(
            self._starter(plan, "consumer", plan.consumer, topic=topic, prefix=CONSUMER_ID),
            self._results_starter(plan, topic) if plan.application.get("sink") == "kafka" else None,
            self._first_fetch(after=len(self.proxy.seen) - 1),
        )
        running = clients_that_run(plan)
        if "producer" in running:
            tell(f"starting the producer ({plan.producer.library})")
            self._warm_up(plan, producing, topic)
            if LEARNS_BY_AGE in situations_of(plan):
                self._connect_elsewhere()
        base = self.cluster.log_end(1, topic)
        if "consumer" in running:
            tell(f"starting the consumer ({plan.consumer.library})")
            self._join(plan, consuming, base)
        replay = Replay(
            plan=plan,
            cluster=self.cluster,
            proxy=self.proxy,
            topic=topic,
            group=self._group(plan),
            gates=close_gates(
                self.proxy,
                plan.replicas,
                channels=self.cluster.channels,
                topic=topic,
                leader=leader_of(plan.start),
            ),
            producing=producing,
            consuming=consuming,
            base=base,
            epochs={epoch_of(plan.start): self.cluster.view(CONTROLLER, topic).epoch},
            began=time.monotonic(),
            transacting=self._transacting(plan),
        )
        self._replay = replay
        self._wait_until_quiet(replay)
        return replay

    def recover(self, tell: Told) -> None:
        """Bring the cluster back into the state in which a trace begins: all brokers run, no client, no gate."""
        tell("all brokers run again for the next trace")
        self.let_go()
        for broker in self.cluster.plan.brokers:
            if not self.cluster.node(broker).is_up:
                self.cluster.restart(broker)
        for broker in self.cluster.plan.brokers:
            self.cluster.wait_up(broker)
        # Followers that catch up with the topic of an earlier trace would spend fetches that a step lets pass.
        self.cluster.admin.delete_topic(f"{TOPIC}-{self._traces}")

    def let_go(self) -> None:
        """End the trace's clients, let all held messages pass, and join what is cut off; ended brokers stay down."""
        if self._replay is not None:
            self._replay.producing.kill()
            self._replay.consuming.kill()
            self._replay.consuming.kill_evicted()
            self._replay.gates.remove()
            for gate in self._replay.unregistered.values():
                gate.remove()
            if self._replay.transacting is not None:
                self._replay.transacting.gates.remove()
        self.cluster.channels.admit()
        self.proxy.accept(self.cluster.channels.to_controller(r"\d+"))
        self.proxy.keep_open(r"client->\d+", False)

    def reached_by(self) -> list[str]:
        """Write programs for console tools and clients, and return the lines that tell how the cluster is reached."""
        assert self._replay is not None, "no trace was replayed"
        has_group = "consumer" in self._launches and self._replay.plan.group is not None
        return list(
            ways_in(
                self.cluster,
                self.supervisor.folder,
                self._replay.topic,
                group=self._group(self._replay.plan) if has_group else None,
                clients=self._launches,
            )
        )

    def _create_topic(self, plan: Plan, topic: str) -> None:
        settings, changed = adjusted(plan, "topic", "", plan.topic_settings)
        self._add_changed(changed)
        order = first_leaders(plan)
        self.cluster.create_topic(topic, [order], settings)

    def _warm_up(self, plan: Plan, producing: Producing, topic: str) -> None:
        """Start the producer. Where brokers know its producer id as the trace begins, store a record before."""
        program = producing.run()
        if plan.transactional:
            self._warm_up_transactions(plan, producing, topic)
        elif plan.idempotent and plan.application.get("producer_id") != "new":
            program.ask("send", record=0, seconds=START_SECONDS)
            program.wait_event(
                event_is("report", record=0, error=None),
                what="the report on the record before the trace",
                seconds=START_SECONDS,
            )
        self.cluster.wait_copied(topic, seconds=SECONDS)

    def _warm_up_transactions(self, plan: Plan, producing: Producing, topic: str) -> None:
        """Start the producer's transactions. Where brokers know its producer id, commit a transaction with a record."""
        program = producing.run()
        program.ask("init", seconds=START_SECONDS)
        if plan.application.get("producer_id") == "new":
            return
        program.ask("begin", seconds=START_SECONDS)
        program.ask("send", record=0, seconds=START_SECONDS)
        event = program.ask("commit", seconds=START_SECONDS)
        if event.get("error"):
            raise CannotBegin(f"the transaction before the trace fails: {event['error']}; run again")
        port = self.cluster.harness_port(CONTROLLER)
        until(
            lambda: transaction_of(port, self._transactional_id(plan)).state == "CompleteCommit",
            what="the end of the transaction before the trace",
            seconds=SECONDS,
        )
        until(
            lambda: any(batch.marker for batch in self.cluster.batches(1, topic)),
            what="the marker of the transaction before the trace",
            seconds=SECONDS,
        )

    def _transacting(self, plan: Plan) -> Transacting | None:
        if not plan.transactional:
            return None
        return Transacting(self._transactional_id(plan), close_transaction_gates(self.proxy, plan.replicas))

    def _transactional_id(self, plan: Plan) -> str:
        return f"{plan.effective['producer.transactional.id']}-{self._traces}"

    def _connect_elsewhere(self) -> None:
        """Have the producer ask the controller's node, so that it can ask there while a leader is silent.

        Java asks a broker to which it has a connection, even if that broker owes an answer. A connection to an address
        of bootstrap.servers does not count: Java closes it once it knows the brokers.
        """
        brokers = rf"client->(?!{CONTROLLER}$)\d+"
        self.proxy.refuse(brokers)
        self.proxy.wait_seen(
            lambda entry: (
                entry.frame.api == METADATA
                and entry.frame.side == RESPONSE
                and entry.frame.client.startswith(PRODUCER_ID)
                and entry.frame.link == to_broker(CONTROLLER)
            ),
            after=len(self.proxy.seen) - 1,
            what="an answer to the producer from the controller's node",
            seconds=START_SECONDS,
        )
        self.proxy.accept(brokers)

    def _join(self, plan: Plan, consuming: Consuming, base: int) -> None:
        """Start the consumer at the trace's first offset, with that offset committed if its group is established."""
        program = consuming.run(seconds=REBALANCE_SECONDS)
        if plan.group is not None and plan.application.get("group") != "new":
            program.ask("commit", offset=base, seconds=SECONDS)

    def _starter(
        self, plan: Plan, role: str, client: PlannedClient, *, topic: str, prefix: str
    ) -> Callable[[int], ClientProcess]:
        settings, changed = adjusted_client(plan, role, client)
        library = libraries()[client.library]
        own = (library.client_id, library.group_id, *library.own.split())
        settings = {key: value for key, value in settings.items() if key not in own}
        if role == "consumer" and plan.group is not None:
            settings[library.group_id] = self._group(plan)
        if role == "producer" and plan.transactional:
            settings["transactional.id"] = self._transactional_id(plan)

        def start(number: int) -> ClientProcess:
            self._add_changed(changed)
            is_java = client.library == "java"
            release = self._release_of(client)
            process = ClientProcess.start(
                self.supervisor,
                client.library,
                role,
                bootstrap=self.cluster.bootstrap,
                topic=topic,
                client_id=f"{prefix}-{number}",
                settings=settings,
                classpath=self._classpath(release) if is_java else (),
            )
            assert process.launch is not None, "the process was started with a command"
            self._launches[role] = process.launch
            version = next(event["version"] for event in process.events if event["event"] == "ready")
            self._started.append(f"{client.library} {version}")
            return process

        return start

    def _results_starter(self, plan: Plan, topic: str) -> Callable[[int], ClientProcess]:
        """Return what starts the producer of a consumer's results, which has a topic that no fault reaches."""
        results = f"{topic}-results"
        self.cluster.create_topic(results, [(CONTROLLER,)], {})

        def start(number: int) -> ClientProcess:
            return ClientProcess.start(
                self.supervisor,
                "java",
                "producer",
                bootstrap=self.cluster.bootstrap,
                topic=results,
                client_id=f"{results}-{number}",
                settings={"transactional.id": f"{results}-{number}"},
                classpath=self.cluster.classpath,
            )

        return start

    def _first_fetch(self, *, after: int) -> Callable[[int], int]:
        """Return what tells the offset of a consumer's first fetch. ``after``: index of the last earlier frame."""

        def fetched(number: int) -> int:
            client = f"{CONSUMER_ID}-{number}"
            seen = self.proxy.wait_seen(
                lambda entry: (
                    entry.frame.api == FETCH
                    and entry.frame.side == REQUEST
                    and entry.frame.client == client
                    and bool(fetch_request(entry.frame).partitions)
                ),
                after=after,
                what=f"the first fetch of {client}",
                seconds=SECONDS,
            )
            return fetch_request(seen.frame).partitions[0].fetch_offset

        return fetched

    def _check_programs(self, plan: Plan, kafka_home: Path | None) -> None:
        """Build the programs of the trace's clients, so that what is missing is told before the cluster starts.

        Raises MissingProgram, MissingLibrary, JarsUnavailable and CannotStart.
        """
        java_home()
        for client in clients_that_run(plan).values():
            jars: Sequence[Path] = ()
            if client.library == "java":
                release = self._release_of(client)
                if Release(release).numbers < OLDEST_JAVA_CLIENT.numbers:
                    raise JarsUnavailable(
                        f"a replay needs Java's client {OLDEST_JAVA_CLIENT.line} or later, and the deployment has "
                        f"{release}: check the deployment with a newer client (--client, or version: in the file)"
                    )
                is_brokers = kafka_home is not None and release == self.release
                jars = jars_of_home(kafka_home) if is_brokers and kafka_home is not None else jars_of(release)
            launch_of(libraries()[client.library], jars)

    def _release_of(self, client: PlannedClient) -> str:
        """Return the release of Java's client; any other client has that of its library."""
        return str(newest_patch(client.release)) if client.library == "java" and client.release else self.release

    def _group(self, plan: Plan) -> str:
        return f"{plan.group or 'proofka'}-{self._traces}"

    def _classpath(self, release: str) -> Sequence[Path]:
        """Return the jars of a Java client; a client of the brokers' release has theirs."""
        return self.cluster.classpath if release == self.release else jars_of(release)

    def _add_changed(self, changed: tuple[ChangedSetting, ...]) -> None:
        self.changed += tuple(one for one in changed if one not in self.changed)

    def _wait_until_quiet(self, replay: Replay) -> None:
        """Wait until the proxy holds the next fetch of each follower, so that no broker has one to answer."""
        leader = leader_of(replay.plan.start)
        for broker in replay.brokers:
            if broker != leader:
                replay.wait_fetch(broker, leader)
        until(
            lambda: not self.proxy.outstanding(r"replica->\d+", "Fetch", r"broker-\d+-fetcher"),
            what="the answers to all fetches of followers",
            seconds=SECONDS,
        )
