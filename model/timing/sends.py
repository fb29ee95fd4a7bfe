"""Clocks of the producer, and of every record and request (semantics 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import z3

from proofka.model.deployment.choices import Acks, ProducerId
from proofka.model.deployment.implied.other_partitions import fails_elsewhere
from proofka.model.deployment.implied.outages import brokers_may_be_away, may_return_unfenced
from proofka.model.durations import CLIENT_LOOKS, JITTER
from proofka.model.faults import FALLS_SILENT, LOSES_REQUESTS
from proofka.model.language import Action, Clock, Duration, Need, Variable
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.producing.finding_leader import epoch_heard_of
from proofka.model.producing.stopping import is_left
from proofka.model.sequencing.arrival import queues_at
from proofka.model.state.pipeline import Batch, Fate, Pipeline, Replica, counts_retries
from proofka.model.state.wording import record_name
from proofka.model.timing.giving_up import giving_up_of
from proofka.model.timing.part import Part, Requirement, without_news

REQUESTS_TO_FIND = 3
"""The number of messages until a producer knows the new leader: a refusal and a question who leads, both ways."""

HANDLED = (
    "append",
    "read_while_appending",
    "recognise_duplicate",
    "take_for_another",
    "reject_not_leader",
    "reject_not_enough_replicas",
    "reject_out_of_order",
    "refuse_out_of_order",
    "refuse_unknown",
    "reject_unknown",
    "reject_old_epoch",
    "refuse_later",
    "refuse_first_due",
    "refuse_in_transaction",
    "reject_unverified",
    "refuse_gap",
    "refuse_and_reset",
    "split_batch",
)
"""The names of the actions in which a broker handles a request that reaches it."""

_LATER = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
BACKOFFS = ("backoff", *(f"{ordinal}_backoff" for ordinal in _LATER))
"""The names of the clocks of the pauses before retries, by the first failure that they follow.

