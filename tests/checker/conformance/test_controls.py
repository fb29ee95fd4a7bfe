"""The controls of a cluster and of its producers, with the real proxy, and brokers and programs of the test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from proofka.checker.cluster.client import ClientProcess
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.disk import DurableRecords
from proofka.checker.cluster.errors import ClientEnded, NotSeen
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.waiting import until
from proofka.checker.cluster.wire import int8, int16, int64, text
from proofka.checker.conformance.cluster_controls import ClusterControls
from proofka.checker.conformance.controls import Control
from proofka.checker.conformance.producer_controls import ProducerControls, RunProducer
from proofka.checker.conformance.transacting import TransactingApplication
from proofka.checker.conformance.transactional_controls import TransactionalControls
from proofka.checker.conformance.watching import Watcher
from tests.checker.cluster.wire import SECONDS, Broker, Client
from tests.checker.conformance.disks import BROKERS, Disks
from tests.checker.conformance.test_gathering import produce
from tests.checker.reproduction import messages

TOPICS = ("t", "u")
"""The topics; only ``t`` is in the controller's log as it begins."""


class Program:
    """A client program that notes its commands, and says at once that each record was sent."""

    def __init__(self) -> None:
        self.events: tuple[dict[str, Any], ...] = ({"event": "report", "record": 0},)
        self.commands: list[tuple[str, int]] = []
        self.is_killed = False

    def send(self, command: str, *, record: int) -> None:
        self.commands.append((command, record))
        self.events = (*self.events, {"event": "sent", "record": record, "at": 0.0})

    def kill(self) -> None:
        self.is_killed = True

    def wait_event(self, matching: Any, *, what: str, seconds: float, after: int = 0) -> None:
        if self.is_killed:
            raise ClientEnded(what)
        assert any(matching(event) for event in self.events[after:])

    def report(self, record: int) -> None:
        self.events = (*self.events, {"event": "report", "record": record, "at": 0.0})


class SteeredDisks(Disks):
    """Disks with nodes that are killed, paused and started, and the links of a proxy."""

    def __init__(self, folder: Path, proxy: Proxy, stack: ExitStack) -> None:
        super().__init__(folder)
        for broker in BROKERS:
            self.write(broker, "t", 90)
        self.done: list[tuple[str, int]] = []
        self.durable = 0
        self.kept: dict[tuple[str, int], int] = {}
        self.servers = {broker: stack.enter_context(Broker()) for broker in BROKERS}
        self.ports = {
            link: proxy.listen(link, self.servers[broker].port)
            for broker in BROKERS
            for link in (f"client->{broker}", f"replica->{broker}", f"{broker}->controller")
        }
        for broker in BROKERS:
            self.nodes[broker].start = lambda broker=broker: self.restart(broker)
            self.nodes[broker].resume = lambda broker=broker: self.resume(broker)
        self.admin = SimpleNamespace(
            reorder_replicas=lambda topic, order: self.done.append(("reorder", order[0])),
            elect_preferred_leader=lambda topic: self.done.append(("elect", 0)),
        )
        self.isr = BROKERS

    def kill(self, broker: int) -> None:
        self.done.append(("kill", broker))
        self.nodes[broker].is_up = False

    def stop(self, broker: int) -> None:
        self.done.append(("stop", broker))
        self.nodes[broker].is_up = False

    def restart(self, broker: int) -> None:
        self.done.append(("restart", broker))
        self.nodes[broker].is_up = True

    def pause(self, broker: int) -> None:
        self.nodes[broker].is_paused = True

    def resume(self, broker: int) -> None:
        self.nodes[broker].is_paused = False

    def power_loss(self, broker: int, keep: Mapping[tuple[str, int], int]) -> None:
        if min(keep.values()) < self.durable:
            raise DurableRecords("flushed")
        self.kept = dict(keep)
        self.kill(broker)

    def wait_up(self, broker: int, *, seconds: float) -> None:
        self.done.append(("wait_up", broker))

    def view(self, broker: int, topic: str) -> SimpleNamespace:
        return SimpleNamespace(isr=self.isr)


