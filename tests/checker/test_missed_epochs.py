"""A follower that missed an epoch keeps what its leader has dropped (I006, KAFKA-7164, KAFKA-9338; semantics 8)."""

from __future__ import annotations

from dataclasses import replace

import pytest
import z3

from proofka.model.deployment.explored import Bounds
from proofka.model.deployment.truncation import Truncation
from proofka.model.faults import Fault
from proofka.model.language import Action
from proofka.model.pipeline import Model, build
from proofka.model.state.pipeline import Pipeline
from proofka.properties.verdict import CutSet, Status
from tests.checker.asking import ask, cut, example
from tests.checker.records import decide
from tests.deployments import changed
from tests.model.mutate import all_of, follower_of, leader_of, rewrite

M = Fault.LEADER_MOVE
K = Fault.KILL
UNFENCED = {"zookeeper": True, "old_fetches_count": True, "fenced_may_join": True, "idempotence": False}


def of_2_0(*, mended: bool, truncation: Truncation = Truncation.EPOCHS) -> Model:
    settings = {**UNFENCED, "truncation": truncation, "mends_of_2_0_1": mended}
    bounds = Bounds(records=2, log=2, sends=1, epochs=4, producer_epochs=1)
    return build(changed(example("acks-all-min-isr-2", (M,), 2), bounds=bounds, **settings))


def in_one_epoch(pipeline: Pipeline, action: Action) -> Action:
    """Restrict the exchange of leader and follower to one epoch, as from 2.5 on (KIP-320, KAFKA-9338)."""
    same = follower_of(pipeline, action).epoch.term == leader_of(pipeline, action).epoch.term
    return replace(action, guard=z3.And(action.guard, same))


fenced = all_of(*(rewrite(name, in_one_epoch) for name in ("fetch", "ask", "truncate")))


def drops_nothing(pipeline: Pipeline, action: Action) -> Action:
    """Let a follower continue when it is told of the leader that it has, as before 2.0.1; all else is mended."""
    before = of_2_0(mended=False).system.action("apply_metadata", action.arguments)
    assert before is not None
    return before


@pytest.mark.slow
def test_missed_epoch_alone_loses_records_where_other_defects_are_mended() -> None:
    """Up to 2.0.1 a follower that has not heard of the epoch does the same harm; here it cannot."""
    verdict = ask(fenced(of_2_0(mended=True)), "replica-agreement")["replica-agreement"]
    assert verdict.status is Status.HOLDS
    missing_epochs = all_of(fenced, rewrite("apply_metadata", drops_nothing))
    verdict = ask(missing_epochs(of_2_0(mended=True)), "replica-agreement")["replica-agreement"]
    assert verdict.cut_sets == (cut(M, M),)
    told = [step.text for step in verdict.traces[0].steps if step.action == "apply_metadata"]
    assert any("as before, and drops nothing" in text for text in told)


@pytest.mark.slow
@pytest.mark.parametrize(("truncation", "cuts"), [(Truncation.LAST_EPOCH, (cut(M, M),)), (Truncation.EPOCHS, ())])
def test_before_2_0_a_follower_asks_about_its_last_epoch_only(truncation: Truncation, cuts: tuple[CutSet, ...]) -> None:
    """KAFKA-6361, where all else is mended and fenced: the follower keeps what its leader does not have."""
    verdict = ask(fenced(of_2_0(mended=True, truncation=truncation)), "replica-agreement")["replica-agreement"]
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED if cuts else Status.HOLDS, cuts)


def test_follower_of_2_0_1_keeps_records_after_a_missed_epoch() -> None:
    """One that has not heard of the epoch fetches, and what it has then it keeps: it asks for the newest epoch only."""
    verdict = ask(of_2_0(mended=True), "replica-agreement")["replica-agreement"]
    assert verdict.cut_sets == (cut(M, M),)


