"""The state of every broker, the controller, the producer and the consumer group.

There is one partition on ``replicas`` brokers, numbered from 1, and one broker more where a replica can be moved; 0
means none. The application sends ``records`` records, each with its own identity. A *batch* is one call of ``send()``
for one record, so an application that sends a record again makes another batch of the same record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import z3

from proofka.model.deployment.choices import OnSendError, ProducerId
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.coordination import commits_without_refused
from proofka.model.deployment.implied.expiry import records_expire_unread
from proofka.model.deployment.implied.forgetting import brokers_forget_deleted, brokers_forget_numbers
from proofka.model.deployment.implied.outages import (
    brokers_start_early,
    ends_of_producer,
    fetches_may_mix,
    leader_may_miss_epoch,
    modelled_brokers,
)
from proofka.model.faults import Fault
from proofka.model.language import Log, Variable, flag, log, present, variables_of
from proofka.model.language.terms import And, If, Not, Or, Sum
from proofka.model.state.compaction import Compacted, declare_compacted
from proofka.model.state.consumer import Consumer, declare_consumer
from proofka.model.state.decisions import Controller
from proofka.model.state.history import History, declare_history
from proofka.model.state.kept_numbers import Numbering
from proofka.model.state.late_answers import LateAnswers, declare_late_answers
from proofka.model.state.log_fields import fields_of_log
from proofka.model.state.pending_offsets import Unapplied, declare_unapplied
from proofka.model.state.reassignment import declare_reassignment
from proofka.model.state.sink import Applied, declare_applied
from proofka.model.state.transactions import Transactions, declare_transactions, number_of_transactions
from proofka.model.state.upstream import Upstream, declare_upstream

if TYPE_CHECKING:
    from proofka.model.state.recovery import Recovery
    from proofka.model.state.sending import Sending

UNLIMITED_ATTEMPTS = 10
"""The number of retries above which a producer counts as retrying without limit (docs/semantics.md)."""


MOST_ENDS = 3
"""The maximum number of producer terminations in a run."""


def counts_retries(deployment: Deployment) -> bool:
    """Tell whether the client gives up after few enough retries that the model counts them."""
    return 0 < deployment.producer.retries <= UNLIMITED_ATTEMPTS


class Fate(IntEnum):
    """The state of a batch on its way (semantics 1.2).

    ``UNANSWERED``: its connection is dead, and the client, which does not know, still waits for an answer.
    """

    UNSENT = 0
    BUFFERED = 1
    SENT = 2
    APPENDED = 3
    UNANSWERED = 4
    ACKNOWLEDGED = 5
    FAILED = 6
    FORGOTTEN = 7


@dataclass(frozen=True)
class Replica:
    """One broker and its replica of the partition (semantics 1.1).

    ``leader`` and ``epoch`` are what the broker has applied of the controller's decisions, 0 right after a start.
    ``isr`` (by broker number) is a leader's own view of the ISR. ``fetched`` is what a leader believes of each
    follower: 0 before the follower's first fetch in this epoch, else one more than the offset of its last fetch. Both
    are 0 on a broker that does not lead. A leader that is elected again and missed the epoch in between keeps its
    belief (6.5): such an older value is larger by ``fresh``, where that can happen. ``fetched_before`` keeps the value
    of ``fetched`` from before a follower's restart until its next fetch; without entries where that has no effect
    (:mod:`model.replication.mixing_fetches`). ``flushed`` is the prefix forced to
    disk; None where that is always nothing or always the whole log. ``reconciled``: a follower has asked the leader
    where their logs diverge; None where it does not ask once in each epoch. ``stopped_in_order``: the broker wrote
    everything down before it ended; None where that has no effect. ``log_start``: the first offset that the broker
    itself has not deleted; None where that has no effect (:mod:`model.log.log_starts`). ``knows_producer``: older
    records of the idempotent producer's first session stand before the modelled log; None where there are none.
    ``restored``: the length of the log at the last start, where the broker has forgotten numbers of that log; None
    where that has no effect (:mod:`model.log.restoring`). ``unregistered``: the broker started while its old session
    lasts; None where that has no effect (:mod:`model.replication.starting_early`).
    """

    number: int
    up: Variable
    cut_off: Variable
    slow: Variable
    leader: Variable
    epoch: Variable
    log: Log
    high_watermark: Variable
    flushed: Variable | None
    reconciled: Variable | None
    stopped_in_order: Variable | None
    knows_producer: Variable | None
    restored: Variable | None
    log_start: Variable | None
    unregistered: Variable | None
    isr: dict[int, Variable]
    fetched: dict[int, Variable]
    fetched_before: dict[int, Variable]

    @property
    def name(self) -> str:
        return f"broker {self.number}"

    @property
    def presumes_leadership(self) -> z3.BoolRef:
        """The condition that the broker runs and considers itself the leader, rightly or not."""
        return And(self.up.is_set, self.leader.term == self.number)

    @property
    def fresh(self) -> int:
        """The largest value of ``fetched`` that a fetch in the present epoch gives."""
        return self.log.capacity + 1

    def can_be_older(self, follower: int) -> bool:
        """Tell whether a value of ``fetched`` can be of an earlier epoch."""
        return self.fetched[follower].high > self.fresh

    def has_fetched(self, follower: int, fetched: z3.ArithRef) -> z3.BoolRef:
        """Tell whether a value of ``fetched`` is of a fetch in the present epoch."""
        known = fetched > 0
        return And(known, fetched <= self.fresh) if self.can_be_older(follower) else known

    def known_end(self, follower: int, fetched: z3.ArithRef) -> z3.ArithRef:
        """Return the follower's log end as far as the leader knows by this value of ``fetched``; -1 if unknown."""
        if self.can_be_older(follower):
            return If(fetched > self.fresh, fetched - self.fresh, fetched) - 1
        return fetched - 1

    def follows(self, other: Replica) -> z3.BoolRef:
        """Tell whether the broker runs and fetches from ``other`` in the same leader epoch (semantics 6.1, R1)."""
        return And(self.up.is_set, self.leader.term == other.number, self.epoch.term == other.epoch.term)

    def does_not_fetch_from(self, leader: Replica) -> z3.BoolRef:
        """Tell whether a fault keeps the broker from fetching: it is down or slow, or one of the two lacks an epoch."""
        uninformed = And(self.cut_off.is_set, Not(self.follows(leader)))
        moved_on = And(leader.cut_off.is_set, self.epoch.term > leader.epoch.term)
        return Or(Not(self.up.is_set), self.slow.is_set, uninformed, moved_on)

    @property
    def isr_size(self) -> z3.ArithRef:
        """The size of the ISR in this leader's view."""
        return Sum(*(member.term for member in self.isr.values()))

    @property
    def variables(self) -> tuple[Variable, ...]:
        kept = (self.flushed, self.reconciled, self.stopped_in_order)
        optional = present(*kept, self.knows_producer, self.restored, self.log_start, self.unregistered)
        own = (self.up, self.cut_off, self.slow, self.leader, self.epoch, self.high_watermark)
        believed = (*self.fetched.values(), *self.fetched_before.values())
        return (*own, *self.log.variables, *optional, *self.isr.values(), *believed)