class Run:
    """A run of one producer whose process sent and reported record 0 in an earlier run."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.proxy = stack.enter_context(Proxy())
        self.cluster = SteeredDisks(folder, self.proxy, stack)
        self.program = Program()
        cluster = cast(Cluster, self.cluster)
        self.watcher = Watcher(cluster, {"t": 1})
        stack.callback(self.watcher.stop)
        process = cast(ClientProcess, self.program)
        producer = RunProducer(1, "t", BROKERS, "lab-producer", process, 1, 2, len(self.program.events))
        self.own = ProducerControls(cluster, self.proxy, self.watcher, producer=producer, restart=self._restarted)
        self.controls = ClusterControls(cluster, self.proxy, self.watcher, producers=[self.own], end_seconds=0.3)
        self._stack = stack

    def _restarted(self, producer: RunProducer) -> ClientProcess:
        self.program = Program()
        return cast(ClientProcess, self.program)

    def names(self) -> set[str]:
        """Return the controls that are possible."""
        return {str(control) for control in self.controls.possible()}

    def use(self, name: str, broker: int = 0, producer: int = 0, *, choice: float = 0.5) -> None:
        self.controls.use(Control(name, broker, producer), choice)

    def request(self, record: int, *, client: str = "lab-producer") -> Client:
        """Send a produce request to broker 1; return the client's connection."""
        end = self._stack.enter_context(Client(self.cluster.ports["client->1"]))
        end.send(0, 7, record + 1, client=client, body=produce(record).body)
        return end

    def at_broker(self, count: int, connection: int = 0) -> None:
        self.cluster.servers[1].connection(connection).wait_requests(count)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with ExitStack() as stack:
        yield Run(tmp_path, stack)


def test_the_next_record_is_sent_once_the_one_before_is_in_a_request(run: Run) -> None:
    assert "send" in run.names()
    run.use("send", producer=1)
    assert run.program.commands == [("send", 0)] and "send" not in run.names()
    run.request(0)
    run.at_broker(1)
    assert "send" in run.names()
    run.use("send", producer=1)
    run.request(1)
    run.at_broker(1, connection=1)
    assert "send" not in run.names()
    assert [done.control for done in run.own.done] == ["send", "send"] and run.own.commanded.keys() == {0, 1}


def test_held_requests_wait_at_the_proxy_and_those_of_other_producers_pass(run: Run) -> None:
    run.use("hold_request", 1, 1)
    assert {"release_request(1)"} <= run.names() and "hold_request(1)" not in run.names()
    run.request(0, client="lab-producer-2")
    run.at_broker(1)
    run.request(0)
    until(lambda: "detach_request(1)" in run.names(), what="the held request", seconds=SECONDS)
    assert len(run.cluster.servers[1].connection(1).frames) == 0
    run.use("release_request", 1, 1)
    run.at_broker(1, connection=1)


def test_a_dropped_request_ends_the_connection_of_its_producer_alone(run: Run) -> None:
    other = run.request(0, client="lab-producer-2")
    run.at_broker(1)
    assert "drop_request(1)" not in run.names()
    mine = run.request(0)
    run.at_broker(1, connection=1)
    assert "drop_request(1)" in run.names()
    run.use("drop_request", 1, 1)
    assert mine.receive() is None and other.is_silent()


def test_a_detached_request_is_delivered_after_its_client_has_lost_the_connection(run: Run) -> None:
    run.use("hold_request", 1, 1)
    client = run.request(0)
    until(lambda: "detach_request(1)" in run.names(), what="the held request", seconds=SECONDS)
    run.use("detach_request", 1, 1)
    assert client.receive() is None
    run.use("release_request", 1, 1)
    run.at_broker(1)


def test_held_answers_reach_the_client_later(run: Run) -> None:
    run.use("hold_response", 1, 1)
    client = run.request(0)
    run.at_broker(1)
    run.cluster.servers[1].connection().answer(1, messages.produced(0, 1))
    until(lambda: len(run.proxy.waiting("client->1", "response")) == 1, what="the held answer", seconds=SECONDS)
    assert client.is_silent()
    run.use("release_response", 1, 1)
    assert client.receive() is not None


def test_a_producer_crashes_while_a_send_is_not_over_and_starts_again(run: Run) -> None:
    assert "crash" not in run.names(), "nothing was sent"
    run.use("send", producer=1)
    first = run.program
    run.use("crash", producer=1)
    assert first.is_killed and run.program is not first
    assert "crash" not in run.names() and "send" in run.names(), "nobody waits for the first record"
    run.use("send", producer=1)
    assert run.program.commands == [("send", 1)]
    assert [event["record"] for event in run.own.producer.events if event["event"] == "sent"] == [0, 1]
    run.program.report(1)
    assert "crash" not in run.names(), "the report has come"
    run.controls.finish()


def test_a_crash_waits_for_the_return_of_the_call(run: Run) -> None:
    run.use("send", producer=1)
    run.program.events = run.program.events[:1]
    assert "crash" not in run.names()


def test_the_leadership_moves_to_a_member_of_the_isr_and_the_order_stays(run: Run) -> None:
    run.cluster.decide(1, (1, 2))
    until(lambda: "move_leader(2)" in run.names(), what="the ISR", seconds=SECONDS)
    run.use("move_leader", 2, 1)
    assert run.cluster.done == [("reorder", 2), ("elect", 0), ("reorder", 1)]


