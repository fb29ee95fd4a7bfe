"""Unknown keys, keys of others, impossible values, placeholders and secrets."""

from __future__ import annotations

import pytest

from proofka.model.deployment import to_document
from proofka.model.deployment.choices import Acks, Commit
from proofka.model.deployment.defaults import known_keys
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import HIDDEN, is_secret
from proofka.model.deployment.known_keys import unknown
from proofka.model.deployment.setting import Origin


@pytest.mark.parametrize(
    ("role", "text", "hint"),
    [
        ("producer", "ackss=1", "unknown producer setting; did you mean acks?"),
        ("producer", "enable.idempotance=true", "did you mean enable.idempotence?"),
        (
            "producer",
            "min.insync.replica=2",
            "did you mean min.insync.replicas? It is a topic setting: no client reads",
        ),
        ("consumer", "offsets.retention.minuts=2", "did you mean offsets.retention.minutes? It is a broker setting"),
        ("producer", "kafka.acks=1", "did you mean acks, without 'kafka.'?"),
        ("producer", "request.required.acks=1", "use acks"),
        ("producer", "min.insync.replicas=2", "it is a topic or broker setting: move it there"),
        ("consumer", "auto.commit.enable=true", "use enable.auto.commit"),
        ("topic", "log.retention.ms=5", "for a topic it is retention.ms"),
        ("broker", "flush.messages=1", "for a broker it is log.flush.interval.messages"),
        ("broker", "bootstrap.servers=x", "it is a producer or consumer setting"),
        ("topic", "no.such.thing.at.all=1", "unknown topic setting"),
    ],
)
def test_unknown_key(file_refusal, role: str, text: str, hint: str) -> None:
    message = file_refusal(**{role: "\n" + text})
    assert message.startswith(f"{role}.properties:2: {text.partition('=')[0]}: unknown {role} setting")
    assert hint in message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("prodcer: {}", "unknown section; did you mean producer?"),
        ("producer: {on_send_eror: drop}", "did you mean on_send_error?"),
        ("producer: {on-send-error: drop}", "did you mean on_send_error?"),
        ("consumer: {snik: plain}", "did you mean sink?"),
        ("assume: {faults: {kil: 1}}", "unknown fault; did you mean kill?"),
        ("assume: {faults: [killl]}", "did you mean kill?"),
        ("bounds: {record: 1}", "did you mean records?"),
        ("require: [no-losss]", "did you mean no-loss?"),
        ("assume: {sinks: plain}", "did you mean sink?"),
        ("assume: {retries: 3}", "unknown assumption; it is a producer setting: move it there"),
        ("network: 0..20ms", "unknown section; move it under assume"),
        ("sink: plain", "unknown section; move it under assume"),
        ("assume: {network: [0, 20]}", "must be a single value, as in 20s or 0..300ms"),
    ],
)
def test_misspelt_word_of_the_format(refusal, text: str, hint: str) -> None:
    message = refusal(f'kafka: "4.0"\n{text}')
    assert message.startswith("deployment.yaml:2: ")
    assert hint in message


def test_a_file_for_both_clients(read_files) -> None:
    text = "acks=1\ngroup.id=g\nbootstrap.servers=h:1"
    reasons = {(i.scope, i.key): i.reason for i in read_files(producer=text, consumer=text).ignored}
    assert reasons["producer", "group.id"] == "a consumer setting: the producer does not read it"
    assert reasons["consumer", "acks"] == "a producer setting: the consumer does not read it"


@pytest.mark.parametrize(
    ("role", "text", "allowed"),
    [
        ("producer", "retries=-1", "from 0 to 2147483647"),
        ("producer", "retries=2147483648", "from 0 to 2147483647"),
        ("producer", "retries=1_000", "must be an integer"),
        ("producer", "retries=1e3", "must be an integer"),
        ("producer", "linger.ms=5 min", "from 0 to 9223372036854775807; the unit is ms: write 300000"),
        ("producer", "delivery.timeout.ms=2m", "from 0 to 2147483647; the unit is ms: write 120000"),
        ("producer", "retries=", 'Invalid value "" for configuration retries'),
        ("producer", "enable.idempotence=yes", "must be true or false"),
        ("producer", "compression.type=zip", "must be one of none, gzip, snappy, lz4, zstd"),
        ("producer", "linger.ms=fast", "must be an integer from 0"),
        ("consumer", "max.poll.records=0", "from 1 to 2147483647"),
        ("consumer", "isolation.level=READ_COMMITTED", "must be one of read_uncommitted, read_committed"),
        ("topic", "min.insync.replicas=0", "from 1"),
        ("topic", "flush.messages=0", "from 1"),
        ("topic", "cleanup.policy=none", "must be a list of compact, delete"),
        ("topic", "min.cleanable.dirty.ratio=1.5", "from 0 to 1"),
        ("broker", "log.retention.hours=0", "-1 or from 1"),
        ("broker", "log.retention.ms=-2", "-1 or from 1"),
    ],
)
def test_impossible_value(file_refusal, role: str, text: str, allowed: str) -> None:
    message = file_refusal(**{role: text})
    assert message.startswith(f"{role}.properties:1: {text.partition('=')[0]}: ConfigException: Invalid value ")
    assert allowed in message


