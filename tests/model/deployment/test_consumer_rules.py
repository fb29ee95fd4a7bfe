"""Rules of the Java consumer: what it refuses and what it silently changes (C01 to C11)."""

from __future__ import annotations

import pytest

from proofka.model.deployment.choices import Commit, OffsetReset


def consumer(settings: str, version: str = "4.0", rest: str = "") -> str:
    return f'kafka: "4.0"\nconsumer: {{version: "{version}", settings: {{{settings}}}{rest}}}'


@pytest.mark.parametrize(
    ("settings", "version", "exception", "rule"),
    [
        ("group.id: null, enable.auto.commit: true", "4.0", "InvalidConfigurationException", "C01"),
        ("group.id: null", "4.0", "InvalidGroupIdException", "C05"),
        ("group.id: ''", "4.0", "InvalidGroupIdException", "C04"),
        ("group.id: ' '", "4.3", "InvalidGroupIdException", "C04"),
        ("heartbeat.interval.ms: 45000", "4.0", "IllegalArgumentException", "C06"),
        ("session.timeout.ms: 3000", "4.0", "IllegalArgumentException", "C06"),
        ("group.protocol: consumer, session.timeout.ms: 10000", "4.0", "ConfigException", "C08"),
        ("group.remote.assignor: uniform", "3.9", "ConfigException", "C09"),
        ("share.acknowledgement.mode: explicit", "4.1", "ConfigException", "C10"),
    ],
)
def test_refused(refusal, settings: str, version: str, exception: str, rule: str) -> None:
    message = refusal(consumer(settings, version))
    assert message.startswith("deployment.yaml:2: ")
    assert f"refused by the Java consumer {version} with {exception}" in message
    assert message.endswith(f"(rule {rule})")


def test_auto_commit_is_off_without_a_group(read_yaml) -> None:
    deployment = read_yaml(consumer("group.id: null", rest=", sink: transactional"))
    assert deployment.application.commit is Commit.AFTER
    assert any("(rule C02)" in note for note in deployment.notes)


def test_a_group_that_is_not_in_the_file_is_assumed_to_be_set_in_code(read_files) -> None:
    deployment = read_files(consumer="max.poll.records=1")
    assert deployment.application.commit is Commit.AUTO
    assert any("the application is assumed to set it" in note for note in deployment.notes)
    assert not any("group.id" in note for note in read_files(consumer="group.id=orders").notes)


def test_an_empty_group_was_accepted_before_4_0(read_files) -> None:
    assert any("(rule C03)" in note for note in read_files("3.9", consumer="group.id=").notes)


@pytest.mark.parametrize("value", ["by_duration:P", "by_duration:-P1D", "by_duration:1d", "Latest", "smallest"])
def test_offset_reset_outside_the_choice(refusal, value: str) -> None:
    message = refusal(consumer(f'auto.offset.reset: "{value}"'))
    assert "ConfigException" in message
    assert "(rule C11)" in message


@pytest.mark.parametrize("value", ["by_duration:P1D", "by_duration:PT1H30M", "by_duration:P1DT0.5S"])
def test_a_reset_to_a_time(refusal, value: str) -> None:
    assert "not modelled yet" in refusal(consumer(f'auto.offset.reset: "{value}"'))
    assert "must be one of latest, earliest, none" in refusal(consumer(f'auto.offset.reset: "{value}"', "3.9"))


@pytest.mark.parametrize("value", list(OffsetReset))
def test_offset_reset(read_yaml, value: OffsetReset) -> None:
    assert read_yaml(consumer(f"auto.offset.reset: {value}")).consumer.offset_reset is value


def test_group_protocols(read_yaml) -> None:
    assert read_yaml(consumer("group.protocol: Consumer")).consumer.rebalancing.by_brokers
    assert not read_yaml(consumer("group.protocol: CLASSIC")).consumer.rebalancing.by_brokers


def test_read_committed_is_harmless_without_transactions(read_yaml) -> None:
    ignored = read_yaml(consumer("isolation.level: read_committed")).ignored
    assert [(i.key, i.reason) for i in ignored] == [("isolation.level", "the producer uses no transactions")]


def test_a_placeholder_is_as_good_a_group_as_any(read_files) -> None:
    deployment = read_files(consumer="group.id=${GROUP}")
    assert deployment.application.commit is Commit.AUTO
    assert not any("group.id" in note for note in deployment.notes)


@pytest.mark.parametrize(
    ("session", "brokers", "refused"),
    [
        (5_999, "", "session.timeout.ms (5999) must be at least group.min.session.timeout.ms=6000 by default"),
        (6_000, "", None),
        (1_800_001, "", "session.timeout.ms (1800001) must be at most group.max.session.timeout.ms=1800000 by default"),
        (5_000, "broker: {group.min.session.timeout.ms: 5000}\n", None),
        (10_000, "broker: {group.min.session.timeout.ms: 20000}\n", "group.min.session.timeout.ms=20000 at "),
    ],
)
def test_brokers_refuse_members_whose_session_is_out_of_range(
    read_yaml, refusal, session: int, brokers: str, refused: str | None
) -> None:
    text = consumer(f"session.timeout.ms: {session}") + "\n" + brokers
    if refused is None:
        assert read_yaml(text)
        return
    message = refusal(text)
    assert refused in message
    assert "InvalidSessionTimeoutException" in message
    assert "(rule C13)" in message
