"""Observations from the frames of a proxy and the events of a client program."""

from __future__ import annotations

from proofka.checker.cluster.frames import REQUEST, RESPONSE, Frame
from proofka.checker.cluster.passed import DETACHED, DROPPED, HELD, PASSED, RELEASED, Passed
from proofka.checker.cluster.wire import array, int16, int32, int64, text
from proofka.checker.conformance.gathering import changes_passed, changes_proposed, reports_of, requests_of, sends_of
from proofka.checker.conformance.observations import Report, Request, Send
from proofka.checker.conformance.watching import entries_of
from tests.checker.cluster.segments import batch

CLIENT = "lab-producer"


def produce(
    record: int, *, connection: int = 1, broker: int = 1, at: float = 1.0, client: str = CLIENT, acks: int = -1
) -> Frame:
    data = batch(0, [b"record-%d" % record], epoch=-1, time=0)
    partitions = array([int32(0) + int32(len(data)) + data])
    body = text(None) + int16(acks) + int32(1000) + array([text("t") + partitions])
    link = f"client->{broker}"
    return Frame(link, REQUEST, "Produce", 7, record, client, body, at, connection=connection)


def answer(request: Frame, *, error: int = 0, at: float = 2.0) -> Frame:
    partition = int32(0) + int16(error) + int64(5) + int64(-1) + int64(0)
    body = array([text("t") + array([partition])]) + int32(0)
    connection, client = request.connection, request.client
    return Frame(request.link, RESPONSE, "Produce", 7, 1, client, body, at, connection=connection, request=request)


def record(*entries: tuple[float, Frame, str]) -> list[Passed]:
    return [Passed(at, frame, fate, index) for index, (at, frame, fate) in enumerate(entries)]


def test_a_request_and_its_answer() -> None:
    request = produce(1)
    seen = record((1.5, request, HELD), (3.0, request, RELEASED), (4.0, answer(request, error=6), PASSED))
    assert requests_of(seen, CLIENT, 2) == (
        Request(1, 1, (1,), arrived=1.0, left=3.0, given_up=None, answered=4.0, error=6),
    )


def test_requests_of_others_and_of_other_records_are_left_out() -> None:
    frames = (produce(7), produce(0, client="another"))
    assert requests_of(record(*((2.0, frame, PASSED) for frame in frames)), CLIENT, 2) == ()


def test_a_request_that_was_dropped_never_left() -> None:
    request, lost = produce(0), produce(1, connection=2)
    seen = record((1.5, request, HELD), (2.0, request, DROPPED), (2.5, lost, PASSED), (3.0, answer(lost), DROPPED))
    dropped, unanswered = requests_of(seen, CLIENT, 2)
    assert (dropped.left, dropped.given_up) == (None, 2.0)
    assert (unanswered.left, unanswered.given_up, unanswered.answered) == (2.5, None, None)


def test_a_request_with_acks_0_asks_for_no_answer() -> None:
    seen = record(*((1.5, produce(number, acks=number), PASSED) for number in (0, 1)))
    assert [(one.records, one.answerable) for one in requests_of(seen, CLIENT, 2)] == [((0,), False), ((1,), True)]


def test_requests_that_are_delivered_late_have_not_left_in_time() -> None:
    held, behind = produce(0), produce(1)
    seen = record((1.5, held, HELD), (2.0, held, DETACHED), (5.0, held, RELEASED), (5.1, behind, PASSED))
    assert [(one.left, one.given_up) for one in requests_of(seen, CLIENT, 2)] == [(None, 2.0), (None, 2.0)]


def test_answers_about_the_isr_are_found_by_broker() -> None:
    frames = [Frame(f"{broker}->controller", RESPONSE, "AlterPartition", 3, 1, "", b"", 0.0) for broker in (1, 2, 1)]
    request = Frame("1->controller", REQUEST, "AlterPartition", 3, 1, "", b"", 0.0)
    seen = record((1.0, request, PASSED), *((2.0 + n, frame, PASSED) for n, frame in enumerate(frames)))
    assert changes_passed(seen) == {1: (2.0, 4.0), 2: (3.0,)}
    assert changes_proposed(seen) == {1: (1.0,)}


def test_sends_and_reports_have_intervals() -> None:
    events = [
        {"event": "sent", "record": 0, "at": 5.0},
        {"event": "report", "record": 0, "at": 6.0, "error": None, "code": None},
        {"event": "report", "record": 90, "at": 6.5, "error": None, "code": None},
        {"event": "report", "record": 1, "at": 7.0, "error": "too late", "code": "TimeoutException"},
    ]
    assert sends_of(events, {0: 4.0, 1: 4.5}, 9.0) == (Send(0, (4.0, 5.001)), Send(1, (4.5, 9.0)))
    assert reports_of(events, 2) == (Report(0, (5.999, 6.001), None), Report(1, (6.999, 7.001), "TimeoutException"))


def test_entries_begin_at_the_first_offset_of_the_run() -> None:
    from proofka.checker.cluster.batches import batches

    log = tuple(batches(batch(0, [b"record-90"], epoch=3, time=0) + batch(1, [b"record-0"], epoch=4, time=0)))
    assert [(entry.record, entry.leader_epoch) for entry in entries_of(log, 1)] == [(0, 4)]
