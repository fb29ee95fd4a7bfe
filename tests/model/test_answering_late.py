"""A leader that sends what a follower fetched after it has truncated: which followers take that (6.1, KAFKA-18723)."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.model.deployment import Deployment, read_deployment
from proofka.model.deployment.choices import Acks
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.implied.outages import answers_may_be_late
from proofka.model.faults import Fault
from tests.checker.asking import example
from tests.deployments import changed
from tests.model.scripted import BOUNDS, Scenario

KINDS = (Fault.LATE_ANSWER, Fault.LEADER_MOVE, Fault.LOST_RESPONSE, Fault.KILL)


def held_back() -> Scenario:
    """Return a run in which broker 3 has the first of two records, and the answer with the second is still to be
    sent."""
    own = {"copies_newer_epochs": True, "idempotence": False, "acks": Acks.LEADER}
    run = Scenario(changed(example("acks-all-min-isr-2", KINDS, 9), bounds=BOUNDS, **own))
    run.produce(0, 1).do("send", batch=1).do("transmit", batch=1, leader=1).do("append", batch=1, leader=1)
    return run.do("fetch", follower=3, leader=1).do("hold_back", follower=3, leader=1)


def led_by_another(run: Scenario) -> Scenario:
    """Let broker 2 lead with neither record; broker 1 follows it, and has the retries in the other order."""
    run.do("lose_response", batch=1).do("move_leader", broker=2)
    run.do("apply_metadata", broker=2).do("apply_metadata", broker=1).do("notice", broker=1)
    run.do("truncate", follower=1, leader=2)
    for batch in (1, 0):
        run.do("transmit", batch=batch, leader=2).do("append", batch=batch, leader=2)
        run.do("fetch", follower=1, leader=2)
    return run


def late(run: Scenario, follower: int) -> int:
    answers = run.pipeline.late_answers
    assert answers is not None
    return run.value(answers.until[follower])


def test_a_follower_takes_the_log_of_its_leader_at_the_time_of_the_answer() -> None:
    run = led_by_another(held_back()).do("receive_late", follower=3, leader=1)
    assert (run.log(3), run.epochs(3)) == ([0, 0], [1, 2])
    assert (run.log(2), run.epochs(2)) == ([1, 0], [2, 2])
    assert late(run, 3) == 0
    run.do("apply_metadata", broker=3)
    assert not run.can("truncate", follower=3, leader=2), "its last epoch is the leader's, and ends there as well"
    assert run.can("fetch", follower=3, leader=2)


def test_the_follower_waits_for_that_answer() -> None:
    run = held_back()
    assert late(run, 3) == 2
    assert not run.can("fetch", follower=3, leader=1)
    assert not run.can("hold_back", follower=3, leader=1)
    run.do("receive_late", follower=3, leader=1)
    assert (run.log(3), late(run, 3)) == ([0, 1], 0)
    assert not run.can("receive_late", follower=3, leader=1)
    assert not run.can("lose_late_answer", broker=3)


def test_an_answer_has_all_that_the_leader_had() -> None:
    run = held_back().do("lose_late_answer", broker=3).do("hold_back", follower=2, leader=1)
    run.do("receive_late", follower=2, leader=1)
    assert (run.log(2), late(run, 2)) == ([0], 2)
    assert (run.do("receive_late", follower=2, leader=1).log(2), late(run, 2)) == ([0, 1], 0)


def test_late_answer_has_only_records_that_the_leader_had() -> None:
    run = held_back().do("receive_late", follower=3, leader=1)
    assert not run.can("hold_back", follower=3, leader=1), "it has all of it"


def test_an_answer_that_is_lost_is_asked_for_again() -> None:
    run = held_back().do("lose_late_answer", broker=3)
    assert run.do("fetch", follower=3, leader=1).log(3) == [0, 1]


@pytest.mark.parametrize("ends", [{"apply_metadata": 3}, {"kill": 3}, {"kill": 1}])
def test_nothing_comes_after_a_new_epoch_or_a_death(ends: dict[str, int]) -> None:
    run = held_back().do("move_leader", broker=2)
    for name, broker in ends.items():
        run.do(name, broker=broker)
    assert late(run, 3) == 0


def test_the_death_of_another_broker_does_not_matter() -> None:
    assert late(held_back().do("kill", broker=2), 3) == 2


def test_a_log_that_is_shorter_has_nothing_there_to_send() -> None:
    run = held_back().do("move_leader", broker=2).do("apply_metadata", broker=2).do("apply_metadata", broker=1)
    run.do("truncate", follower=1, leader=2)
    assert not run.can("receive_late", follower=3, leader=1)


def read(folder: Path, kafka: str, broker: str = "") -> Deployment:
    file = folder / "asked.yaml"
    producer = "producer: {enable.idempotence: false, acks: all}"
    text = f'kafka: "{kafka}"\ntopic: {{replicas: 2}}\n{producer}\nassume: {{faults: {{late-answer: 1}}}}\n{broker}\n'
    file.write_text(text, encoding="utf-8")
    return read_deployment(file)


@pytest.mark.parametrize(
    ("kafka", "late"),
    [
        ("2.8", True),
        ("3.9", True),
        ("3.9.0", True),
        ("3.9.1", False),
        ("4.0", True),
        ("4.0.0", True),
        ("4.0.1", False),
        ("4.1", False),
    ],
)
def test_in_which_releases(tmp_path: Path, kafka: str, late: bool) -> None:
    deployment = read(tmp_path, kafka)
    assert answers_may_be_late(deployment) is late
    assert any("late-answer has no effect" in note for note in deployment.notes) is not late


@pytest.mark.parametrize(
    ("kafka", "broker"),
    [
        ("2.6", ""),
        ("2.7", ""),
        ("2.7.2", ""),
        ("2.8", "broker: {inter.broker.protocol.version: '2.6'}"),
        ("3.0", "broker: {inter.broker.protocol.version: '2.6'}"),
        ("0.10.2", ""),
    ],
)
def test_late_answer_is_refused_for_followers_that_ask_once_in_an_epoch(
    tmp_path: Path, kafka: str, broker: str
) -> None:
    with pytest.raises(DeploymentError, match=r"late-answer with brokers before 2\.8, or that speak a protocol before"):
        read(tmp_path, kafka, broker)


def test_brokers_of_2_8_compare_with_a_protocol_of_2_7(tmp_path: Path) -> None:
    assert answers_may_be_late(read(tmp_path, "2.8", "broker: {inter.broker.protocol.version: '2.7'}"))
