"""Settings that a replay changes, by what the trace has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.checker.reproduction.adjusting import (
    AUTO_COMMITS,
    GIVES_UP_IN_FLIGHT,
    LEARNS_BY_AGE,
    LONG_SESSION,
    SESSION,
    adjusted,
    adjusted_client,
    committed_by,
    session_of,
    situations_of,
)
from proofka.checker.reproduction.plan import PlannedClient
from tests.checker.reproduction.traces import Trace


def test_the_lag_is_short_only_where_the_trace_shrinks_the_isr() -> None:
    key = "replica.lag.time.max.ms"
    long, _ = adjusted(Trace().add("kill", broker=1).plan(), "broker", "", {})
    short, _ = adjusted(Trace().add("shrink_isr", leader=1).plan(), "broker", "", {})
    assert int(long[key]) > 30_000 > int(short[key])


def test_a_changed_setting_is_told_with_the_value_that_was_given() -> None:
    used, changed = adjusted(Trace().plan(), "producer", "java", {"batch.size": "16384"})
    assert used["batch.size"] == "0"
    told = next(one for one in changed if one.key == "batch.size")
    assert (told.scope, told.given, told.used) == ("producer", "16384", "0")
    assert told.reason


def test_the_last_of_several_rows_for_a_setting_counts_and_is_told_once() -> None:
    sarama = PlannedClient("sarama", None)
    killed = Trace().add("kill", broker=1).plan()
    fails = Trace().add("kill", broker=1).add("fail_to_connect", batch=0).plan()
    for plan, backoff in ((killed, "2s"), (fails, "500ms")):
        used, changed = adjusted_client(plan, "producer", sarama)
        assert used["Producer.Retry.Backoff"] == backoff
        assert [one.used for one in changed if one.key == "Producer.Retry.Backoff"] == [backoff]


def test_a_session_outlasts_the_start_of_a_broker_that_starts_before_its_end() -> None:
    assert session_of(Trace().add("kill", broker=1).plan()) == SESSION
    assert session_of(Trace().add("kill", broker=1).add("start_early", broker=1).plan()) == LONG_SESSION


def test_a_default_is_told_where_no_value_was_given() -> None:
    _, changed = adjusted(Trace().plan(effective={"producer.batch.size": "16384"}), "producer", "java", {})
    assert next(one for one in changed if one.key == "batch.size").given == "16384"


def test_a_setting_that_has_the_value_already_is_not_changed() -> None:
    used, changed = adjusted(Trace().plan(), "producer", "java", {"batch.size": "0", "linger.ms": "7"})
    assert not any(one.key == "batch.size" for one in changed)
    assert used["linger.ms"] == "7"


def test_a_client_has_the_rows_of_its_library() -> None:
    used, _ = adjusted_client(Trace().plan(), "producer", PlannedClient("librdkafka", None, {"acks": "all"}))
    assert used["batch.num.messages"] == "1"
    assert "batch.size" not in used
    assert used["acks"] == "all"


def committed(offset: int) -> Trace:
    """Return the trace whose consumer starts again, and finds this committed offset."""
    return (
        Trace().add("crash_consumer").add("restart_consumer", state={"committed offset at the last start": str(offset)})
    )


def test_a_start_that_finds_another_offset_than_the_one_before_tells_of_a_commit() -> None:
    assert committed_by(committed(1).plan(), 2) == 1
    assert committed_by(committed(1).plan(), 1) is None
    assert committed_by(committed(0).plan(), 2) is None


def test_an_offset_that_has_expired_is_no_commit() -> None:
    key = "committed offset at the last start"
    assert committed_by(committed(1).add("restart_consumer_at_end", state={key: "none"}).plan(), 3) is None


@pytest.mark.parametrize(("offset", "waits"), [(1, True), (0, False)])
def test_a_consumer_commits_soon_only_where_the_trace_has_a_commit(offset: int, waits: bool) -> None:
    plan = replace(committed(offset).plan(), application={"commit": "auto"})
    used, _ = adjusted(plan, "consumer", "java", {})
    assert (AUTO_COMMITS in situations_of(plan)) == waits
    assert (int(used["auto.commit.interval.ms"]) < 1000) == waits


@pytest.mark.parametrize("offset", [0, 1])
def test_the_interval_of_commits_stays_where_the_application_commits(offset: int) -> None:
    plan = replace(committed(offset).plan(), application={"commit": "after"})
    used, changed = adjusted(plan, "consumer", "java", {})
    assert "auto.commit.interval.ms" not in used
    assert not any(one.key == "auto.commit.interval.ms" for one in changed)


def moved(*actions: str, acks: str = "all") -> bool:
    """Tell whether the producer of a trace that goes to broker 1 and then to broker 2 learns by age."""
    trace = Trace().add("transmit", batch=0, leader=1)
    for action in actions:
        trace.add(action, broker=1, batch=0)
    return LEARNS_BY_AGE in situations_of(trace.add("transmit", batch=1, leader=2).plan(acks=acks))


def test_a_producer_that_nothing_tells_of_another_leader_learns_by_age() -> None:
    assert moved()
    assert moved("acknowledge")


@pytest.mark.parametrize(
    "action", ["kill", "notice", "time_out", "reject_not_leader", "crash_producer", "lose_request", "lose_response"]
)
def test_an_action_that_ends_a_request_tells_the_producer(action: str) -> None:
    assert not moved(action)


@pytest.mark.parametrize("action", ["lose_power", "lose_disk"])
def test_a_producer_without_a_request_does_not_notice_that_its_leader_lost_power(action: str) -> None:
    silent = Trace().add(action, broker=1).add("transmit", batch=0, leader=2)
    assert LEARNS_BY_AGE in situations_of(silent.plan())
    other = Trace().add(action, broker=3).add("transmit", batch=0, leader=2)
    assert LEARNS_BY_AGE not in situations_of(other.plan())
    killed = Trace().add("kill", broker=1).add("transmit", batch=0, leader=2)
    assert LEARNS_BY_AGE not in situations_of(killed.plan())


def gives_up(*actions: str) -> bool:
    """Tell whether a producer whose request is sent again after these actions gives up before a request's time."""
    trace = Trace().add("transmit", batch=0, leader=1)
    for action in actions:
        trace.add(action, broker=1, batch=0, leader=1)
    plan = trace.add("transmit", batch=0, leader=2).add("give_up", batch=0).plan()
    used, _ = adjusted(plan, "producer", "java", {})
    assert (GIVES_UP_IN_FLIGHT in situations_of(plan)) == (used["request.timeout.ms"] == used["delivery.timeout.ms"])
    return GIVES_UP_IN_FLIGHT in situations_of(plan)


