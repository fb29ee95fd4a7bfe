"""Durations: from settings in ms, and from assumptions about the environment."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofka.model.deployment import DeploymentError, from_document, to_document
from proofka.model.deployment.duration_settings import (
    BY_MEMBERS,
    OF_BROKERS_PROTOCOL,
    OF_COMPACTION,
    OF_IDEMPOTENCE,
    OF_JAVA,
    OF_TRANSACTIONS,
)
from proofka.model.deployment.durations import ENVIRONMENT, NAMES, read_range
from proofka.model.deployment.given import Given
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.times import Durations
from proofka.model.durations import Quantity

KAFKA = 'kafka: "4.0"\n'
UNITS = {"": 1, "ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}

numbers = st.integers(0, 10**10 - 1)
units = st.sampled_from(sorted(unit for unit in UNITS if unit))
spaces = st.sampled_from(["", " ", "  "])


def said(text: str) -> Given:
    return Given("network", text, Origin("option", f"--assume network={text}"))


# --- ranges ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("0..300", 0, 300),
        ("0..300ms", 0, 300),
        ("1s..2min", 1_000, 120_000),
        ("1h..1d", 3_600_000, 86_400_000),
        ("5s..unbounded", 5_000, None),
        ("20s", 20_000, 20_000),
        ("0", 0, 0),
        ("  1 s .. 2 min ", 1_000, 120_000),
    ],
)
def test_range(text: str, least: int, most: int | None) -> None:
    assert read_range(said(text)) == (least, most)


@pytest.mark.parametrize(
    "text",
    ["", "..", "fast", "5..", "..5", "1x", "-1", "1.5s", "1..2..3", "unbounded", "unbounded..5", "1s-2s", "1e3", "٣"],
)
def test_reader_refuses_a_text_that_is_no_range(text: str) -> None:
    with pytest.raises(DeploymentError) as caught:
        read_range(said(text))
    message = str(caught.value)
    assert message.endswith("must be a duration or a range in ms, s, min, h, d, as in 20s, 0..300ms or 1min..unbounded")
    assert "\n" not in message


def test_a_range_that_ends_before_it_begins() -> None:
    with pytest.raises(DeploymentError, match=r"ends before it begins \(2s\.\.1s\)"):
        read_range(said("2s..1s"))


@pytest.mark.parametrize("text", ["10..5min", "10s..300", "1ms..2"])
def test_a_unit_at_one_end_only_is_no_unit(text: str) -> None:
    with pytest.raises(DeploymentError, match="has a unit at one end only"):
        read_range(said(text))


@given(numbers, units, numbers, units, spaces)
def test_ranges_read_back(first: int, unit: str, last: int, other: str, space: str) -> None:
    least, most = first * UNITS[unit], last * UNITS[other]
    text = f"{first}{space}{unit}{space}..{last}{other}"
    if least <= most:
        assert read_range(said(text)) == (least, most)
    else:
        with pytest.raises(DeploymentError):
            read_range(said(text))
    assert read_range(said(f"{first}{unit}")) == (least, least)
    assert read_range(said(f"{first}{unit}..{space}unbounded")) == (least, None)


@given(st.text())
def test_any_text_is_a_range_or_one_line(text: str) -> None:
    try:
        least, most = read_range(said(text))
    except DeploymentError as error:
        assert "must be a duration or a range" in str(error) or "ends before it begins" in str(error)
    else:
        assert least >= 0
        assert most is None or least <= most


# --- settings -------------------------------------------------------------------------------------------------------


def test_defaults_of_the_release(read_yaml) -> None:
    durations: Durations = read_yaml(KAFKA).durations
    expected = {
        "linger": ("linger.ms", 5),
        "request_timeout": ("request.timeout.ms", 30_000),
        "ack_timeout": ("request.timeout.ms", 30_000),
        "retry_backoff": ("retry.backoff.ms", 100),
        "retry_backoff_max": ("retry.backoff.max.ms", 1_000),
        "delivery_timeout": ("delivery.timeout.ms", 120_000),
        "max_block": ("max.block.ms", 60_000),
        "reconnect_backoff_max": ("reconnect.backoff.max.ms", 1_000),
        "connection_setup": ("socket.connection.setup.timeout.max.ms", 30_000),
        "replica_lag": ("replica.lag.time.max.ms", 30_000),
        "replica_socket": ("replica.socket.timeout.ms", 30_000),
        "fetch_wait": ("replica.fetch.wait.max.ms", 500),
        "fetch_backoff": ("replica.fetch.backoff.ms", 1_000),
        "broker_session": ("broker.session.timeout.ms", 9_000),
        "broker_heartbeat": ("broker.heartbeat.interval.ms", 2_000),
        "max_poll": ("max.poll.interval.ms", 300_000),
        "auto_commit": ("auto.commit.interval.ms", 5_000),
        "consumer_session": ("session.timeout.ms", 45_000),
        "consumer_request": ("request.timeout.ms", 30_000),
        "consumer_connection": ("socket.connection.setup.timeout.max.ms", 30_000),
        "consumer_reconnect": ("reconnect.backoff.max.ms", 1_000),
        "consumer_backoff": ("retry.backoff.max.ms", 1_000),
        "consumer_metadata": ("metadata.max.age.ms", 300_000),
        "consumer_fetch_wait": ("fetch.max.wait.ms", 500),
        "rebalance_delay": ("group.initial.rebalance.delay.ms", 3_000),
        "retention": ("retention.ms", 604_800_000),
        "offsets_kept": ("offsets.retention.minutes", 10_080),
    }
    assert expected.keys() == OF_JAVA.keys()
    for name, (key, value) in expected.items():
        assert getattr(durations, name) == Quantity(key, value, value)


def test_every_duration_is_a_setting_or_assumed() -> None:
    assert (*OF_JAVA, *BY_MEMBERS, *OF_COMPACTION, *OF_IDEMPOTENCE, *OF_TRANSACTIONS, *ENVIRONMENT) == NAMES
    assert {*BY_MEMBERS, "consumer_session"} == OF_BROKERS_PROTOCOL.keys()


@pytest.mark.parametrize(("transactions", "waits"), [("acks=all", 0), ("transactional.id=t", 12_345)])
def test_brokers_requests_count_with_transactions(read_files, transactions: str, waits: int) -> None:
    deployment = read_files(producer=transactions, broker="request.timeout.ms=12345")
    assert deployment.durations.broker_request.most == waits


@pytest.mark.parametrize(
    ("role", "key", "name"),
    [(role, key, name) for name, (role, key, _) in OF_JAVA.items()],
)
def test_a_setting_that_is_used_is_shown_and_not_ignored(read_files, role: str, key: str, name: str) -> None:
    value = 200_000 if name == "delivery_timeout" else 12_345
    deployment = read_files(**{role: f"{key}={value}"})
    assert getattr(deployment.durations, name) == Quantity(key, value, value)
    assert key not in {ignored.key for ignored in deployment.ignored}
    (setting,) = [s for s in deployment.settings if (s.scope, s.key) == (role, key)]
    assert (setting.value, setting.origin.kind) == (str(value), "file")


@pytest.mark.parametrize(("role", "key"), [(role, key) for role, key, _ in OF_JAVA.values()])
def test_a_placeholder_is_no_duration(file_refusal, role: str, key: str) -> None:
    """Taking the default in its place would answer for another deployment."""
    assert f"{key}: has a placeholder" in file_refusal(**{role: f"{key}=${{MILLISECONDS}}"})


def test_a_duration_that_no_clock_reads_is_ignored_and_says_so(read_files) -> None:
    (ignored,) = read_files(producer="reconnect.backoff.ms=7").ignored
    assert ignored.reason == "this duration is not part of the model yet"


def test_a_duration_longer_than_any_run_counts_as_never(read_files) -> None:
    """A Java long is larger than any sensible number of milliseconds."""
    never = read_files(broker=f"replica.lag.time.max.ms={2**63 - 1}").durations.replica_lag
    assert (never.least, never.most) == (2**53, None)
    assert read_files(broker=f"replica.lag.time.max.ms={2**53}").durations.replica_lag.most == 2**53


@pytest.mark.parametrize("key", ["broker.session.timeout.ms", "broker.heartbeat.interval.ms"])
def test_durations_below_zero_are_unknown(read_files, key: str) -> None:
    """The broker accepts a negative value; its behaviour then is not promised, so no bound may use it."""
    durations = read_files(broker=f"{key}=-1").durations
    assert Quantity(key, 0, None) in (durations.broker_session, durations.broker_heartbeat)


@pytest.mark.parametrize(
    ("client", "key", "value"), [("3.6", "retry.backoff.ms", 250), ("3.7", "retry.backoff.max.ms", 1_000)]
)
def test_before_backoffs_grew_each_was_the_same(read_yaml, client: str, key: str, value: int) -> None:
    """retry.backoff.max.ms exists from client 3.7 on, whatever the brokers' release."""
    text = f"{KAFKA}producer: {{version: '{client}', retry.backoff.ms: 250}}"
    durations = read_yaml(text).durations
    assert durations.retry_backoff == Quantity("retry.backoff.ms", 250, 250)
    assert durations.retry_backoff_max == Quantity(key, value, value)