@dataclass(frozen=True)
class Batch:
    """One call of ``send()``: the ``attempt``-th (from 0) for ``record`` (from 0).

    ``target`` is the broker that the request in flight was sent to. ``retries`` counts its failures so far.
    ``sequence`` is its sequence number (-1 = none yet), ``session`` the producer session that sent it. ``delayed`` is
    the broker at which an abandoned copy of the request can still be executed, with the numbers it was sent with.
    ``ahead`` flags the batches (by number) whose requests are ahead of this one's on the same connection.
    ``sent_epoch`` and ``sent_sequence`` are the numbers in a request on its way, since when the batch can have been
    renumbered (see :class:`~model.state.kept_numbers.KeptOfBatch`). ``doubtful``: an ended attempt can have been
    stored, says the client (semantics 4.1); None where nobody asks. ``unnoticed``: its ``send()`` failed, and the
    transaction goes on as if there were no such record (11.1); None where every failed send fails the transaction.
    """

    number: int
    record: int
    attempt: int
    fate: Variable
    target: Variable
    retries: Variable
    session: Variable
    delayed: Variable
    sequence: Variable | None
    delayed_epoch: Variable | None
    delayed_sequence: Variable | None
    sent_epoch: Variable | None
    sent_sequence: Variable | None
    numbered_in: Variable | None
    numbering: Numbering | None
    late: Variable | None
    doubtful: Variable | None
    unnoticed: Variable | None
    ahead: dict[int, Variable]

    def is_(self, *fates: Fate) -> z3.BoolRef:
        """Tell whether the batch's fate is one of these."""
        return Or(*(self.fate.term == int(fate) for fate in fates))

    @property
    def in_flight(self) -> z3.BoolRef:
        """The condition that the client waits for an answer."""
        return self.is_(Fate.SENT, Fate.APPENDED, Fate.UNANSWERED)

    @property
    def can_be_answered(self) -> z3.BoolRef:
        """The condition that the client waits for an answer over a connection that works."""
        return self.is_(Fate.SENT, Fate.APPENDED)

    @property
    def incomplete(self) -> z3.BoolRef:
        """The condition that ``send()`` accepted the batch and its future is not completed yet."""
        return Or(self.is_(Fate.BUFFERED), self.in_flight)

    @property
    def variables(self) -> tuple[Variable, ...]:
        delayed, sent = (self.delayed_epoch, self.delayed_sequence), (self.sent_epoch, self.sent_sequence)
        numbers = (self.sequence, *delayed, *sent, self.numbered_in, *variables_of(self.numbering))
        own = (self.fate, self.target, self.retries, self.session, self.delayed)
        return (*own, *present(*numbers, self.late, self.doubtful, self.unnoticed), *self.ahead.values())


