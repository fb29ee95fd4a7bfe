"""The cluster on which traces are replayed, and what happens before the first step of a trace."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

from checker.cluster.client import ClientProcess
from checker.cluster.cluster import Cluster
from checker.cluster.jars import jars_of, newest_patch, release_of_home
from checker.cluster.plan import CONTROLLER, ClusterPlan
from checker.cluster.proxy import Proxy
from checker.cluster.supervisor import Supervisor
from checker.cluster.waiting import until
from checker.reproduction.adjusting import adjusted, adjusted_client
from checker.reproduction.applications import START_SECONDS, Consuming, Producing
from checker.reproduction.expected import epoch_of, first_leaders, leader_of
from checker.reproduction.gates import CONSUMER_ID, PRODUCER_ID, close_gates
from checker.reproduction.plan import Plan, PlannedClient
from checker.reproduction.replay import SECONDS, Replay
from checker.reproduction.steps.consuming import PLANS as OF_CONSUMER
from checker.reproduction.steps.consuming import REBALANCE_SECONDS
from properties.reproduced import ChangedSetting

Told = Callable[[str], None]


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
        self._traces = 0
        self._replay: Replay | None = None
        settings, changed = adjusted(plan, "broker", "", plan.broker_settings)
        self.changed: tuple[ChangedSetting, ...] = changed
        self.release = str(newest_patch(plan.kafka)) if kafka_home is None else release_of_home(kafka_home)
        tell(f"Apache Kafka {self.release}: a controller and {plan.replicas} brokers start on this machine")
        self.cluster = Cluster(
            ClusterPlan(
                release=self.release,
                kafka_home=kafka_home,
                brokers=tuple(range(1, plan.replicas + 1)),
                broker_settings=settings,
                features=plan.features,
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

    def clients(self) -> tuple[str, ...]:
        """Return the clients that ran, each once."""
        return tuple(dict.fromkeys(self._started))

    def prepare(self, plan: Plan, tell: Told) -> Replay:
        """Bring topic and clients into the state in which the trace begins, and close the gates."""
        self._traces += 1
        topic = f"proofka-{self._traces}"
        self._create_topic(plan, topic)
        producing = Producing(self._starter(plan, "producer", plan.producer, topic=topic, prefix=PRODUCER_ID))
        consuming = Consuming(self._starter(plan, "consumer", plan.consumer, topic=topic, prefix=CONSUMER_ID))
        if any(step.action in ("send", "delay_earlier_end") for step in plan.steps):
            tell(f"starting the producer ({plan.producer.library})")
            self._warm_up(plan, producing, topic)
        base = self.cluster.log_end(1, topic)
        if any(step.action in OF_CONSUMER for step in plan.steps):
            tell(f"starting the consumer ({plan.consumer.library})")
            self._join(plan, consuming, base)
        replay = Replay(
            plan=plan,
            cluster=self.cluster,
            proxy=self.proxy,
            topic=topic,
            group=self._group(plan),
            gates=close_gates(self.proxy, plan.replicas),
            producing=producing,
            consuming=consuming,
            base=base,
            epochs={epoch_of(plan.start): self.cluster.view(CONTROLLER, topic).epoch},
            began=time.monotonic(),
        )
        self._replay = replay
        self._wait_until_quiet(replay)
        return replay

    def recover(self, tell: Told) -> None:
        """Bring the cluster back into the state in which a trace begins: all brokers run, no client, no gate."""
        tell("all brokers run again for the next trace")
        if self._replay is not None:
            self._replay.producing.kill()
            self._replay.consuming.kill()
            self._replay.gates.remove()
        self.proxy.accept(r"\d+->controller")
        for broker in self.cluster.plan.brokers:
            if not self.cluster.node(broker).is_up:
                self.cluster.restart(broker)
        for broker in self.cluster.plan.brokers:
            self.cluster.wait_up(broker)

    def reached_by(self) -> list[str]:
        """Return the lines that tell how the cluster is reached."""
        return [
            f"clients: --bootstrap-server {self.cluster.bootstrap} (through the proxy)",
            f"files of the nodes: {self.supervisor.folder}",
        ]

    def _create_topic(self, plan: Plan, topic: str) -> None:
        settings, changed = adjusted(plan, "topic", "", plan.topic_settings)
        self._add_changed(changed)
        order = first_leaders(plan)
        self.cluster.create_topic(topic, [order], settings)

    def _warm_up(self, plan: Plan, producing: Producing, topic: str) -> None:
        """Start the producer. Where brokers know its producer id as the trace begins, store a record before."""
        program = producing.run()
        if plan.idempotent and plan.application.get("producer_id") != "new":
            program.ask("send", record=0, seconds=START_SECONDS)
            program.wait_event(
                lambda event: event["event"] == "report" and event["error"] is None,
                what="the report on the record before the trace",
                seconds=START_SECONDS,
            )
        end = max(self.cluster.log_end(broker, topic) for broker in range(1, plan.replicas + 1))
        for broker in range(1, plan.replicas + 1):
            until(
                lambda broker=broker: self.cluster.log_end(broker, topic) == end,  # type: ignore[misc]
                what=f"broker {broker} to have the records before the trace",
                seconds=SECONDS,
            )

    def _join(self, plan: Plan, consuming: Consuming, base: int) -> None:
        """Start the consumer at the trace's first offset, with that offset committed if its group is established."""
        program = consuming.run(seconds=REBALANCE_SECONDS)
        if "consumer.group.id" in plan.effective and plan.application.get("group") != "new":
            program.ask("commit", offset=base, seconds=SECONDS)

    def _starter(
        self, plan: Plan, role: str, client: PlannedClient, *, topic: str, prefix: str
    ) -> Callable[[int], ClientProcess]:
        settings, changed = adjusted_client(plan, role, client)
        self._add_changed(changed)
        settings = {key: value for key, value in settings.items() if key not in ("client.id", "bootstrap.servers")}
        if role == "consumer" and "group.id" in settings:
            settings["group.id"] = self._group(plan)

        def start(number: int) -> ClientProcess:
            is_java = client.library == "java"
            release = str(newest_patch(client.release)) if is_java and client.release else self.release
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
            version = next(event for event in process.events if event["event"] == "ready").get("version")
            self._started.append(f"{client.library} {version or release}")
            return process

        return start

    def _group(self, plan: Plan) -> str:
        return f"{plan.effective.get('consumer.group.id', 'proofka')}-{self._traces}"

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