JAVA = {
    "topic.replicas": 3,
    "topic.min.insync.replicas": 2,
    "producer.acks": "all",
    "producer.enable.idempotence": False,
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": False,
    "bounds.log": 2,
}
"""Enough replicas and acknowledgements that no planned move may lose a record, or let replicas differ."""


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "cuts"), [("1.1", (cut(M, M),)), ("2.0", ())])
def test_protocol_before_2_0_lets_followers_of_mended_brokers_ask_about_their_last_epoch_only(
    protocol: str, cuts: tuple[CutSet, ...]
) -> None:
    """KAFKA-6361 alone: brokers of 2.0.1 have the four other fixes, and with the protocol of 2.0 no replicas differ."""
    two = {"topic.replicas": 2, "topic.min.insync.replicas": 1, "bounds.records": 3, "bounds.log": 3}
    of_brokers = {"kafka": "2.0.1", "broker.inter.broker.protocol.version": protocol, "producer.version": "2.5.0"}
    verdict = decide("replica-agreement", {"leader-move": 2}, JAVA, two, of_brokers)
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED if cuts else Status.HOLDS, cuts)


@pytest.mark.parametrize(("kafka", "cuts"), [("2.1.0", (cut(M, M),)), ("2.4.1", (cut(M, M),)), ("2.5.0", ())])
def test_before_2_5_a_fetch_session_serves_a_follower_that_missed_an_epoch(
    kafka: str, cuts: tuple[CutSet, ...]
) -> None:
    """KAFKA-9338: broker 2 has a record of epoch 1, broker 1 has dropped that and has the retry of epoch 2."""
    verdict = decide("replica-agreement", {"leader-move": 2}, JAVA, {"kafka": kafka})
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED if cuts else Status.HOLDS, cuts)


@pytest.mark.slow
@pytest.mark.parametrize("kafka", ["2.4.1", "2.5.0"])
def test_two_moves_and_a_kill_lose_an_acknowledged_record(kafka: str) -> None:
    """Before 2.5 a follower commits what it does not have; a leader that missed an epoch does so ever since (6.5)."""
    faults = {"leader-move": 2, "kill": 1}
    verdict = decide("no-acked-loss", faults, JAVA, {"kafka": kafka, "bounds.records": 1})
    assert verdict.cut_sets == (cut(K, M, M),)


def led_three_times(faults: int) -> Model:
    """Allow three leader moves with one record, so that broker 1 can lead, lose the leadership and lead again."""
    bounds = Bounds(records=1, log=1, sends=1, epochs=4, producer_epochs=1)
    return build(changed(example("acks-all-min-isr-2", (M,), faults), bounds=bounds, idempotence=False))


def believes_nothing(pipeline: Pipeline, action: Action) -> Action:
    """Let a leader that is elected again forget its knowledge of the followers."""
    leader = pipeline.replica(action.arguments["broker"])
    return replace(action, updates={**action.updates, **dict.fromkeys(leader.fetched.values(), z3.IntVal(0))})


def test_a_leader_that_missed_an_epoch_keeps_old_log_ends_of_followers() -> None:
    """A follower has truncated for the leader in between, and counts for the high watermark nevertheless (6.5)."""
    verdict = ask(led_three_times(3), "no-acked-loss")["no-acked-loss"]
    assert verdict.cut_sets == (cut(M, M, M),)
    forgetful = rewrite("apply_metadata", believes_nothing)(led_three_times(3))
    assert ask(forgetful, "no-acked-loss")["no-acked-loss"].status is Status.HOLDS
    assert ask(led_three_times(2), "no-acked-loss")["no-acked-loss"].status is Status.HOLDS


def test_an_older_value_tells_the_log_end_but_is_no_fetch_of_this_epoch() -> None:
    """The ISR depends on fetches in the new epoch alone, and only followers that fetched hear of the high watermark."""
    pipeline = led_three_times(2).pipeline
    leader, follower = pipeline.replicas[0], pipeline.replicas[1]
    for fetched in range(1, leader.fresh + 1):
        now, before = z3.IntVal(fetched), z3.IntVal(fetched + leader.fresh)
        number = follower.number
        assert z3.is_true(z3.simplify(leader.has_fetched(number, now)))
        assert z3.is_false(z3.simplify(leader.has_fetched(number, before)))
        ends = [z3.simplify(leader.known_end(number, value)).as_long() for value in (now, before)]
        assert ends == [fetched - 1, fetched - 1]
    assert z3.simplify(leader.known_end(follower.number, z3.IntVal(0))).as_long() == -1
