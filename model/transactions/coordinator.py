"""The coordinator's own actions: markers, timeouts, and new producers (semantics 11.1, T1 T5-T7)."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.deployment.implied.coordination import coordinator_outage_is_limited
from proofka.model.faults import Fault
from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, BoolVal, If, Not, Or, Sum
from proofka.model.log.replica import advance_high_watermark, append
from proofka.model.log.visibility import is_left_open
from proofka.model.sequencing.arrival import accepts
from proofka.model.sequencing.idempotence import epoch_left
from proofka.model.state.decisions import Controller
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.transactions import Keeping, Status, Transaction
from proofka.model.transactions.epochs import of, raise_epoch, recovery_in, take_epoch
from proofka.model.transactions.sending import begins_next, words


def _is_decided(pipeline: Pipeline, transaction: Transaction, *, commits: bool) -> z3.BoolRef:
    """Tell whether the coordinator is about to have this transaction committed, or aborted."""
    transactions, _ = of(pipeline)
    status = Status.PREPARE_COMMIT if commits else Status.PREPARE_ABORT
    decided = And(transactions.is_(status), transactions.current.term == transaction.number)
    elsewhere = transactions.elsewhere
    return decided if elsewhere is None else And(decided, Not(elsewhere.is_set))


def marker_due(pipeline: Pipeline, leader: Replica, transaction: Transaction, *, commits: bool) -> z3.BoolRef:
    """Tell whether the leader would append the marker of the transaction if its log had room."""
    transactions, _ = of(pipeline)
    marker = transactions.marker(transaction, commits=commits)
    decided = _is_decided(pipeline, transaction, commits=commits)
    stands = leader.log.some(lambda _, slot: slot["batch"].term == marker)
    unwritten = Not(stands)
    if transactions.own_log is not None:
        again = And(transactions.own_log.is_(Keeping.LOST), is_left_open(pipeline, leader))
        unwritten = And(Or(unwritten, again), Not(refuses_markers(pipeline, leader)))
    return And(decided, leader.presumes_leadership, accepts(pipeline, leader), unwritten)


def refuses_markers(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Tell whether the leader knows a newer epoch than the coordinator, which forgot it: INVALID_PRODUCER_EPOCH (11.4).

    From 4.2 on with TV2 the same epoch is too old for records that are open. The coordinator then gives up, and
    permanently keeps the transaction as one to be ended.
    """
    transactions, rules = of(pipeline)
    known = transactions.epoch.term
    too_old = leader.log.some(lambda _, slot: slot["producer_epoch"].term > known)
    if not rules.strict_markers:
        return too_old
    last = leader.log.at(leader.log.end.term - 1, "producer_epoch")
    return Or(too_old, And(is_left_open(pipeline, leader), last == known))


def write_marker(pipeline: Pipeline, leader: Replica, transaction: Transaction, *, commits: bool) -> Action:
    """Append the coordinator's marker, commit or abort, to a leader's log (semantics 11.1, T5)."""
    transactions, _ = of(pipeline)
    marker = transactions.marker(transaction, commits=commits)
    room = leader.log.end.term < leader.log.capacity
    effect = Effect()
    entry = {"batch": marker, "epoch": leader.epoch.term, "producer_epoch": transactions.epoch.term, "sequence": -1}
    append(pipeline, effect, leader, entry)
    advance_high_watermark(pipeline, effect, leader)
    return Action(
        "write_marker",
        leader.name,
        lane="brokers",
        arguments={"leader": leader.number, "transaction": transaction.number, "commits": int(commits)},
        guard=And(marker_due(pipeline, leader, transaction, commits=commits), room),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} appends the coordinator's {'commit' if commits else 'abort'} marker of "
            f"{words(pipeline, transaction)} at offset {before[leader.log.end.name]}"
        ),
        semantics="11.1 T5",
    )


def _is_replicated(leader: Replica, entry: int) -> z3.BoolRef:
    return leader.log.some(lambda offset, slot: And(slot["batch"].term == entry, leader.high_watermark.term > offset))