def test_a_request_that_is_sent_again_runs_out_of_time_only_where_no_step_ends_its_connection() -> None:
    assert gives_up("kill")
    assert gives_up("lose_request", "notice")
    assert gives_up("lose_power", "notice")
    assert not gives_up("lose_power")
    assert not gives_up("time_out")


@pytest.mark.parametrize(
    ("actions", "waits"), [(("time_out", "shrink_isr"), True), (("shrink_isr", "time_out"), False)]
)
def test_a_request_waits_until_its_leader_proposes_a_smaller_isr(actions: tuple[str, ...], waits: bool) -> None:
    trace = Trace()
    for action in actions:
        trace.add(action, leader=1)
    lag, _ = adjusted(trace.plan(), "broker", "", {})
    used, _ = adjusted(trace.plan(), "producer", "java", {})
    most = 1.5 * int(lag["replica.lag.time.max.ms"])  # a leader looks for slow followers once in half that time
    assert (int(used["request.timeout.ms"]) > most) == waits


def test_a_broker_that_rejoins_refuses_the_requests_that_it_has() -> None:
    assert not moved("append", "rejoin")
    assert moved("append", "rejoin", acks="1")


def test_a_broker_that_stops_leading_tells_only_a_producer_whose_request_it_holds() -> None:
    assert not moved("append", "apply_metadata")
    assert moved("append", "apply_metadata", acks="1")
    assert moved("apply_metadata")


@pytest.mark.parametrize(
    ("library", "key"),
    [
        ("java", "security.protocol"),
        ("librdkafka", "security.protocol"),
        ("kafka-python", "security_protocol"),
        ("aiokafka", "security_protocol"),
    ],
)
def test_a_client_with_tls_or_sasl_connects_without_either_and_the_change_is_told(library: str, key: str) -> None:
    given = {key: "SASL_SSL"}
    plan = replace(Trace().plan(), producer=PlannedClient(library, None, given))
    used, changed = adjusted(plan, "producer", library, given)
    assert used[key].upper() == "PLAINTEXT"
    assert [one.given for one in changed if one.key == key] == ["SASL_SSL"]
    _, others = adjusted(plan, "consumer", library, {})
    assert key not in {one.key for one in others}
