"""Observations at the end of a replay, on which a judgement rests, and readings after each step."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from proofka.checker.cluster.coordination import transaction_of
from proofka.checker.cluster.errors import ClusterError, NotSeen
from proofka.checker.cluster.plan import CONTROLLER
from proofka.checker.cluster.reading import Given, given_by
from proofka.checker.cluster.sends import send_of
from proofka.checker.cluster.waiting import until
from proofka.checker.reproduction.answers import error_of
from proofka.checker.reproduction.applications import Report
from proofka.checker.reproduction.errors import DivergedError
from proofka.checker.reproduction.observed import Observed, Read
from proofka.checker.reproduction.replay import SECONDS, Replay
from proofka.checker.reproduction.steps.results import write_late_results
from proofka.checker.reproduction.transacting import ABORTED, COMMITTED, REFUSED

ANSWER_SECONDS = 2.0
"""Longest wait until the answers of brokers that can answer are at the proxy, in seconds."""


def observe(replay: Replay) -> Observed:
    """Return the observations on which a judgement rests."""
    leader = replay.leader
    logs = {broker: _log(replay, broker) for broker in replay.brokers}
    acknowledged, failed = _told(replay)
    given = _given(replay, leader)
    read = tuple(send_of(value).record for _, value in given.records) if given is not None else ()
    transacting = replay.transacting
    return Observed(
        leader=leader,
        log=logs.get(leader, ()) if leader is not None else (),
        sent=tuple(send.record for send in replay.producing.sent),
        acknowledged=tuple(sorted(acknowledged)),
        failed=tuple(sorted(failed)),
        processed=tuple(replay.consuming.processed),
        with_workers=tuple(replay.consuming.with_workers.values()),
        committed=_committed(replay),
        other_logs={broker: log for broker, log in logs.items() if broker != leader},
        late=_late(replay),
        entries={broker: replay.modelled_entries(broker) for broker in replay.brokers},
        log_start=_log_start(replay, leader),
        given=read,
        high_watermark=given.high_watermark if given is not None else 0,
        last_stable=given.last_stable if given is not None else 0,
        about_to_be_acknowledged=_about_to_be_acknowledged(replay),
        min_insync=int(replay.plan.effective.get("topic.min.insync.replicas", "1")),
        read_before=dict(replay.read_before),
        transactions=tuple((tuple(one.records), one.outcome) for one in transacting.each) if transacting else (),
        coordinator=str(transaction_of(replay.cluster.harness_port(CONTROLLER), transacting.id)) if transacting else "",
    )


def remember_readings(replay: Replay) -> None:
    """Remember the record that can be read first at each offset, at any broker that believes that it leads."""
    for broker in replay.brokers:
        given = _given(replay, broker)
        for offset, value in given.records if given is not None else ():
            content = f"record {send_of(value).record}"
            replay.read_before.setdefault(offset, Read(content, broker, replay.step))


def _told(replay: Replay) -> tuple[set[int], set[int]]:
    """Return the records that the application was told are stored, and those that it was told have failed.

    With transactions a record is stored only once its transaction is committed.
    """
    last: dict[int, Report] = {report.send.record: report for report in replay.producing.reports}
    failed = {record for record, report in last.items() if report.error is not None}
    if replay.transacting is None:
        return replay.producing.acknowledged(), failed
    acknowledged: set[int] = set()
    for one in replay.transacting.each:
        if one.outcome == COMMITTED:
            acknowledged.update(one.records)
        if one.outcome in (ABORTED, REFUSED):
            failed.update(one.records)
    return acknowledged, failed


def _late(replay: Replay) -> tuple[int, ...]:
    """Return the records that an evicted member processes in the end, whatever became of its membership.

    Results in a transaction count only if the member can commit them, which it is asked to do now.
    """
    if replay.consuming.start_results is None:
        return tuple(replay.consuming.late.values())
    found = []
    for offset, record in sorted(replay.consuming.late.items()):
        with suppress(DivergedError):
            write_late_results(replay, offset + replay.base, record)
            found.append(record)
    return tuple(found)


def _log_start(replay: Replay, leader: int | None) -> int:
    if leader is None or leader not in replay.brokers or not replay.cluster.node(leader).is_up:
        return 0
    return replay.cluster.range_of(leader, replay.topic).start


def _committed(replay: Replay) -> int | None:
    """Return the offset that the consumer's group has committed, as its coordinator says; None without a consumer.

    A consumer that started beyond records because its committed offset had expired commits its position now: what the
    property says fails with the next commit.
    """
    if not replay.consuming.programs:
        return None
    found = replay.cluster.admin.committed_offset(replay.group, replay.topic)
    program = replay.consuming.program
    if found is not None or program is None or not replay.plan.has("restart_consumer_at_end"):
        return found
    program.ask("commit", seconds=SECONDS)
    return replay.cluster.admin.committed_offset(replay.group, replay.topic)


def _given(replay: Replay, broker: int | None) -> Given | None:
    """Return what a broker gives to the deployment's consumer; None if it gives nothing, or does not lead."""
    if broker is None or broker not in replay.brokers or not replay.cluster.node(broker).is_up:
        return None
    try:
        port = replay.cluster.harness_port(broker)
        given = given_by(port, replay.topic, start=replay.base, committed=replay.plan.reads_committed)
    except ClusterError:
        return None  # a broker that is paused, or that just ends, gives nothing
    return None if given.error else given


def _log(replay: Replay, broker: int) -> tuple[tuple[int, str], ...]:
    """Return (offset, content) of each entry of a broker's log; records that the log aborts are called aborted."""
    ended: Mapping[int, bool] = _ends(replay, broker)
    return tuple(
        (offset, f"aborted {_of_record(what)}" if ended.get(offset) is False else _of_record(what))
        for offset, what, _ in replay.modelled_entries(broker)
    )


def _of_record(content: str) -> str:
    """Return the content of an entry without the number of its send: properties speak of records."""
    return content.partition(" (send ")[0]


def _ends(replay: Replay, broker: int) -> dict[int, bool]:
    """Return, by offset, whether the log commits or aborts a record of a transaction; open records are left out."""
    open_records: dict[int, list[int]] = {}
    ended: dict[int, bool] = {}
    for batch in replay.cluster.batches(broker, replay.topic):
        if batch.marker is not None:
            ended.update((offset, batch.marker == "commit") for offset in open_records.pop(batch.producer_id, []))
        elif batch.is_transactional:
            open_records.setdefault(batch.producer_id, []).extend(record.offset for record in batch.records)
    return ended


def _about_to_be_acknowledged(replay: Replay) -> tuple[int, ...]:
    """Return the records whose success the proxy holds on its way to the producer."""
    if not any(name == "enough-copies" for name, _ in replay.plan.failures):
        return ()

    def held() -> tuple[int, ...]:
        frames = {batch: replay.held_response(batch) for batch in replay.requests}
        return tuple(
            replay.plan.sends[batch].record
            for batch, frame in frames.items()
            if frame is not None and error_of(frame) is None
        )

    try:
        return until(held, what="an answer", seconds=ANSWER_SECONDS)
    except NotSeen:
        return ()