def _marked(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Tell whether the marker of the transaction that ends stands below the leader's high watermark."""
    transactions, _ = of(pipeline)
    ending = []
    for transaction in transactions.each:
        for commits in (True, False):
            marker = transactions.marker(transaction, commits=commits)
            decided = _is_decided(pipeline, transaction, commits=commits)
            ending.append(And(decided, _is_replicated(leader, marker)))
    return Or(*ending)


def complete_transaction(pipeline: Pipeline, leader: Replica) -> Action:
    """Complete the transaction at the coordinator, as the marker is replicated (11.1, T6)."""
    transactions, _ = of(pipeline)
    commits = transactions.is_(Status.PREPARE_COMMIT)
    effect = Effect()
    effect[transactions.status] = If(commits, int(Status.COMPLETE_COMMIT), int(Status.COMPLETE_ABORT))
    at_leader = And(leader.presumes_leadership, accepts(pipeline, leader))
    if transactions.own_log is not None:
        # A coordinator that has forgotten the written marker has it written again.
        not_again = Or(is_left_open(pipeline, leader), refuses_markers(pipeline, leader))
        at_leader = And(at_leader, Not(And(transactions.own_log.is_(Keeping.LOST), not_again)))
    return Action(
        "complete_transaction",
        "coordinator",
        lane="brokers",
        arguments={"leader": leader.number},
        guard=And(transactions.is_ending, at_leader, _marked(pipeline, leader)),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{leader.name} tells the coordinator that the marker is replicated: the transaction is complete"
        ),
        semantics="11.1 T6",
    )


def time_out_transaction(pipeline: Pipeline) -> Action:
    """Abort a transaction, as transaction.timeout.ms is over, and fence its producer (semantics 11.1, T7).

    In 0.11.0.0 and 0.11.0.1 the coordinator fences nobody (semantics 11.7).
    """
    transactions, _ = of(pipeline)
    fences = pipeline.deployment.producer.timeouts_fence
    effect = Effect()
    effect[transactions.status] = int(Status.PREPARE_ABORT)
    if fences:
        raise_epoch(pipeline, effect)
    decides = "fences the producer and decides to abort" if fences else "decides, in the producer's own epoch, to abort"
    ongoing = transactions.is_(Status.ONGOING)
    return Action(
        "time_out_transaction",
        "coordinator",
        lane="brokers",
        arguments={},
        guard=And(ongoing, epoch_left(pipeline)) if fences else ongoing,
        updates=effect.updates,
        sentence=lambda before, after: (
            f"transaction.timeout.ms is over: the coordinator {decides} "
            + transactions.each[before[transactions.current.name]].name
        ),
        semantics="11.1 T7",
        fault=Fault.TRANSACTION_TIMEOUT,
    )


