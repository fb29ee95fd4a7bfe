"""Stops of the producer application, split batches, and positions in what it reads: what goes with what."""

from __future__ import annotations

import pytest

from proofka.checker.spark.normalising import meaning
from proofka.model.deployment import with_assumption
from proofka.model.deployment.choices import OnRestart, OnStop
from proofka.model.deployment.errors import DeploymentError
from proofka.model.pipeline import declared
from proofka.reports.summary import clients
from tests.deployments import changed

STOPPED = "assume: {faults: {producer-stop: 1}}"
SPLIT = "assume: {faults: {split-batch: 1}}"


def pipeline(*more: str, kafka: str = "4.0", producer: str = "") -> str:
    return "\n".join((f'kafka: "{kafka}"', f"producer: {{{producer}}}", *more))


def test_way_of_stopping_is_assumed_where_a_stop_can_happen(read_yaml) -> None:
    stopped, not_stopped = read_yaml(pipeline(STOPPED)), read_yaml(pipeline())
    assert (stopped.application.on_stop, not_stopped.application.on_stop) == (OnStop.CLOSE, OnStop.CLOSE)
    assert [s.key for s in stopped.assumptions if s.key == "on_stop"] == ["on_stop"]
    assert not [s.key for s in not_stopped.settings if s.key == "on_stop"]
    assert with_assumption(stopped, "on_stop", "exit").application.on_stop is OnStop.EXIT
    assert "closed when stopped" in clients(stopped)
    assert "stopped" not in clients(not_stopped)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (pipeline(producer="on_stop: exit"), "nothing stops the producer application"),
        (pipeline(STOPPED, producer="on_stop: commit-first"), "set that, or on_stop=close"),
        (
            pipeline(STOPPED, producer="on_stop: commit-first, on_restart: from-sent"),
            "the only position that can be committed too early",
        ),
        (pipeline(STOPPED, producer="settings: {transactional.id: t}"), "not modelled yet: producer-stop"),
        (pipeline(SPLIT, producer="settings: {transactional.id: t}"), "not modelled yet: split-batch"),
        (pipeline(SPLIT, producer="client: librdkafka"), "not modelled yet: split-batch with"),
        (
            pipeline(SPLIT, kafka="2.4", producer="settings: {enable.idempotence: true}"),
            "not modelled yet: split-batch",
        ),
        (
            pipeline(producer="on_send_error: resend-if-not-stored"),
            "Java producer 4.0 does not report whether a record can be stored",
        ),
        (
            pipeline(
                producer="client: librdkafka, on_send_error: resend-if-not-stored, settings: {enable.idempotence: true}"
            ),
            "not modelled yet: the status of an idempotent producer's",
        ),
        (pipeline(SPLIT, kafka="0.10"), "not modelled yet: split-batch with"),
        (
            pipeline(producer="on_restart: from-flushed, settings: {transactional.id: t}"),
            "not modelled yet: an input position that is committed outside of the producer's transactions",
        ),
    ],
)
def test_contradicting_faults_and_settings_are_refused(refusal, text: str, said: str) -> None:
    assert said in refusal(text)


def test_a_position_that_is_tried_has_to_go_with_the_rest(read_yaml) -> None:
    read = read_yaml(pipeline(STOPPED))
    assert with_assumption(read, "on_restart", "from-sent").application.on_restart is OnRestart.FROM_SENT
    with pytest.raises(DeploymentError, match="too early"):
        with_assumption(read, "on_stop", "commit-first")


def test_a_position_takes_a_second_send(read_yaml) -> None:
    assert read_yaml(pipeline(producer="on_restart: from-sent")).bounds.sends == 2


@pytest.mark.parametrize(
    ("release", "forgets"),
    [
        *[("0.11", True), ("3.8", True), ("3.9.1", True), ("3.9.2", False), ("4.0.1", True), ("4.0.2", False)],
        *[("4.1", True), ("4.1.0", True), ("4.1.1", False), ("4.2", False), ("4.3", False)],
    ],
)
def test_releases_that_forget_the_parts_of_a_batch(read_yaml, release: str, forgets: bool) -> None:
    """KAFKA-19479, by the release of the client."""
    settings = "settings: {enable.idempotence: false}" if release != "0.10" else ""
    kafka = ".".join(release.split(".")[:2])
    read = read_yaml(
        pipeline(SPLIT, kafka=kafka, producer=f"version: '{release}', on_restart: from-flushed, {settings}")
    )
    assert read.producer.sender.flush_forgets_parts is forgets
    upstream = declared(read).upstream
    assert upstream is not None
    assert bool(upstream.released) is forgets


def test_faults_that_are_not_named_have_no_state(read_yaml) -> None:
    plain, crashing = read_yaml(pipeline()), read_yaml(pipeline("assume: {faults: {producer-crash: 1}}"))
    assert declared(plain).upstream is None
    assert declared(crashing).upstream is None
    assert read_yaml(pipeline(producer="version: '3.8'")).producer.sender == plain.producer.sender
    assert meaning(changed(plain, on_stop=OnStop.EXIT)) == meaning(plain)


def test_sessions_are_counted_of_crashes_and_stops(read_yaml) -> None:
    both = read_yaml(pipeline("assume: {faults: {producer-stop: 1, producer-crash: 1}}"))
    assert declared(both).producer.session.high == 2
    assert declared(read_yaml(pipeline(STOPPED))).producer.session.high == 1


def test_delivery_reports_that_the_application_reads_are_part_of_the_state(read_yaml) -> None:
    read = read_yaml(pipeline(producer="client: librdkafka, on_send_error: resend-if-not-stored"))
    assert read.bounds.sends == 2
    assert all(batch.doubtful is not None for batch in declared(read).producer.batches)
    assert all(batch.doubtful is None for batch in declared(read_yaml(pipeline())).producer.batches)


@pytest.mark.parametrize(
    ("client", "final", "retried"),
    [
        ("librdkafka", "1.5.0", "1.5.2"),
        ("sarama", "1.43.2", "1.43.3"),
        ("kafka-python", "2.0.3", "2.0.4"),
        ("aiokafka", "0.12.0", "0.13.0"),
    ],
)
def test_old_clients_do_not_retry_storage_errors(read_yaml, refusal, client: str, final: str, retried: str) -> None:
    def failing(version: str) -> str:
        return pipeline("assume: {faults: {log-dir-failure: 1}}", producer=f'client: {client}, version: "{version}"')

    assert "whose sends fail at once at an error of a broker's storage" in refusal(failing(final))
    assert read_yaml(failing(retried)).client.startswith(f"{client} {retried}")