@dataclass(frozen=True)
class Producer:
    """The producer application and its client (semantics 3).

    ``session`` counts the starts of the application, each with a producer id of its own; ``epoch`` counts the producer
    epochs within a session. ``unresolved``: a sequence was given up on whose fate is unknown (semantics 3.4), or a
    client will bump its epoch once nothing is in flight (semantics 4.1). ``leader_epoch`` is the newest leader epoch
    that the client's metadata has seen. The others are None with most clients (see
    :class:`~model.state.kept_numbers.KeptByProducer`).
    """

    batches: tuple[Batch, ...]
    session: Variable
    epoch: Variable
    next_sequence: Variable
    last_acknowledged: Variable
    unresolved: Variable
    draining: Variable | None
    fatal: Variable | None
    leader_epoch: Variable
    heard: Variable | None
    acknowledged_to: Variable | None
    moved_on: Variable | None

    def shares_id(self, number: z3.ArithRef, batch: Batch) -> z3.BoolRef:
        """Tell whether the batch of this number was sent under the same producer id as ``batch``, by the same start."""
        return Or(*(And(number == one.number, one.session.term == batch.session.term) for one in self.batches))

    def numbered(self, *, but: Batch | None = None) -> list[tuple[Batch, Variable]]:
        """Return the batches besides ``but``, each with its sequence number; none without idempotence."""
        return [(batch, batch.sequence) for batch in self.batches if batch is not but and batch.sequence is not None]

    def of_record(self, record: int) -> list[Batch]:
        """Return the batches of one record, first send first."""
        return [batch for batch in self.batches if batch.record == record]

    @property
    def known_by_client(self) -> tuple[Variable, ...]:
        """The variables that only some clients have, of what the process knows besides its numbers."""
        return present(self.draining, self.fatal, self.heard, self.acknowledged_to, self.moved_on)

    @property
    def variables(self) -> tuple[Variable, ...]:
        own = (self.session, self.epoch, self.next_sequence, self.last_acknowledged, self.unresolved)
        of_batches = (variable for batch in self.batches for variable in batch.variables)
        return (*own, *self.known_by_client, self.leader_epoch, *of_batches)


