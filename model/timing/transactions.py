"""Clocks of the transaction coordinator, which hold while nothing disturbs it (semantics 11.1)."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.durations import CLIENT_LOOKS
from proofka.model.language import Clock, Duration
from proofka.model.language.terms import And
from proofka.model.timing.coordination import returns_of_coordinator
from proofka.model.timing.part import Part, Requirement
from proofka.model.transactions.coordinator import coordinator_is_at_hand
from proofka.model.transactions.epochs import of, recovery_in

MESSAGES_OF_COORDINATOR = 6
"""The largest number of messages in a step of the coordinator: its own log is replicated, and a leader asked and
answering."""


class Transactions(Part):
    """The clocks of the coordinator of transactions."""

    def needs(self) -> Iterator[Requirement]:
        yield from ()

    def deadlines(self) -> Iterator[Clock]:
        at_hand = coordinator_is_at_hand(self._pipeline)
        takes = Duration.of(self._times.network, MESSAGES_OF_COORDINATOR + self._pipeline.deployment.producer.connects)
        returns = tuple(returns_of_coordinator(self._pipeline))
        for replica in self._pipeline.replicas:
            leader = {"leader": replica.number}
            marks, marked = self._guard("write_marker", **leader), f"a marker was to be written by {replica.name}"
            yield Clock("marking", leader, And(marks, at_hand), marked, takes)
            completes = self._guard("complete_transaction", **leader)
            replicated = f"the marker was replicated by {replica.name}"
            yield Clock("completing", leader, And(completes, at_hand), replicated, takes)
            for again in returns:
                # A coordinator that has just started knows the leader by its own metadata.
                within = again.within + self._news + takes
                yield Clock(f"marking_{again.name}", leader, And(marks, again.holds), marked, within)
                # It may have the marker written again before it knows that there is one.
                within = within + takes + self._times.between_fetches
                # A write that failed is tried again when the thread that sends markers wakes up (11.1, T6).
                within = within + Duration.of(self._times.broker_request)
                yield Clock(f"completing_{again.name}", leader, And(completes, again.holds), replicated, within)
        late = of(self._pipeline)[0].late_end
        if late is not None and recovery_in(self._pipeline).ends_in_time:
            # The client gives up on the request after request.timeout.ms; librdkafka can wait longer (4.1).
            waits = Duration.of(self._times.request_timeout, CLIENT_LOOKS) + Duration.of(self._times.late_request)
            yield Clock("late_end", {}, late.term > 0, "a request to end a transaction was held up", waits)
