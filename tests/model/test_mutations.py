"""A broken copy of the model is caught: break a single guard or effect, and a verdict changes.

Each mutation takes away one rule of Kafka's; with it goes the guarantee that rests on that rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
import z3

from proofka.checker.solver import UnsafeUpdate
from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import ProducerId, Sink
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.release import Release
from proofka.model.deployment.required_properties import OF_TRANSACTIONS
from proofka.model.deployment.sequencing import sequencing_of
from proofka.model.deployment.transactional import Transactional
from proofka.model.deployment.truncation import Truncation
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, Variable
from proofka.model.log.replica import keep_prefix
from proofka.model.pipeline import build
from proofka.model.replication.fetching import common_prefix
from proofka.model.sequencing.idempotence import check_sequence, numbers_sent
from proofka.model.sequencing.network import is_dead
from proofka.model.state.pipeline import Fate, Pipeline
from proofka.model.state.transactions import Outcome
from proofka.model.transactions.verification import is_verified
from proofka.properties.verdict import CutSet, Status, Verdict
from tests.checker.asking import SMALL, ask, cut, example
from tests.deployments import changed
from tests.model.mutate import (
    Mutation,
    all_of,
    also,
    assume,
    batch_of,
    broker_of,
    follower_of,
    guard,
    leader_of,
    leaves,
    never,
    rewrite,
)

K, P, S = Fault.KILL, Fault.POWER_LOSS, Fault.SLOW_FOLLOWER
R, M, X = Fault.LOST_RESPONSE, Fault.LEADER_MOVE, Fault.CUT_OFF
C, L = Fault.CONSUMER_CRASH, Fault.LOST_REQUEST

D, T = Fault.DELAYED_REQUEST, Fault.TRANSACTION_TIMEOUT

TRANSACTIONS = Bounds(records=3, log=6, sends=1, epochs=3, producer_epochs=5)
VERIFIED = Transactional(2, verified=True, epoch_each=False, first_is_zero=False, read_committed=True)

BEFORE, AFTER = Release(2, 4), Release(2, 6)
"""Releases before and from 2.5 on, where idempotence changed (KIP-360)."""

PAIR = replace(SMALL, records=2, log=2, epochs=3)
RETRIED = replace(SMALL, log=2)


def appended_here(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that the leader has appended the batch: all that acks=1 asks for."""
    batch, leader = batch_of(pipeline, action), leader_of(pipeline, action)
    return z3.And(batch.is_(Fate.APPENDED), batch.target.term == leader.number, leader.up.is_set)


