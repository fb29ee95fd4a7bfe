"""Clocks of records that are sent in transactions: what the coordinator is asked first (semantics 11.1, 11.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import z3

from proofka.model.durations import JITTER
from proofka.model.language import Clock, Duration
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.log.visibility import is_left_open
from proofka.model.state.pipeline import Batch, Replica
from proofka.model.state.wording import record_name
from proofka.model.timing.coordination import Return, returns_of_coordinator
from proofka.model.timing.sends import Sends
from proofka.model.transactions.coordinator import coordinator_is_at_hand
from proofka.model.transactions.epochs import of, recovery_in

REQUESTS_TO_ADD = 6
"""The number of messages until a producer has its partition added: who coordinates, an id, and the request, both
ways."""

REQUESTS_TO_FIND_COORDINATOR = 4
"""The number of messages until a client knows another coordinator: a refusal and a question, both ways."""

REQUESTS_TO_VERIFY = 4
"""The number of messages of a request that is verified at its second coming: the answer to the first, the request, and
the leader's question, both ways."""


class SendsInTransactions(Sends):
    """The clocks of a producer with transactions."""

    @cached_property
    def _returns(self) -> Sequence[Return]:
        """The situations after a fault in which a coordinator serves again in time."""
        return tuple(returns_of_coordinator(self._pipeline))

    def _sendable(self, batch: Batch) -> Iterator[Clock]:
        yield from super()._sendable(batch)
        unadded = Not(of(self._pipeline)[0].added.is_set)
        for again in self._returns:
            runs = [And(can, unadded, again.holds) for can in self._transmissible(batch)]
            within = self._until_sent(self._until_connected) + again.within + self._until_found
            yield from self._sent_within(f"sendable_{again.name}", batch, runs, within)

    def _transmissible(self, batch: Batch) -> Iterator[z3.BoolRef]:
        """Yield, by leader, the condition that the batch can go there over a connection that works."""
        for leader in self._pipeline.replicas:
            can, works = super()._can_go_to(batch, leader), Not(self._may_be_broken(leader))
            yield And(can, *self._would_be_taken(batch, leader), works)

    def _arriving(self, batch: Batch) -> Iterator[Clock]:
        yield from super()._arriving(batch)
        can, asked = super()._can_be_handled(batch), Not(self._is_verified_in_time(batch))
        since = f"{record_name(batch)} was transmitted to a leader that asks the coordinator"
        for again in self._returns:
            within = self._until_handled + again.within + self._until_asked_again
            yield Clock(f"arriving_{again.name}", {"batch": batch.number}, And(can, asked, again.holds), since, within)

    def _can_be_handled(self, batch: Batch) -> z3.BoolRef:
        return And(super()._can_be_handled(batch), self._is_verified_in_time(batch))

    @property
    def _until_handled(self) -> Duration:
        """The time until the leader handles a request, with a question to the coordinator (11.5)."""
        return self._network * 3 + self._until_connected

    def _checks_its_time(self, batch: Batch) -> z3.BoolRef:
        """Tell whether the client looks at the batch's time: not while it has its partition added."""
        return And(super()._checks_its_time(batch), of(self._pipeline)[0].added.is_set)

    @property
    def _until_added(self) -> Duration:
        """The time until a producer that found its coordinator has its partition added, asking again once (11.1 T2)."""
        pause = self._pause + recovery_in(self._pipeline).pause_before_adding
        return self._until_connected + Duration.of(self._times.network, REQUESTS_TO_ADD) + pause

    @property
    def _pause(self) -> Duration:
        """The longest pause before the client asks the coordinator again.

        Java clients wait for ``retry.backoff.ms`` there, even if it is longer than ``retry.backoff.max.ms``.
        """
        return Duration.of(self._times.retry_backoff) + self._backoff

    @property
    def _until_asked_again(self) -> Duration:
        """The time until a request that its leader could not verify comes to the leader again, and is verified."""
        return self._backoff + self._until_connected + Duration.of(self._times.network, REQUESTS_TO_VERIFY)

    @property
    def _until_found(self) -> Duration:
        """The time until a client has found a coordinator that serves.

        The former coordinator refuses or is gone, and any broker is asked who coordinates.
        """
        reconnects = Duration.of(self._times.reconnect_backoff_max, 1 + JITTER)
        asks = self._until_connected * 2 + Duration.of(self._times.network, REQUESTS_TO_FIND_COORDINATOR)
        return reconnects + asks + self._pause * 2

    def _can_go_to(self, batch: Batch, leader: Replica) -> z3.BoolRef:
        """Tell whether the partition is in the transaction, or the coordinator can be reached to add it."""
        added = Or(of(self._pipeline)[0].added.is_set, coordinator_is_at_hand(self._pipeline))
        return And(super()._can_go_to(batch, leader), added)

    def _is_verified_in_time(self, batch: Batch) -> z3.BoolRef:
        """Tell whether the leader need not ask the coordinator about the transaction, or can ask (semantics 11.5)."""
        if not of(self._pipeline)[1].verified:
            return BoolVal(True)
        known = [
            And(batch.target.term == leader.number, is_left_open(self._pipeline, leader))
            for leader in self._pipeline.replicas
        ]
        return Or(coordinator_is_at_hand(self._pipeline), *known)
