"""The consumer's position in a leader's log, and the check that the log was not truncated (semantics 8, 10 D5).

Clients check their positions in different ways, each a class below; :func:`position_check` chooses the client's way.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofka.model.deployment.choices import OffsetReset
from proofka.model.language import Effect
from proofka.model.language.terms import And, If, IntVal, Or
from proofka.model.log.log_starts import start_for_readers
from proofka.model.log.visibility import end_of_reading
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.shared_terms import shared


class ByOffset:
    """The check of a client that does not compare leader epochs: its position can only be beyond the log's end."""

    def agreed_prefix(self, leader: Replica, position_epoch: z3.ArithRef) -> z3.ArithRef:
        """Return the end of the part of the leader's log that the client takes for the log that it has read."""
        return leader.log.end.term

    def goes_back_to(self, pipeline: Pipeline, leader: Replica, position_epoch: z3.ArithRef) -> z3.ArithRef:
        """Return the offset at which a client goes on that has read more than the agreed prefix."""
        return goes_by_policy(pipeline, leader)

    def validated(
        self, pipeline: Pipeline, leader: Replica, position: z3.ArithRef, position_epoch: z3.ArithRef
    ) -> z3.ArithRef:
        """Return the position that the client has once it has checked the given one."""
        agreed = agreed_prefix(pipeline, leader, position_epoch)
        return If(agreed < position, self.goes_back_to(pipeline, leader, position_epoch), position)

    def valid_position(self, pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
        """Return the checked position of a running consumer."""
        consumer = pipeline.consumer
        return self.validated(pipeline, leader, consumer.position.term, consumer.position_epoch.term)

    def valid_committed(self, pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
        """Return the checked committed offset, at which a consumer starts."""
        consumer = pipeline.consumer
        return self.validated(pipeline, leader, consumer.committed.term, consumer.committed_epoch.term)

    def agrees(self, pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
        """Tell whether the client finds no difference between its position and the leader's log."""
        consumer = pipeline.consumer
        return agreed_prefix(pipeline, leader, consumer.position_epoch.term) >= consumer.position.term

    def may_fetch(self, pipeline: Pipeline, leader: Replica) -> Iterator[z3.BoolRef]:
        """Yield what the leader's epoch must be before the client fetches."""
        yield from ()

    def must_agree(self, pipeline: Pipeline, leader: Replica) -> Iterator[z3.BoolRef]:
        """Yield the condition that the position agrees with the leader's log, where the client fetches only then."""
        yield from ()

    def agrees_to_end(self, pipeline: Pipeline, leader: Replica) -> Iterator[z3.BoolRef]:
        """Yield the condition that the leader's whole log agrees with the position's epoch."""
        yield from ()

    def can_be_beyond_end(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        """Yield the condition that a position beyond the log's end is not found out by its epoch before."""
        yield from ()


class WaitingBeyondEnd(ByOffset):
    """The check of a client that waits at an offset beyond the log's end, until a record has that offset (4.5)."""

    def validated(
        self, pipeline: Pipeline, leader: Replica, position: z3.ArithRef, position_epoch: z3.ArithRef
    ) -> z3.ArithRef:
        return position


class ByEpoch(ByOffset):
    """The check by the leader epoch of the record before the position: where logs diverge is found out (8, KIP-320)."""

    def agreed_prefix(self, leader: Replica, position_epoch: z3.ArithRef) -> z3.ArithRef:
        """Return the end of the leader's log for the position's epoch: a position beyond it was truncated."""
        return leader.log.count(lambda _, slot: slot["epoch"].term <= position_epoch)

    def goes_back_to(self, pipeline: Pipeline, leader: Replica, position_epoch: z3.ArithRef) -> z3.ArithRef:
        return agreed_prefix(pipeline, leader, position_epoch)

    def may_fetch(self, pipeline: Pipeline, leader: Replica) -> Iterator[z3.BoolRef]:
        yield leader.epoch.term >= pipeline.consumer.position_epoch.term

    def must_agree(self, pipeline: Pipeline, leader: Replica) -> Iterator[z3.BoolRef]:
        yield self.agrees(pipeline, leader)

    def agrees_to_end(self, pipeline: Pipeline, leader: Replica) -> Iterator[z3.BoolRef]:
        agreed = agreed_prefix(pipeline, leader, pipeline.consumer.position_epoch.term)
        yield agreed >= leader.log.end.term


class ByEpochAfterStart(ByEpoch):
    """The check by epoch of a client that does not check the committed offset at which it starts (4.1)."""

    def valid_position(self, pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
        checked = super().valid_position(pipeline, leader)
        return If(_is_unchecked(pipeline), _in_range(pipeline, leader, pipeline.consumer.position.term), checked)

    def valid_committed(self, pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
        return _in_range(pipeline, leader, pipeline.consumer.committed.term)

    def agrees(self, pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
        in_range = pipeline.consumer.position.term <= leader.log.end.term
        return Or(super().agrees(pipeline, leader), And(_is_unchecked(pipeline), in_range))

    def may_fetch(self, pipeline: Pipeline, leader: Replica) -> Iterator[z3.BoolRef]:
        for no_older in super().may_fetch(pipeline, leader):
            yield Or(no_older, _is_unchecked(pipeline))

    def can_be_beyond_end(self, pipeline: Pipeline) -> Iterator[z3.BoolRef]:
        yield _is_unchecked(pipeline)


@shared
def position_check(pipeline: Pipeline) -> ByOffset:
    """Return the way in which the pipeline's consumer checks its position."""
    consumer = pipeline.deployment.consumer
    if consumer.waits_beyond_end:
        return WaitingBeyondEnd()
    if not consumer.checks_epochs:
        return ByOffset()
    return ByEpoch() if consumer.checks_starts else ByEpochAfterStart()


@shared
def agreed_prefix(pipeline: Pipeline, leader: Replica, position_epoch: z3.ArithRef) -> z3.ArithRef:
    """Return the end of the leader's log for the position's epoch: a position beyond it was truncated (8, KIP-320).

    For a consumer that does not compare leader epochs the offset is the end of the leader's log.
    """
    return position_check(pipeline).agreed_prefix(leader, position_epoch)


def goes_by_policy(pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
    """Return the offset at which a consumer goes on whose position is beyond the leader's log (10, D5)."""
    if pipeline.deployment.consumer.offset_reset is not OffsetReset.EARLIEST:
        return end_of_reading(pipeline, leader)
    return IntVal(0) if pipeline.log_start is None else start_for_readers(pipeline, leader)


@shared
def valid_position(pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
    """Return the offset at which a running consumer goes on to read this leader's log."""
    return position_check(pipeline).valid_position(pipeline, leader)


@shared
def valid_committed(pipeline: Pipeline, leader: Replica) -> z3.ArithRef:
    """Return the offset at which a consumer that starts at the committed offset begins to read this leader's log."""
    return position_check(pipeline).valid_committed(pipeline, leader)


def agrees(pipeline: Pipeline, leader: Replica) -> z3.BoolRef:
    """Tell whether the consumer finds no difference between its position and this leader's log."""
    return position_check(pipeline).agrees(pipeline, leader)


def advance(pipeline: Pipeline, effect: Effect, leader: Replica, count: int) -> None:
    """Move the position past ``count`` records, which poll() returns before they are processed (semantics 12, C1)."""
    consumer = pipeline.consumer
    last = consumer.position.term + (count - 1)
    effect[consumer.commit_lost] = False
    effect[consumer.leader_epoch] = leader.epoch.term
    effect[consumer.position] = consumer.position.term + count
    effect[consumer.position_epoch] = leader.log.at(last, "epoch")


def _is_unchecked(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the consumer has read nothing since its start, so that its position can still be unchecked."""
    return pipeline.consumer.leader_epoch.term == 0


def _in_range(pipeline: Pipeline, leader: Replica, offset: z3.ArithRef) -> z3.ArithRef:
    return If(leader.log.end.term < offset, goes_by_policy(pipeline, leader), offset)