@dataclass(frozen=True)
class Pipeline:
    """The whole pipeline of one deployment, and the relations between its parts that several machines use.

    ``exposed`` holds, per offset, one more than the record that a reader could first read there (0 = none yet).
    ``log_start`` is the first offset that retention has left; None where no record gets that old unread. ``applied``:
    the state of a sink that is more than a count of processing. ``unapplied``: the offset that those of a transaction
    have possibly not replaced yet; None where a group's coordinator applies them in time. ``compacted`` is None where
    the cleaner removes no record, and ``upstream`` where the application commits no position in its input.
    ``recovery``: what the producer's client does about sequence numbers. ``sending``: whether its records are sent in
    transactions.
    """

    deployment: Deployment
    replicas: tuple[Replica, ...]
    controller: Controller
    producer: Producer
    consumer: Consumer
    exposed: tuple[Variable, ...]
    log_start: Variable | None
    transactions: Transactions | None
    applied: Applied | None
    unapplied: Unapplied | None
    compacted: Compacted | None
    upstream: Upstream | None
    late_answers: LateAnswers | None
    history: History
    recovery: Recovery
    sending: Sending
    shared_terms: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The terms that :mod:`model.state.shared_terms` has built for this pipeline."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        brokers = tuple(variable for replica in self.replicas for variable in replica.variables)
        clients = (*self.producer.variables, *self.consumer.variables)
        parts = (self.transactions, self.applied, self.unapplied, self.compacted, self.upstream, self.late_answers)
        own = (*self.controller.variables, *brokers, *clients, *self.exposed, *present(self.log_start))
        return (*own, *variables_of(*parts), *self.history.variables)

    def replica(self, number: int) -> Replica:
        return self.replicas[number - 1]

    def followers_of(self, leader: Replica) -> list[Replica]:
        """Return every replica but ``leader``."""
        return [replica for replica in self.replicas if replica is not leader]

    def serves(self, replica: Replica) -> z3.BoolRef:
        """Tell whether the replica is the controller's leader, runs, and knows that it leads."""
        is_current = replica.epoch.term == self.controller.epoch.term
        return And(self.controller.leader.term == replica.number, replica.presumes_leadership, is_current)

    def record_of(self, batch: z3.ArithRef) -> z3.ArithRef:
        """Return the record of a batch number; -1 for a marker, which ends a transaction."""
        records = self.deployment.bounds.records
        record = batch
        for attempt in range(1, self.deployment.bounds.sends):
            record = If(batch >= attempt * records, batch - attempt * records, record)
        if self.transactions is not None:
            record = If(self.transactions.is_marker(batch), -1, record)
        return record

    def holds_record(self, replica: Replica, record: int) -> z3.BoolRef:
        """Tell whether the record stands in the replica's log."""
        batches = [batch.number for batch in self.producer.of_record(record)]
        return replica.log.some(lambda _, slot: Or(*(slot["batch"].term == number for number in batches)))

    def enough_in_sync(self, leader: Replica) -> z3.BoolRef:
        """Tell whether the leader's view of the ISR reaches the effective ``min.insync.replicas`` (semantics 3.2)."""
        return leader.isr_size >= self.deployment.cluster.min_insync_replicas


def declare(deployment: Deployment, recovery: Recovery, sending: Sending) -> Pipeline:
    """Return the variables of ``deployment``'s pipeline in their initial state.

    Broker 1 leads in epoch 1, every replica is in the ISR and has fetched, nothing has been sent, and the group's
    committed offset is 0.
    """
    numbers = range(1, modelled_brokers(deployment) + 1)
    producer = _declare_producer(deployment, recovery)
    keeps_elr = deployment.cluster.eligible_leader_replicas
    return Pipeline(
        deployment,
        tuple(_declare_replica(deployment, number, numbers=numbers, producer=producer) for number in numbers),
        Controller(
            Variable("leader", 0, modelled_brokers(deployment), 1),
            Variable("epoch", 0, deployment.bounds.epochs, 1),
            {number: flag(f"isr_{number}", number <= deployment.cluster.replicas) for number in numbers},
            {number: flag(f"unfenced_{number}", True) for number in numbers},
            {number: flag(f"elr_{number}") for number in numbers} if keeps_elr else {},
            Variable("last_known_leader", 0, modelled_brokers(deployment), 0) if keeps_elr else None,
            declare_reassignment(deployment),
        ),
        producer,
        declare_consumer(deployment),
        tuple(Variable(f"exposed_{i}", 0, deployment.bounds.records, 0) for i in range(deployment.bounds.log)),
        Variable("log_start", 0, deployment.bounds.log, 0) if records_expire_unread(deployment) else None,
        declare_transactions(deployment),
        declare_applied(deployment),
        declare_unapplied(deployment),
        declare_compacted(deployment),
        declare_upstream(deployment),
        declare_late_answers(deployment),
        declare_history(deployment),
        recovery,
        sending,
    )


