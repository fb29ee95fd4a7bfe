"""The number of requests that franz-go has in flight (semantics 4.3)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from proofka.model.deployment.explored import Bounds
from proofka.model.state.pipeline import Fate
from tests.checker.asking import deployment_of
from tests.model.scripted import Scenario

BOUNDS = Bounds(records=2, log=4, sends=1, epochs=3, producer_epochs=2)


def started(folder: Path, producer_id: str) -> Scenario:
    """Return a run with two records in the accumulator."""
    text = (
        f'kafka: "4.0"\ntopic: {{replicas: 3, min.insync.replicas: 2}}\nproducer: {{client: franz-go}}\n'
        f"assume: {{producer_id: {producer_id}, faults: {{total: 1, lost-request: 1, leader-move: 1}}}}\n"
    )
    run = Scenario(replace(deployment_of(text, folder), bounds=BOUNDS))
    return run.do("send", batch=0).do("send", batch=1).do("transmit", batch=0, leader=1)


def test_a_producer_that_no_leader_has_answered_has_one_request_in_flight(tmp_path: Path) -> None:
    assert not started(tmp_path, "new").can("transmit", batch=1, leader=1)
    assert started(tmp_path, "known").can("transmit", batch=1, leader=1)


def test_several_requests_are_in_flight_again_after_a_connection_that_ended(tmp_path: Path) -> None:
    run = started(tmp_path, "known").do("transmit", batch=1, leader=1).do("lose_request", batch=0)
    run.do("notice", broker=1)
    assert (run.fate(0), run.fate(1)) == (Fate.BUFFERED, Fate.BUFFERED)
    run.do("transmit", batch=0, leader=1)
    assert run.can("transmit", batch=1, leader=1)


def test_one_request_is_in_flight_after_an_answer_with_an_error(tmp_path: Path) -> None:
    run = started(tmp_path, "known").do("move_leader", broker=2).do("apply_metadata", broker=1)
    run.do("reject_not_leader", batch=0, broker=1).do("apply_metadata", broker=2).do("transmit", batch=0, leader=2)
    assert not run.can("transmit", batch=1, leader=2)
