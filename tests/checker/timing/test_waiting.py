"""Deadlines are late enough: an impossible deadline would hide every later step."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.check import check
from proofka.checker.modelling_assumptions import HEARD_IN_TIME, READ_IN_TIME
from proofka.model.deployment import read_deployment
from proofka.model.deployment.implied.commits import offsets_expire
from proofka.properties.verdict import Status, Verdict

EXAMPLES = Path(__file__).parents[3] / "examples" / "time"

CUT_OFF = """\
kafka: "4.0"
topic: {{replicas: 1}}
producer: {{acks: all, delivery.timeout.ms: {timeout}, on_send_error: drop}}
assume: {{cut_off: {away}, faults: {{total: 1, cut-off: 1}}}}
bounds: {{records: 1, log: 2}}
require: [no-dropped-record]
"""

QUICK_RESTART = """\
kafka: "{kafka}"
topic: {{replicas: 3, min.insync.replicas: 2}}
producer: {{acks: 1, delivery.timeout.ms: 5000, request.timeout.ms: 3000, on_send_error: drop}}
assume: {{broker_restart: {away}, faults: {{total: 1, kill: 1}}}}
bounds: {{records: 1}}
require: [no-acked-loss]
"""

RETENTION = """\
kafka: "4.0"
topic: {{replicas: 1, retention.ms: {retention}}}
producer: {{acks: all}}
consumer: {{group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}}
assume: {{application_restart: 1s..{away}, poll_interval: 0..{polls}, broker_restart: {broker}, faults: {{{faults}}}}}
bounds: {{records: 1}}
require: [no-loss]
"""


def required(folder: Path, text: str) -> Verdict:
    file = folder / "asked.yaml"
    file.write_text(text, encoding="utf-8")
    (found,) = [verdict for verdict in check(read_deployment(file)).verdicts if verdict.required]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kafka", ["3.9", "4.0"])
@pytest.mark.parametrize("away", ["0..0", "1s..5s", "1s..unbounded"])
def test_a_broker_that_is_back_before_its_session_is_over_waits_for_its_end(
    tmp_path: Path, kafka: str, away: str
) -> None:
    verdict = required(tmp_path, QUICK_RESTART.format(kafka=kafka, away=away))
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED, ((("kill", 1),),))


@pytest.mark.parametrize(
    ("timeout", "away", "status"),
    [
        (120_000, "0..10s", Status.HOLDS),
        (120_000, "0..unbounded", Status.VIOLATED),
        (120_000, "0..3min", Status.VIOLATED),
        (180_000, "0..2min", Status.HOLDS),
    ],
)
def test_the_only_leader_is_cut_off_for_longer_than_sends_may_take(
    tmp_path: Path, timeout: int, away: str, status: Status
) -> None:
    """Others tell the producer that there is no leader, so it does not reach the one that still takes itself for it."""
    verdict = required(tmp_path, CUT_OFF.format(timeout=timeout, away=away))
    assert verdict.status is status
    assert verdict.cut_sets == (((("cut-off", 1),),) if status is Status.VIOLATED else ())


REFUSED = """\
kafka: "4.0"
topic: {{replicas: 2, min.insync.replicas: 2}}
producer: {{acks: all, retries: {retries}, on_send_error: drop}}
assume: {{broker_restart: 1s..10s, faults: {{total: 1, kill: 1}}}}
bounds: {{records: 1, log: 2}}
require: [no-dropped-record]
"""


@pytest.mark.parametrize(
    ("retries", "status"),
    [
        pytest.param(4, Status.VIOLATED, marks=pytest.mark.slow),
        pytest.param(9, Status.VIOLATED, marks=pytest.mark.slow),
        (2147483647, Status.HOLDS),
    ],
)
def test_retries_are_over_before_a_broker_is_back(tmp_path: Path, retries: int, status: Status) -> None:
    """Each attempt is refused while one of two replicas is away, for seven seconds at least."""
    assert required(tmp_path, REFUSED.format(retries=retries)).status is status


@pytest.mark.slow
def test_trace_shows_the_refusals_that_use_up_the_retries(tmp_path: Path) -> None:
    """The trace does not show a producer that waits for delivery.timeout.ms beside a leader that it could ask."""
    (trace,) = required(tmp_path, REFUSED.format(retries=4)).traces
    refusals = [step.text for step in trace.steps if "refuses record 1" in step.text]
    assert len(refusals) == 4 and "NOT_ENOUGH_REPLICAS" in refusals[-1], "a new leader refuses until it knows, too"
    assert max(step.at or 0 for step in trace.steps) < 120_000


LATE = """\
kafka: "4.0"
topic: {{replicas: 1}}
producer: {{delivery.timeout.ms: 32000, linger.ms: 0, on_send_error: drop, acks: all}}
assume: {{late_request: {late}, faults: {{total: 1, delayed-request: 1}}}}
bounds: {{records: 2, log: 3, producer_epochs: 3}}
require: [no-log-duplicate]
"""


@pytest.mark.parametrize(("late", "status"), [("0..20s", Status.VIOLATED), ("0..0", Status.HOLDS)])
def test_a_request_is_late_from_when_its_client_gave_up(tmp_path: Path, late: str, status: Status) -> None:
    """Not from when it was held up, which the client notices after request.timeout.ms."""
    assert required(tmp_path, LATE.format(late=late)).status is status


CONNECTING = """\
kafka: "4.0"
topic: {{replicas: 3, min.insync.replicas: 2}}
producer: {{version: "{version}", acks: all, {key}: 600000, delivery.timeout.ms: 400000, on_send_error: drop}}
assume: {{broker_restart: 1s..10min, faults: {{total: 1, power-loss: 1}}}}
bounds: {{records: 1, log: 2}}
require: [no-dropped-record]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "key", "status"),
    [
        ("3.6", "socket.connection.setup.timeout.ms", Status.VIOLATED),
        ("4.0", "socket.connection.setup.timeout.ms", Status.HOLDS),
        ("4.0", "reconnect.backoff.ms", Status.VIOLATED),
    ],
)
def test_a_first_pause_that_outlasts_a_send(tmp_path: Path, version: str, key: str, status: Status) -> None:
    assert required(tmp_path, CONNECTING.format(version=version, key=key)).status is status


