"""The brokers of a run by their places: the model calls the first leader broker 1, and the next replica broker 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proofka.checker.conformance.observations import BrokerDecision, Observations, PartitionDecision


def by_place(seen: Observations, order: Sequence[int]) -> Observations:
    """Return the observations with each broker's place in ``order`` (from 1) as its number; 0 stays."""
    place = {0: 0} | {broker: number for number, broker in enumerate(order, 1)}

    def partition(found: PartitionDecision) -> PartitionDecision:
        return replace(found, leader=place[found.leader], isr=tuple(place[broker] for broker in found.isr))

    def decision(found: PartitionDecision | BrokerDecision) -> PartitionDecision | BrokerDecision:
        if isinstance(found, PartitionDecision):
            return partition(found)
        return replace(found, broker=place[found.broker])

    return replace(
        seen,
        brokers=tuple(sorted(place[broker] for broker in seen.brokers)),
        first=partition(seen.first),
        decisions=tuple(map(decision, seen.decisions)),
        requests=tuple(replace(request, broker=place[request.broker]) for request in seen.requests),
        looks=tuple(replace(look, broker=place[look.broker]) for look in seen.looks),
        done=tuple(replace(done, broker=place[done.broker]) for done in seen.done),
        changes_passed={place[broker]: times for broker, times in seen.changes_passed.items()},
        changes_proposed={place[broker]: times for broker, times in seen.changes_proposed.items()},
    )
