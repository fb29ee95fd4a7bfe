"""Assumptions that no file contains: defaults, options, and the same deployment with another assumption."""

from __future__ import annotations

import pytest

from proofka.model.deployment import ASSUMPTIONS, DeploymentError, with_assumption
from proofka.model.deployment.choices import Commit, OnRestart, OnSendError, Processing, Sends, Sink
from proofka.model.deployment.durations import ENVIRONMENT
from proofka.model.deployment.implied.expiry import records_expire_unread
from proofka.model.deployment.setting import Origin

TRANSACTIONAL = 'kafka: "4.0"\nproducer: {transactional.id: t}\nconsumer: {group.id: g, enable.auto.commit: false}\n'
TO_KAFKA = 'kafka: "4.0"\nconsumer: {group.id: g, enable.auto.commit: false, sink: kafka}\n'
COMPACTED = (
    'kafka: "4.0"\ntopic: {replicas: 3, cleanup.policy: compact}\nconsumer: {group.id: g, enable.auto.commit: false}\n'
)
MANUAL = 'kafka: "4.0"\ntopic: {replicas: 3}\nconsumer: {group.id: g, enable.auto.commit: false}\n'
LIBRDKAFKA = MANUAL + "producer: {client: librdkafka}\n"
STOPPED = MANUAL + "producer: {on_restart: from-acknowledged}\nassume: {faults: {producer-stop: 1}}\n"
REBALANCED = MANUAL.replace("g,", "g, client: librdkafka,") + "assume: {faults: {rebalance: 1}}\n"


def test_documented_defaults(read_yaml) -> None:
    deployment = read_yaml(MANUAL)
    assert (deployment.application.sends, deployment.application.on_send_error) == (Sends.ASYNC, OnSendError.DROP)
    assert (deployment.application.on_restart, deployment.application.commit) == (OnRestart.FORGET, Commit.AFTER)
    assert (deployment.application.processing, deployment.application.sink) == (Processing.POLL_THREAD, Sink.PLAIN)
    of_some = {"transaction_records", "keys", "group_metadata", "rebalances", "on_stop"}
    always = (set(ASSUMPTIONS) | set(ENVIRONMENT)) - of_some
    assert {s.key for s in deployment.assumptions} == always
    assert {s.key for s in read_yaml(TRANSACTIONAL).assumptions} == always | {"transaction_records"}
    assert {s.key for s in read_yaml(COMPACTED).assumptions} == always | {"keys"}
    assert {s.key for s in read_yaml(REBALANCED).assumptions} == always | {"rebalances"}
    assert all(assumption.default in assumption.values for assumption in ASSUMPTIONS.values())


def test_a_commit_that_the_client_does_is_no_assumption(read_yaml) -> None:
    deployment = read_yaml('kafka: "4.0"')
    assert deployment.application.commit is Commit.AUTO
    assert "commit" not in {s.key for s in deployment.assumptions}


def test_an_option_outranks_the_file(read_yaml) -> None:
    deployment = read_yaml(
        MANUAL + "producer: {sends: async}\nbounds: {records: 1}", {"sends": "sync", "replicas": "2"}
    )
    assert (deployment.application.sends, deployment.cluster.replicas) == (Sends.SYNC, 2)
    origins = {(s.scope, s.key): s.origin for s in deployment.settings}
    assert origins["application", "sends"] == Origin("option", "--assume sends=sync")
    assert origins["topic", "replication.factor"] == Origin("option", "--assume replicas=2")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("foo", "1", "--assume foo=1: unknown assumption (choices: on_send_error, on_restart"),
        ("sinks", "1", "did you mean sink?"),
        ("sink", "x", "--assume sink=x: must be one of plain, idempotent, by-offset, transactional, kafka"),
        ("replicas", "9", "--assume replicas=9: 9 replicas are not modelled; use 1 to 5"),
        ("replicas", "x", "--assume replicas=x: ConfigException: Invalid value x"),
        ("elr", "maybe", "--assume elr=maybe: must be off (0) or on (1)"),
        ("faults", "-1", "must be a whole number from 0 to 20, or any"),
        ("faults.kill", "x", "--assume faults.kill=x: must be a whole number from 0 to 9, or any"),
        ("faults.foo", "1", "unknown assumption"),
        ("bounds.records", "7", "from 1 to 3"),
        ("transaction_records", "1", "the producer has no transactions"),
        ("keys", "updated", "the topic is not compacted"),
        ("on_stop", "exit", "nothing stops the producer application"),
        ("group_metadata", "passed", "set sink=kafka"),
        ("on_processing_error", "abort", "set sink=kafka"),
        ("rebalances", "in-poll", "needs a client that rejoins its group in the background (librdkafka) and the fault"),
    ],
)
def test_wrong_option(refusal, key: str, value: str, message: str) -> None:
    assert message in refusal(MANUAL, {key: value})


