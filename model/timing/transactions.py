"""How soon the coordinator of transactions does its part, as long as nothing keeps it (semantics 11.1)."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from model.language import Clock, Duration
from model.state import Pipeline, Replica
from model.timing.part import Part, Requirement

MESSAGES_OF_COORDINATOR = 6
"""What a step of the coordinator takes at most: its own log is replicated, and a leader asked and answering."""


def coordinator_is_at_hand(pipeline: Pipeline) -> z3.BoolRef:
    """Nothing has happened yet that could have moved the coordinator.

    It leads a partition of its own: how long that may be without a leader is not modelled.
    """
    deployment = pipeline.deployment
    if deployment.restart_before_fenced and deployment.brokers_may_be_away:
        return z3.BoolVal(False)

    def is_untouched(broker: Replica) -> z3.BoolRef:
        return z3.And(broker.up.is_set, z3.Not(broker.cut_off.is_set), z3.Not(broker.slow.is_set))

    silent = z3.Or(*(flag.is_set for flag in pipeline.history.fell_silent.values()))
    untouched = [is_untouched(broker) for broker in pipeline.replicas]
    return z3.And(pipeline.controller.epoch.term == 1, *untouched, z3.Not(silent))


class Transactions(Part):
    """The clocks of the coordinator of transactions."""

    def needs(self) -> Iterator[Requirement]:
        yield from ()

    def deadlines(self) -> Iterator[Clock]:
        if self._pipeline.transactions is None:
            return
        at_hand = coordinator_is_at_hand(self._pipeline)
        if z3.is_false(z3.simplify(at_hand)):
            return
        takes = Duration.of(self._times.network, MESSAGES_OF_COORDINATOR + self._pipeline.deployment.producer_connects)
        for replica in self._pipeline.replicas:
            leader = {"leader": replica.number}
            marks = z3.And(self._guard("write_marker", **leader), at_hand)
            yield Clock("marking", leader, marks, f"a marker was to be written by {replica.name}", takes)
            completes = z3.And(self._guard("complete_transaction", **leader), at_hand)
            yield Clock("completing", leader, completes, f"the marker was replicated by {replica.name}", takes)