def test_a_broker_that_is_down_can_only_start(run: Run) -> None:
    run.use("kill", 2)
    possible = run.names()
    assert "restart(2)" in possible
    assert not possible & {f"{name}(2)" for name in ("kill", "lose_power", "pause", "cut_off", "hold_fetch")}
    assert "kill(1)" not in possible, "the last broker stays up"
    run.use("restart", 2)
    assert ("restart", 2) in run.cluster.done and "kill(2)" in run.names()


def test_a_broker_stops_in_order_where_all_brokers_are_back_and_hear_of_the_stop(run: Run) -> None:
    run.cluster.take_back(1)
    run.cluster.take_back(2)
    until(lambda: {"stop(1)", "stop(2)"} <= run.names(), what="brokers that are back", seconds=SECONDS)
    run.use("hold_metadata", 2)
    assert not {"stop(1)", "stop(2)"} & run.names()
    run.use("release_metadata", 2)
    run.use("stop", 2)
    assert run.cluster.done == [("stop", 2)] and "stop(1)" not in run.names()
    run.use("restart", 2)
    assert not {"stop(2)", "lose_power(2)"} & run.names(), "the controller has not taken the broker back"


def test_a_broker_that_stands_still_can_go_on(run: Run) -> None:
    run.use("pause", 1)
    assert "resume(1)" in run.names() and not {"hold_request(1)", "cut_off(1)"} & run.names()
    run.use("resume", 1)
    assert {"pause(1)", "hold_request(1)"} <= run.names()


def test_a_broker_that_lost_the_controller_has_no_connection(run: Run) -> None:
    run.use("cut_off", 1)
    with Client(run.cluster.ports["1->controller"]) as end:
        assert end.receive() is None
    assert "reconnect(1)" in run.names()
    run.use("reconnect", 1)
    with Client(run.cluster.ports["1->controller"]) as end:
        end.send(*messages.FETCH, 1, client="1")
        until(lambda: run.cluster.servers[1].accepted != [], what="the connection", seconds=SECONDS)


def test_a_power_loss_keeps_a_part_of_the_records_of_the_run(run: Run) -> None:
    run.cluster.write(2, "t", 90, 0, 1)
    run.use("lose_power", 2, choice=0.5)
    assert run.cluster.kept == {("t", 0): 2}


def test_a_power_loss_keeps_everything_where_something_was_flushed(run: Run) -> None:
    run.cluster.write(2, "t", 90, 0, 1)
    run.cluster.durable = 3
    run.use("lose_power", 2, choice=0.1)
    assert run.cluster.kept == {("t", 0): 3}


def test_a_wait_ends_with_a_change(run: Run) -> None:
    run.cluster.write(1, "t", 90, 0)
    run.use("wait", choice=1000.0)
    assert [len(look.entries) for look in run.watcher.looks("t") if look.broker == 1][-1] == 1


def test_the_end_releases_reconnects_resumes_and_starts_everything(run: Run) -> None:
    for name, broker in (("hold_fetch", 2), ("hold_metadata", 1), ("cut_off", 1), ("kill", 2), ("pause", 1)):
        run.use(name, broker)
    run.use("hold_request", 1, 1)
    run.controls.finish()
    possible = run.names()
    assert {"kill(1)", "kill(2)", "pause(1)", "cut_off(1)", "hold_fetch(2)"} <= possible
    assert not any(name.startswith(("release", "re")) for name in possible)
    assert [done.control for done in run.own.done] == ["hold_request", "release_request"]


def test_a_run_whose_record_is_not_reported_has_not_ended(run: Run) -> None:
    run.use("send", producer=1)
    with pytest.raises(NotSeen, match="the end of all sends"):
        run.controls.finish()
    run.program.report(0)
    run.controls.finish()
    run.cluster.isr = (1,)
    with pytest.raises(NotSeen, match="one ISR with equal logs"):
        run.controls.finish()


class TransactingProgram(Program):
    """A program whose calls return when the test says so."""

    def send(self, command: str, *, record: int = -1) -> None:
        if command == "send":
            super().send(command, record=record)
        else:
            self.commands.append((command, record))

    def ask(self, command: str, *, seconds: float) -> dict[str, Any]:
        self.commands.append((command, -1))
        return {}

    def say(self, event: str, **fields: Any) -> None:
        self.events = (*self.events, {"event": event, "at": 0.0, **fields})