def test_a_value_changed_by_a_rule_is_the_effective_value(read_files) -> None:
    """The client raises delivery.timeout.ms to the sum of its parts (rule P21)."""
    raised = read_files(producer="linger.ms=100000\nrequest.timeout.ms=40000")
    assert raised.durations.delivery_timeout == Quantity("delivery.timeout.ms", 140_000, 140_000)


# --- the environment ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_documented_default(read_yaml, name: str) -> None:
    deployment = read_yaml(KAFKA)
    least, most = read_range(said(ENVIRONMENT[name].default))
    assert getattr(deployment.durations, name) == Quantity(name, least, most)
    (setting,) = [s for s in deployment.assumptions if s.key == name]
    assert (setting.scope, setting.value) == ("assume", ENVIRONMENT[name].default)


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_the_file_and_the_option_say_the_same(read_yaml, name: str) -> None:
    in_file = read_yaml(f"{KAFKA}assume: {{{name}: 2s..1min}}")
    by_option = read_yaml(KAFKA, {name: "2s..1min"})
    assert in_file.durations == by_option.durations
    assert getattr(in_file.durations, name) == Quantity(name, 2_000, 60_000)
    assert name not in {setting.key for setting in (*in_file.assumptions, *by_option.assumptions)}


def test_the_option_outranks_the_file(read_yaml) -> None:
    deployment = read_yaml(f"{KAFKA}assume: {{network: 1s}}", {"network": "5"})
    assert deployment.durations.network == Quantity("network", 5, 5)
    origins = {setting.key: setting.origin for setting in deployment.settings}
    assert origins["network"] == Origin("option", "--assume network=5")


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_duration_has_no_name_of_an_assumption_about_the_application(read_yaml, name: str) -> None:
    from proofka.model.deployment import ASSUMPTIONS

    assert name not in ASSUMPTIONS


