"""Clocks of records that are sent in transactions: what the coordinator is asked first (semantics 11.1, 11.5)."""

from __future__ import annotations

import z3

from model.language import Duration
from model.language.terms import And, BoolVal, Or
from model.log.visibility import is_left_open
from model.state.pipeline import Batch, Replica
from model.timing.sends import Sends
from model.transactions.coordinator import coordinator_is_at_hand
from model.transactions.epochs import of, recovery_in

REQUESTS_TO_ADD = 6
"""The number of messages until a producer has its partition added: who coordinates, an id, and the request, both
ways."""


class SendsInTransactions(Sends):
    """The clocks of a producer with transactions."""

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
        pause = Duration.of(self._times.retry_backoff_max, 1 + self._times.backoff_jitter)
        pause = pause + recovery_in(self._pipeline).pause_before_adding
        return self._until_connected + Duration.of(self._times.network, REQUESTS_TO_ADD) + pause

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
