"""A published protocol with any number of leader epochs and of records, for proofs by induction.

The actions are those of the port. What a run decides once stands in functions here, not in a variable for each epoch
and each record: the leader and the ISR of the request of an epoch, and the epoch of a record. A run that makes the
request of an epoch, or writes a record, can do so only where the functions have the values of this step. So each run
of the port is a run of this system with functions of its own, for any constants ``epochs`` and ``records``.

A history variable never changes what can happen: *committed* holds the longest prefix that a high watermark has
covered so far, with the epoch of the leader that first covered each record.

Reference: M. Abadi, L. Lamport, "The existence of refinement mappings", TCS 1991.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import z3

from proofka.model.language import Action, Effect, Variable
from proofka.model.language.lemmas import OpenSystem
from proofka.model.language.terms import And, BoolVal, If, Int, IntVal
from proofka.model.published.cluster import NO_EPOCH, NOBODY, Cluster, Replica, Request, cluster
from proofka.model.published.constants import Constants, PublishedProtocolError
from proofka.model.published.protocols import PROTOCOLS
from proofka.model.published.record_log import EMPTY

_NUMBER = z3.IntSort()
LEADER = z3.Function("request_leader", _NUMBER, _NUMBER)
"""The leader that the request of an epoch names."""
EPOCH_OF = z3.Function("record_epoch", _NUMBER, _NUMBER)
"""The leader epoch in which a record was written."""

CONTROLLER = "controller"

REQUEST_EPOCH = Int("request_epoch")
"""The epoch of the request that an action receives: any that was made."""


def in_isr(member: int, epoch: z3.ArithRef) -> z3.ArithRef:
    """Return 1 if the request of an epoch has the member in its ISR, else 0."""
    return z3.Function(f"request_isr_{member}", _NUMBER, _NUMBER)(epoch)


@dataclass(frozen=True, eq=False)
class Fixed(Variable):
    """A value of a function: an action that would assign it can happen only where the function has this value.

    The numbers of a variable (lowest, highest, initial) mean nothing here.
    """

    value: z3.ArithRef

    @cached_property
    def term(self) -> z3.ArithRef:
        """The value as an integer term."""
        return self.value


@dataclass(frozen=True)
class UnboundedCluster(Cluster):
    """The state of a published protocol without a bound on leader epochs and records."""

    @cached_property
    def epoch_left(self) -> z3.BoolRef:
        """Leader epochs never run out."""
        return BoolVal(True)

    @cached_property
    def record_left(self) -> z3.BoolRef:
        """Records never run out."""
        return BoolVal(True)

    def epoch_of(self, record: z3.ArithRef) -> z3.ArithRef:
        """Return the leader epoch in which a record was written."""
        return EPOCH_OF(record)

    def set_epoch_of(self, effect: Effect, record: z3.ArithRef, epoch: z3.ArithRef) -> None:
        """Fix the leader epoch in which a record is written."""
        effect[Fixed("epoch of the record", 0, 0, 0, EPOCH_OF(record))] = epoch

    def _leader_in(self, epoch: z3.ArithRef) -> z3.ArithRef:
        return LEADER(epoch)

    def _in_quorum_isr(self, member: Replica) -> z3.ArithRef:
        inside = in_isr(member.number, self.next_epoch.term - 1)
        for leader in self.replicas:
            own = IntVal(1) if leader is member else leader.isr[member.number].term
            inside = If(self.is_true_leader(leader), own, inside)
        return inside


@dataclass(frozen=True)
class Committed:
    """The history variables: ``length`` of the committed prefix, and by offset each record and its epoch of commit."""

    length: Variable
    records: tuple[Variable, ...]
    epochs: tuple[Variable, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.length, *self.records, *self.epochs)

    def remember(self, action: Action, leader: Replica) -> Action:
        """Return the action that raises a leader's high watermark, which also remembers a record that is new."""
        effect = Effect()
        watermark, length = leader.high_watermark.term, self.length.term
        for offset, (record, epoch) in enumerate(zip(self.records, self.epochs, strict=True)):
            new = And(watermark == offset, length == offset)
            effect.set_when(new, record, leader.log.slots[offset].term)
            effect.set_when(new, epoch, leader.epoch.term)
        effect.set_when(watermark == length, self.length, watermark + 1)
        return replace(action, updates={**action.updates, **effect.updates})


