"""The lab on a real cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

import proofka
from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.errors import CannotStart, JarsUnavailable, MissingProgram
from proofka.checker.conformance.coverage import checked, checked_together
from proofka.checker.conformance.lab import Asked, NotRunnable, record_runs
from proofka.checker.conformance.lab_consumers import is_read
from proofka.checker.conformance.lab_settings import LAG, milliseconds_of
from proofka.checker.conformance.tracker import Answer
from proofka.model.deployment.implied.outages import brokers_start_early
from proofka.model.faults import Fault
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


def test_a_run_with_transactions_has_room_for_their_ends() -> None:
    modelled = Asked(example("transactions"), [1]).modelled
    assert (modelled.bounds.records, Asked(example("transactions"), [1], records=2).modelled.bounds.records) == (3, 2)
    assert modelled.bounds.log > Asked(example("acks-1"), [1]).modelled.bounds.log


@pytest.mark.parametrize(
    ("name", "read"),
    [("auto-commit", True), ("auto-commit-handed-off", True), ("orders", True), ("exactly-once", False)],
)
def test_the_lab_has_consumers_whose_application_keeps_no_offsets(name: str, read: bool) -> None:
    assert is_read(example(name)) is read


@pytest.mark.cluster
@pytest.mark.parametrize("name", ["transactions", "commit-before-processing"])
def test_runs_with_transactions_and_consumers_are_behaviours_of_the_model(name: str) -> None:
    asked = Asked(example(name), [3], steps=14, faults=1, producers=2)
    try:
        recordings = list(record_runs(asked, print))
    except (MissingProgram, JarsUnavailable) as missing:
        pytest.skip(str(missing))
    runs = list(checked_together(recordings, most_examined=0, most_mutated=0))
    assert [run.outcome.answer for run in runs] == [Answer.ACCEPTED] * 2
    kinds = {event.kind for recording in recordings for event in recording.events}
    assert {"polled", *(["coordinated", "ended_transaction"] if name == "transactions" else [])} <= kinds


def test_clusters_with_zookeeper_are_refused_before_a_cluster_starts(tmp_path: Path) -> None:
    file = tmp_path / "old.yaml"
    file.write_text("kafka: '2.8'\ntopic: {replicas: 3}\nproducer: {acks: 1}\nconsumer: {group.id: g}\n")
    with pytest.raises(NotRunnable, match=r"E05: .*zookeeper\.connect"):
        next(record_runs(Asked(proofka.read(file), [1]), print))