def _declare_replica(deployment: Deployment, number: int, *, numbers: Sequence[int], producer: Producer) -> Replica:
    name = f"broker_{number}"
    capacity, epochs = deployment.bounds.log, deployment.bounds.epochs
    entries = len(producer.batches) + 2 * number_of_transactions(deployment)
    possible = deployment.faults.possible
    fetched = (capacity + 1) * (2 if leader_may_miss_epoch(deployment) else 1)
    stops = Fault.SHUTDOWN in possible
    every = deployment.cluster.flush_messages
    flushes_some = every is not None and 1 < every <= capacity
    flushes_at_its_end = every != 1 and stops and Fault.POWER_LOSS in possible
    asks = deployment.cluster.truncation.asks_once
    knows = deployment.producer.idempotence and deployment.application.producer_id is ProducerId.KNOWN
    leads, has_replica = number == 1, number <= deployment.cluster.replicas
    return Replica(
        number,
        flag(f"{name}_up", True),
        flag(f"{name}_cut_off"),
        flag(f"{name}_slow"),
        Variable(f"{name}_leader", 0, modelled_brokers(deployment), int(has_replica)),
        Variable(f"{name}_epoch", 0, epochs, int(has_replica)),
        log(f"{name}_log", capacity, fields_of_log(deployment, entries, producer.last_acknowledged.high)),
        Variable(f"{name}_high_watermark", 0, capacity, 0),
        Variable(f"{name}_flushed", 0, capacity, 0) if flushes_some or flushes_at_its_end else None,
        flag(f"{name}_reconciled", has_replica) if asks else None,
        flag(f"{name}_stopped_in_order") if stops and deployment.cluster.eligible_leader_replicas else None,
        flag(f"{name}_knows_producer", has_replica) if knows else None,
        Variable(f"{name}_restored", 0, capacity, 0) if brokers_forget_numbers(deployment) else None,
        Variable(f"{name}_log_start", 0, capacity, 0) if brokers_forget_deleted(deployment) else None,
        flag(f"{name}_unregistered") if brokers_start_early(deployment) else None,
        {other: flag(f"{name}_isr_{other}", leads and other <= deployment.cluster.replicas) for other in numbers},
        {
            other: Variable(f"{name}_fetched_{other}", 0, fetched, int(leads and other <= deployment.cluster.replicas))
            for other in numbers
            if other != number
        },
        {
            other: Variable(f"{name}_fetched_before_{other}", 0, capacity + 1, 0)
            for other in numbers
            if other != number and fetches_may_mix(deployment)
        },
    )


def _declare_producer(deployment: Deployment, recovery: Recovery) -> Producer:
    bounds, kept = deployment.bounds, recovery.declare(deployment)
    count = bounds.records * bounds.sends
    most = count - 1 + recovery.numbers_skipped(deployment)
    limit = deployment.producer.retries if deployment.producer.retries <= UNLIMITED_ATTEMPTS else 1
    limit += recovery.failures_past_retries
    sessions = min(ends_of_producer(deployment), MOST_ENDS)

    def batch(number: int) -> Batch:
        name = f"batch_{number}"
        numbered, of_batch = deployment.producer.idempotence, recovery.declare_of_batch(deployment, name)
        return Batch(
            number,
            number % bounds.records,
            number // bounds.records,
            Variable(f"{name}_fate", 0, max(Fate), Fate.UNSENT),
            Variable(f"{name}_target", 0, modelled_brokers(deployment), 0),
            Variable(f"{name}_retries", 0, max(limit, 1), 0),
            Variable(f"{name}_session", 0, sessions, 0),
            Variable(f"{name}_delayed", 0, modelled_brokers(deployment), 0),
            Variable(f"{name}_sequence", -1, most, -1) if numbered else None,
            Variable(f"{name}_delayed_epoch", 0, bounds.producer_epochs - 1, 0) if numbered else None,
            Variable(f"{name}_delayed_sequence", -1, most, 0) if numbered else None,
            Variable(f"{name}_sent_epoch", 0, bounds.producer_epochs - 1, 0) if numbered else None,
            Variable(f"{name}_sent_sequence", -1, most, -1) if numbered else None,
            of_batch.numbered_in,
            of_batch.numbering,
            of_batch.late,
            flag(f"{name}_doubtful")
            if deployment.application.on_send_error is OnSendError.RESEND_IF_NOT_STORED
            else None,
            flag(f"{name}_unnoticed") if commits_without_refused(deployment) else None,
            {other: flag(f"{name}_behind_{other}") for other in range(count) if other != number},
        )

    return Producer(
        tuple(batch(number) for number in range(count)),
        Variable("producer_session", 0, sessions, 0),
        Variable("producer_epoch", 0, bounds.producer_epochs - 1, 0),
        Variable("next_sequence", 0, most + 1, 0),
        Variable("last_acknowledged", -1, most, -1),
        flag("unresolved"),
        kept.draining,
        kept.fatal,
        Variable("producer_leader_epoch", 0, bounds.epochs, 1),
        kept.heard,
        kept.acknowledged_to,
        kept.moved_on,
    )
