"""Log start offsets of single brokers, and the producers that one before 2.5 forgets with its records (3.5, 10 D1).

Each broker deletes old records by itself. With what it fetches, a follower takes over its leader's log start offset.
:func:`own_start` tells deployments in which that has an effect from others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import z3

from proofka.model.deployment.sequencing import Forgets
from proofka.model.language import Action, Effect, State, Variable
from proofka.model.language.logs import Slot
from proofka.model.language.terms import And, If, IntVal, Not, Or
from proofka.model.log.id_expiry import numbers_will_be_asked_for
from proofka.model.state.kept_numbers import FORGOTTEN
from proofka.model.state.pipeline import Batch, Pipeline, Replica
from proofka.model.state.wording import record_name


@dataclass(frozen=True)
class UnnoticedStart:
    """The log start offset of a broker whose own deletions have no effect."""

    replica: Replica

    @property
    def forgotten(self) -> tuple[Variable, ...]:
        """For each offset, the flag that the broker has forgotten the numbers there; empty where it forgets none."""
        return ()

    def for_readers(self, start: z3.ArithRef) -> z3.ArithRef:
        """Return the first offset that consumers can read here, where retention has left what is from ``start`` on."""
        return start

    def raise_to(self, pipeline: Pipeline, effect: Effect, start: z3.ArithRef) -> None:
        """Raise the offset to ``start``, if that is higher (``Log.maybeIncrementLogStartOffset``)."""
        return

    def take_over(self, pipeline: Pipeline, effect: Effect, leader: Replica) -> None:
        """Take over the offset of the leader, which a follower learns with what it fetches (semantics 6.1, R3)."""
        return

    def forget_deleted(self, effect: Effect) -> None:
        """Make a broker that starts forget the producers of what is below the offset (semantics 3.5)."""
        return

    def keep_prefix(self, effect: Effect, length: z3.ArithRef | int) -> None:
        """Limit the offset to the log's new length."""
        return

    def copied_fields(self, offset: z3.ArithRef) -> Mapping[str, z3.ArithRef]:
        """Return the fields of an entry that differ in a follower's copy."""
        return {}

    def knows_after_fetch(self, follower: Variable, leader: z3.ArithRef) -> z3.ArithRef:
        """Return whether a follower knows the producer after it fetched from this leader; both say who knew before."""
        return leader

    def deletions(self, pipeline: Pipeline, batch: Batch) -> Iterator[Action]:
        """Yield the broker's own deletions of a record, where its remaining records matter."""
        yield from ()


@dataclass(frozen=True)
class OwnStart(UnnoticedStart):
    """The log start offset of a broker that has deleted what other brokers can still have."""

    offset: Variable

    @property
    def forgotten(self) -> tuple[Variable, ...]:
        return tuple(slot[FORGOTTEN] for slot in self.replica.log.slots)

    def for_readers(self, start: z3.ArithRef) -> z3.ArithRef:
        return If(self.offset.term > start, self.offset.term, start)

    def raise_to(self, pipeline: Pipeline, effect: Effect, start: z3.ArithRef) -> None:
        """Raise the offset.

        Up to 2.3 the broker then forgets each producer whose last record is below ``start``
        (``ProducerStateManager.truncateHead``), and nothing of a producer that has a record left.
        """
        log = self.replica.log
        effect.set_when(start > self.offset.term, self.offset, start)
        sequencing = pipeline.deployment.producer.sequencing
        if sequencing is None or sequencing.forgets is not Forgets.WITH_ITS_RECORDS:
            return
        for offset, slot in enumerate(log.slots):
            left = [
                And(effect[log.end] > later, start <= later, _of_one_producer(pipeline, effect, slot, other))
                for later, other in enumerate(log.slots)
                if later > offset
            ]
            gone = And(effect[log.end] > offset, start > offset, Not(Or(*left)))
            effect.set_when(gone, slot[FORGOTTEN], 1)

    def take_over(self, pipeline: Pipeline, effect: Effect, leader: Replica) -> None:
        assert leader.log_start is not None
        end, start = effect[self.replica.log.end], leader.log_start.term
        self.raise_to(pipeline, effect, If(start < end, start, end))

    def forget_deleted(self, effect: Effect) -> None:
        """Forget these producers.

        The broker deletes snapshots from before the offset (``ProducerStateManager.truncateAndReload``), and reads the
        log from there.
        """
        effect.set_when(self.offset.term > 0, self.replica.knows_producer, 0)
        for offset, forgotten in enumerate(self.forgotten):
            effect.set_when(And(self.replica.log.has(offset), self.offset.term > offset), forgotten, 1)

    def keep_prefix(self, effect: Effect, length: z3.ArithRef | int) -> None:
        """Limit the offset; the broker loads its producers again, and knows none from below the offset (3.5)."""
        for offset, forgotten in enumerate(self.forgotten):
            deleted = And(self.offset.term > offset, length > offset)
            effect.set_when(And(self.replica.log.end.term > length, deleted), forgotten, 1)
        effect.set_when(self.offset.term > length, self.offset, length)

    def copied_fields(self, offset: z3.ArithRef) -> Mapping[str, z3.ArithRef]:
        """Return the flag that is set below the offset: a follower starts there, and gets nothing from before."""
        return {FORGOTTEN: If(self.offset.term > offset, IntVal(1), IntVal(0))}

    def knows_after_fetch(self, follower: Variable, leader: z3.ArithRef) -> z3.ArithRef:
        """Return what the follower knew: a log that starts after the records from before the run tells nothing."""
        return If(self.offset.term > 0, follower.term, leader)

    def deletions(self, pipeline: Pipeline, batch: Batch) -> Iterator[Action]:
        for offset in range(self.replica.log.capacity):
            yield expire_by_itself(pipeline, self, offset, batch)