def verified(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that the leader has verified the transaction (KIP-890)."""
    return is_verified(pipeline, leader_of(pipeline, action), numbers_sent(pipeline, batch_of(pipeline, action))[0])


def open_at_coordinator(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that the transaction is open, independent of the fate of its records."""
    assert pipeline.transactions is not None
    transaction = pipeline.transactions.each[action.arguments["transaction"]]
    over = z3.Or(pipeline.transactions.is_at_rest, pipeline.transactions.is_ending)
    return z3.And(transaction.is_(Outcome.OPEN), z3.Not(over))


def coordinators_epoch(pipeline: Pipeline, action: Action) -> Variable:
    assert pipeline.transactions is not None
    return pipeline.transactions.epoch


def follows(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that the follower fetches from the leader it knows of, in its epoch."""
    return follower_of(pipeline, action).follows(leader_of(pipeline, action))


def nothing_diverges(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that the follower's whole log agrees with its leader's."""
    follower = follower_of(pipeline, action)
    return follower.log.end.term == common_prefix(follower, leader_of(pipeline, action))


def in_sequence(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that the broker has not seen the batch, and that the batch is the next one due."""
    batch = batch_of(pipeline, action)
    sent = numbers_sent(pipeline, batch)
    return check_sequence(pipeline, leader_of(pipeline, action), batch, *sent).in_sequence


def connection_works(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that no request waits on a dead connection to the broker."""
    return z3.Not(is_dead(pipeline, leader_of(pipeline, action)))


def enough_in_sync(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that the ISR reaches min.insync.replicas."""
    return pipeline.enough_in_sync(leader_of(pipeline, action))


def caught_up(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that, as the leader knows, the follower reached its high watermark."""
    leader, follower = leader_of(pipeline, action), follower_of(pipeline, action)
    return leader.fetched[follower.number].term - 1 >= leader.high_watermark.term


def reached_epoch(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Build the condition that, as the leader knows, the follower reached the start of its epoch."""
    leader, follower = leader_of(pipeline, action), follower_of(pipeline, action)
    start = leader.log.count(lambda _, slot: slot["epoch"].term < leader.epoch.term)
    return leader.fetched[follower.number].term - 1 >= start


def has_read_something(pipeline: Pipeline, _: Action) -> z3.BoolRef:
    """Build the condition that the consumer has processed a record since its start."""
    return pipeline.consumer.latest.term > 0


def lives_somewhere(pipeline: Pipeline, action: Action) -> Mapping[Variable, z3.ArithRef]:
    """Let fencing a leader elect the first live replica, in the ISR or not."""
    chosen = z3.IntVal(0)
    number = action.arguments["broker"]
    for other in reversed(pipeline.replicas):
        if other.number != number:
            unfenced = pipeline.controller.unfenced[other.number].is_set
            chosen = z3.If(unfenced, z3.IntVal(other.number), chosen)
    leader = pipeline.controller.leader
    return {leader: z3.If(leader.term == number, chosen, leader.term)}


def high_watermark_at_end(pipeline: Pipeline, action: Action) -> Mapping[Variable, z3.ArithRef]:
    """Let the leader take its own log end for the high watermark."""
    leader = leader_of(pipeline, action)
    return {leader.high_watermark: leader.log.end.term + 1}


def page_cache_lost(pipeline: Pipeline, action: Action) -> Mapping[Variable, z3.ArithRef]:
    """Let a killed process lose its page cache."""
    effect = Effect()
    keep_prefix(effect, broker_of(pipeline, action), 0)
    return effect.updates


def commit_first(pipeline: Pipeline, action: Action) -> Mapping[Variable, z3.ArithRef]:
    """Commit the records of a poll before they are processed."""
    consumer = pipeline.consumer
    return {
        consumer.committed: consumer.position.term + action.arguments["count"],
        consumer.committed_epoch: leader_of(pipeline, action).epoch.term,
    }


def from_the_start(pipeline: Pipeline, _: Action) -> Mapping[Variable, z3.ArithRef]:
    """Let a restarted consumer forget the group's committed offset."""
    return {pipeline.consumer.position: z3.IntVal(0), pipeline.consumer.position_epoch: z3.IntVal(0)}


def from_the_end(pipeline: Pipeline, _: Action) -> Mapping[Variable, z3.ArithRef]:
    """Let a restarted consumer begin behind the first readable record."""
    consumer = pipeline.consumer
    readable = pipeline.exposed[0].term > 0
    return {
        consumer.position: z3.If(readable, z3.IntVal(1), z3.IntVal(0)),
        consumer.position_epoch: z3.If(readable, z3.IntVal(1), z3.IntVal(0)),
    }


def controllers_isr(pipeline: Pipeline, action: Action) -> Variable:
    return pipeline.controller.isr[action.arguments["follower"]]


def producers_epoch(pipeline: Pipeline, action: Action) -> Variable:
    return pipeline.producer.epoch


def with_unknown_producers(pipeline: Pipeline, action: Action) -> Action:
    """Let a broker append any first batch of an unknown producer (2.5 and later)."""
    batch = batch_of(pipeline, action)
    check = check_sequence(pipeline, leader_of(pipeline, action), batch, *numbers_sent(pipeline, batch))
    assert check.unknown is not None
    appended = z3.Or(check.in_sequence, check.unknown)
    return replace(action, guard=z3.substitute(action.guard, (check.in_sequence, appended)))


def any_prefix(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    """Let a power loss destroy records that were forced to disk as well."""
    replica = broker_of(pipeline, action)
    return z3.And(replica.up.is_set, action.arguments["kept"] <= replica.log.end.term)


def of(name: str, kinds: tuple[Fault, ...], total: int, bounds: Bounds = SMALL, **settings: Any) -> Deployment:
    """Read an example and make it small."""
    return changed(example(name, kinds, total), bounds=bounds, **settings)


@dataclass(frozen=True)
class Case:
    """``mutation`` turns the verdict on ``prop`` from ``before`` into violated, with ``cut_set`` among the smallest.

    ``is_quick``: the quick tests have it as well: one of a producer's guard, one of a follower's, one of a leader's.
    """

    name: str
    deployment: Callable[[], Deployment]
    mutation: Mutation
    prop: str
    cut_set: CutSet
    before: Status = Status.HOLDS
    is_quick: bool = False


CASES = (
    Case(
        "acknowledge-before-replication",
        lambda: of("acks-all-min-isr-2", (K,), 1),
        guard("acknowledge", appended_here),
        "no-acked-loss",
        cut(K),
    ),
    Case(
        "high-watermark-does-not-wait-for-the-isr",
        lambda: of("acks-all-min-isr-2", (K,), 1),
        also("append", high_watermark_at_end),
        "no-acked-loss",
        cut(K),
    ),
    Case(
        "no-truncation-at-all",
        lambda: of("acks-1", (M,), 1, PAIR),
        never("truncate"),
        "recoverability",
        cut(M),
    ),
    Case(
        "fetch-without-truncation",
        lambda: of("acks-all-min-isr-2", (M,), 1, PAIR, idempotence=False),
        all_of(never("truncate"), assume("fetch", nothing_diverges)),
        "replica-agreement",
        cut(M),
        is_quick=True,
    ),
    Case(
        "election-outside-the-isr",
        lambda: of("acks-all-min-isr-2", (S, K), 2),
        also("fence", lives_somewhere),
        "no-acked-loss",
        cut(S, K),
    ),
    Case(
        "shrinking-without-the-controller",
        lambda: of("acks-all-min-isr-1", (S, K), 3),
        leaves("shrink_isr", controllers_isr),
        "no-acked-loss",
        cut(S, K),
    ),
    Case(
        "expanding-by-a-follower-that-lags",
        lambda: of("acks-all-min-isr-2", (S, K), 2),
        assume("expand_isr", caught_up),
        "no-acked-loss",
        cut(S, K),
    ),
    Case(
        "joining-before-the-start-of-the-epoch-is-reached",
        lambda: of(
            "acks-all-min-isr-1",
            (),
            3,
            faults=FaultBudget(3, ((K.value, 2), (M.value, 1))),
            truncation=Truncation.EPOCHS,
            zookeeper=True,
            old_fetches_count=True,
        ),
        assume("expand_isr", reached_epoch),
        "no-acked-loss",
        cut(K, K, M),
    ),
    Case(
        "duplicate-check-off",
        lambda: of("idempotent", (R,), 1, RETRIED),
        all_of(never("recognise_duplicate"), assume("append", in_sequence)),
        "no-log-duplicate",
        cut(R),
    ),
    Case(
        "duplicate-check-off-before-2.5",
        lambda: of("idempotent", (R,), 1, RETRIED, replicas=2, sequencing=sequencing_of(BEFORE, BEFORE)),
        all_of(never("recognise_duplicate"), assume("append", in_sequence)),
        "no-log-duplicate",
        cut(R),
        is_quick=True,
    ),
    Case(
        "brokers-before-2.5-append-what-those-from-2.5-on-do",
        lambda: of(
            "idempotent",
            (M,),
            1,
            PAIR,
            replicas=2,
            producer_id=ProducerId.NEW,
            sequencing=sequencing_of(AFTER, BEFORE),
        ),
        all_of(rewrite("append", with_unknown_producers), never("reject_unknown")),
        "log-order",
        cut(M),
    ),
    Case(
        "a-sequence-in-doubt-is-used-again",
        # Of a record that expired after a retry nobody knows whether it is written; the broker is away for so long.
        lambda: of(
            "idempotent",
            (K,),
            1,
            PAIR,
            replicas=1,
            min_insync_replicas=1,
            max_in_flight=1,
            expires_in_accumulator=True,
            sequencing=sequencing_of(Release(2, 0), BEFORE),
        ),
        leaves("resolve_with_new_id", producers_epoch),
        "no-silent-loss",
        cut(K),
    ),
    Case(
        "min-isr-check-off",
        # Until 3.6 a min.insync.replicas above the number of replicas refused every acks=all write (semantics 2).
        lambda: of(
            "acks-all-min-isr-1",
            (S, P),
            2,
            replicas=2,
            min_insync_replicas=3,
            high_watermark_needs_min_isr=False,
        ),
        all_of(assume("append", enough_in_sync), assume("acknowledge", enough_in_sync)),
        "no-acked-loss",
        cut(S, P),
        Status.VACUOUS,
        is_quick=True,
    ),
    Case(
        "anybody-follows-a-former-leader",
        lambda: of("acks-all-min-isr-2", (X,), 1),
        all_of(assume("fetch", follows), assume("truncate", follows)),
        "no-acked-loss",
        cut(X),
    ),
    Case(
        "newer-records-do-not-wait-for-a-dead-connection",
        lambda: of("idempotent", (L,), 1, producer_id=ProducerId.NEW, bounds=PAIR),
        assume("transmit", connection_works),
        "log-order",
        cut(L),
    ),
    Case(
        "power-loss-takes-what-was-flushed",
        lambda: of("flush-every-record", (P,), 1, replicas=1, min_insync_replicas=1),
        guard("lose_power", any_prefix),
        "no-acked-loss",
        cut(P),
    ),
    Case(
        "kill-takes-the-page-cache",
        lambda: of("acks-all-min-isr-1", (K,), 1, replicas=1),
        also("kill", page_cache_lost),
        "no-acked-loss",
        cut(K),
    ),
    Case(
        "dead-brokers-are-never-fenced",
        lambda: of("acks-all-min-isr-2", (K,), 1),
        never("fence"),
        "recoverability",
        cut(K),
    ),
    Case(
        "a-former-leader-answers-nobody",
        # A client that gives up nothing in flight: others get over it when delivery.timeout.ms ends.
        lambda: changed(of("acks-all-min-isr-2", (M,), 1), expires_in_accumulator=True, idempotence=False),
        never("reject_not_leader"),
        "recoverability",
        cut(M),
    ),
    Case(
        "records-of-ended-transactions-are-appended",
        lambda: of("idempotent", (D,), 1, TRANSACTIONS, transactional=VERIFIED, require=OF_TRANSACTIONS),
        all_of(assume("append", verified), never("reject_unverified")),
        "no-hanging-transaction",
        cut(D),
    ),
    Case(
        "a-commit-does-not-wait-for-acknowledgements",
        lambda: of("idempotent", (), 0, TRANSACTIONS, transactional=VERIFIED, require=OF_TRANSACTIONS),
        guard("prepare_commit", open_at_coordinator),
        "atomicity",
        cut(),
    ),
    Case(
        "a-transaction-that-takes-too-long-keeps-its-epoch",
        lambda: of(
            "idempotent",
            (T,),
            1,
            TRANSACTIONS,
            transactional=replace(VERIFIED, verified=False),
            require=OF_TRANSACTIONS,
        ),
        leaves("time_out_transaction", coordinators_epoch),
        "no-hanging-transaction",
        cut(T),
    ),
    Case(
        "an-election-without-a-new-epoch",
        lambda: of("acks-all-min-isr-2", (M,), 1),
        leaves("move_leader", lambda pipeline, _: pipeline.controller.epoch),
        "recoverability",
        cut(M),
    ),
    Case(
        "a-read-that-waits-at-the-end-runs-into-an-append",
        lambda: of("acks-all-min-isr-1", (M,), 1, replicas=2, reads_may_overrun=True),
        assume("read_while_appending", has_read_something),
        "read-stability",
        cut(M),
    ),
    Case(
        "auto-commit-before-processing",
        lambda: of("auto-commit", (C,), 1),
        also("crash_while_processing", commit_first),
        "no-skip",
        cut(C),
    ),
    Case(
        "restart-behind-the-committed-offset",
        lambda: of("auto-commit", (C,), 1),
        also("restart_consumer", from_the_end),
        "no-skip",
        cut(C),
    ),
    Case(
        "restart-before-the-committed-offset",
        lambda: of("manual-commit-plain-sink", (C,), 1, sink=Sink.TRANSACTIONAL),
        also("restart_consumer", from_the_start),
        "exactly-once-effect",
        cut(C),
    ),
)


@cache
def unmutated(case: Case) -> Verdict:
    return ask(case.deployment(), case.prop)[case.prop]


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=() if case.is_quick else pytest.mark.slow, id=case.name) for case in CASES],
)
def test_mutation_changes_a_verdict(case: Case) -> None:
    assert unmutated(case).status is case.before, unmutated(case).cut_sets
    broken = ask(case.mutation(build(case.deployment())), case.prop)[case.prop]
    assert broken.status is Status.VIOLATED
    assert case.cut_set in broken.cut_sets, broken.cut_sets


def test_a_guard_that_leaves_the_domain_is_refused() -> None:
    """Without the check for room in the log an append overflows its field, and Z3 says so first."""
    deployment = of("acks-all-min-isr-1", (K,), 1, replicas=1)
    overflowing = assume("append", lambda pipeline, action: _has_room(pipeline, action))
    with pytest.raises(UnsafeUpdate, match="append"):
        ask(overflowing(build(deployment)), "no-acked-loss")


def _has_room(pipeline: Pipeline, action: Action) -> z3.BoolRef:
    leader = leader_of(pipeline, action)
    return leader.log.end.term < leader.log.capacity
