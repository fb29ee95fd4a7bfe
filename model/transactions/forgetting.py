"""A coordinator whose own log loses its end, or everything, and its producer's reaction (semantics 11.4).

``__transaction_state`` is a topic like others: with ``transaction.state.log.min.isr=1`` an acknowledged write can be
lost. A coordinator that starts from what is left sends markers for what was decided there, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, IntVal, Not, Or
from proofka.model.sequencing.idempotence import epoch_left
from proofka.model.state.outages import note_disturbance
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica
from proofka.model.state.transactions import EARLIER, CoordinatorLog, Keeping, Outcome, Status, Transaction
from proofka.model.transactions.ending import (
    all_acknowledged,
    is_drained,
    let_go,
    may_commit,
    may_end_aborted,
    start_anew,
)
from proofka.model.transactions.epochs import has_epoch, of, raise_epoch, recovery_in, was_raised
from proofka.model.transactions.sending import begins_next, transaction_of, words
from proofka.model.transactions.verification import can_be_added_again

_KNOWS = {
    Status.EMPTY: "knows of no transaction",
    Status.ONGOING: "has {} as ongoing",
    Status.PREPARE_COMMIT: "is to commit {}",
    Status.PREPARE_ABORT: "is to abort {}",
    Status.COMPLETE_COMMIT: "has {} as committed, and nothing after it",
    Status.COMPLETE_ABORT: "has {} as aborted, and nothing after it",
}


def _own_log(pipeline: Pipeline) -> CoordinatorLog:
    own_log = of(pipeline)[0].own_log
    assert own_log is not None
    return own_log


def _is_lost(pipeline: Pipeline) -> z3.BoolRef:
    return _own_log(pipeline).is_(Keeping.LOST)


def _start_elsewhere(pipeline: Pipeline, effect: Effect) -> None:
    """Move the coordinator to another broker, which clients have to find."""
    effect[_own_log(pipeline).keeping] = int(Keeping.LOST)
    note_disturbance(pipeline, effect)


def put_at_risk(pipeline: Pipeline) -> Action:
    """Leave one broker in the ISR of the coordinator's log: no other has what is written from here on (11.4)."""
    transactions, own_log = of(pipeline)[0], _own_log(pipeline)
    return Action(
        "put_at_risk",
        "brokers",
        lane="brokers",
        arguments={},
        guard=own_log.is_(Keeping.SAFE),
        updates={
            own_log.keeping: IntVal(Keeping.AT_RISK),
            own_log.status: transactions.status.term,
            own_log.epoch: transactions.epoch.term,
            own_log.current: transactions.current.term,
        },
        sentence=lambda before, after: (
            "__transaction_state is down to one broker: what the coordinator writes from here on, no other has"
        ),
        semantics="11.4",
        fault=Fault.LOST_TRANSACTION_STATE,
    )


def lose_end(pipeline: Pipeline) -> Action:
    """Lose that broker: the coordinator starts from what the others have (semantics 11.4)."""
    transactions, own_log = of(pipeline)[0], _own_log(pipeline)
    pairs = (
        (transactions.status, own_log.status),
        (transactions.epoch, own_log.epoch),
        (transactions.current, own_log.current),
    )
    differs = Or(*(now.term != kept.term for now, kept in pairs))
    effect = Effect()
    for now, kept in pairs:
        effect[now] = kept.term
        effect[kept] = kept.initial
    _start_elsewhere(pipeline, effect)

    def sentence(before: State, after: State) -> str:
        about = transactions.name_of(after[transactions.current.name])
        knows = _KNOWS[Status(after[transactions.status.name])].format(about)
        epoch = after[transactions.epoch.name]
        return f"that broker is lost: the coordinator is another one, which {knows}, with producer epoch {epoch}"

    return Action(
        "lose_end",
        "coordinator",
        lane="brokers",
        arguments={},
        guard=And(own_log.is_(Keeping.AT_RISK), differs),
        updates=effect.updates,
        sentence=sentence,
        semantics="11.4",
    )