def kept_for(retention: str, faults: str, polls: str = "1s", away: str = "1d", broker: str = "1s..1h") -> str:
    return RETENTION.format(retention=retention, faults=faults, polls=polls, away=away, broker=broker)


@pytest.mark.parametrize("faults", ["total: 1, consumer-crash: 1", "total: 1, kill: 1", "total: 0"])
def test_a_poll_that_comes_too_late_needs_no_fault(tmp_path: Path, faults: str) -> None:
    verdict = required(tmp_path, kept_for("200000", faults, polls="unbounded"))
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED, ((),))


@pytest.mark.parametrize(
    ("crashes", "status"), [pytest.param(2, Status.HOLDS, marks=pytest.mark.slow), (3, Status.VIOLATED)]
)
def test_outages_in_a_row_add_up(tmp_path: Path, crashes: int, status: Status) -> None:
    """Sixty hours; each outage takes a day."""
    verdict = required(tmp_path, kept_for("216000000", f"total: {crashes}, consumer-crash: {crashes}"))
    assert verdict.status is status
    assert READ_IN_TIME.text not in verdict.notes


@pytest.mark.parametrize(("polls", "lost"), [("1s", False), ("4min", True)])
def test_a_record_ages_from_its_own_send(tmp_path: Path, polls: str, lost: bool) -> None:
    """The wait in the client, up to delivery.timeout.ms, does not make a record older."""
    verdict = required(tmp_path, kept_for("180000", "total: 1, lost-response: 1", polls=polls))
    assert (verdict.cut_sets == ((),)) is lost


@pytest.mark.slow
def test_outages_of_any_number_can_outlast_any_retention(tmp_path: Path) -> None:
    verdict = required(tmp_path, kept_for("604800000", "consumer-crash: any", away="2d"))
    assert verdict.status is Status.UNKNOWN
    assert any("any number" in note for note in verdict.notes)


@pytest.mark.parametrize(
    ("broker", "status", "assumed"),
    [
        ("1s..1h", Status.HOLDS, False),
        ("1s..14d", Status.VIOLATED, False),
        ("1s..unbounded", Status.HOLDS, True),
    ],
)
def test_a_pass_says_that_outages_of_brokers_without_an_end_are_taken_to_be_short(
    tmp_path: Path, broker: str, status: Status, assumed: bool
) -> None:
    """A week: a broker that is away for longer deletes what was not read when it is back, before it is."""
    verdict = required(tmp_path, kept_for("604800000", "total: 1, kill: 1", broker=broker))
    assert (verdict.status, READ_IN_TIME.text in verdict.notes) == (status, assumed)


