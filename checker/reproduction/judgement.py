"""For each property, what in the observations shows that the property fails.

A judgement knows nothing of the model: it reads delivery reports, the log of the leader, committed offsets and what
the consumer was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Callable

from proofka.checker.reproduction import judging_answers
from proofka.checker.reproduction.errors import UnknownOutcome
from proofka.checker.reproduction.observed import Evidence, Observed


def acked_loss(observed: Observed) -> Evidence:
    """Return the records that were acknowledged and are not in the log of the leader."""
    return tuple(
        f"record {record} was reported as stored, and {_missing(observed, record)}"
        for record in observed.acknowledged
        if observed.leader is not None and record not in observed.stored
    )


def _missing(observed: Observed, record: int, subject: str = "") -> str:
    """Return what the log of the leader has instead of the record. ``subject``: what begins the words, if needed."""
    where = f"the log of broker {observed.leader}, which leads"
    return f"its transaction is aborted in {where}" if record in observed.aborted else f"{subject}is not in {where}"


def silent_loss(observed: Observed) -> Evidence:
    """Return the records that send() accepted, that nobody reported as failed, and that the leader does not have."""
    return tuple(
        f"send() accepted record {record}, no report said that the send failed, and "
        + _missing(observed, record, f"record {record} ")
        for record in _distinct(observed.sent)
        if observed.leader is not None and record not in observed.failed and record not in observed.stored
    )


def log_duplicate(observed: Observed) -> Evidence:
    """Return the records that stand in the log of the leader more than once.

    With transactions only what the consumer can be given counts as standing in the log.
    """
    if observed.transactions:
        return tuple(
            f"broker {observed.leader} gives record {record} to the consumer {observed.given.count(record)} times"
            for record in sorted(set(observed.given))
            if observed.given.count(record) > 1
        )
    found = []
    for record in sorted(set(observed.stored)):
        offsets = [offset for offset, content in observed.log if content == f"record {record}"]
        if len(offsets) > 1:
            where = " and ".join(map(str, offsets))
            found.append(f"record {record} stands in the log of broker {observed.leader} at offsets {where}")
    return tuple(found)


def reprocessing(observed: Observed) -> Evidence:
    """Return the records that were processed more than once."""
    handled = observed.processed + observed.with_workers + observed.late
    return tuple(
        f"the application was given record {record} for processing {handled.count(record)} times"
        for record in sorted(set(handled))
        if handled.count(record) > 1
    )


def skip(observed: Observed) -> Evidence:
    """Return the records before the committed offset that nobody processed and that no worker has."""
    return tuple(
        f"the committed offset {observed.committed} is past record {content.split()[1]} at offset {offset}, which "
        "nobody processed"
        for offset, content in observed.log
        if observed.committed is not None
        and offset < observed.committed
        and content.startswith("record ")
        and int(content.split()[1]) not in observed.processed + observed.with_workers
    )


def log_order(observed: Observed) -> Evidence:
    """Return the records that stand in the log behind a record that was sent later."""
    stored = observed.given if observed.transactions else observed.stored
    return _out_of_order(stored, observed.sent, f"stands in the log of broker {observed.leader} behind")


def processing_order(observed: Observed) -> Evidence:
    """Return the records that were processed after a record that was sent later, or can be, in workers side by side."""
    found = _out_of_order(observed.processed, observed.sent, "was processed after")
    if not found and len(set(observed.with_workers)) > 1:
        names = " and ".join(f"record {record}" for record in sorted(set(observed.with_workers)))
        return (f"workers have {names} at once, in no order",)
    return found


def _out_of_order(seen: tuple[int, ...], sent: tuple[int, ...], verb: str) -> Evidence:
    order = {record: place for place, record in enumerate(_distinct(sent))}
    found = []
    for place, record in enumerate(seen):
        later = [other for other in seen[:place] if order.get(other, -1) > order.get(record, -1)]
        if later:
            found.append(f"record {record} {verb} record {later[0]}, which was sent after it")
    return tuple(found)


def deleted(observed: Observed) -> Evidence:
    """Return the records that the leader has deleted, and that nobody processed."""
    done = observed.processed + observed.with_workers + observed.late
    return tuple(
        f"broker {observed.leader} has deleted {content} at offset {offset}, which nobody processed"
        for offset, content in observed.log
        if offset < observed.log_start and content.startswith("record ") and int(content.split()[1]) not in done
    )


def loss(observed: Observed) -> Evidence:
    """Return the records that are lost from end to end: in the log of the leader or before the committed offset."""
    return silent_loss(observed) + skip(observed) + deleted(observed)


def effect(observed: Observed) -> Evidence:
    """Return the records whose effect is missing for good, or happened twice."""
    return silent_loss(observed) + skip(observed) + deleted(observed) + reprocessing(observed)


def disagreement(observed: Observed) -> Evidence:
    """Return the offsets at which the leader and another broker hold different entries.

    Entries of different leader epochs differ, although both have the same record.
    """
    leader = observed.leader
    mine = {offset: (content, epoch) for offset, content, epoch in observed.entries.get(leader or 0, ())}
    return tuple(
        f"offset {offset} holds {mine[offset][0]} of epoch {mine[offset][1]} at broker {leader} and {content} of epoch "
        f"{epoch} at broker {broker}"
        for broker, log in sorted(observed.entries.items())
        for offset, content, epoch in log
        if mine.get(offset, (content, epoch)) != (content, epoch)
    )


def _distinct(records: tuple[int, ...]) -> tuple[int, ...]:
    seen: set[int] = set()
    return tuple(record for record in records if not (record in seen or seen.add(record)))  # type: ignore[func-returns-value]


JUDGEMENTS: Mapping[str, Callable[[Observed], Evidence]] = MappingProxyType(
    {
        **judging_answers.JUDGEMENTS,
        "no-acked-loss": acked_loss,
        "no-silent-loss": silent_loss,
        "no-log-duplicate": log_duplicate,
        "no-reprocessing": reprocessing,
        "no-skip": skip,
        "no-loss": loss,
        "exactly-once-effect": effect,
        "log-order": log_order,
        "processing-order": processing_order,
        "replica-agreement": disagreement,
    }
)
"""The judgement of each property that a replay can judge."""


def judge(name: str, observed: Observed) -> Evidence:
    """Return what shows that a property fails; nothing if the observations do not show it.

    Raises UnknownOutcome if the property cannot be judged from one run (such as recoverability).
    """
    if name not in JUDGEMENTS:
        raise UnknownOutcome(f"{name}: no observation of one run shows that this property fails")
    return JUDGEMENTS[name](observed)