BY_HAND = [(key, value) for key, a in ASSUMPTIONS.items() for value in a.values if value != "delivered"]


def test_only_a_client_that_commits_by_itself_commits_delivered_records(read_yaml, refusal) -> None:
    assert read_yaml('kafka: "4.0"\nconsumer: {commit: delivered}').application.commit is Commit.DELIVERED
    assert "needs a client that commits by itself (enable.auto.commit=true)" in refusal(MANUAL, {"commit": "delivered"})
    with pytest.raises(DeploymentError, match=r"enable\.auto\.commit=true"):
        with_assumption(read_yaml(MANUAL), "commit", "delivered")


@pytest.mark.parametrize(("key", "value"), BY_HAND)
def test_with_assumption_equals_reading_with_the_option(read_yaml, key: str, value: str) -> None:
    text = TRANSACTIONAL if key == "transaction_records" else MANUAL
    text = COMPACTED if key == "keys" else text
    text = TO_KAFKA if key == "group_metadata" or value == "abort" else text
    text = STOPPED if key == "on_stop" else text
    text = REBALANCED if key == "rebalances" else text
    text = LIBRDKAFKA if value == "resend-if-not-stored" else text
    assert with_assumption(read_yaml(text), key, value) == read_yaml(text, {key: value})


def test_with_assumption_keeps_bounds_that_were_said(read_yaml) -> None:
    said = read_yaml(MANUAL + "bounds: {sends: 3}")
    assert with_assumption(said, "on_restart", "resend").bounds.sends == 3
    resending = with_assumption(read_yaml(MANUAL), "on_restart", "resend")
    assert (resending.bounds.sends, with_assumption(resending, "on_restart", "forget").bounds.sends) == (2, 1)


def test_with_assumption_refuses_contradictions(read_yaml) -> None:
    auto = read_yaml('kafka: "4.0"')
    for key, value in (("commit", "before"), ("sink", "x"), ("acks", "1"), ("transaction_records", "1")):
        with pytest.raises(DeploymentError):
            with_assumption(auto, key, value)


def test_a_failure_that_ends_the_process_is_a_crash(read_yaml) -> None:
    asked = 'kafka: "4.0"\nassume: {faults: {failed-processing: 1}}\nconsumer: {on_processing_error: %s}'
    for value, said in (("stop", True), ("skip", False)):
        notes = read_yaml(asked % value).notes
        assert any("failed-processing has no effect" in note for note in notes) is said


@pytest.mark.parametrize(
    ("assume", "message"),
    [
        ({"processing": "handed-off"}, "not modelled yet: transactions with records handed off to threads"),
        ({"commit": "never"}, "offsets are committed with the results (sink=kafka); remove commit"),
        ({"commit": "before"}, "offsets are committed with the results (sink=kafka); remove commit"),
    ],
)
def test_assumptions_that_contradict_a_transaction_of_results_are_refused(
    refusal, assume: dict[str, str], message: str
) -> None:
    assert message in refusal(TO_KAFKA, assume)


def test_offsets_are_not_committed_beside_a_transaction(read_yaml, refusal) -> None:
    """The classic mistake is enable.auto.commit left on beside sendOffsetsToTransaction()."""
    message = refusal('kafka: "4.0"\nconsumer: {group.id: g, sink: kafka}')
    assert (
        "offsets that the client commits outside of the transaction (enable.auto.commit=true); disable that" in message
    )
    assert with_assumption(read_yaml(MANUAL), "sink", "kafka") == read_yaml(MANUAL, {"sink": "kafka"})


@pytest.mark.parametrize(
    ("assume", "message"),
    [
        ({"processing": "handed-off"}, "not modelled yet: results in memory with processing=handed-off"),
        ({"on_processing_error": "forward-unconfirmed"}, "on_processing_error=forward-unconfirmed"),
        ({"faults.eviction": "1"}, "not modelled yet: results in memory of a member that another one replaces"),
        ({"faults.rebalance": "1"}, "not modelled yet: results in memory of a member that another one replaces"),
    ],
)
@pytest.mark.parametrize("sink", ["in-memory", "snapshots"])
def test_assumptions_that_contradict_results_in_memory_are_refused(
    refusal, sink: str, assume: dict[str, str], message: str
) -> None:
    assert message in refusal(MANUAL, {"sink": sink, **assume})


def test_a_consumer_that_reads_all_again_needs_records_however_old(read_yaml) -> None:
    crash = {"sink": "in-memory", "commit": "never", "faults.consumer-crash": "1"}
    assert records_expire_unread(read_yaml(MANUAL, crash))
    assert not records_expire_unread(read_yaml(MANUAL.replace("replicas: 3", "retention.ms: -1"), crash))
    for other in ({"commit": "after"}, {"sink": "plain"}):
        assert not records_expire_unread(read_yaml(MANUAL, crash | other))
