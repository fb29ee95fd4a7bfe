"""Ends of a transaction: committed, aborted, timed out, or ended by a request that is late itself (11.1, 11.6).

The coordinator's requests are answered in the end, and its log keeps what it decides, unless a fault takes that away
(forgetting.py; docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or
from proofka.model.sequencing.idempotence import epoch_left
from proofka.model.state.pipeline import Pipeline
from proofka.model.state.transactions import Keeping, Outcome, Status, Transaction
from proofka.model.transactions.epochs import (
    has_epoch,
    may_ask_anew,
    of,
    raise_epoch,
    recovery_in,
    take_epoch,
    was_raised,
)
from proofka.model.transactions.sending import add_partition, batches_of, begins_next, takes_next, words

COMMIT, ABORT = 1, 2
"""The values of ``late_end`` for what an abandoned EndTxn asks for."""


def is_drained(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Tell whether nothing of the transaction is in flight, or to be retried (semantics 11.1, T4)."""
    numbered = []
    for batch in batches_of(pipeline, transaction):
        assert batch.sequence is not None
        numbered.append(And(batch.incomplete, batch.sequence.term >= 0))
    return Not(Or(*numbered))


def all_acknowledged(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Tell whether every send of the transaction succeeded, as far as the client knows."""
    return And(*(pipeline.sending.lets_commit(batch) for batch in batches_of(pipeline, transaction)))


def may_commit(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Tell whether every send was acknowledged, and the client asks the coordinator to commit."""
    return And(transaction.is_(Outcome.OPEN), all_acknowledged(pipeline, transaction))


def may_end_aborted(pipeline: Pipeline, transaction: Transaction) -> z3.BoolRef:
    """Tell whether the application has aborted, nothing is in flight, and the client asks the coordinator to abort."""
    may = And(transaction.is_(Outcome.ABORTING), is_drained(pipeline, transaction))
    for condition in recovery_in(pipeline).may_ask_to_abort(pipeline):
        may = And(may, condition)
    return may


def _can_decide(pipeline: Pipeline, epoch: z3.ArithRef) -> z3.BoolRef:
    """Tell whether the coordinator accepts an EndTxn of this epoch for the transaction that goes on (11.1, T4)."""
    transactions, rules = of(pipeline)
    room = epoch_left(pipeline) if rules.epoch_each else BoolVal(True)
    return And(transactions.is_(Status.ONGOING), epoch == transactions.epoch.term, room)


def _decide(pipeline: Pipeline, effect: Effect, status: z3.ArithRef | int) -> None:
    transactions, rules = of(pipeline)
    effect[transactions.status] = status
    if rules.epoch_each:
        raise_epoch(pipeline, effect)


def _come_to_terms(pipeline: Pipeline, effect: Effect, transaction: Transaction) -> None:
    """Note that a coordinator that had forgotten something and its client agree again: this transaction ends (11.4)."""
    transactions, _ = of(pipeline)
    if transactions.own_log is not None:
        was_lost = transactions.own_log.is_(Keeping.LOST)
        effect.set_when(was_lost, transactions.own_log.keeping, int(Keeping.SAFE))
        effect[transactions.current] = transaction.number


def crash_with_transactions(pipeline: Pipeline, effect: Effect) -> None:
    """Forget the application's transactions; its next instance has to call initTransactions() first."""
    transactions, session = of(pipeline)[0], pipeline.producer.session
    for transaction in transactions.each:
        effect.set_when(transaction.is_going_on, transaction.outcome, int(Outcome.LOST))
    effect[transactions.initialised] = False
    effect[transactions.added] = False
    effect[session] = session.term + 1


def let_go(
    pipeline: Pipeline, effect: Effect, transaction: Transaction, outcome: Outcome, *, starts_anew: bool = False
) -> None:
    """Note that the application knows how the transaction ended.

    Before TV2 the client must ask for a new epoch then, if ``starts_anew``.
    """
    transactions, rules = of(pipeline)
    effect[transaction.outcome] = int(outcome)
    effect[transactions.added] = False
    if rules.epoch_each:
        take_epoch(pipeline, effect)
    elif starts_anew:
        effect[transactions.initialised] = False


def start_anew(pipeline: Pipeline, effect: Effect, transaction: Transaction, outcome: Outcome) -> None:
    """Give the producer up: the application makes another, which calls initTransactions()."""
    transactions, _ = of(pipeline)
    effect[transaction.outcome] = int(outcome)
    effect[transactions.added] = False
    effect[transactions.initialised] = False


def _drop_late_end(pipeline: Pipeline, effect: Effect) -> None:
    transactions, _ = of(pipeline)
    assert transactions.late_end is not None and transactions.late_end_epoch is not None
    effect[transactions.late_end] = 0
    effect[transactions.late_end_epoch] = 0


def prepare_commit(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Write PrepareCommit at the coordinator: the decision is final, and commitTransaction() returns (11.1, T4).

    Only a crash distinguishes a client that knows of the decision from one that does not know yet.
    """
    effect = Effect()
    _decide(pipeline, effect, Status.PREPARE_COMMIT)
    _come_to_terms(pipeline, effect, transaction)
    let_go(pipeline, effect, transaction, Outcome.COMMITTED)
    return Action(
        "prepare_commit",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number},
        guard=And(may_commit(pipeline, transaction), _can_decide(pipeline, pipeline.producer.epoch.term)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the application commits {words(pipeline, transaction)}: the coordinator decides so, and the call returns"
        ),
        semantics="11.1 T4",
    )


def crash_at_commit(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Decide to commit at the coordinator, and crash the application before it knows (semantics 11.1, T4)."""
    effect = Effect()
    _decide(pipeline, effect, Status.PREPARE_COMMIT)
    _come_to_terms(pipeline, effect, transaction)
    crash_with_transactions(pipeline, effect)
    return Action(
        "crash_at_commit",
        "application",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=And(
            may_commit(pipeline, transaction),
            _can_decide(pipeline, pipeline.producer.epoch.term),
            pipeline.producer.session.term < pipeline.producer.session.high,
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the application commits {words(pipeline, transaction)}, and crashes before it knows that the coordinator "
            "has decided so"
        ),
        semantics="11.1 T4",
        fault=Fault.PRODUCER_CRASH,
    )


def begin_abort(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Call abortTransaction(), the only way after a failed send of the transaction (semantics 11.1).

    A transaction of later records can be aborted at any time.
    """
    batches = batches_of(pipeline, transaction)
    failed = Or(*(pipeline.sending.fails_transaction(batch) for batch in batches)) if batches else BoolVal(True)
    may_abort = And(transaction.is_(Outcome.OPEN), failed)
    for condition in recovery_in(pipeline).may_abort(pipeline):
        may_abort = And(may_abort, condition)
    effect = Effect()
    effect[transaction.outcome] = int(Outcome.ABORTING)
    recovery_in(pipeline).fail_unsent(pipeline, effect, transaction)
    return Action(
        "begin_abort",
        "application",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=may_abort,
        updates=effect.updates,
        sentence=lambda before, after: f"the application aborts {words(pipeline, transaction)}, because a send failed",
        semantics="11.1",
    )


def prepare_abort(pipeline: Pipeline, transaction: Transaction, *, anew: bool) -> Action:
    """Write PrepareAbort at the coordinator for a client with nothing in flight; abortTransaction() returns (11.1 T4).

    ``anew``: the client then asks for a new epoch, as a client before TV2 does unless it can keep its own. With some
    clients that request is what aborts, in a newer epoch (semantics 4.1).
    """
    effect = Effect()
    _decide(pipeline, effect, Status.PREPARE_ABORT)
    _come_to_terms(pipeline, effect, transaction)
    guard = And(may_end_aborted(pipeline, transaction), _can_decide(pipeline, pipeline.producer.epoch.term))
    let_go(pipeline, effect, transaction, Outcome.ABORTED, starts_anew=anew)
    for condition in recovery_in(pipeline).end_aborted(pipeline, effect, transaction, anew=anew):
        guard = And(guard, condition)
    kept = ""
    if may_ask_anew(pipeline) and not anew:
        kept = "; the producer keeps its epoch, because the send failed while commitTransaction() waited for it"
    return Action(
        "prepare_abort",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number, "anew": int(anew)},
        guard=guard,
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the coordinator decides to abort {words(pipeline, transaction)}, and abortTransaction() returns" + kept
        ),
        semantics="11.1 T4",
    )


def learn_committed(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Let commitTransaction() return, as an earlier request has decided already (semantics 11.1 T4, 11.6)."""
    transactions, _ = of(pipeline)
    decided = And(transactions.is_committed, was_raised(pipeline))
    effect = Effect()
    let_go(pipeline, effect, transaction, Outcome.COMMITTED)
    return Action(
        "learn_committed",
        "producer",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=And(may_commit(pipeline, transaction), decided),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"commitTransaction() returns: {words(pipeline, transaction)} is committed already"
        ),
        semantics="11.1 T4, 11.6",
    )


def learn_aborted(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Let abortTransaction() return: the coordinator had aborted, or knows of no transaction (11.1, T4 T7)."""
    transactions, _ = of(pipeline)
    here = transactions.current.term == transaction.number
    decided = And(transactions.is_aborted, here)
    never_began = Not(transactions.added.is_set)
    effect = Effect()
    let_go(pipeline, effect, transaction, Outcome.ABORTED, starts_anew=True)
    recovery_in(pipeline).learn_aborted(pipeline, effect, decided)
    return Action(
        "learn_aborted",
        "producer",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=And(may_end_aborted(pipeline, transaction), Or(decided, never_began)),
        updates=effect.updates,
        sentence=lambda before, after: f"abortTransaction() returns: {words(pipeline, transaction)} is aborted",
        semantics="11.1 T4 T7",
    )


def learn_fenced(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Let the producer find itself fenced by a newer epoch: its transaction is aborted, it starts anew (11.1 T7)."""
    transactions, _ = of(pipeline)
    fenced = pipeline.producer.epoch.term < transactions.epoch.term
    aborted = transactions.is_aborted
    effect = Effect()
    recovery_in(pipeline).fail_unsent(pipeline, effect, transaction)
    start_anew(pipeline, effect, transaction, Outcome.ABORTED)
    return Action(
        "learn_fenced",
        "producer",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=And(transaction.is_(Outcome.OPEN), fenced, aborted, is_drained(pipeline, transaction)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the producer finds itself fenced: {words(pipeline, transaction)} is aborted, and the application starts "
            "a new producer"
        ),
        semantics="11.1 T7",
    )


def refuse_end(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Refuse to end a transaction that ended the other way: INVALID_TXN_STATE, a new producer is needed (11.1 T4)."""
    transactions, _ = of(pipeline)
    aborted = transactions.is_aborted
    committed = transactions.is_committed
    other_way = Or(
        And(may_commit(pipeline, transaction), aborted),
        And(may_end_aborted(pipeline, transaction), committed, transactions.added.is_set),
    )
    effect = Effect()
    start_anew(pipeline, effect, transaction, Outcome.REFUSED)
    return Action(
        "refuse_end",
        "coordinator",
        lane="brokers",
        arguments={"transaction": transaction.number},
        guard=And(other_way, was_raised(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the coordinator, which has decided otherwise, refuses to end {words(pipeline, transaction)}: "
            "INVALID_TXN_STATE, and the application starts a new producer"
        ),
        semantics="11.1 T4",
    )


def begin_later(pipeline: Pipeline, transaction: Transaction) -> Action:
    """Begin a transaction of later records, which are not followed, in this partition (semantics 11.1)."""
    transactions, _ = of(pipeline)
    effect = Effect()
    effect[transaction.outcome] = int(Outcome.OPEN)
    add_partition(pipeline, effect, transaction)
    may_begin = And(transactions.initialised.is_set, begins_next(pipeline, transaction))
    return Action(
        "begin_later",
        "application",
        lane="producer",
        arguments={"transaction": transaction.number},
        guard=And(may_begin, takes_next(pipeline), has_epoch(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: f"the application goes on with later records, in {transaction.name}",
        semantics="11.1 T2",
    )


def delay_earlier_end(pipeline: Pipeline) -> Action:
    """Hold up the first request to commit an earlier transaction, which a second request has committed (11.6)."""
    transactions, _ = of(pipeline)
    late = transactions.late_end
    assert late is not None
    effect = Effect()
    effect[late] = COMMIT
    nothing_yet = And(*(transaction.is_(Outcome.UNBEGUN) for transaction in transactions.each))
    return Action(
        "delay_earlier_end",
        "network",
        lane="producer",
        arguments={},
        guard=And(nothing_yet, transactions.initialised.is_set, late.term == 0),
        updates=effect.updates,
        sentence=lambda before, after: (
            "a request to commit an earlier transaction is held up; the producer has sent it again, and has committed"
        ),
        semantics="11.6",
        fault=Fault.DELAYED_REQUEST,
    )


def discard_late_end(pipeline: Pipeline) -> Action:
    """Drop an abandoned EndTxn, which is never executed (semantics 11.6)."""
    transactions, _ = of(pipeline)
    late = transactions.late_end
    assert late is not None
    effect = Effect()
    _drop_late_end(pipeline, effect)
    return Action(
        "discard_late_end",
        "network",
        lane="producer",
        arguments={},
        guard=late.term > 0,
        updates=effect.updates,
        sentence=lambda before, after: "the abandoned request to end a transaction is dropped",
        semantics="11.6",
    )


def delay_end(pipeline: Pipeline, transaction: Transaction, *, commits: bool) -> Action:
    """Hold up an EndTxn for longer than its client waits, which sends it again (semantics 11.6)."""
    transactions, _ = of(pipeline)
    assert transactions.late_end is not None and transactions.late_end_epoch is not None
    asked = may_commit(pipeline, transaction) if commits else may_end_aborted(pipeline, transaction)
    effect = Effect()
    effect[transactions.late_end] = COMMIT if commits else ABORT
    effect[transactions.late_end_epoch] = pipeline.producer.epoch.term
    what = "commit" if commits else "abort"
    return Action(
        "delay_end",
        "network",
        lane="producer",
        arguments={"transaction": transaction.number, "commits": int(commits)},
        guard=And(asked, transactions.added.is_set, transactions.late_end.term == 0),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"the request to {what} {words(pipeline, transaction)} is held up, and the producer sends it again"
        ),
        semantics="11.6",
        fault=Fault.DELAYED_REQUEST,
    )


def execute_late_end(pipeline: Pipeline) -> Action:
    """Execute an abandoned EndTxn: it ends whatever goes on in the same epoch (semantics 11.6)."""
    transactions, _ = of(pipeline)
    late, epoch = transactions.late_end, transactions.late_end_epoch
    assert late is not None and epoch is not None
    effect = Effect()
    status = If(late.term == COMMIT, IntVal(Status.PREPARE_COMMIT), IntVal(Status.PREPARE_ABORT))
    _decide(pipeline, effect, status)
    _drop_late_end(pipeline, effect)

    def sentence(before: State, after: State) -> str:
        asked = "commit" if before[late.name] == COMMIT else "abort"
        ended = transactions.each[before[transactions.current.name]].name
        return f"the coordinator executes the abandoned request to {asked}: that ends {ended}"

    return Action(
        "execute_late_end",
        "coordinator",
        lane="brokers",
        arguments={},
        guard=And(late.term > 0, _can_decide(pipeline, epoch.term)),
        updates=effect.updates,
        sentence=sentence,
        semantics="11.6",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the ends of transactions, and the steps in which a client learns of an end."""
    transactions, _ = of(pipeline)
    late = transactions.late_end is not None
    yield begin_later(pipeline, transactions.each[-1])
    if late and not of(pipeline)[1].epoch_each:
        yield delay_earlier_end(pipeline)
    for transaction in transactions.each:
        yield prepare_commit(pipeline, transaction)
        yield crash_at_commit(pipeline, transaction)
        yield begin_abort(pipeline, transaction)
        for anew in (True, False) if may_ask_anew(pipeline) else (False,):
            yield prepare_abort(pipeline, transaction, anew=anew)
        ends = Or(may_commit(pipeline, transaction), may_end_aborted(pipeline, transaction))
        yield from recovery_in(pipeline).actions_in(pipeline, transaction, ends)
        yield learn_aborted(pipeline, transaction)
        yield learn_fenced(pipeline, transaction)
        if late or not pipeline.deployment.producer.timeouts_fence:
            yield refuse_end(pipeline, transaction)
        if late:
            yield learn_committed(pipeline, transaction)
            for commits in (True, False):
                yield delay_end(pipeline, transaction, commits=commits)
    if late:
        yield execute_late_end(pipeline)
        yield discard_late_end(pipeline)
