"""Records for which the producer's buffer has no room, in transactions, by release (semantics 11.1, KAFKA-9279)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from proofka.model.deployment.choices import Sends
from proofka.model.deployment.explored import FaultBudget
from proofka.model.faults import Fault
from proofka.model.producing.sending_before_3_2 import SendingBefore32
from proofka.model.state.transactions import Outcome
from proofka.properties.verdict import Status
from tests.checker.asking import cut
from tests.checker.records import decide
from tests.model.scripted import Scenario
from tests.model.test_transactions import VERSION_1, begun, end, outcome, readable, write
from tests.model.test_transactions import violates as is_violated

FULL = {"full-buffer": 1}
IN_PAIRS = {
    "topic.replicas": 3,
    "topic.min.insync.replicas": 2,
    "producer.transactional.id": "orders",
    "producer.enable.idempotence": True,
    "consumer.isolation.level": "read_committed",
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "assume.transaction_records": 2,
}
LOSES = ("no-acked-loss", "no-silent-loss", "atomicity")


def at(release: str) -> Mapping[str, object]:
    return {"kafka": release}


@pytest.mark.parametrize(
    ("release", "prop"),
    [
        *(("3.1.2", prop) for prop in LOSES),
        *(pytest.param(old, prop, marks=pytest.mark.slow) for old in ("0.11.0", "2.3") for prop in LOSES),
    ],
)
def test_before_3_2_a_transaction_is_committed_without_a_refused_record(release: str, prop: str) -> None:
    verdict = decide(prop, FULL, IN_PAIRS, at(release))
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED, (cut(Fault.FULL_BUFFER),))


@pytest.mark.parametrize("prop", LOSES)
def test_from_3_2_on_a_refused_record_fails_its_transaction(prop: str) -> None:
    assert decide(prop, FULL, IN_PAIRS, at("3.2")).status is not Status.VIOLATED


@pytest.mark.parametrize("prop", LOSES)
def test_an_application_that_waits_for_each_send_aborts(prop: str) -> None:
    waits = {"assume.sends": Sends.SYNC.value}
    assert decide(prop, FULL, IN_PAIRS, at("3.1.2"), waits).status is not Status.VIOLATED


def test_a_refused_record_alone_is_lost_without_a_request_to_the_coordinator() -> None:
    alone = {"assume.transaction_records": 1}
    verdict = decide("no-acked-loss", FULL, IN_PAIRS, at("3.1.2"), alone)
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED, (cut(Fault.FULL_BUFFER),))
    assert [step.action for step in verdict.traces[0].steps] == ["refuse_send", "commit_nothing"]


def started(*, survives: bool) -> Scenario:
    """Record 1 is to be sent in the first transaction, records 2 and 3 in the second."""
    faults = FaultBudget(1, ((Fault.FULL_BUFFER.value, 1),))
    return begun(replace(VERSION_1, survives_refused_send=survives), faults=faults)


def test_the_application_goes_on_with_the_transaction_of_a_refused_record() -> None:
    run = started(survives=True)
    assert isinstance(run.pipeline.sending, SendingBefore32)
    run.do("refuse_send", batch=0)
    assert not run.can("begin_abort", transaction=0)
    assert not run.can("prepare_commit", transaction=0), "the coordinator has no such transaction"
    run.do("commit_nothing", transaction=0)
    assert outcome(run, 0) is Outcome.COMMITTED
    assert is_violated(run, "no-acked-loss")


def test_the_rest_of_the_transaction_is_committed() -> None:
    run = write(started(survives=True), 0).do("prepare_commit", transaction=0)
    run = end(run, 0, commits=True).do("refuse_send", batch=1)
    assert not run.can("commit_nothing", transaction=1), "record 3 is not sent yet"
    write(run, 2)
    assert not run.can("begin_abort", transaction=1)
    assert not run.can("commit_nothing", transaction=1), "the partition is in the transaction"
    end(run.do("prepare_commit", transaction=1), 1, commits=True)
    assert len(readable(run)) == 2
    assert is_violated(run, "atomicity")


def test_a_client_from_3_2_on_can_only_abort() -> None:
    run = started(survives=False).do("refuse_send", batch=0)
    assert run.can("begin_abort", transaction=0)
    assert not run.can("prepare_commit", transaction=0)
