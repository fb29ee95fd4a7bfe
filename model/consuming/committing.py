"""The commits of a consumer between its polls: what the group's committed offset is when the consumer ends (12, 12.1).

Consumers and sinks differ in what they commit and when, each a class below; :func:`committing` chooses the way.
"""

from __future__ import annotations

import z3

from proofka.model.consuming.position import advance
from proofka.model.deployment.choices import Commit, Sink
from proofka.model.language import Effect
from proofka.model.language.terms import If
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.shared_terms import shared

HOW_STORED = {
    Sink.TRANSACTIONAL: ", storing the offset with the result",
    Sink.KAFKA: ", committing results and offsets in a transaction",
    Sink.IN_MEMORY: ", keeping the result in memory",
    Sink.SNAPSHOTS: ", keeping the result in memory",
}
"""The words that follow the processing of records, for sinks that do not write results at once and apart from
offsets."""


class Committing:
    """The commits of a consumer that commits after processing, or never: only the next start sees them, and decides."""

    first_in_words = ""
    """The words for a commit before processing."""

    def how_in_words(self, sink: Sink) -> str:
        """Return the words that follow the processing of records."""
        return HOW_STORED.get(sink, "")

    def commit_polled(self, pipeline: Pipeline, effect: Effect) -> None:
        """Commit what a poll() returned whose records the poll thread processes."""
        return

    def commit_handed_off(self, pipeline: Pipeline, effect: Effect) -> None:
        """Commit what a poll() returned whose records go to workers."""
        return

    def commit_before_end(self, pipeline: Pipeline, effect: Effect, leader: Replica, *, count: int, done: int) -> None:
        """Commit what is committed of ``count`` records if the consumer ends after it processed ``done`` of them."""
        return


class CommittingDelivered(Committing):
    """The commits of a client that commits what it delivered to the application (semantics 4)."""

    def commit_before_end(self, pipeline: Pipeline, effect: Effect, leader: Replica, *, count: int, done: int) -> None:
        """Let the position, up to which the next start can find a commit, go past all records."""
        advance(pipeline, effect, leader, count)


class CommittingInTransaction(Committing):
    """The commits of an application that sends offsets and results in one transaction (11.3)."""

    def commit_polled(self, pipeline: Pipeline, effect: Effect) -> None:
        commit_position(pipeline, effect)

    def commit_before_end(self, pipeline: Pipeline, effect: Effect, leader: Replica, *, count: int, done: int) -> None:
        """Go back to the committed offset: nothing was committed since."""
        go_back_to_committed(pipeline, effect)


class StoringOffsets(CommittingInTransaction):
    """The commits of an application that stores the offset in its sink, together with the result."""

    def commit_before_end(self, pipeline: Pipeline, effect: Effect, leader: Replica, *, count: int, done: int) -> None:
        commit_first_of_poll(pipeline, effect, leader, done)
        go_back_to_committed(pipeline, effect)


class CommittingFirst(CommittingInTransaction):
    """The commits of an application that commits the records of a poll() before it processes them."""

    first_in_words = ", commits"

    def how_in_words(self, sink: Sink) -> str:
        return ", having committed first"

    def commit_handed_off(self, pipeline: Pipeline, effect: Effect) -> None:
        commit_position(pipeline, effect)

    def commit_before_end(self, pipeline: Pipeline, effect: Effect, leader: Replica, *, count: int, done: int) -> None:
        commit_first_of_poll(pipeline, effect, leader, count)
        go_back_to_committed(pipeline, effect)


@shared
def committing(pipeline: Pipeline) -> Committing:
    """Return the way in which the pipeline's consumer commits."""
    application = pipeline.deployment.application
    if application.sink is Sink.TRANSACTIONAL:
        return StoringOffsets()
    if application.sink is Sink.KAFKA:
        return CommittingInTransaction()
    return {Commit.BEFORE: CommittingFirst, Commit.DELIVERED: CommittingDelivered}.get(application.commit, Committing)()


def commit(effect: Effect, pipeline: Pipeline, offset: z3.ArithRef, epoch: z3.ArithRef) -> None:
    """Set the group's committed offset, with the leader epoch of the record before it (semantics 12, C8)."""
    effect[pipeline.consumer.committed] = offset
    effect[pipeline.consumer.committed_epoch] = epoch


def commit_position(pipeline: Pipeline, effect: Effect) -> None:
    """Commit everything that poll() has returned (semantics 12, C2 C4)."""
    consumer = pipeline.consumer
    commit(effect, pipeline, effect[consumer.position], effect[consumer.position_epoch])


def commit_first_of_poll(pipeline: Pipeline, effect: Effect, leader: Replica, count: int) -> None:
    """Commit the first ``count`` records that a poll() returned, if any."""
    position = pipeline.consumer.position.term
    if count > 0:
        commit(effect, pipeline, position + count, leader.log.at(position + (count - 1), "epoch"))


def go_back_to_committed(pipeline: Pipeline, effect: Effect) -> None:
    """Set the position to the committed offset, where a consumer that has ended goes on."""
    consumer = pipeline.consumer
    committed = effect[consumer.committed]
    effect[consumer.position] = If(committed > 0, committed, 0) if consumer.committed.low < 0 else committed
    effect[consumer.position_epoch] = effect[consumer.committed_epoch]
