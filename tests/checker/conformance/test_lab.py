"""The lab on a real cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

import proofka
from checker.cluster.cluster import Cluster
from checker.cluster.errors import CannotStart, JarsUnavailable, MissingProgram
from checker.conformance.coverage import checked
from checker.conformance.lab import LAG, Asked, NotRunnable, milliseconds_of, record_runs
from checker.conformance.tracker import Answer
from model.deployment.implied.outages import brokers_start_early
from model.faults import Fault
from tests.checker.asking import example


@pytest.mark.cluster
def test_runs_of_a_cluster_are_behaviours_of_the_model() -> None:
    asked = Asked(example("acks-1"), [1], steps=12, faults=1, producers=2)
    try:
        runs = [checked(recording) for recording in record_runs(asked, print)]
    except (MissingProgram, JarsUnavailable) as missing:
        pytest.skip(str(missing))
    assert [run.outcome.answer for run in runs] == [Answer.ACCEPTED] * 2
    assert all(
        {"send", "append", "fetch"} <= run.needed for run in runs if run.recording.about.get("unfinished") is None
    )


def test_the_model_of_a_run_has_the_lag_of_the_run() -> None:
    """A leader of a run drops a dead broker before the controller fences it, so early starts matter there."""
    modelled = Asked(example("acks-all-min-isr-2", (Fault.KILL,)), [1]).modelled
    assert modelled.durations.replica_lag.most == milliseconds_of(LAG) < modelled.durations.broker_session.least
    assert brokers_start_early(modelled)
    assert not brokers_start_early(example("acks-all-min-isr-2", (Fault.KILL,)))


def test_a_run_has_the_release_of_the_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "kafka_2.13-3.9.1.jar").touch()

    def start(_cluster: Cluster) -> None:
        raise CannotStart("no brokers in this test")

    monkeypatch.setattr(Cluster, "start", start)
    told: list[str] = []
    with pytest.raises(CannotStart):
        next(record_runs(Asked(example("acks-1"), [1], kafka_home=tmp_path), told.append))
    assert told == ["Apache Kafka 3.9.1: a controller and 3 brokers start on this machine"]


def test_transactions_are_refused_before_a_cluster_starts() -> None:
    with pytest.raises(NotRunnable, match=r"E05: .*transactional\.id"):
        next(record_runs(Asked(example("transactions"), [1]), print))


def test_clusters_with_zookeeper_are_refused_before_a_cluster_starts(tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text("kafka: '2.8'\ntopic: {replicas: 3}\nproducer: {acks: 1}\nconsumer: {group.id: g}\n")
    with pytest.raises(NotRunnable, match=r"E05: .*zookeeper\.connect"):
        next(record_runs(Asked(proofka.read(file), [1]), print))
