"""Delivery reports of librdkafka about failed sends, and the application that sends again (semantics 4.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.model.deployment import read_deployment
from proofka.model.faults import Fault
from proofka.model.state.pipeline import Fate
from proofka.properties.verdict import CutSet
from tests.checker.asking import ask, assuming, cut
from tests.model.scripted import Scenario

KINDS = (Fault.LOST_RESPONSE, Fault.REFUSED_RECORD, Fault.LEADER_MOVE, Fault.KILL, Fault.SLOW_FOLLOWER)
AGAIN = 1
"""The batch of the second send."""


def asked(path: Path, policy: str, *kinds: Fault, replicas: int = 2, retries: int = 0) -> Scenario:
    text = f"""
kafka: "4.0"
topic: {{replicas: {replicas}, settings: {{min.insync.replicas: {replicas}}}}}
producer: {{client: librdkafka, on_send_error: {policy}, settings: {{retries: {retries}, acks: all}}}}
bounds: {{records: 1, log: 2, sends: 2, epochs: 4}}
"""
    file = path / "asked.yaml"
    file.write_text(text)
    return Scenario(assuming(read_deployment(file), kinds or KINDS, 2))


@pytest.fixture
def careful(tmp_path: Path) -> Scenario:
    """Return a run with one send on its way to the leader, of an application that sends unstored records again."""
    run = asked(tmp_path, "resend-if-not-stored")
    return run.do("send", batch=0).do("transmit", batch=0, leader=1)


def test_unreported_record_can_be_stored(careful: Scenario) -> None:
    careful.do("append", batch=0, leader=1).do("lose_response", batch=0).do("notice", broker=1)
    assert careful.fate(0) is Fate.FAILED
    assert not careful.can("send", batch=AGAIN)


def test_a_permanently_refused_record_is_not_stored(careful: Scenario) -> None:
    careful.do("refuse_for_good", batch=0, leader=1)
    assert careful.can("send", batch=AGAIN)


def test_a_record_refused_for_a_small_isr_is_not_stored(careful: Scenario) -> None:
    careful.do("kill", broker=2).do("fence", broker=2).do("learn_isr", broker=1)
    careful.do("reject_not_enough_replicas", batch=0, leader=1)
    assert careful.fate(0) is Fate.FAILED
    assert careful.can("send", batch=AGAIN)


def test_a_record_that_timed_out_in_flight_can_be_stored(careful: Scenario) -> None:
    careful.do("become_slow", broker=2).do("append", batch=0, leader=1).do("give_up", batch=0)
    assert careful.fate(0) is Fate.FAILED
    assert not careful.can("send", batch=AGAIN)


def test_not_leader_counts_as_not_persisted_although_the_record_is_stored(careful: Scenario) -> None:
    """NOT_LEADER counts as certain: the record stands in both logs, fails in the queue, and is sent again (3.3)."""
    careful.do("append", batch=0, leader=1).do("fetch", follower=2, leader=1)
    careful.do("move_leader", broker=2).do("apply_metadata", broker=1)
    assert careful.fate(0) is Fate.BUFFERED
    careful.do("give_up", batch=0)
    assert careful.log(2) == [0]
    assert careful.can("send", batch=AGAIN)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "kind", "twice"),
    [
        ("resend", Fault.LOST_RESPONSE, (cut(Fault.LOST_RESPONSE),)),
        ("resend-if-not-stored", Fault.LOST_RESPONSE, ()),
        ("resend-if-not-stored", Fault.KILL, ()),
        ("resend-if-not-stored", Fault.LEADER_MOVE, (cut(Fault.LEADER_MOVE),)),
    ],
)
def test_application_can_store_a_record_twice(
    tmp_path: Path, policy: str, kind: Fault, twice: tuple[CutSet, ...]
) -> None:
    """Without retries only what is sent again can be, but for what a client retries that it takes for not stored."""
    model = asked(tmp_path, policy, kind).model
    assert ask(model, "no-log-duplicate")["no-log-duplicate"].cut_sets == twice
