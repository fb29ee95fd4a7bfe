"""``audit --bootstrap``: every topic of a live cluster, equal ones explored once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.cli import audit as command
from proofka.checker.live.admin import Refusal
from proofka.checker.spark import session
from proofka.properties.audited import AuditSummary
from proofka.properties.verdict import Status
from tests.checker.live.fake_admin import OWN, FakeAdmin, connect, topic
from tests.checker.test_cli import fails_in_one_line, proofka

pytest.importorskip("pyspark", reason="pyspark is not installed")

LIVE = ("--bootstrap", "kafka:9092")


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> FakeAdmin:
    made = FakeAdmin()
    connect(monkeypatch, made)
    return made


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Keep the deployments of an audit, and let the audit end without Spark."""
    kept: list[Any] = []

    def run(deployments: Any, *_: object, **__: object) -> tuple[AuditSummary, None]:
        kept.append(deployments)
        return AuditSummary(2, 0, (), 0, 1, 1, (), {Status.HOLDS: 2}, 1.0), None

    monkeypatch.setattr(command, "_run", run)
    return kept


def test_the_deployments_are_those_of_a_check(admin: FakeAdmin, sources: list[Any], tmp_path: Path) -> None:
    words = ("--assume", "faults=1", "--kafka", "4.0.1", "--no-figures")
    run = proofka("audit", *LIVE, "--out", tmp_path / "out", *words)
    assert run.exit_code == 0, run.output
    (source,) = sources
    assert [source.called(number, "", "") for number in (2, 3)] == [
        "audit-log:defaults:defaults",
        "orders:defaults:defaults",
    ]
    deployment = source.read(3, "", "")
    settings = {f"{one.scope}.{one.key}": one.value for one in deployment.settings}
    assert settings["topic.min.insync.replicas"] == "2"
    assert settings["broker.release"] == "4.0.1"
    assert deployment.faults.total == 1
    proofka("audit", *LIVE, "--topic", "orders", "--out", tmp_path / "out", "--no-figures")
    assert len(sources[-1].described.pipelines) == 1


def test_a_broker_that_is_down(admin: FakeAdmin, sources: list[Any], tmp_path: Path) -> None:
    del admin.brokers[3]
    run = proofka("audit", *LIVE, "--out", tmp_path / "out", "--no-figures")
    assert run.exit_code == 9
    assert run.stderr.startswith("broker 3 is down, so its settings are unknown")


def test_missing_rights(admin: FakeAdmin, sources: list[Any], tmp_path: Path) -> None:
    admin.brokers[1] = Refusal("CLUSTER_AUTHORIZATION_FAILED")
    run = proofka("audit", *LIVE, "--out", tmp_path / "out")
    assert run.exit_code == 8
    assert len(run.stderr.splitlines()) == 1
    assert not sources


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "give a SOURCE, or --bootstrap HOST:PORT for a live cluster"),
        (("fleet.csv", *LIVE), "SOURCE: has no meaning with --bootstrap"),
        (("fleet.csv", "--topic", "orders"), "--topic: is about a live cluster"),
        (("fleet.csv", "--group", "g"), "--group: is about a live cluster"),
        ((*LIVE, "--assume", "colour=red"), "--assume colour=red"),
    ],
)
def test_options_that_do_not_fit(
    words: tuple[str, ...], told: str, admin: FakeAdmin, sources: list[Any], tmp_path: Path
) -> None:
    fails_in_one_line(proofka("audit", *words, "--out", tmp_path / "out"), told)
    assert not sources


@pytest.mark.slow
def test_equal_topics_are_explored_once(
    admin: FakeAdmin, spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Names, and settings without an effect, make no system of their own."""

    @contextmanager
    def use(*_: object, **__: object) -> Iterator[Any]:
        yield spark

    monkeypatch.setattr(session, "spark_session", use)
    admin.listed = {f"t{number}": topic(f"t{number}", (1, 2, 3)) for number in range(20)}
    admin.own = {name: {"segment.bytes": (str(1_000_000 + at), OWN)} for at, name in enumerate(admin.listed)}
    admin.own["t0"]["min.insync.replicas"] = ("2", OWN)
    run = proofka("audit", *LIVE, "--out", tmp_path / "out", "--assume", "faults=0", "--no-figures")
    assert run.exit_code == 4, run.output
    assert run.stdout.startswith("20 deployments, 2 distinct systems (2 explored now)")