def own_start(replica: Replica) -> UnnoticedStart:
    """Return the log start offset of a broker."""
    return UnnoticedStart(replica) if replica.log_start is None else OwnStart(replica, replica.log_start)


def start_for_readers(pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
    """Return the first offset that a consumer can read of this leader; former leaders can have deleted less."""
    assert pipeline.log_start is not None
    return own_start(leader).for_readers(pipeline.log_start.term)


def _of_one_producer(pipeline: Pipeline, effect: Effect, one: Slot, other: Slot) -> z3.BoolRef:
    """Tell whether the entries of the two slots were sent under the same producer id."""
    batches = pipeline.producer.batches
    same = Or(
        *(
            And(effect[one["batch"]] == batch.number, pipeline.producer.shares_id(effect[other["batch"]], batch))
            for batch in batches
        )
    )
    return pipeline.recovery.is_of_one_id(same, effect[one["producer_epoch"]], effect[other["producer_epoch"]])


def forgets_in_words(replica: Replica, before: State, after: State) -> str:
    """Return the words for a step in which the broker forgot numbers of entries in its log; empty if it did not."""
    forgets = any(after[one.name] > before[one.name] for one in own_start(replica).forgotten)
    return ", and knows nothing of its producer any more" if forgets else ""


def expire_by_itself(pipeline: Pipeline, start: OwnStart, offset: int, batch: Batch) -> Action:
    """Let a broker that no consumer reads delete its first record when that is old enough (semantics 10, D1)."""
    replica = start.replica
    assert pipeline.log_start is not None
    effect = Effect()
    start.raise_to(pipeline, effect, IntVal(offset + 1))
    for_readers = And(pipeline.serves(replica), pipeline.log_start.term <= offset)
    return Action(
        "expire_by_itself",
        replica.name,
        lane="brokers",
        arguments={"broker": replica.number, "offset": offset, "batch": batch.number},
        guard=And(
            replica.up.is_set,
            start.offset.term == offset,
            replica.high_watermark.term > offset,
            replica.log.slots[offset]["batch"].term == batch.number,
            Not(for_readers),
            numbers_will_be_asked_for(pipeline),
        ),
        updates=effect.updates,
        sentence=lambda before, after: (
            f"{replica.name} deletes its {record_name(batch)} at offset {offset}, which is older than retention.ms"
            + forgets_in_words(replica, before, after)
        ),
        semantics="3.5, 10 D1",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield, for every broker, its own deletions."""
    for replica, batch in product(pipeline.replicas, pipeline.producer.batches):
        yield from own_start(replica).deletions(pipeline, batch)