def test_mistakes_are_at_their_place(refusal) -> None:
    assert refusal(f"{KAFKA}assume:\n  network: fast").startswith(
        "deployment.yaml:3: network: must be a duration or a range in ms, s"
    )
    assert (
        refusal(KAFKA, {"network": "2s..1s"})
        == "--assume network=2s..1s: ends before it begins (2s..1s); write the smaller value first"
    )


def test_polls_that_all_come_too_late_are_refused(refusal, read_yaml) -> None:
    said = "begins above max.poll.interval.ms (300,000): the group evicts the member before each poll()"
    found = refusal(KAFKA, {"poll_interval": "301s..1h"})
    assert found == f"--assume poll_interval=301s..1h: {said}; use a shorter time"
    assert read_yaml(KAFKA, {"poll_interval": "300s..1h"}).durations.poll_interval.least == 300_000


def test_misspelt_duration(refusal) -> None:
    assert "did you mean network?" in refusal(f"{KAFKA}assume: {{netwrk: 5}}")
    assert "did you mean broker_restart?" in refusal(KAFKA, {"broker-restart": "5s"})


def test_documents_read_back_equal(read_yaml, read_files) -> None:
    ranges = {"network": "3..7", "broker_restart": "5s", "cut_off": f"{10**10 - 1}d..unbounded"}
    for deployment in (read_yaml(KAFKA, ranges), read_files(broker=f"replica.lag.time.max.ms={2**63 - 1}")):
        back = from_document(json.loads(json.dumps(to_document(deployment))))
        assert back == deployment
        assert back.durations == deployment.durations