def fence_former(pipeline: Pipeline) -> Action:
    """Fence and abort a transaction that a new producer's initTransactions() finds going on (11.1, T1')."""
    transactions, _ = of(pipeline)
    effect = Effect()
    effect[transactions.status] = int(Status.PREPARE_ABORT)
    raise_epoch(pipeline, effect)
    waits = And(Not(transactions.initialised.is_set), transactions.is_(Status.ONGOING))
    return Action(
        "fence_former",
        "coordinator",
        lane="brokers",
        arguments={},
        guard=And(waits, epoch_left(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: (
            "the new producer calls initTransactions(): the coordinator fences the one before it and decides to abort "
            + transactions.each[before[transactions.current.name]].name
        ),
        semantics="11.1 T1'",
    )


def _wants_to_begin(pipeline: Pipeline) -> z3.BoolRef:
    each = of(pipeline)[0].each
    return Or(*(begins_next(pipeline, transaction) for transaction in each))


def initialise(pipeline: Pipeline) -> Action:
    """Give a new epoch to a producer: a new instance, or one that aborted (semantics 11.1, T1; 3.4)."""
    transactions, _ = of(pipeline)
    effect = Effect()
    raise_epoch(pipeline, effect)
    take_epoch(pipeline, effect, anew=True)
    effect[transactions.initialised] = True
    if transactions.own_log is not None:
        effect.set_when(transactions.own_log.is_(Keeping.LOST), transactions.own_log.keeping, int(Keeping.SAFE))
    due = And(Not(transactions.initialised.is_set), transactions.is_at_rest, _wants_to_begin(pipeline))
    return Action(
        "initialise",
        "coordinator",
        lane="brokers",
        arguments={},
        guard=And(due, epoch_left(pipeline)),
        updates=effect.updates,
        sentence=lambda before, after: f"the coordinator gives the producer epoch {after[transactions.epoch.name]}",
        semantics="11.1 T1",
    )


def epoch_wanted(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether a transaction is to be ended, or a producer to be started, with a new producer epoch."""
    transactions, rules = of(pipeline)
    waits = Or(transactions.is_(Status.ONGOING), And(transactions.is_at_rest, _wants_to_begin(pipeline)))
    wanted = [And(Not(transactions.initialised.is_set), waits)]
    times_out = Fault.TRANSACTION_TIMEOUT in pipeline.deployment.faults.possible
    if rules.epoch_each or (times_out and pipeline.deployment.producer.timeouts_fence):
        wanted.append(transactions.is_(Status.ONGOING))
    wanted.extend(recovery_in(pipeline).wants_epoch(pipeline))
    return Or(*wanted)


def coordinator_is_at_hand(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether nothing has happened yet that could have moved the coordinator.

    The coordinator leads a partition of its own, whose time without a leader is not modelled.
    """
    disturbed = of(pipeline)[0].disturbed
    return BoolVal(True) if disturbed is None else Not(disturbed.is_set)


def coordinator_returns(pipeline: Pipeline, *, beside_slow: bool) -> z3.BoolRef:
    """Tell whether a fault can have moved the coordinator, and ``__transaction_state`` has brokers enough to go on.

    Every broker knows the controller's decisions, or is fenced. Those that are away or slow (some is slow if
    ``beside_slow``) are no more than that topic can do without. Nothing is told of a broker that fell silent: how long
    clients and other brokers wait for such a broker is left open.
    """
    transactions, _ = of(pipeline)
    if transactions.disturbed is None or not coordinator_outage_is_limited(pipeline.deployment):
        return BoolVal(False)
    controller, brokers = pipeline.controller, pipeline.replicas
    slow = Or(*(broker.slow.is_set for broker in brokers))
    missing = Sum(*(If(Or(Not(broker.up.is_set), broker.slow.is_set), 1, 0) for broker in brokers))
    return And(
        transactions.disturbed.is_set,
        *(Not(silent.is_set) for silent in pipeline.history.fell_silent.values()),
        *(Or(_is_up_to_date(controller, broker), _is_fenced(controller, broker)) for broker in brokers),
        missing <= pipeline.deployment.cluster.spare_coordinators,
        slow if beside_slow else Not(slow),
    )


def _is_up_to_date(controller: Controller, broker: Replica) -> z3.BoolRef:
    in_touch = And(broker.up.is_set, Not(broker.cut_off.is_set), controller.unfenced[broker.number].is_set)
    return And(in_touch, broker.epoch.term == controller.epoch.term)


def _is_fenced(controller: Controller, broker: Replica) -> z3.BoolRef:
    return And(Not(broker.up.is_set), Not(controller.unfenced[broker.number].is_set))


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the coordinator's own actions."""
    transactions, _ = of(pipeline)
    for leader in pipeline.replicas:
        for transaction in transactions.each:
            for commits in (True, False):
                yield write_marker(pipeline, leader, transaction, commits=commits)
        yield complete_transaction(pipeline, leader)
    yield time_out_transaction(pipeline)
    yield fence_former(pipeline)
    yield initialise(pipeline)