class TransactingRun(Run):
    """A run of a producer with two transactions, of record 0, and of record 1."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        super().__init__(folder, stack)
        self.cluster.coordinate("lab-producer", 0, 4)
        cluster = cast(Cluster, self.cluster)
        self.watcher = Watcher(cluster, {"t": 1}, {"t": "lab-producer"})
        stack.callback(self.watcher.stop)
        self.coordinator = stack.enter_context(Broker())
        self.port = self.proxy.listen(f"client->{CONTROLLER}", self.coordinator.port)
        self.transacting = TransactingProgram()
        process = cast(ClientProcess, self.transacting)
        producer = RunProducer(1, "t", BROKERS, "lab-producer", process, 1, 2, len(self.transacting.events))
        self.mine = TransactionalControls(
            cluster,
            self.proxy,
            self.watcher,
            producer=producer,
            restart=self._another,
            crashes=True,
            transactions=TransactingApplication([[0], [1]]),
        )
        self.controls = ClusterControls(cluster, self.proxy, self.watcher, producers=[self.mine], end_seconds=2.0)

    def _another(self, producer: RunProducer) -> ClientProcess:
        self.transacting = TransactingProgram()
        return cast(ClientProcess, self.transacting)

    def end_request(self, *, commits: bool) -> Client:
        """Send a request to end the transaction; return the client's connection."""
        end = self._stack.enter_context(Client(self.port))
        body = text("lab-producer") + int64(7) + int16(0) + int8(commits)
        end.send(26, 0, 1, client="lab-producer", body=body)
        return end


@pytest.fixture
def transacting(tmp_path: Path) -> Iterator[TransactingRun]:
    with ExitStack() as stack:
        yield TransactingRun(tmp_path, stack)


def test_a_transaction_is_begun_sent_committed_and_complete(transacting: TransactingRun) -> None:
    run = transacting
    run.use("send", producer=1)
    assert run.transacting.commands == [("begin", -1), ("send", 0)] and {"commit", "crash"} <= run.names()
    assert "send" not in run.names(), "the transaction has one record"
    run.request(0)
    run.at_broker(1)
    run.use("commit", producer=1)
    assert not {"commit", "send"} & run.names() and "crash" in run.names()
    run.transacting.say("committed", error=None)
    assert "send" in run.names() and "crash" not in run.names()
    assert [(one.transaction, one.commits) for one in run.mine.transactions.ended] == [(0, True)]
    run.cluster.coordinate("lab-producer", 0, 2)
    with pytest.raises(NotSeen, match="the end of all sends"):
        run.controls.finish()
    run.cluster.coordinate("lab-producer", 0, 4)
    run.controls.finish()


def test_the_end_of_a_run_ends_the_transaction(transacting: TransactingRun) -> None:
    run = transacting
    run.use("send", producer=1)
    run.request(0)
    run.at_broker(1)
    with pytest.raises(NotSeen, match="the end of all sends"):
        run.controls.finish()
    assert run.transacting.commands[-1] == ("commit", -1)
    run.transacting.say("committed", error=None)
    run.controls.finish()


def test_a_producer_that_failed_for_good_is_replaced(transacting: TransactingRun) -> None:
    run = transacting
    run.use("send", producer=1)
    run.transacting.say("report", record=0, error="ProducerFencedException", code="ProducerFencedException")
    assert "abort" in run.names()
    run.use("abort", producer=1)
    run.transacting.say("aborted", error="ProducerFencedException")
    assert "replace" in run.names() and "send" not in run.names()
    first = run.transacting
    run.use("replace", producer=1)
    assert first.is_killed and run.transacting is not first
    run.transacting.say("initialised", error=None)
    assert "send" in run.names()
    run.use("send", producer=1)
    assert run.transacting.commands[-1] == ("send", 1) and run.mine.sent.keys() == {0, 1}


def test_a_send_that_threw_an_error_was_not_sent(transacting: TransactingRun) -> None:
    transacting.use("send", producer=1)
    transacting.transacting.say("failed", do="send", record=0, error="KafkaException")
    assert transacting.mine.sent == {} and "abort" in transacting.names()


def test_a_detached_end_is_noted_and_delivered_later(transacting: TransactingRun) -> None:
    run = transacting
    run.use("hold_end", producer=1)
    client = run.end_request(commits=True)
    until(lambda: "detach_end" in run.names(), what="the held request", seconds=SECONDS)
    run.use("detach_end", producer=1)
    assert client.receive() is None and [one.commits for one in run.mine.delayed] == [True]
    run.end_request(commits=True)
    assert "detach_end" not in run.names(), "one late request at a time, as in the model"
    run.use("release_end", producer=1)
    run.coordinator.connection().wait_requests(1)
