"""A run begins after its producer has sent a record that the first leader has answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proofka.checker.conformance.events import Event
from proofka.checker.conformance.lab import Asked
from proofka.checker.conformance.observed_system import model_for, observed
from proofka.checker.conformance.tracker import Answer, check_run
from proofka.model.deployment import read_deployment


def at(time: float, kind: str, **arguments: Any) -> Event:
    return Event(kind, arguments, opens=time, closes=time)


TWO_AT_ONCE = (
    at(1, "sent", batch=0),
    at(2, "requested", record=0, broker=1),
    at(3, "sent", batch=1),
    at(4, "requested", record=1, broker=1),
    at(5, "log", broker=2, entries=[]),
    at(6, "answered", record=0, broker=1, error=0),
    at(7, "answered", record=1, broker=1, error=0),
)
"""Two requests in flight at once: the log of a follower is empty after the second request."""


@pytest.mark.parametrize(
    ("producer_id", "answer"), [("known", Answer.ACCEPTED), ("new", Answer.REJECTED)], ids=["known", "new"]
)
def test_franz_go_sends_several_requests_at_once_from_the_beginning(
    producer_id: str, answer: Answer, tmp_path: Path
) -> None:
    """A producer whose id is new to the leader has had no answer, and sends one request at a time (semantics 4.3)."""
    file = tmp_path / "franz-go.yaml"
    file.write_text(
        'kafka: "4.1"\ntopic: {replicas: 3, min.insync.replicas: 2}\nproducer: {client: franz-go}\n'
        f"assume: {{producer_id: {producer_id}}}\n",
        encoding="utf-8",
    )
    deployment = Asked(read_deployment(file), ()).modelled
    assert check_run(observed(model_for(deployment, TWO_AT_ONCE), TWO_AT_ONCE), TWO_AT_ONCE).answer is answer