@pytest.mark.parametrize("value", ["${ACKS}", "{{ acks }}", "$ACKS", "{acks}", "<acks>", "${env:ACKS:all}", "@acks@"])
def test_placeholder(file_refusal, read_files, value: str) -> None:
    assert "acks: has a placeholder" in file_refusal(producer=f"acks={value}")
    assert len(read_files(producer=f"client.id={value}\nbatch.size={value}").ignored) == 2


@pytest.mark.parametrize(
    "key",
    [
        "ssl.keystore.password",
        "ssl.key.password",
        "ssl.truststore.password",
        "ssl.keystore.key",
        "sasl.jaas.config",
        "listener.name.x.scram-sha-256.sasl.jaas.config",
        "basic.auth.user.info",
        "schema.registry.basic.auth.user.info",
        "sasl.oauthbearer.client.credentials.client.secret",
        "bearer.auth.token",
        "password.encoder.secret",
    ],
)
def test_secret_keys(key: str) -> None:
    assert is_secret(key)


def test_secrets_are_never_stored_or_shown(read_files, file_refusal) -> None:
    secret = "hunter2"
    deployment = read_files(
        producer=f"sasl.jaas.config=x password={secret};\nssl.key.password={secret}\n"
        f"schema.registry.url=http://user:{secret}@host:8081\nssl.keystore.key={secret}",
        broker=f"listener.name.a.ssl.keystore.password={secret}",
    )
    assert secret not in repr(deployment)
    assert secret not in repr(to_document(deployment))
    assert [i.value for i in deployment.ignored].count(HIDDEN) == 4
    assert secret not in file_refusal(producer=f"password={secret}")


def test_a_line_of_a_certificate_is_not_quoted(file_refusal) -> None:
    line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
    assert line not in file_refusal(producer=f"ssl.keystore.key=-----BEGIN-----\n{line}")
    assert "root:x:0:0" not in file_refusal(producer="root\\:x\\:0\\:0")


def test_control_characters_do_not_reach_the_terminal(read_files, file_refusal) -> None:
    assert "\x1b" not in file_refusal(producer="ac\\u001b[31mks=1")
    assert "\x1b" not in repr(read_files(producer="client.id=\\u001b[31m").ignored[0].value)


def test_settings_of_the_other_client_are_named_in_a_note(read_yaml) -> None:
    """The settings are ignored, and the other client lacks them."""
    text = 'kafka: "4.0"\nproducer: {isolation.level: read_committed, enable.auto.commit: false}\nconsumer: {acks: 1}\n'
    notes = read_yaml(text).notes
    assert any(note.startswith("isolation.level, enable.auto.commit are settings of the consumer") for note in notes)
    assert any(note.startswith("acks is a setting of the producer: the consumer does not read it") for note in notes)


def test_a_name_that_clients_and_brokers_have_is_the_clients() -> None:
    given = Given("fetch.max.byte", "1", Origin("file", "", "a", 1))
    error = unknown(given, "unknown consumer setting", known_keys("consumer"), "consumer")
    assert error.message == "unknown consumer setting; did you mean fetch.max.bytes?"


def test_one_file_for_both_clients_has_no_misplaced_settings(read_files) -> None:
    """Each client ignores the settings of the other, and the other reads them: nothing is to be moved."""
    text = "acks=1\ngroup.id=g\nenable.auto.commit=false\n"
    both = read_files(producer=text, consumer=text)
    assert (both.producer.acks, both.application.commit) == (Acks.LEADER, Commit.AFTER)
    assert {(one.scope, one.key) for one in both.ignored} == {
        ("producer", "group.id"),
        ("producer", "enable.auto.commit"),
        ("consumer", "acks"),
    }
    assert not [note for note in both.notes if "move" in note]
