"""``check --bootstrap`` and ``snapshot``: what they print, and how they end."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from proofka.checker import cli
from proofka.checker.live import asked
from proofka.checker.live.admin import Admin, Refusal, connected
from proofka.checker.live.command_config import connection
from proofka.checker.live.errors import LiveError, NoAnswer, NotAdmitted, NotInstalled
from tests.checker.live.fake_admin import FakeAdmin, connect, topic

LIVE = ("--bootstrap", "kafka-1:9092,kafka-2:9092")


def proofka(*words: object) -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> FakeAdmin:
    made = FakeAdmin()
    connect(monkeypatch, made)
    return made


def test_a_live_check_and_a_check_of_its_snapshot(admin: FakeAdmin, tmp_path: Path) -> None:
    words = ("--faults", "0", "--more", "0", "--json")
    here = proofka("check", *LIVE, "--topic", "orders", *words, tmp_path / "live.json")
    assert here.exit_code == 4, here.output  # without faults no property has evidence
    assert here.stdout.startswith("kafka-1:9092: Kafka 4.0, 3 brokers, 1 topic, 1 pipeline\n")
    again = f"again: proofka check {' '.join(LIVE)} --topic orders --faults 0 --more 0"
    assert again in here.stdout
    made = proofka("snapshot", *LIVE, "--topic", "orders", "-o", tmp_path / "snapshot")
    assert made.exit_code == 0, made.output
    assert made.stdout.endswith(f"1 topic, 1 pipeline of kafka-1:9092; proofka check {tmp_path}/snapshot reads them\n")
    there = proofka("check", tmp_path / "snapshot", *words, tmp_path / "snapshot.json")
    assert there.exit_code == 4, there.output

    def ids(name: str) -> list[str]:
        return [verdict["id"] for verdict in json.loads((tmp_path / name).read_text())["verdicts"]]

    assert ids("live.json") == ids("snapshot.json")


@pytest.mark.slow
def test_several_topics(admin: FakeAdmin, tmp_path: Path) -> None:
    run = proofka("check", *LIVE, "--topic", "orders", "--topic", "audit-log", "--faults", "0", "--quiet")
    assert run.exit_code == 4, run.output
    assert [line.partition(":")[0] for line in run.stdout.splitlines()] == ["audit-log", "orders"]
    proofka("snapshot", *LIVE, "-o", tmp_path / "snapshot")
    for choice in (("--topic", "orders"), ("--pipeline", "2")):
        run = proofka("check", tmp_path / "snapshot", *choice, "--faults", "0")
        assert run.exit_code == 4, run.output
        assert "orders:defaults:defaults" in run.stdout
        assert "audit-log:defaults" not in run.stdout
    shown = proofka("show", tmp_path / "snapshot")
    assert "  2  orders:defaults:defaults" in shown.stdout
    run = proofka("check", tmp_path / "snapshot", "--topic", "other")
    assert (run.exit_code, run.stderr) == (2, f"{tmp_path}/snapshot: --topic other: no pipeline has this topic\n")
    run = proofka("check", tmp_path / "snapshot", "--pipeline", "3")
    assert (run.exit_code, run.stderr) == (2, f"{tmp_path}/snapshot: --pipeline 3: there are 2 pipelines\n")


def test_too_many_topics(admin: FakeAdmin) -> None:
    admin.listed = {f"t{number}": topic(f"t{number}", (1, 2, 3)) for number in range(51)}
    run = proofka("check", *LIVE)
    assert run.exit_code == 2
    assert "has 51 pipelines, the limit is 50" in run.stderr


def test_other_commands_that_a_live_check_names(admin: FakeAdmin) -> None:
    """No command but check reads a cluster, so the others read a snapshot."""
    admin.listed = {"orders": topic("orders", (1,))}
    run = proofka("check", *LIVE, "--topic", "orders", "--faults", "1", "--more", "0")
    assert run.exit_code == 1, run.output
    joined = " ".join(run.stdout.split())
    assert f"proofka snapshot {' '.join(LIVE)} --topic orders -o snapshot && proofka repair snapshot" in joined


def test_a_broker_that_is_down(admin: FakeAdmin, tmp_path: Path) -> None:
    del admin.brokers[3]
    admin.listed["audit-log"] = topic("audit-log", (1, 2))
    run = proofka("snapshot", *LIVE, "-o", tmp_path / "snapshot")
    assert run.exit_code == 9
    assert run.stderr.startswith("broker 3 is down, so its settings are unknown: topic orders")
    run = proofka("check", *LIVE, "--faults", "0", "--quiet")
    assert run.exit_code == 9
    assert "orders has replicas on brokers" not in run.stdout
    assert "has replicas on brokers whose settings are in no output (3)" in run.stderr
    assert run.stdout.startswith("No evidence:")  # of audit-log
    admin.listed["audit-log"] = topic("audit-log", (1,))
    run = proofka("check", *LIVE, "--faults", "1", "--quiet")
    assert run.exit_code == 1  # what is violated is known all the same


def test_missing_rights(admin: FakeAdmin, tmp_path: Path) -> None:
    admin.brokers[1] = Refusal("CLUSTER_AUTHORIZATION_FAILED")
    for command in (("check",), ("snapshot", "-o", tmp_path / "snapshot")):
        run = proofka(*command, *LIVE)
        assert run.exit_code == 8
        assert run.stderr.startswith("broker 1: this user lacks a right, Describe and DescribeConfigs on the cluster")
        assert len(run.stderr.splitlines()) == 1
    assert not (tmp_path / "snapshot").exists()


@pytest.mark.parametrize(("error", "status"), [(NoAnswer("a: silent"), 6), (NotAdmitted("a: login"), 7)])
def test_clusters_that_are_not_reached(error: LiveError, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def refused(to: object) -> Iterator[Admin]:
        raise error
        yield FakeAdmin()

    monkeypatch.setattr(asked, "connected", refused)
    run = proofka("check", *LIVE)
    assert (run.exit_code, run.stderr) == (status, f"{error}\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--group", "g"), "--group: is about a live cluster, which --bootstrap HOST:PORT names"),
        (("--command-config", "f"), "--command-config: is about a live cluster"),
        (("--timeout", "3"), "--timeout: is about a live cluster"),
        (("--topic", "a", "--topic", "b"), "--topic: is given twice"),
        ((*LIVE, "orders.yaml"), "PATH: has no meaning with --bootstrap"),
        ((*LIVE, "--broker", "f"), "--broker: has no meaning with --bootstrap"),
        ((*LIVE, "--partial"), "--partial: has no meaning with --bootstrap"),
        ((*LIVE, "--client", "sarama=1.43"), "--client: with --bootstrap names the release of Java's clients alone"),
        (("--bootstrap", "kafka"), "--bootstrap kafka: is no address; give HOST:PORT"),
        ((*LIVE, "--timeout", "0"), "is not a number of seconds above 0"),
        ((*LIVE, "--topic", "nothing"), "--topic nothing: the cluster has no such topic"),
    ],
)
def test_options_that_do_not_fit(words: tuple[str, ...], told: str, admin: FakeAdmin) -> None:
    run = proofka("check", *words)
    assert run.exit_code == 2
    assert told in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_options_of_a_snapshots_folder(admin: FakeAdmin, tmp_path: Path) -> None:
    proofka("snapshot", *LIVE, "-o", tmp_path / "snapshot")
    run = proofka("check", tmp_path / "snapshot", "--producer", "p.properties")
    assert run.exit_code == 2
    assert "pipelines.csv lists the pipelines of this folder" in run.stderr
    run = proofka("snapshot", *LIVE, "-o", tmp_path)
    assert run.exit_code == 2
    assert "holds snapshot, which is of no snapshot" in run.stderr


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kafka", None)
    with pytest.raises(NotInstalled, match=r'pip install "proofka\[live\]"'), connected(connection("kafka:9092")):
        raise AssertionError("connected without a library")


def test_options_of_the_connection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = connect(monkeypatch, FakeAdmin())
    config = tmp_path / "client.properties"
    config.write_text("client.id=ci\n")
    run = proofka("snapshot", *LIVE, "--command-config", config, "--timeout", "3", "-o", tmp_path / "snapshot")
    assert run.exit_code == 0, run.output
    assert [(to.bootstrap, to.client, to.seconds) for to in made] == [(("kafka-1:9092", "kafka-2:9092"), "ci", 3.0)]