Pauses of equal length share a clock. Where attempts are not counted the first clock is for all."""


class Sends(Part):
    """The clocks of the producer."""

    def __init__(self, pipeline: Pipeline, actions: Sequence[Action]) -> None:
        super().__init__(pipeline, actions)
        self._giving_up = giving_up_of(pipeline)

    def needs(self) -> Iterator[Requirement]:
        yield from self._giving_up.needs()
        for batch in self._batches:
            yield from self._needs_of_batch(batch)
            blocked = Need(self.blocked(batch), at_least=Duration.of(self._times.max_block))
            yield ("refuse_send",), {"batch": batch.number}, blocked
        waits = Duration.of(self._times.request_timeout)
        for leader in self._pipeline.replicas:
            yield ("time_out",), {"leader": leader.number}, Need(self.in_flight(leader), at_least=waits)

    def deadlines(self) -> Iterator[Clock]:
        for batch in self._batches:
            yield from self._deadlines_of_batch(batch)
        if (FALLS_SILENT | LOSES_REQUESTS) & self._pipeline.deployment.faults.possible:
            for replica in self._pipeline.replicas:
                yield self._unnoticed(replica)
        since = "the producer could sort out its sequence numbers"
        resolving = ["resolve_sequences", "resolve_with_new_id", "resolve_in_transaction", "follow_epoch"]
        if not fails_elsewhere(self._pipeline.deployment):
            # Otherwise the client can wait for another partition.
            resolving.append("bump_when_drained")
        yield self._due("resolving", since, self._network, tuple(resolving))

    def blocked(self, batch: Batch) -> Clock:
        """Return the clock of max.block.ms, which counts from the call of send() that finds no room (3.1, P1)."""
        since = f"the application could send {record_name(batch)}"
        return Clock("blocked", {"batch": batch.number}, self._guard("send", batch=batch.number), since)

    def _needs_of_batch(self, batch: Batch) -> Iterator[Requirement]:
        yield from self._giving_up.needs_of(batch)
        for pause, failed in self._pauses(batch):
            need = Need(self.between_attempts(batch, failed.start), at_least=pause)
            yield ("fail_to_connect",), {"batch": batch.number}, need
        for leader in self._pipeline.replicas:
            to = {"batch": batch.number, "leader": leader.number}
            for pause, failed in self._pauses(batch):
                yield ("transmit",), to, Need(self.backoff(batch, leader, failed), at_least=pause)
            waits = Duration.of(self._times.ack_timeout) - self._network
            yield ("time_out_at_broker", "give_up_on_timeout"), to, Need(self.in_flight(leader), at_least=waits)

    def _pauses(self, batch: Batch) -> Iterator[tuple[Duration, range]]:
        """Yield the shortest pauses of a batch, each with the numbers of failures after which it applies."""
        deployment = self._pipeline.deployment
        counted = batch.retries.high - self._pipeline.recovery.failures_past_retries  # after these is no pause
        every = range(1, counted + 1)
        if deployment.producer.sender.connecting_counts:
            # Failures can follow one another without a transmission, and each starts a pause of its own.
            yield from ((self._times.backs_off_at_least(one), range(one, one + 1)) for one in every)
            return
        for pause, failed in groupby(every, key=self._times.backs_off_at_least):
            first, *others = failed
            yield pause, range(first, first + len(others) + 1)

    def backoff(self, batch: Batch, leader: Replica, failed: range) -> Clock:
        """Return the clock of a retry's pause after ``failed`` failures, while no newer leader is known (KIP-951)."""
        same_leader = epoch_heard_of(self._pipeline, leader) == self._pipeline.producer.leader_epoch.term
        numbers = And(batch.retries.term >= failed.start, batch.retries.term < failed.stop)
        if len(failed) == 1:
            numbers = batch.retries.term == failed.start
        waits = And(batch.is_(Fate.BUFFERED), numbers, same_leader, *self._pipeline.recovery.failed_itself(batch))
        since = f"the last attempt at {record_name(batch)} failed"
        return Clock(BACKOFFS[failed.start - 1], {"batch": batch.number, "leader": leader.number}, waits, since)

    def between_attempts(self, batch: Batch, failed: int) -> Clock:
        """Return the clock of the pause of a client that reached no leader, whoever leads then (semantics 4.2)."""
        itself = self._pipeline.recovery.failed_itself(batch)
        waits = And(batch.is_(Fate.BUFFERED), batch.retries.term == failed, *itself)
        since = f"the last attempt at {record_name(batch)} failed"
        return Clock(BACKOFFS[failed - 1], {"batch": batch.number}, waits, since)

    def in_flight(self, leader: Replica) -> Clock:
        """Return the clock of the oldest request in flight to a leader (3.1 P5, 3.2).

        When its request.timeout.ms is over, its connection is dropped with all other requests on it.
        """
        waiting = Or(*(And(b.in_flight, b.target.term == leader.number) for b in self._batches))
        return Clock("in_flight", {"leader": leader.number}, waiting, f"something is in flight to {leader.name}")

    def _deadlines_of_batch(self, batch: Batch) -> Iterator[Clock]:
        number, record = batch.number, record_name(batch)
        yield from self._sendable(batch)
        yield from self._arriving(batch)
        late = Duration.of(self._times.late_request)
        since = f"the client gave up on a request with {record}"
        abandoned = And(self._guard("discard_delayed", batch=number), Not(batch.in_flight))
        yield Clock("late", {"batch": number}, abandoned, since, late)
        answers = ("acknowledge", "fail_not_enough_after_append")
        yield self._due("answering", f"{record} was replicated", self._network, answers, batch=number)
        if batch.late is not None:
            since = f"an answer for {record} was due, which its producer had given up on"
            names = ("hear_late_error", "hear_late_success", "hear_late_refusal")
            yield self._due("late_answer", since, self._until_noticed, names, batch=number)
        yield from self._given_up_on(batch)
        if self.named(("run_out",), batch=number):
            yield self._due("running_out", f"{record} ran out of retries", self._network, ("run_out",), batch=number)

    def _arriving(self, batch: Batch) -> Iterator[Clock]:
        """Yield the clock of a request that a broker can handle."""
        can, since = self._can_be_handled(batch), f"{record_name(batch)} was transmitted"
        yield Clock("arriving", {"batch": batch.number}, can, since, self._until_handled)

    def _given_up_on(self, batch: Batch) -> Iterator[Clock]:
        """Yield the clocks that end every request and record in time (semantics 3.1, P5 P7 P8; 3.2)."""
        number, record = batch.number, record_name(batch)
        if self._pipeline.deployment.producer.acks is Acks.ALL:
            since = f"the ISR did not follow with {record}"
            answers = Duration.of(self._times.ack_timeout) + self._network
            yield self._due("held_up", since, answers, ("time_out_at_broker",), batch=number)
            if len(self._batches) > 1:
                queues = Or(*(queues_at(self._pipeline, batch, leader) for leader in self._pipeline.replicas))
                since = f"the request with {record} waits behind one that waits for the ISR"
                yield Clock("queueing", {"batch": number}, queues, since, self._until_noticed)
        since = f"the application sent {record}"
        for within in self._giving_up.within():
            looks = self._checks_its_time(batch)
            if not z3.is_false(z3.simplify(looks)):
                yield Clock("pending", {"batch": number}, looks, since, within)

    def _checks_its_time(self, batch: Batch) -> z3.BoolRef:
        """Tell whether the client looks at the batch's time: not while it waits for a producer id."""
        waits = is_left(self._pipeline, batch)
        if not brokers_may_be_away(self._pipeline.deployment):
            return waits
        return And(waits, Not(self._asks_for_ids))

    @property
    def _asks_for_ids(self) -> z3.BoolRef:
        """The condition that the producer can still lack a producer id, for which it asks any broker (3.4)."""
        deployment = self._pipeline.deployment
        if not deployment.producer.idempotence:
            return BoolVal(False)
        if deployment.application.producer_id is ProducerId.NEW:
            return BoolVal(True)
        return self._pipeline.recovery.asks_for_id(self._pipeline, self._pipeline.producer.session.term > 0)

    def _sendable(self, batch: Batch) -> Iterator[Clock]:
        """Yield the clocks of a batch that can be sent, by whether the producer has to notice a dead connection first.

        A broker that fell silent answers no attempt to connect to it either.
        """
        connects = Duration.of(self._times.connection_setup, 1 + JITTER) + self._until_connected
        ways = (
            ("sendable", False, False, self._until_connected),
            ("sendable_when_noticed", False, True, self._until_noticed + self._until_connected),
            ("sendable_beside_silent", True, False, connects),
            ("sendable_when_silence_is_noticed", True, True, self._until_noticed + connects),
        )
        takers = list(self._takers(batch))
        for name, silent, broken, connected in ways:
            runs = [
                And(
                    can,
                    Not(self._all_went_well(leader)),
                    self._is_silent(leader) == silent,
                    self._may_be_broken(leader) == broken,
                )
                for leader, can in takers
            ]
            yield from self._sent_within(name, batch, runs, self._until_sent(connected))
        at_once = [And(can, self._all_went_well(leader)) for leader, can in takers]
        # A starting producer can ask each of the brokers, and then connects to the leader.
        asked = self._until_connected * (len(self._pipeline.replicas) + 1)
        soon = Duration.of(self._times.linger) + asked + self._network * 2 + self._until_added
        yield from self._sent_within("sendable_at_once", batch, at_once, soon)

    def _sent_within(self, name: str, batch: Batch, runs: Sequence[z3.BoolRef], at_most: Duration) -> Iterator[Clock]:
        """Yield the clock that runs while one of ``runs`` holds, if any of them can hold."""
        since = f"{record_name(batch)} could be transmitted to a broker that takes it"
        if not all(z3.is_false(z3.simplify(one)) for one in runs):
            yield Clock(name, {"batch": batch.number}, Or(*runs), since, at_most)

    def _all_went_well(self, leader: Replica) -> z3.BoolRef:
        """Tell whether nothing failed yet that a producer pauses for, and it has questions only at its start."""
        if may_return_unfenced(self._pipeline.deployment):
            return BoolVal(False)
        failed = [Or(batch.retries.term > 0, batch.is_(Fate.FAILED, Fate.UNANSWERED)) for batch in self._batches]
        trouble = [
            self._is_silent(leader),
            self._may_be_broken(leader),
            self._asks_who_leads(leader),
            self._asks_for_ids,
        ]
        return Not(Or(*failed, *trouble))

    def _asks_who_leads(self, leader: Replica) -> z3.BoolRef:
        """Tell whether the producer knows only of leaders before this one."""
        return epoch_heard_of(self._pipeline, leader) > self._pipeline.producer.leader_epoch.term

    def _is_misled(self, batch: Batch, leader: Replica) -> z3.BoolRef:
        """Tell whether the producer can ask a cut-off broker, which knows no newer leader, again and again.

        A cut-off broker that still considers itself the leader is sent to.
        """
        others = self._pipeline.followers_of(leader)
        elsewhere = [self._guard("transmit", batch=batch.number, leader=other.number) for other in others]
        of_leader = And(
            self._asks_who_leads(leader),
            without_news(others, leader.epoch.term),
            Not(Or(*elsewhere)),
        )
        any_cut_off = Or(*(And(b.up.is_set, b.cut_off.is_set) for b in self._pipeline.replicas))
        return Or(of_leader, And(self._asks_for_ids, any_cut_off))

    def _unnoticed(self, broker: Replica) -> Clock:
        """Return the clock of the time since a connection died, which request.timeout.ms ends (semantics 3.1, P5)."""
        since = f"the connection to {broker.name} died"
        return self._due("unnoticed", since, self._until_noticed, ("notice",), broker=broker.number)

    def _is_silent(self, leader: Replica) -> z3.BoolRef:
        """Tell whether the producer can try to connect to a silent broker: to this one, or to find this one."""
        return self._meets(leader, self._pipeline.history.fell_silent)

    def _may_be_broken(self, leader: Replica) -> z3.BoolRef:
        """Tell whether the producer can use a dead connection unnoticed, on which it waits for no answer.

        A connection to a broker that fell silent can be dead. So can one that a request was lost with, if that request
        was given up in flight, or if nobody waits for answers (acks=0).
        """
        history = self._pipeline.history
        lost = () if history.lost_requests is None else (history.lost_requests.is_set,)
        if LOSES_REQUESTS & self._pipeline.deployment.faults.possible and history.lost_requests is None:
            lost = tuple(batch.is_(Fate.FAILED) for batch in self._batches)
        return Or(self._meets(leader, history.unnoticed), *lost)

    def _meets(self, leader: Replica, remembered: Mapping[int, Variable]) -> z3.BoolRef:
        """Tell whether what is ``remembered`` of brokers holds for a leader, or for one that can be asked who leads."""
        if not remembered:
            return BoolVal(False)
        some = Or(*(variable.is_set for variable in remembered.values()))
        asks = Or(self._asks_who_leads(leader), self._asks_for_ids)
        return Or(remembered[leader.number].is_set, And(asks, some))

    @property
    def _until_noticed(self) -> Duration:
        """The longest time that a client takes to find out that nobody answers."""
        return Duration.of(self._times.request_timeout, CLIENT_LOOKS)

    @property
    def _until_connected(self) -> Duration:
        """The time that a connection takes before its first request."""
        return Duration.of(self._times.network, self._pipeline.deployment.producer.connects)

    def _until_sent(self, noticed: Duration) -> Duration:
        """Return the time until a client notices a broken connection, finds the leader, connects and has backed off."""
        times = self._times
        finds = Duration.of(times.metadata) + self._backoff + Duration.of(times.reconnect_backoff_max, 1 + JITTER)
        asks = self._until_connected + Duration.of(times.network, REQUESTS_TO_FIND)
        return Duration.of(times.linger) + noticed + finds + asks + self._backoff + self._until_added

    @property
    def _backoff(self) -> Duration:
        """The longest pause before a batch is retried."""
        return Duration.of(self._times.retry_backoff_max, 1 + self._times.backoff_jitter)

    @property
    def _until_added(self) -> Duration:
        """The time until the partition can be sent to, once the leader is found: at once without transactions."""
        return Duration(())

    def _takers(self, batch: Batch) -> Iterator[tuple[Replica, z3.BoolRef]]:
        """Yield the leaders that would append the batch, or refuse it where attempts are counted, with the condition.

        Attempts that are refused over and over need not be made in time, nor any attempt while a producer can be
        misled.
        """
        for leader in self._pipeline.replicas:
            yield leader, And(self._can_go_to(batch, leader), *self._would_be_taken(batch, leader))

    def _would_be_taken(self, batch: Batch, leader: Replica) -> tuple[z3.BoolRef, z3.BoolRef]:
        """Return the conditions that this leader takes the batch, and that no broker misleads the producer."""
        takes = self._pipeline.serves(leader)
        producer = self._pipeline.deployment.producer
        counted = counts_retries(self._pipeline.deployment) and producer.sender.refusals_count
        if producer.acks is Acks.ALL and not counted:
            takes = And(takes, self._pipeline.enough_in_sync(leader))
        return takes, Not(self._is_misled(batch, leader))

    def _can_go_to(self, batch: Batch, leader: Replica) -> z3.BoolRef:
        """Tell whether the client can transmit the batch to this broker in time."""
        return self._guard("transmit", batch=batch.number, leader=leader.number)

    @property
    def _until_handled(self) -> Duration:
        """The time until the leader handles a request that was sent."""
        return self._network

    def _can_be_handled(self, batch: Batch) -> z3.BoolRef:
        """Tell whether a broker can handle the batch's request: the one before on its connection is answered."""
        ahead = [And(o.is_(Fate.APPENDED), o.target.term == batch.target.term) for o in self._batches if o != batch]
        return And(self._guard(*HANDLED, batch=batch.number), Not(Or(*ahead)))