@dataclass(frozen=True)
class OpenProtocol:
    """A published protocol with any number of leader epochs and records: its state, its history, its system."""

    cluster: UnboundedCluster
    committed: Committed
    system: OpenSystem


def unbounded_cluster(replicas: int, slots: int, epoch: z3.ArithRef) -> UnboundedCluster:
    """Return the cluster in which the one request at hand is that of ``epoch``."""
    bounded = cluster(Constants(replicas, slots, slots, 0))
    isr = {one.number: Fixed(f"isr_{one.number}", 0, 0, 0, in_isr(one.number, epoch)) for one in bounded.replicas}
    request = Request(epoch, Fixed("leader", 0, 0, 0, LEADER(epoch)), isr)
    return UnboundedCluster(
        bounded.constants, bounded.next_epoch, (request,), bounded.records_written, (), bounded.replicas
    )


def committed(slots: int) -> Committed:
    """Return the history variables: nothing is committed at the start."""
    return Committed(
        Variable("committed_length", 0, slots, 0),
        tuple(Variable(f"committed_{offset}", EMPTY, 0, EMPTY) for offset in range(slots)),
        tuple(Variable(f"committed_{offset}_epoch", 0, 0, 0) for offset in range(slots)),
    )


def open_protocol(name: str, replicas: int, slots: int) -> OpenProtocol:
    """Return a published protocol with any number of leader epochs and records.

    Raise :class:`PublishedProtocolError` for an unknown name and for constants that make no sense.
    """
    if name not in PROTOCOLS:
        raise PublishedProtocolError(f"no published protocol {name!r}: choose one of {', '.join(PROTOCOLS)}")
    return opened(name, PROTOCOLS[name].actions, replicas, slots)


def opened(name: str, actions: Callable[[Cluster], Iterator[Action]], replicas: int, slots: int) -> OpenProtocol:
    """Return the protocol with these actions. Raise :class:`PublishedProtocolError` for senseless constants."""
    received = unbounded_cluster(replicas, slots, REQUEST_EPOCH)
    decided = unbounded_cluster(replicas, slots, received.next_epoch.term)
    history = committed(slots)
    made = And(REQUEST_EPOCH >= 0, received.next_epoch.term > REQUEST_EPOCH)
    steps = [_fixing(action, BoolVal(True)) for action in actions(decided) if action.lane == CONTROLLER]
    for action in actions(received):
        if action.lane != CONTROLLER:
            leader = received.replicas[action.arguments["leader"] - 1]
            raises = action.name == "increment_high_watermark"
            allowed = made if "epoch" in action.arguments else BoolVal(True)
            steps.append(_fixing(history.remember(action, leader) if raises else action, allowed))
    variables = (*(one for one in received.variables if not isinstance(one, Fixed)), *history.variables)
    system = OpenSystem(
        name,
        variables,
        tuple(steps),
        endless=frozenset(
            one.name
            for one in (
                received.next_epoch,
                received.records_written,
                *(replica.epoch for replica in received.replicas),
                *(slot for replica in received.replicas for slot in replica.log.slots),
                *history.records,
                *history.epochs,
            )
        ),
        without_bound=("steps", "leader epochs", "records written"),
        within=(f"{replicas} replicas", f"{slots} log slots"),
        inputs=(REQUEST_EPOCH,),
        facts=_facts(received),
        ranges_over=lambda epoch: And(epoch >= 0, epoch < received.next_epoch.term),
        instances=(
            *(replica.epoch.term for replica in received.replicas),
            received.next_epoch.term - 1,
            REQUEST_EPOCH,
            *(epoch.term for epoch in history.epochs),
        ),
    )
    return OpenProtocol(received, history, system)


def _facts(cluster: UnboundedCluster) -> tuple[z3.BoolRef, ...]:
    """Return the values that no run decides: before the first request nobody leads, and all replicas are in sync."""
    before = IntVal(NO_EPOCH)
    everybody = (in_isr(replica.number, before) == 1 for replica in cluster.replicas)
    return (LEADER(before) == NOBODY, EPOCH_OF(IntVal(EMPTY)) == NO_EPOCH, *everybody)


def _fixing(action: Action, allowed: z3.BoolRef) -> Action:
    """Return the action that can happen only where the functions have the values that it decides."""
    fixed = [one.term == value for one, value in action.updates.items() if isinstance(one, Fixed)]
    updates = {one: value for one, value in action.updates.items() if not isinstance(one, Fixed)}
    return replace(action, guard=And(allowed, action.guard, *fixed), updates=updates)
