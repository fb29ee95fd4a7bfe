"""The producer's epoch at its coordinator, and at the client (semantics 11.1, 11.5)."""

from __future__ import annotations

import z3

from proofka.model.deployment.transactional import Transactional
from proofka.model.language import Effect
from proofka.model.language.terms import BoolVal
from proofka.model.state.pipeline import Pipeline
from proofka.model.state.recovery import RecoveryInTransactions
from proofka.model.state.transactions import Transactions


def of(pipeline: Pipeline) -> tuple[Transactions, Transactional]:
    transactions, rules = pipeline.transactions, pipeline.deployment.producer.transactional
    assert transactions is not None and rules is not None
    return transactions, rules


def recovery_in(pipeline: Pipeline) -> RecoveryInTransactions:
    assert isinstance(pipeline.recovery, RecoveryInTransactions)
    return pipeline.recovery


def may_ask_anew(pipeline: Pipeline) -> bool:
    """Tell whether the client can ask for a new epoch after an abort: not with TV2, which gives one, nor before 2.5."""
    rules = of(pipeline)[1]
    return not rules.epoch_each and rules.older is None


def has_epoch(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the client's producer epoch is the coordinator's."""
    return pipeline.producer.epoch.term == of(pipeline)[0].epoch.term


def was_raised(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the coordinator's epoch is the client's, or with TV2 the one that the transaction's end gave."""
    transactions, rules = of(pipeline)
    return transactions.epoch.term == pipeline.producer.epoch.term + int(rules.epoch_each)


def raise_epoch(pipeline: Pipeline, effect: Effect) -> None:
    epoch = of(pipeline)[0].epoch
    effect[epoch] = epoch.term + 1


def take_epoch(pipeline: Pipeline, effect: Effect, *, anew: bool = False) -> None:
    """Take the coordinator's epoch at the client, and number from 0 if the epoch is another one or taken ``anew``.

    A coordinator that has forgotten an epoch gives it once more (semantics 11.4).
    """
    producer, transactions = pipeline.producer, of(pipeline)[0]
    newer = producer.epoch.term != effect[transactions.epoch]
    if anew and transactions.own_log is not None:
        newer = BoolVal(True)
    effect.set_when(newer, producer.next_sequence, 0)
    effect.set_when(newer, producer.last_acknowledged, -1)
    effect.set_when(newer, producer.unresolved, 0)
    effect.set_when(newer, producer.heard, 0)
    effect[producer.epoch] = effect[transactions.epoch]
