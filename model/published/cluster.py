"""The state that all published protocols share, and what follows from it under Kafka's names.

State that follows from other state is not stored. There is one LeaderAndIsr request per leader epoch, and it stays, so
a leader epoch determines its leader: a replica's leader follows from its own epoch, and the quorum's leader from the
newest request. A leader keeps its own ISR, at least the other members; for every other replica the ISR is the
request's. The quorum's ISR is the true leader's own, or the newest request's where the leader has not taken over yet. A
record's id fixes its leader epoch and its offset, so a log slot holds only an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import z3

from proofka.model.language import Effect, Variable, flag
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or
from proofka.model.published.constants import Constants
from proofka.model.published.record_log import RecordLog, record_log

NOBODY = 0
"""The value for no leader; replicas are numbered from 1."""
NO_EPOCH = -1


@dataclass(frozen=True)
class Request:
    """The LeaderAndIsr request of one leader epoch; blank until the controller made it.

    Any replica can receive it at any time and any number of times, in any order: only the epoch is compared.
    """

    epoch: int | z3.ArithRef
    leader: Variable
    isr: Mapping[int, Variable]

    def names(self, leader: Replica) -> z3.BoolRef:
        """Tell whether the request was made, and names this replica as the leader."""
        return self.leader.term == leader.number


@dataclass(frozen=True)
class Replica:
    """The state of one replica: its leader epoch, its high watermark, its log.

    ``isr`` are the other members of its own ISR while it presumes to lead; else ``isr`` is empty.
    """

    number: int
    epoch: Variable
    high_watermark: Variable
    isr: Mapping[int, Variable]
    log: RecordLog

    @property
    def name(self) -> str:
        return f"r{self.number}"

    def counts_in_sync(self, member: Replica) -> z3.BoolRef:
        """Tell whether ``member`` is in this replica's own ISR; who presumes to lead always counts itself."""
        return BoolVal(True) if member is self else self.isr[member.number].is_set


