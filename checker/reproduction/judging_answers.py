"""Judgements of transactions, of answers to the producer, and of readings (see judgement.py)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Callable

from proofka.checker.reproduction.observed import Evidence, Observed
from proofka.checker.reproduction.transacting import ABORTED, OPEN


def torn(observed: Observed) -> Evidence:
    """Return the transactions of which the consumer can be given a part only."""
    found = []
    for records, outcome in observed.transactions:
        given = [record for record in records if record in observed.given]
        missing = [record for record in records if record not in observed.given]
        if given and missing:
            found.append(
                f"broker {observed.leader} gives {_named(given)} to the consumer, and not {_named(missing)} of the "
                f"same transaction ({outcome})"
            )
    return tuple(found)


def read_though_aborted(observed: Observed) -> Evidence:
    """Return the records that the consumer can be given, although the application knows that they are aborted."""
    return _given_in(observed, ABORTED, "the application knows that the transaction is aborted")


def read_before_commit(observed: Observed) -> Evidence:
    """Return the records that the consumer can be given, although the application has not ended the transaction."""
    return _given_in(observed, OPEN, "the application has not committed the transaction")


def _given_in(observed: Observed, outcome: str, why: str) -> Evidence:
    found = []
    for records, ended in observed.transactions:
        given = [record for record in records if record in observed.given]
        if given and ended == outcome:
            found.append(f"broker {observed.leader} gives {_named(given)} to the consumer, and {why}")
    return tuple(found)


def hanging(observed: Observed) -> Evidence:
    """Return the first record that stays in an open transaction, although the coordinator has nothing to finish."""
    is_at_rest = not observed.coordinator.startswith(("Ongoing", "Prepare"))
    end = observed.log[-1][0] + 1 if observed.log else 0
    if not is_at_rest or observed.leader is None or not observed.last_stable < observed.high_watermark == end:
        return ()
    return (
        f"readers of broker {observed.leader} wait at offset {observed.last_stable}, before its end {end}, for the end "
        f"of a transaction; the coordinator answers: {observed.coordinator}",
    )


def failed_send(observed: Observed) -> Evidence:
    """Return the records whose send failed for good."""
    return tuple(f"the send of record {record} failed" for record in observed.failed_for_good)


def stored_failure(observed: Observed) -> Evidence:
    """Return the records that are in the log of the leader although their send failed."""
    return tuple(
        f"the send of record {record} failed, and the record is in the log of broker {observed.leader}, which leads"
        for record in observed.failed_for_good
        if record in observed.stored
    )


def failed_read(observed: Observed) -> Evidence:
    """Return the records that the consumer was given, or can be given, although their send failed."""
    return tuple(
        f"the send of record {record} failed, and the consumer is given the record"
        for record in observed.failed_for_good
        if record in observed.given or record in observed.processed
    )


def dropped(observed: Observed) -> Evidence:
    """Return the records whose send failed, and that are not in the log of the leader."""
    return tuple(
        f"the send of record {record} failed, and the record is not in the log of broker {observed.leader}, which leads"
        for record in observed.failed_for_good
        if observed.leader is not None and record not in observed.stored
    )


def few_copies(observed: Observed) -> Evidence:
    """Return the records that are acknowledged with fewer copies than ``min.insync.replicas``."""
    found = []
    for record in observed.about_to_be_acknowledged:
        logs = (*observed.other_logs.values(), observed.log)
        having = [log for log in logs if any(what == f"record {record}" for _, what in log)]
        if len(having) < observed.min_insync:
            found.append(
                f"a broker acknowledges record {record}, which {len(having)} logs have "
                f"(min.insync.replicas={observed.min_insync})"
            )
    return tuple(found)


def gap(observed: Observed) -> Evidence:
    """Return the records that no log has, although a record that was sent later is below the high watermark."""
    order = list(dict.fromkeys(observed.sent))
    committed = [
        int(what.split()[1])
        for offset, what in observed.log
        if what.startswith("record ") and offset < observed.high_watermark
    ]
    elsewhere = {what for log in observed.other_logs.values() for _, what in log}
    found = []
    for place, record in enumerate(order):
        later = [other for other in order[place + 1 :] if other in committed]
        if later and record not in observed.stored and f"record {record}" not in elsewhere:
            found.append(
                f"record {record} is in no log, and record {later[0]}, which was sent after it, is below the high "
                f"watermark of broker {observed.leader}"
            )
    return tuple(found)


def unstable(observed: Observed) -> Evidence:
    """Return the offsets at which a reader could be given a record that the leader does not have there any more."""
    now = dict(observed.log)
    return tuple(
        f"offset {offset} had {read.content} for readers of broker {read.broker} after step {read.step}, and has "
        f"{now.get(offset, 'nothing')} at broker {observed.leader}, which leads"
        for offset, read in sorted(observed.read_before.items())
        if observed.leader is not None and now.get(offset) != read.content
    )


def _named(records: list[int]) -> str:
    return " and ".join(f"record {record}" for record in records)


JUDGEMENTS: Mapping[str, Callable[[Observed], Evidence]] = MappingProxyType(
    {
        "atomicity": torn,
        "no-aborted-read": read_though_aborted,
        "no-uncommitted-read": read_before_commit,
        "no-hanging-transaction": hanging,
        "no-failed-send": failed_send,
        "no-stored-failure": stored_failure,
        "no-failed-read": failed_read,
        "no-dropped-record": dropped,
        "enough-copies": few_copies,
        "no-gap": gap,
        "read-stability": unstable,
    }
)
"""The judgement of each property of transactions, answers and readings."""