HELD_UP = """\
kafka: "4.0"
topic: {{replicas: 3, min.insync.replicas: 2}}
producer: {{acks: all, request.timeout.ms: {request}, delivery.timeout.ms: {delivery}, linger.ms: 0{in_flight},
           on_send_error: drop}}
assume: {{faults: {{total: 1, {kind}: 1}}}}
bounds: {{records: 2, log: 2}}
require: [no-dropped-record]
"""

ONE = ", max.in.flight.requests.per.connection: 1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "in_flight", "request_timeout", "delivery", "status"),
    [
        ("slow-follower", ONE, 10_000, 20_000, Status.VIOLATED),
        ("slow-follower", "", 10_000, 20_000, Status.VIOLATED),
        ("lost-response", ONE, 30_000, 30_000, Status.VIOLATED),
        ("lost-response", ONE, 30_000, 300_000, Status.HOLDS),
        ("slow-follower", ONE, 10_000, 300_000, Status.HOLDS),
    ],
)
def test_a_record_behind_one_that_is_held_up_runs_out_of_time_as_well(
    tmp_path: Path, kind: str, in_flight: str, request_timeout: int, delivery: int, status: Status
) -> None:
    """No broker read the second record, and its own delivery.timeout.ms is over (semantics 3.1, P5 P7 P8)."""
    text = HELD_UP.format(kind=kind, in_flight=in_flight, request=request_timeout, delivery=delivery)
    assert required(tmp_path, text).status is status


HANDED_OFF = """\
kafka: "4.0"
topic: {{replicas: 1, retention.ms: {retention}}}
producer: {{acks: all}}
consumer: {{group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false, processing: handed-off}}
assume: {{processing_time: {takes}, application_restart: 1s..1min, faults: {{total: 1, consumer-crash: 1}}}}
bounds: {{records: 1}}
require: [no-loss]
"""


@pytest.mark.parametrize(
    ("retention", "takes", "status", "assumed"),
    [
        (4_500_000, "0..2h", Status.VIOLATED, False),
        (604_800_000, "0..2h", Status.HOLDS, False),
        (604_800_000, "0..unbounded", Status.HOLDS, True),
    ],
)
def test_a_record_gets_old_while_a_worker_has_it(
    tmp_path: Path, retention: int, takes: str, status: Status, assumed: bool
) -> None:
    """Records that a worker did not finish before the crash must be read again (semantics 12.1)."""
    verdict = required(tmp_path, HANDED_OFF.format(retention=retention, takes=takes))
    assert (verdict.status, READ_IN_TIME.text in verdict.notes) == (status, assumed)


@pytest.mark.parametrize(("heartbeat", "noted"), [(500, False), (2000, True)])
def test_a_pass_says_that_heartbeats_are_taken_to_come_in_time(tmp_path: Path, heartbeat: int, noted: bool) -> None:
    beats = f'kafka: "4.0"\nbroker: {{broker.session.timeout.ms: 1000, broker.heartbeat.interval.ms: {heartbeat}}}\n'
    verdict = required(tmp_path, kept_for("604800000", "total: 1, kill: 1").replace('kafka: "4.0"\n', beats))
    assert verdict.status is Status.HOLDS
    assert (HEARD_IN_TIME.text in verdict.notes) is noted


@pytest.mark.slow
@pytest.mark.parametrize("states", [20, 200])
@pytest.mark.parametrize("name", ["short-retention", "slow-workers", "lagging-follower-kept", "three-retries"])
def test_a_second_look_that_is_cut_short_says_nothing_new(
    monkeypatch: pytest.MonkeyPatch, name: str, states: int
) -> None:
    deployment = read_deployment(EXAMPLES / f"{name}.yaml")
    whole = {verdict.property: verdict for verdict in check(deployment).verdicts}
    monkeypatch.setattr("proofka.checker.timing.limits.LEAST_SECOND_LOOK", states)
    monkeypatch.setattr("proofka.checker.timing.limits.SECOND_LOOK_SHARE", 0.0)
    for verdict in check(deployment).verdicts:
        assert verdict.status in (whole[verdict.property].status, Status.UNKNOWN)