@dataclass(frozen=True)
class Cluster:
    """The whole state: the requests so far, the records written so far, and every replica."""

    constants: Constants
    next_epoch: Variable
    requests: tuple[Request, ...]
    records_written: Variable
    record_epochs: tuple[Variable, ...]
    replicas: tuple[Replica, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Every variable, in the order in which a reader wants to see them."""
        return (
            self.next_epoch,
            *(one for request in self.requests for one in (request.leader, *request.isr.values())),
            self.records_written,
            *self.record_epochs,
            *(
                one
                for replica in self.replicas
                for one in (replica.epoch, replica.high_watermark, *replica.isr.values(), *replica.log.slots)
            ),
        )

    def others(self, replica: Replica) -> tuple[Replica, ...]:
        """Return every replica but this one."""
        return tuple(other for other in self.replicas if other is not replica)

    @cached_property
    def epoch_left(self) -> z3.BoolRef:
        """The condition that the controller can still decide something: each decision needs its own leader epoch."""
        return self.next_epoch.term <= self.constants.epochs

    @cached_property
    def record_left(self) -> z3.BoolRef:
        """The condition that another record can be written."""
        return self.records_written.term < self.constants.records

    @cached_property
    def _leaders(self) -> Mapping[int, z3.ArithRef]:
        return {replica.number: self._leader_in(replica.epoch.term) for replica in self.replicas}

    def leader_of(self, replica: Replica) -> z3.ArithRef:
        """Return the leader that the replica knows; :data:`NOBODY` until it received a request."""
        return self._leaders[replica.number]

    def presumes_leadership(self, replica: Replica) -> z3.BoolRef:
        """Tell whether the replica considers itself the leader: the true one, or a zombie of an older epoch."""
        return self.follows(replica, replica)

    def follows(self, follower: Replica, leader: Replica) -> z3.BoolRef:
        """Tell whether the follower considers ``leader`` its leader, whatever the epochs; who leads follows itself."""
        return self.leader_of(follower) == leader.number

    def follows_epoch(self, follower: Replica, leader: Replica) -> z3.BoolRef:
        """Tell whether the follower is in the epoch of ``leader``, which presumes to lead and so is its leader."""
        return And(self.presumes_leadership(leader), follower.epoch.term == leader.epoch.term)

    def is_true_leader(self, replica: Replica) -> z3.BoolRef:
        """Tell whether the replica presumes to lead, in the newest epoch."""
        return And(self.presumes_leadership(replica), replica.epoch.term + 1 == self.next_epoch.term)

    @cached_property
    def quorum_leader(self) -> z3.ArithRef:
        """The leader of the newest epoch; :data:`NOBODY` where the controller found none or has not decided yet."""
        return self._leader_in(self.next_epoch.term - 1)

    @cached_property
    def quorum_isr(self) -> Mapping[int, z3.ArithRef]:
        """Replica number -> 1 if the replica is in the ISR that the controller knows, else 0; all are at the start."""
        return {member.number: self._in_quorum_isr(member) for member in self.replicas}

    def in_quorum_isr(self, replica: Replica) -> z3.BoolRef:
        """Tell whether the controller considers the replica in sync."""
        return self.quorum_isr[replica.number] == 1

    def epoch_of(self, record: z3.ArithRef) -> z3.ArithRef:
        """Return the leader epoch in which a record was written; ``record`` must not be the empty slot's id."""
        *earlier, last = enumerate(self.record_epochs, 1)
        epoch = last[1].term
        for number, variable in reversed(earlier):
            epoch = If(record == number, variable.term, epoch)
        return epoch

    def epoch_at(self, log: RecordLog, offset: int) -> z3.ArithRef:
        """Return the leader epoch of the record at ``offset``, where there is a record."""
        return self.epoch_of(log.slots[offset].term)

    def set_epoch_of(self, effect: Effect, record: z3.ArithRef, epoch: z3.ArithRef) -> None:
        """Store the leader epoch in which a record is written."""
        for number, variable in enumerate(self.record_epochs, 1):
            effect.set_when(record == number, variable, epoch)

    def truncate(self, effect: Effect, replica: Replica, length: z3.ArithRef) -> None:
        """Drop a log's records at ``length`` and above; the high watermark is limited to ``length``.

        The epoch of a record that no log holds any more is forgotten: nothing can tell that epoch. (When record n is
        written n - 1 others exist, so no log ever holds it above offset n - 1.)
        """
        replica.log.truncate(effect, length)
        effect.set_when(replica.high_watermark.term > length, replica.high_watermark, length)
        for record, epoch in enumerate(self.record_epochs, 1):
            places = [slot for one in self.replicas for slot in one.log.slots[:record]]
            held = Or(*(effect[slot] == record for slot in places))
            effect.set_when(Not(held), epoch, 0)

    def _leader_in(self, epoch: z3.ArithRef) -> z3.ArithRef:
        leader: z3.ArithRef = IntVal(NOBODY)
        for request in reversed(self.requests):
            leader = If(epoch == request.epoch, request.leader.term, leader)
        return leader

    def _in_quorum_isr(self, member: Replica) -> z3.ArithRef:
        inside: z3.ArithRef = IntVal(1)
        for request in self.requests:
            newest = self.next_epoch.term == request.epoch + 1
            inside = If(newest, request.isr[member.number].term, inside)
        for leader in self.replicas:
            own = IntVal(1) if leader is member else leader.isr[member.number].term
            inside = If(self.is_true_leader(leader), own, inside)
        return inside


def cluster(constants: Constants) -> Cluster:
    """Return the cluster at the start: no epoch, no leader, every replica in the ISR, empty logs."""
    numbers = range(1, constants.replicas + 1)
    epochs = range(constants.epochs + 1)
    return Cluster(
        constants,
        Variable("next_epoch", 0, constants.epochs + 1, 0),
        tuple(
            Request(
                epoch,
                Variable(f"request_{epoch}_leader", NOBODY, constants.replicas, NOBODY),
                {number: flag(f"request_{epoch}_isr_{number}") for number in numbers},
            )
            for epoch in epochs
        ),
        Variable("records_written", 0, constants.records, 0),
        tuple(Variable(f"record_{record}_epoch", 0, constants.epochs, 0) for record in range(1, constants.records + 1)),
        tuple(
            Replica(
                number,
                Variable(f"r{number}_epoch", NO_EPOCH, constants.epochs, NO_EPOCH),
                Variable(f"r{number}_high_watermark", 0, constants.log_slots, 0),
                {other: flag(f"r{number}_isr_{other}") for other in numbers if other != number},
                record_log(f"r{number}", constants.log_slots, constants.records),
            )
            for number in numbers
        ),
    )
