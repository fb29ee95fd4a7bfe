"""Runs with transactions in the model's terms: what Kafka does in two steps, or twice, and the model once.

The model leaves these out, as they change nothing that a property reads (semantics, "What the model leaves out"):

- A coordinator writes a marker again that it does not know to be written, while the transaction is not complete.
- A client before version 2 of transactions has the partition added to a transaction before it sends the first record,
  and its process can end in between. In the model the first request does both, and is lost with the process.
- Version 2 of transactions: a leader refuses records while the transaction before is not complete
  (CONCURRENT_TRANSACTIONS), and the client sends them again. It has sent the next record by then, which the leader
  refuses as out of order. The model's client waits with both.
- A process ends while its request to commit is on its way. In the model it ends in the step in which the coordinator
  decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from proofka.checker.conformance.observations import (
    Done,
    Entry,
    Look,
    Observations,
    OfConsumer,
    OfTransactions,
    PartitionDecision,
    Request,
)

CONCURRENT_TRANSACTIONS = 51
"""Kafka's number of the error CONCURRENT_TRANSACTIONS."""

OUT_OF_ORDER = 45
"""Kafka's number of the error OUT_OF_ORDER_SEQUENCE_NUMBER."""

_ENDS = ("crash", "replace")
"""The controls that end a producer's process."""


def as_modelled(seen: Observations) -> Observations:
    """Return the observations of a run as the model would have them; a run without transactions stays as it is."""
    transactions = seen.transactions
    if transactions is None:
        return seen
    taken = tuple(request for request in seen.requests if not _is_too_early(request, seen.requests))
    looks = tuple(replace(look, entries=_without_repeated(look.entries)) for look in seen.looks)
    found = replace(
        seen,
        requests=(*taken, *_lost_with_process(seen, transactions)),
        looks=looks,
        done=tuple(_until_decided(done, transactions) for done in seen.done),
    )
    return found if seen.consumer is None else replace(found, consumer=_moved(seen.consumer, seen.looks))


def _is_too_early(request: Request, requests: Sequence[Request]) -> bool:
    """Tell whether the transaction before was not complete for the request, or for one with an earlier record."""
    if request.error != OUT_OF_ORDER or request.answered is None:
        return request.error == CONCURRENT_TRANSACTIONS
    before = [
        other
        for other in requests
        if other.answered is not None and max(other.records) < min(request.records) and other.arrived < request.answered
    ]
    last = max(before, key=lambda other: other.arrived, default=None)
    return last is not None and last.error == CONCURRENT_TRANSACTIONS


def _repeated(entries: Sequence[Entry]) -> list[int]:
    """Return the places of markers right after the same marker."""
    return [
        place
        for place, (before, entry) in enumerate(pairwise(entries), 1)
        if entry.marker is not None and (entry.marker, entry.producer) == (before.marker, before.producer)
    ]


def _without_repeated(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    repeated = set(_repeated(entries))
    return tuple(entry for place, entry in enumerate(entries) if place not in repeated)


def _moved(consumer: OfConsumer, looks: Sequence[Look]) -> OfConsumer:
    """Return what is seen of a consumer, with offsets that do not count repeated markers of the last log."""
    last = max(looks, key=lambda look: look.when[1])
    repeated = _repeated(last.entries)

    def offset(real: int) -> int:
        return real - sum(place < real for place in repeated)

    return replace(
        consumer,
        joined=tuple(replace(one, position=offset(one.position)) for one in consumer.joined),
        given=tuple(replace(one, offset=offset(one.offset)) for one in consumer.given),
    )


def _lost_with_process(seen: Observations, transactions: OfTransactions) -> Iterator[Request]:
    """Yield a request for each transaction that the coordinator has, and of which the ended process sent nothing."""
    requested = {record for request in seen.requests for record in request.records}
    ends = [done.when for done in seen.done if done.control in _ENDS]
    for number, (begin, end) in enumerate(ends, 1):
        started = max((when[1] for when in ends if when[1] <= begin), default=0.0)
        sends = [send for send in seen.sends if started <= send.when[0] <= begin and send.record not in requested]
        decided = [one for one in transactions.decisions if sends and one.seen >= sends[0].when[0]]
        if sends and decided and decided[0].status == "Ongoing":
            leader = _leader(seen, begin)
            yield Request(
                -number,
                leader,
                (sends[0].record,),
                sends[0].when[0],
                left=None,
                given_up=end,
                answered=None,
                error=None,
            )


def _leader(seen: Observations, when: float) -> int:
    """Return the leader that the controller had at a time."""
    decisions = [one for one in seen.decisions if isinstance(one, PartitionDecision) and one.seen <= when]
    return next((one.leader for one in reversed(decisions) if one.leader), seen.first.leader)


def _until_decided(done: Done, transactions: OfTransactions) -> Done:
    """Let the end of a process that has asked to commit last until the coordinator's next decision."""
    if done.control not in _ENDS or not any(done.when[0] <= time <= done.when[1] for time in transactions.committing):
        return done
    later = [one.seen for one in transactions.decisions if one.seen > done.when[1]]
    return replace(done, when=(done.when[0], min(later, default=done.when[1])))