MISLED = """\
kafka: "4.0"
topic: {replicas: 3, min.insync.replicas: 1}
producer: {acks: 1, on_send_error: drop}
assume: {faults: {total: 2, kill: 1, cut-off: 1}, cut_off: %s}
bounds: {records: 1, log: 2}
require: [no-dropped-record]
"""


@pytest.mark.slow
@pytest.mark.parametrize(("away", "status"), [("0..unbounded", Status.VIOLATED), ("0..30s", Status.HOLDS)])
def test_a_producer_that_asks_a_broker_without_news_finds_no_leader(tmp_path: Path, away: str, status: Status) -> None:
    """The producer first asks a broker to which it is connected, and asks this broker repeatedly."""
    verdict = required(tmp_path, MISLED % away)
    assert verdict.status is status
    assert verdict.cut_sets == (((("cut-off", 1), ("kill", 1)),) if status is Status.VIOLATED else ())


RETRIED_AT_LAST = """\
kafka: "4.0"
topic: {replicas: 3, min.insync.replicas: 2}
producer: {acks: all, linger.ms: 0, delivery.timeout.ms: %s, on_send_error: resend}
assume: {faults: {total: 1, lost-request: 1}}
bounds: {records: 1, log: 2, sends: 2}
require: [no-log-duplicate]
"""


@pytest.mark.parametrize(
    ("timeout", "duplicates"), [("31000", True), pytest.param("120000", False, marks=pytest.mark.slow)]
)
def test_a_retry_under_way_when_its_time_is_over_is_sent_again(tmp_path: Path, timeout: str, duplicates: bool) -> None:
    verdict = required(tmp_path, RETRIED_AT_LAST % timeout)
    assert (verdict.status is Status.VIOLATED) is duplicates
    assert verdict.cut_sets == (((("lost-request", 1),),) if duplicates else ())


COMMITS = """\
kafka: "4.0"
topic: {{replicas: 1, retention.ms: 7200000}}
producer: {{acks: all, delivery.timeout.ms: 60000, linger.ms: 0, request.timeout.ms: 10000}}
consumer: {{group.id: orders, auto.offset.reset: latest, max.poll.interval.ms: 10000, {commits}}}
assume: {{application_restart: 1s..1min, broker_restart: 1s..{away}, poll_interval: 0..1s,
         faults: {{total: {faults}, consumer-crash: 1, kill: 1}}}}
bounds: {{records: 2, log: 3}}
require: [no-loss]
"""


@pytest.mark.parametrize(
    ("commits", "away", "faults", "status", "assumed"),
    [
        pytest.param("enable.auto.commit: true", "1min", 2, Status.HOLDS, False, marks=pytest.mark.slow),
        pytest.param("enable.auto.commit: true", "3h", 2, Status.VIOLATED, False, marks=pytest.mark.slow),
        pytest.param(
            "enable.auto.commit: true, auto.commit.interval.ms: 10800000",
            "1min",
            1,
            Status.VIOLATED,
            False,
            marks=pytest.mark.slow,
        ),
        ("enable.auto.commit: false", "1min", 1, Status.HOLDS, False),
    ],
)
def test_a_consumer_that_reaches_its_coordinator_commits(
    tmp_path: Path, commits: str, away: str, faults: int, status: Status, assumed: bool
) -> None:
    """An offset that retention has left, as nothing was committed since, is reset to the end (semantics 10, 12)."""
    verdict = required(tmp_path, COMMITS.format(commits=commits, away=away, faults=faults))
    assert (verdict.status, READ_IN_TIME.text in verdict.notes) == (status, assumed)


KEPT_FROM_THE_COMMIT = """\
kafka: "{kafka}"
topic: {{replicas: 1, retention.ms: -1}}
broker: {{offsets.retention.minutes: 1440{protocol}}}
producer: {{acks: all, enable.idempotence: false}}
consumer: {{group.id: orders, auto.offset.reset: earliest, enable.auto.commit: {commits}}}
assume: {{application_restart: 1s..1h, faults: {{total: 1, consumer-crash: 1}}}}
bounds: {{records: 1}}
require: [no-reprocessing]
"""