def lose_all(pipeline: Pipeline) -> Action:
    """Lose everything of the transactional.id: its next producer gets another producer id (semantics 11.4).

    In the model the new id has the epochs that follow, so that no epoch of the client is the coordinator's any more.
    """
    transactions, own_log = of(pipeline)[0], _own_log(pipeline)
    effect = Effect()
    raise_epoch(pipeline, effect)
    effect[own_log.new_id] = effect[transactions.epoch]
    effect[transactions.status] = int(Status.EMPTY)
    effect[transactions.current] = EARLIER
    _start_elsewhere(pipeline, effect)
    no_newer = pipeline.producer.epoch.term <= transactions.epoch.term
    return Action(
        "lose_all",
        "coordinator",
        lane="brokers",
        arguments={},
        guard=And(own_log.is_(Keeping.SAFE), no_newer, epoch_left(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            "all of __transaction_state is lost: the coordinator does not know the transactional.id, "
            "which will get another producer id"
        ),
        semantics="11.4",
        fault=Fault.LOST_TRANSACTION_STATE,
    )


def abort_forgotten(pipeline: Pipeline) -> Action:
    """Abort at its timeout what the coordinator has as ongoing and nobody ends (semantics 11.1 T7, 11.4)."""
    transactions, _ = of(pipeline)
    ended = [And(transactions.current.term == one.number, Not(one.is_going_on)) for one in transactions.each]
    effect = Effect()
    effect[transactions.status] = int(Status.PREPARE_ABORT)
    raise_epoch(pipeline, effect)
    return Action(
        "abort_forgotten",
        "coordinator",
        lane="brokers",
        arguments={},
        guard=And(_is_lost(pipeline), transactions.is_(Status.ONGOING), Or(*ended), epoch_left(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"nobody ends {transactions.each[before[transactions.current.name]].name}, which the coordinator has as "
            "ongoing: transaction.timeout.ms is over, and it decides to abort"
        ),
        semantics="11.1 T7, 11.4",
    )


def add_again(pipeline: Pipeline, batch: Batch, leader: Replica) -> Action:
    """Let the leader add the partition for a record that arrives, as for the first one (TV2, 11.1 T2)."""
    transactions, _ = of(pipeline)
    assert batch.sent_epoch is not None
    transaction = transaction_of(pipeline, batch)
    arriving = And(batch.is_(Fate.SENT), batch.target.term == leader.number, leader.presumes_leadership)
    effect = Effect()
    effect[transactions.status] = int(Status.ONGOING)
    effect[transactions.current] = transaction.number
    return Action(
        "add_again",
        leader.name,
        lane="brokers",
        arguments={"batch": batch.number, "leader": leader.number},
        guard=And(arriving, transaction.is_going_on, can_be_added_again(pipeline, leader, batch.sent_epoch.term)),
        updates=effect.updates,
        sentence=lambda before, after: f"{leader.name} has the partition added to {transaction.name} once more",
        semantics="11.1 T2, 11.5",
    )


def _asks(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Tell whether the client asks the coordinator for something: to add the partition, to commit, or to abort."""
    transactions, _ = of(pipeline)
    asks_to_add = And(transaction.is_(Outcome.OPEN), Not(transactions.added.is_set))
    commits = And(transaction.is_(Outcome.OPEN), all_acknowledged(pipeline, transaction))
    return Or(asks_to_add, commits, may_end_aborted(pipeline, transaction))


def find_forgotten(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Refuse a client whose epoch or producer id the coordinator does not know: a new producer is needed (11.4).

    The error is PRODUCER_FENCED, or INVALID_PRODUCER_ID_MAPPING.
    """
    transactions, _ = of(pipeline)
    decided = Not(transactions.is_(Status.EMPTY, Status.ONGOING))
    agree = Or(has_epoch(pipeline), And(was_raised(pipeline), decided))
    fenced_earlier = And(
        transaction.is_(Outcome.OPEN),
        pipeline.producer.epoch.term < transactions.epoch.term,
        transactions.is_aborted,
    )
    effect = Effect()
    recovery_in(pipeline).fail_unsent(pipeline, effect, transaction)
    start_anew(pipeline, effect, transaction, Outcome.REFUSED)

    def sentence(before: State, after: State) -> str:
        new_id = before[_own_log(pipeline).new_id.name]
        forgot_id = new_id > before[pipeline.producer.epoch.name]
        error = "INVALID_PRODUCER_ID_MAPPING" if forgot_id else "PRODUCER_FENCED"
        return (
            f"the coordinator refuses what the producer asks for {words(pipeline, transaction)}: {error}, and the "
            "application starts a new producer"
        )

    return Action(
        "find_forgotten",
        "producer",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=And(
            _is_lost(pipeline),
            _asks(pipeline, transaction),
            is_drained(pipeline, transaction),
            Not(agree),
            Not(fenced_earlier),
        ),
        updates=effect.updates,
        sentence=sentence,
        semantics="11.4",
    )


def find_forgotten_later(pipeline: Pipeline) -> Action:
    """Refuse to begin later records' transaction, as the coordinator does not know the client's epoch or id (11.4)."""
    transactions, _ = of(pipeline)
    effect = Effect()
    effect[transactions.initialised] = False
    wants = And(transactions.initialised.is_set, begins_next(pipeline, transactions.each[-1]))
    return Action(
        "find_forgotten_later",
        "producer",
        lane="producer",
        arguments={},
        guard=And(_is_lost(pipeline), wants, Not(has_epoch(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            "the coordinator refuses to begin a transaction with later records, and the application starts a new "
            "producer"
        ),
        semantics="11.4",
    )


def refuse_forgotten_end(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Refuse to end a transaction that is not ongoing there: INVALID_TXN_STATE, and a new producer is needed (11.4)."""
    transactions, rules = of(pipeline)
    commits, aborts = may_commit(pipeline, transaction), may_end_aborted(pipeline, transaction)
    committed = transactions.is_committed
    aborted = transactions.is_aborted
    if rules.epoch_each:
        refused = Or(
            And(commits, Not(transactions.is_(Status.ONGOING))),
            And(aborts, transactions.is_ending),
        )
    else:
        nothing = transactions.is_(Status.EMPTY)
        refused = Or(And(commits, Or(nothing, aborted)), And(aborts, Or(nothing, committed)))
    effect = Effect()
    start_anew(pipeline, effect, transaction, Outcome.REFUSED)
    return Action(
        "refuse_forgotten_end",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number},
        guard=And(_is_lost(pipeline), transactions.added.is_set, has_epoch(pipeline), refused),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the coordinator, which does not know of {words(pipeline, transaction)}, refuses to end it, and the "
            "application starts a new producer"
        ),
        semantics="11.4",
    )


def take_for_earlier_end(pipeline: Pipeline, transaction: Transaction, *, commits: bool) -> Action:
    """Answer success to an EndTxn that, before TV2, is treated as the former transaction's (11.1 T4, 11.4).

    No marker is written.
    """
    transactions, _ = of(pipeline)
    asked = may_commit(pipeline, transaction) if commits else may_end_aborted(pipeline, transaction)
    status = Status.COMPLETE_COMMIT if commits else Status.COMPLETE_ABORT
    effect = Effect()
    let_go(pipeline, effect, transaction, Outcome.COMMITTED if commits else Outcome.ABORTED, starts_anew=not commits)
    call, ended = ("commitTransaction", "committed") if commits else ("abortTransaction", "aborted")
    other = transactions.current.term != transaction.number
    return Action(
        "take_for_earlier_end",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number, "commits": int(commits)},
        guard=And(
            _is_lost(pipeline), transactions.added.is_set, has_epoch(pipeline), transactions.is_(status), asked, other
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{call}() returns for {words(pipeline, transaction)}: the coordinator treats the request as the one "
            f"before, which it has {ended}, and writes no marker"
        ),
        semantics="11.1 T4, 11.4",
    )


def abort_unknown(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Abort, with TV2, a transaction unknown to the coordinator: it raises the epoch and writes no marker (11.4)."""
    transactions, _ = of(pipeline)
    effect = Effect()
    effect[transactions.status] = int(Status.COMPLETE_ABORT)
    effect[transactions.current] = transaction.number
    raise_epoch(pipeline, effect)
    let_go(pipeline, effect, transaction, Outcome.ABORTED)
    return Action(
        "abort_unknown",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number},
        guard=And(
            _is_lost(pipeline),
            transactions.added.is_set,
            has_epoch(pipeline),
            transactions.is_at_rest,
            may_end_aborted(pipeline, transaction),
            epoch_left(pipeline),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"abortTransaction() returns for {words(pipeline, transaction)}: the coordinator knows of no partition in "
            "it, and writes no marker"
        ),
        semantics="11.4, 11.5",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the losses of the coordinator's log and their effects, where the deployment names that fault."""
    transactions, rules = of(pipeline)
    if transactions.own_log is None:
        return
    yield put_at_risk(pipeline)
    yield lose_end(pipeline)
    yield lose_all(pipeline)
    yield abort_forgotten(pipeline)
    yield find_forgotten_later(pipeline)
    for transaction in transactions.each:
        yield find_forgotten(pipeline, transaction)
        yield refuse_forgotten_end(pipeline, transaction)
        if rules.epoch_each:
            yield abort_unknown(pipeline, transaction)
            continue
        for commits in (True, False):
            yield take_for_earlier_end(pipeline, transaction, commits=commits)
    if rules.epoch_each:
        for batch in pipeline.producer.batches:
            for leader in pipeline.replicas:
                yield add_again(pipeline, batch, leader)
