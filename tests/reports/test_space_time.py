"""The space-time diagram: the lanes, and the end of every message."""

from __future__ import annotations

from proofka.properties.verdict import Change, Shown, Step, Trace
from proofka.reports.messages import message_of
from proofka.reports.space_time import Arrow, End, Gap, Mark, space_time
from tests.reports import samples

BROKERS = tuple(
    shown
    for number in (1, 2, 10)
    for shown in (
        Shown(f"broker {number}", f"broker {number}", "up"),
        Shown(f"broker {number}'s log", f"broker {number}", "[]", ()),
    )
)
PRODUCER, BROKER_1, BROKER_2, BROKER_10 = 0, 1, 2, 3


def step(action: str, actor: str, fault: str | None = None, *changes: Change, **arguments: int) -> Step:
    return Step(actor, "producer", action, arguments, f"{actor}: {action}", fault, changes)


def diagram(*steps: Step) -> list[Arrow]:
    return list(space_time(Trace((), steps, "fails", BROKERS)).arrows)


GONE = "; an abandoned request is at broker 1"
WAITS = "in the accumulator"


def of_record(number: int, before: str, after: str) -> Change:
    return Change(f"record {number}", before, after)


TRANSMIT = step(
    "transmit", "producer", None, of_record(1, "in the accumulator", "on its way to broker 1"), batch=0, leader=1
)
APPEND = step("append", "broker 1", None, of_record(1, "on its way to broker 1", "appended"), batch=0, leader=1)
KILL = step(
    "kill",
    "broker 1",
    "kill",
    Change("broker 1", "up", "down"),
    of_record(1, "on its way to broker 1", WAITS),
    broker=1,
)
LATE = step("execute_delayed", "broker 1", None, of_record(1, WAITS + GONE, WAITS), batch=0, leader=1)
HELD = step(
    "delay_request", "network", "delayed-request", of_record(1, "on its way to broker 1", WAITS + GONE), batch=0
)
AGAIN = step(
    "transmit", "producer", None, of_record(1, WAITS + GONE, "on its way to broker 1" + GONE), batch=0, leader=1
)


def test_lanes_are_the_participants_and_every_broker_by_number() -> None:
    trace = Trace((), (TRANSMIT, step("poll", "consumer", leader=2, count=1)), "fails", BROKERS)
    assert space_time(trace).lanes == ("producer", "broker 1", "broker 2", "broker 10", "consumer")
    apart = Trace((), (step("write_marker", "broker 1", leader=1, transaction=1, commits=1),), "fails", BROKERS)
    assert space_time(apart).lanes == ("coordinator", "broker 1", "broker 2", "broker 10")


def test_state_of_all_brokers_is_marked_at_the_coordinator() -> None:
    trace = Trace((), (step("lose_offsets", "brokers", "lost-offsets"),), "fails", BROKERS)
    assert space_time(trace).lanes[0] == "coordinator"
    assert space_time(trace).marks == (Mark(1, 0, "lost-offsets"),)


def test_a_request_leaves_in_one_step_and_arrives_in_another() -> None:
    assert diagram(TRANSMIT, step("kill", "broker 2", "kill", broker=2), APPEND) == [
        Arrow(1, PRODUCER, 3, BROKER_1, "request")
    ]


def test_a_refusal_answers_at_once() -> None:
    refusal = step(
        "reject_not_leader", "broker 1", None, of_record(1, "on its way to broker 1", WAITS), batch=0, broker=1
    )
    assert diagram(TRANSMIT, refusal) == [
        Arrow(1, PRODUCER, 2, BROKER_1, "request"),
        Arrow(2, BROKER_1, 2, PRODUCER, "refusal"),
    ]


def test_requests_that_never_arrive_are_lost() -> None:
    lost = step("lose_request", "network", "lost-request", of_record(1, "on its way to broker 1", "in flight"), batch=0)
    assert diagram(TRANSMIT, lost) == [Arrow(1, PRODUCER, 2, BROKER_1, "request", End.LOST)]
    silent = step("lose_response", "network", "lost-response", batch=0)
    assert diagram(TRANSMIT, APPEND, silent)[1:] == [Arrow(3, BROKER_1, 3, PRODUCER, "answer", End.LOST)]


def test_requests_to_a_broker_that_dies_are_lost() -> None:
    assert diagram(TRANSMIT, KILL) == [Arrow(1, PRODUCER, 2, BROKER_1, "request", End.LOST)]
    elsewhere = step("kill", "broker 2", "kill", Change("broker 2", "up", "down"), broker=2)
    assert diagram(TRANSMIT, elsewhere) == [Arrow(1, PRODUCER, 3, BROKER_1, "request", End.OPEN)]


def test_an_abandoned_request_may_arrive_after_its_retry() -> None:
    written = step(
        "append", "broker 1", None, of_record(1, "on its way to broker 1" + GONE, "appended" + GONE), batch=0, leader=1
    )
    assert diagram(TRANSMIT, HELD, AGAIN, written, LATE) == [
        Arrow(3, PRODUCER, 4, BROKER_1, "request"),
        Arrow(1, PRODUCER, 5, BROKER_1, "abandoned"),
    ]