FIRST_RECONNECT = "reconnect.backoff.ms: 300000"


@pytest.mark.parametrize(
    ("version", "settings", "longest"),
    [
        ("4.0", FIRST_RECONNECT, 300_000),
        ("4.0", f"{FIRST_RECONNECT}, reconnect.backoff.max.ms: 2000", 2_000),
        ("3.6", f"{FIRST_RECONNECT}, reconnect.backoff.max.ms: 2000", 300_000),
        ("3.6", "reconnect.backoff.ms: 20, reconnect.backoff.max.ms: 2000", 2_000),
        ("4.0", "reconnect.backoff.max.ms: 2000", 2_000),
    ],
)
def test_the_first_pause_where_a_client_takes_it_for_the_longest(
    read_yaml, version: str, settings: str, longest: int
) -> None:
    said = (
        f'kafka: "4.0"\nproducer: {{version: "{version}", {settings}}}\nconsumer: {{version: "{version}", {settings}}}'
    )
    durations: Durations = read_yaml(said).durations
    assert durations.reconnect_backoff_max.least == durations.consumer_reconnect.least == longest


@pytest.mark.parametrize(("version", "longest"), [("4.0", 30_000), ("3.6", 600_000)])
def test_a_first_connection_attempt_longer_than_the_longest(read_yaml, version: str, longest: int) -> None:
    said = f'kafka: "4.0"\nproducer: {{version: "{version}", socket.connection.setup.timeout.ms: 600000}}'
    assert read_yaml(said).durations.connection_setup.least == longest


def test_retries_take_the_sum_of_their_backoffs(read_yaml) -> None:
    """80, 160, 320 and 640 ms, then 800 each: from 3.7 on they grow, and are a fifth shorter at random."""
    durations: Durations = read_yaml('kafka: "4.0"').durations
    assert [durations.retries_take_at_least(n) for n in (0, 1, 3, 5, 100)] == [0, 80, 560, 2_000, 78_000]
    assert read_yaml('kafka: "4.0"\nproducer: {version: "3.6"}').durations.retries_take_at_least(3) == 300


def test_zookeeper_has_a_session_of_its_own(read_yaml) -> None:
    durations: Durations = read_yaml("kafka: 2.8").durations
    session = Quantity("zookeeper.session.timeout.ms", 18_000, 18_000)
    assert (durations.broker_session, durations.heartbeat.at_least()) == (session, 6_000)
    assert read_yaml('kafka: "3.9"').durations.heartbeat.at_least() == 2_000


@pytest.mark.parametrize(
    ("said", "meant"),
    [("5m", "5min"), ("90 sec", "90s"), ("0..2hours", "2h"), ("1day..unbounded", "1d"), ("10 parsecs", None)],
)
def test_units_of_others_are_recognised(refusal, said: str, meant: str | None) -> None:
    message = refusal(f"kafka: 4.0\nassume: {{cut_off: {said}}}")
    assert "must be a duration or a range" in message
    assert (f"did you mean {meant}?" in message) is (meant is not None)
    assert ("did you mean" in message) is (meant is not None)