@pytest.mark.parametrize(
    ("kafka", "protocol", "status"),
    [
        ("2.0", "", Status.VIOLATED),
        ("2.1", "", Status.HOLDS),
        ("2.1", ", inter.broker.protocol.version: 2.0", Status.VIOLATED),
    ],
)
def test_offsets_used_to_expire_while_their_group_ran(
    tmp_path: Path, kafka: str, protocol: str, status: Status
) -> None:
    """Nothing new is sent for a day, and nothing is committed: a crash of a second is enough (12 C14, KIP-211)."""
    text = KEPT_FROM_THE_COMMIT.format(kafka=kafka, protocol=protocol, commits="false, commit: before")
    assert required(tmp_path, text).status is status


def test_auto_commit_renewed_offsets_that_expired_while_their_group_ran(tmp_path: Path) -> None:
    """The offsets age from the last commit before the crash, also after days without records."""
    text = KEPT_FROM_THE_COMMIT.format(kafka="2.0", protocol="", commits="true")
    file = tmp_path / "asked.yaml"
    file.write_text(text, encoding="utf-8")
    assert not offsets_expire(read_deployment(file))
    file.write_text(text.replace("1s..1h", "1s..1d"), encoding="utf-8")
    assert offsets_expire(read_deployment(file))


ATTACKED = """\
kafka: "{kafka}"
broker: {{{broker}}}
topic: {{replicas: {replicas}, min.insync.replicas: {least}, retention.ms: {retention}}}
producer: {{acks: all, linger.ms: 0, request.timeout.ms: {request}, delivery.timeout.ms: {delivery}{producer}}}
consumer: {{group.id: orders, auto.offset.reset: latest, enable.auto.commit: false{consumer}}}
assume: {{poll_interval: 0..1s, {assume}faults: {{total: 1, {kind}: 1}}}}
bounds: {{records: 1, log: 2}}
require: [{required}]
"""


def attacked(
    kind: str,
    required: str = "no-loss",
    *,
    kafka: str = "4.0",
    broker: str = "",
    replicas: int = 1,
    least: int = 1,
    retention: int = 604_800_000,
    request: int = 30_000,
    delivery: int = 120_000,
    **more: str,
) -> str:
    said = {"producer": "", "consumer": "", "assume": "", **more}
    return ATTACKED.format(
        kafka=kafka,
        broker=broker,
        replicas=replicas,
        least=least,
        retention=retention,
        request=request,
        delivery=delivery,
        kind=kind,
        required=required,
        **said,
    )


QUICK_CONSUMER = (
    ", request.timeout.ms: 2000, socket.connection.setup.timeout.ms: 1000, socket.connection.setup.timeout.max.ms: 1000"
)
SECURED = ", security.protocol: SASL_SSL, sasl.mechanism: PLAIN"


@pytest.mark.parametrize(
    "text",
    [
        attacked("lost-response", retention=10_000, consumer=", fetch.min.bytes: 1000000, fetch.max.wait.ms: 20000"),
        attacked(
            "lost-response",
            replicas=2,
            least=2,
            retention=8_000,
            broker="replica.fetch.min.bytes: 1000000, replica.fetch.wait.max.ms: 9000",
        ),
        pytest.param(
            attacked(
                "leader-move",
                kafka="3.6",
                replicas=3,
                least=2,
                retention=18_000,
                consumer=f", retry.backoff.ms: 20000{QUICK_CONSUMER}",
            ),
            marks=pytest.mark.slow,
        ),
        attacked(
            "consumer-crash",
            retention=45_000,
            broker="group.initial.rebalance.delay.ms: 60000",
            consumer=", session.timeout.ms: 6000",
            assume="application_restart: 10s, ",
        ),
        attacked(
            "leader-move",
            "no-dropped-record",
            kafka="3.6",
            replicas=2,
            request=15_000,
            delivery=23_000,
            producer=SECURED,
            assume="network: 0..1s, ",
        ),
        attacked(
            "kill",
            "no-dropped-record",
            kafka="2.8",
            broker="zookeeper.session.timeout.ms: 1000",
            replicas=2,
            request=3_000,
            delivery=6_000,
            assume="network: 0..10ms, metadata: 0..100ms, election: 0..100ms, ",
        ),
    ],
    ids=["fetches-wait", "followers-wait", "backoff", "rebalance-delay", "handshakes", "ticks"],
)
def test_deadlines_include_every_pause_of_clients_and_brokers(tmp_path: Path, text: str) -> None:
    """Each of these was shown to hold by a deadline that left one of the client's or broker's pauses out."""
    assert required(tmp_path, text).status is Status.VIOLATED