def test_requests_of_a_crashed_producer_can_arrive_later() -> None:
    crash = step(
        "crash_producer",
        "application",
        "producer-crash",
        of_record(1, "on its way to broker 1", "forgotten" + GONE),
        position=0,
    )
    assert diagram(TRANSMIT, crash, LATE) == [Arrow(1, PRODUCER, 3, BROKER_1, "abandoned")]
    assert diagram(TRANSMIT, crash)[0].end is End.OPEN
    dropped = step("discard_delayed", "network", None, of_record(1, "forgotten" + GONE, "forgotten"), batch=0)
    assert diagram(TRANSMIT, crash, dropped) == [Arrow(1, PRODUCER, 3, BROKER_1, "abandoned", End.LOST)]


def test_a_record_has_one_abandoned_request() -> None:
    """The model forgets the earlier request, which has no further effect."""
    held = step(
        "delay_request",
        "network",
        "delayed-request",
        of_record(1, "on its way to broker 1" + GONE, WAITS + GONE),
        batch=0,
    )
    assert diagram(TRANSMIT, HELD, AGAIN, held, LATE) == [
        Arrow(1, PRODUCER, 4, BROKER_1, "abandoned", End.LOST),
        Arrow(3, PRODUCER, 5, BROKER_1, "abandoned"),
    ]
    lost = step("lose_request", "network", "lost-request", held.changes[0], batch=0)
    assert diagram(TRANSMIT, HELD, AGAIN, lost, LATE) == [
        Arrow(3, PRODUCER, 4, BROKER_1, "request", End.LOST),
        Arrow(1, PRODUCER, 5, BROKER_1, "abandoned"),
    ]


def test_nothing_begins_where_it_is_received() -> None:
    assert diagram(APPEND) == []
    assert diagram(LATE) == []


def test_a_late_answer_is_one_to_the_request_that_ends_with_it() -> None:
    given_up = step("give_up", "producer", None, of_record(1, "on its way to broker 1", "failed" + GONE), batch=0)
    error = step("hear_late_error", "producer", None, of_record(1, "failed" + GONE, "failed"), batch=0)
    assert diagram(TRANSMIT, given_up, error) == [
        Arrow(1, PRODUCER, 3, BROKER_1, "abandoned"),
        Arrow(3, BROKER_1, 3, PRODUCER, "answer"),
    ]
    of_nothing = step("hear_late_error", "producer", batch=0)
    assert diagram(TRANSMIT, APPEND, of_nothing) == [Arrow(1, PRODUCER, 2, BROKER_1, "request")]


def test_a_batch_that_is_split_was_one_request() -> None:
    other = step("transmit", "producer", None, of_record(2, WAITS, "on its way to broker 1"), batch=1, leader=1)
    both = tuple(of_record(number, "on its way to broker 1", WAITS) for number in (1, 2))
    split = step("split_batch", "broker 1", "split-batch", *both, batch=0, leader=1)
    assert diagram(TRANSMIT, other, split) == [
        Arrow(1, PRODUCER, 3, BROKER_1, "request"),
        Arrow(2, PRODUCER, 3, BROKER_1, "request"),
        Arrow(3, BROKER_1, 3, PRODUCER, "refusal"),
    ]


def test_arrow_of_a_fetch_points_to_the_broker_that_learns() -> None:
    copied = step("fetch", "broker 2", None, Change("broker 2's log", "[]", "[record 1 @1]"), follower=2, leader=1)
    assert diagram(copied) == [Arrow(1, BROKER_1 - 1, 1, BROKER_2 - 1, "records")]
    learned = step("fetch", "broker 2", None, Change("broker 1's high watermark", "0", "1"), follower=2, leader=1)
    assert diagram(learned) == [Arrow(1, BROKER_2 - 1, 1, BROKER_1 - 1, "fetch")]


def test_records_are_told_apart() -> None:
    other = step("transmit", "producer", None, of_record(2, WAITS, "on its way to broker 1"), batch=1, leader=1)
    assert diagram(TRANSMIT, other, APPEND) == [
        Arrow(1, PRODUCER, 3, BROKER_1, "request"),
        Arrow(2, PRODUCER, 4, BROKER_1, "request", End.OPEN),
    ]


def test_a_lane_is_broken_while_its_process_is_gone() -> None:
    kill = step("kill", "broker 2", "kill", Change("broker 2", "up", "down"), broker=2)
    restart = step("restart", "broker 2", None, Change("broker 2", "down", "up"), broker=2)
    trace = Trace((), (TRANSMIT, kill, APPEND, restart, kill), "fails", BROKERS)
    assert space_time(trace).gaps == (Gap(BROKER_2, 2, 4), Gap(BROKER_2, 5, 5))


def test_a_step_without_the_argument_is_no_message() -> None:
    assert message_of(step("fail_and_close", "consumer")) is None
    assert message_of(step("fail_and_close", "consumer", leader=1, count=1, done=0)) is not None


def test_a_trace_of_an_earlier_version_has_no_states_and_is_drawn() -> None:
    earlier = Trace((), samples.KILL_TRACE.steps, "fails")
    assert space_time(earlier).lanes == ("producer", "broker 1", "controller")
