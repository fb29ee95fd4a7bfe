"""Answers that come when a send has failed, with idempotent producers from 2.5 on, step by step (semantics 3.4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import OnSendError
from proofka.model.faults import Fault
from proofka.model.state.pipeline import Fate
from proofka.properties.verdict import CutSet
from tests.checker.asking import ask, cut, example
from tests.deployments import changed
from tests.model.scripted import BOUNDS, Scenario

Q, R = Fault.LOST_REQUEST, Fault.LOST_RESPONSE
DUPLICATE = "no-log-duplicate"


def idempotent(*kinds: Fault, late_errors_count: bool, max_in_flight: int = 5) -> Deployment:
    deployment = example("idempotent", kinds, 2)
    sender = replace(deployment.producer.sender, late_errors_count=late_errors_count)
    settings = {"bounds": BOUNDS, "replicas": 2, "min_insync_replicas": 1, "max_in_flight": max_in_flight}
    return changed(deployment, sender=sender, on_send_error=OnSendError.DROP, **settings)  # type: ignore[arg-type]


def given_up() -> Scenario:
    """Return a run in which both records are written and both answers lost; the first times out during its second
    attempt."""
    run = Scenario(idempotent(*Fault, late_errors_count=True))
    for batch in (0, 1):
        run.do("send", batch=batch).do("transmit", batch=batch, leader=1)
        run.do("append", batch=batch, leader=1).replicate(2, 1)
    run.do("lose_response", batch=0).do("notice", broker=1)
    return run.do("transmit", batch=0, leader=1).do("give_up", batch=0)


def test_a_late_error_takes_the_number_from_the_record_that_waits_for_its_retry() -> None:
    run = given_up()
    assert not run.can("hear_late_error", batch=0), "the connection works, and the leader leads"
    run.do("kill", broker=1).do("hear_late_error", batch=0)
    assert run.value(run.pipeline.producer.epoch) == 1
    run.do("fence", broker=1).do("apply_metadata", broker=2)
    run.do("transmit", batch=1, leader=2)
    assert not run.can("recognise_duplicate", batch=1, leader=2)
    assert run.do("append", batch=1, leader=2).log(2) == [0, 1, 1]


def test_a_late_success_changes_nothing() -> None:
    run = given_up().do("hear_late_success", batch=0, leader=1)
    assert run.value(run.pipeline.producer.epoch) == 0
    run.do("transmit", batch=1, leader=1).do("recognise_duplicate", batch=1, leader=1)
    assert run.do("acknowledge", batch=1, leader=1).fate(1) is Fate.ACKNOWLEDGED
    assert run.log(1) == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize(("late_errors_count", "smallest"), [(True, (cut(Q, R),)), (False, ())])
def test_two_lost_messages_are_a_duplicate_where_late_errors_count(
    late_errors_count: bool, smallest: tuple[CutSet, ...]
) -> None:
    found = ask(idempotent(Q, R, late_errors_count=late_errors_count), DUPLICATE)[DUPLICATE]
    assert found.cut_sets[:1] == smallest


def test_nothing_waits_to_be_retried_with_one_request_in_flight() -> None:
    run = Scenario(idempotent(Q, R, late_errors_count=True, max_in_flight=1))
    assert all(batch.late is None for batch in run.pipeline.producer.batches)
