"""The YAML format, and what is wrong with broken files."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proofka.model.deployment import DeploymentError, read_deployment
from proofka.model.deployment.choices import Commit, Group, OnRestart, OnSendError, Processing, ProducerId, Sends, Sink
from proofka.model.deployment.explored import Bounds
from proofka.model.deployment.required_properties import ASKED_BY_DEFAULT, KNOWN_PROPERTIES, OF_TRANSACTIONS
from proofka.model.faults import OF_SOME_RELEASES, ONLY_BY_NAME, Fault

COMPLETE = """\
kafka: "4.0"
name: the orders
topic:    {replicas: 3, settings: {min.insync.replicas: 2}}
broker:   {settings: {unclean.leader.election.enable: false}}
producer: {client: java, version: "4.0", settings: {acks: all}, sends: sync, on_send_error: resend, on_restart: resend,
           producer_id: new}
consumer: {client: Java, version: "4.0", settings: {enable.auto.commit: false, group.id: orders}, commit: before,
           group: new, processing: handed-off, on_processing_error: skip, sink: idempotent}
assume:   {faults: {total: 2, kill: 1, power-loss: 2}, network: 0..5, metadata: 1s, election: 0..2s, slowness: 1min,
           broker_restart: 2s..1min, application_restart: 1s..unbounded, cut_off: 0..1h, late_request: 0..1min,
           processing_time: 0..1s, poll_interval: 5ms..1s, coordinator: 0..5s}
bounds:   {records: 1, log: 2, epochs: 5, producer_epochs: 3}
require:  [no-log-duplicate, no-acked-loss]
"""


def test_complete(read_yaml) -> None:
    deployment = read_yaml(COMPLETE)
    assert deployment.name == "the orders"
    assert (deployment.application.sends, deployment.application.on_send_error) == (Sends.SYNC, OnSendError.RESEND)
    assert deployment.application.on_restart is OnRestart.RESEND
    assert (deployment.application.producer_id, deployment.application.group) == (ProducerId.NEW, Group.NEW)
    assert (deployment.application.commit, deployment.application.processing) == (Commit.BEFORE, Processing.HANDED_OFF)
    assert deployment.application.sink is Sink.IDEMPOTENT
    assert (deployment.faults.total, deployment.faults.at_most) == (2, (("kill", 1), ("power-loss", 2)))
    assert deployment.bounds == Bounds(records=1, log=2, sends=2, epochs=5, producer_epochs=3)
    assert deployment.require == ("no-acked-loss", "no-log-duplicate")
    assert deployment.assumptions == ()
    assert (deployment.notes, deployment.ignored) == ((), ())


def test_every_setting_names_its_line(read_yaml, tmp_path) -> None:
    deployment = read_yaml(COMPLETE)
    lines = {(s.scope, s.key): s.origin.line for s in deployment.settings if s.origin.kind == "file"}
    assert lines["broker", "release"] == 1
    assert lines["topic", "replication.factor"] == lines["topic", "min.insync.replicas"] == 3
    assert lines["application", "commit"] == 7
    assert lines["application", "sink"] == 8
    assert {s.origin.file for s in deployment.settings if s.origin.kind == "file"} == {
        str(tmp_path / "deployment.yaml")
    }


def test_settings_can_stand_in_their_section(read_yaml) -> None:
    flat = read_yaml('kafka: "4.0"\nproducer: {acks: all, sends: sync}\ntopic: {replicas: 3, min.insync.replicas: 2}')
    assert (flat.application.sends, flat.cluster.min_insync_replicas) == (Sends.SYNC, 2)


def test_missing_keys_have_defaults(read_yaml) -> None:
    deployment = read_yaml('kafka: "4.0"\ntopic:\nassume: {}')
    assert deployment.name == "deployment"
    assert deployment.require == ("no-acked-loss", "no-skip")
    assert deployment.bounds == Bounds(sends=1)
    assert deployment.faults.total is None
    assert deployment.faults.at_most == tuple(
        (kind.value, 9) for kind in Fault if kind not in ONLY_BY_NAME | OF_SOME_RELEASES
    )


def test_properties_that_depend_on_durations_are_required_only_by_name(read_yaml) -> None:
    """No configuration tells how long faults last, so nobody is told by default that a send can be given up."""
    named = [name for name in KNOWN_PROPERTIES if name not in (*ASKED_BY_DEFAULT, *OF_TRANSACTIONS)]
    of_answers = ["no-failed-send", "no-stored-failure", "no-failed-read", "enough-copies"]
    assert named == ["no-dropped-record", *of_answers, "no-uncommitted-read", "no-gap"]
    said = read_yaml('kafka: "4.0"\nrequire: [recoverability, no-dropped-record]')
    assert said.require == ("no-dropped-record", "recoverability")


@pytest.mark.parametrize(
    ("faults", "total", "at_most"),
    [
        ("2", 2, None),
        ("{total: 0}", 0, None),
        ("[kill, leader-move]", None, (("kill", 9), ("leader-move", 9))),
        ("{kill: 0, cut-off: 1}", None, (("cut-off", 1),)),
        ("{kill: 0}", None, ()),
    ],
)
def test_faults(read_yaml, faults: str, total: int | None, at_most: tuple[tuple[str, int], ...] | None) -> None:
    budget = read_yaml(f'kafka: "4.0"\nassume: {{faults: {faults}}}').faults
    assert budget.total == total
    every = tuple((kind.value, 9) for kind in Fault if kind not in ONLY_BY_NAME | OF_SOME_RELEASES)
    assert budget.at_most == (every if at_most is None else at_most)


@pytest.mark.parametrize(
    ("bounds", "key", "allowed"),
    [
        ("records: 0", "bounds.records", "from 1 to 3"),
        ("records: 4", "bounds.records", "from 1 to 3"),
        ("log: 6", "bounds.log", "from 1 to 5"),
        ("records: 3, log: 2", "bounds.log", "must be at least bounds.records, which is 3"),
        ("sends: 4", "bounds.sends", "from 1 to 3"),
        ("epochs: 1", "bounds.epochs", "from 2 to 15"),
        ("producer_epochs: 5", "bounds.producer_epochs", "from 1 to 4"),
        ("records: two", "bounds.records", "from 1 to 3"),
        ("records: 2.0", "bounds.records", "from 1 to 3"),
    ],
)
def test_bounds_out_of_range(refusal, bounds: str, key: str, allowed: str) -> None:
    message = refusal(f'kafka: "4.0"\nbounds: {{{bounds}}}')
    assert message.startswith(f"deployment.yaml:2: {key}: ")
    assert allowed in message


@pytest.mark.parametrize(("bounds", "log"), [("records: 1", 2), ("records: 3", 4), ("epochs: 3", 3)])
def test_the_log_follows_the_records(read_yaml, bounds: str, log: int) -> None:
    assert read_yaml(f'kafka: "4.0"\nbounds: {{{bounds}}}').bounds.log == log


def test_atomicity_needs_transactions(refusal) -> None:
    message = refusal('kafka: "4.0"\nrequire: [atomicity]')
    assert "atomicity: needs transactions, but the producer has no transactional.id" in message


def test_commit_is_the_clients_when_it_commits_by_itself(refusal) -> None:
    assert "enable.auto.commit=true" in refusal('kafka: "4.0"\nconsumer: {commit: after}')


BROKEN = [
    ("", "deployment.yaml: is empty"),
    (" \n\n", "deployment.yaml: is empty"),
    ("# nothing\n", "deployment.yaml: is empty"),
    ("---\n", "deployment.yaml: is empty"),
    ("hello", "deployment.yaml:1: is no deployment"),
    ("- a", "deployment.yaml:1: is no deployment"),
    ("topic: {}", "deployment.yaml: has no release"),
    ("kafka:", "deployment.yaml:1: kafka: has no value"),
    ("kafka: 4.0\n---\nkafka: 3.9", "deployment.yaml:2: has more than one YAML document"),
    ("kafka: 4.0\ntopic: {}\nkafka: 4.0", "deployment.yaml:3: kafka: is given twice, also in line 1"),
    ("kafka: 4.0\nproducer: {acks: 1, settings: {acks: 1}}", "deployment.yaml:2: acks: is given twice"),
    (
        "kafka: 4.0\ntopic: {replicas: 3, replication.factor: 3}",
        "deployment.yaml:2: replication.factor: is given twice",
    ),
    ("kafka: 4.0\nproducer: {sends: sync}\nassume: {sends: sync}", "deployment.yaml:3: sends: is given twice"),
    ("kafka: &a 4.0\nname: *a", "deployment.yaml:1: YAML anchors"),
    ("name: *a\nkafka: 4.0", "deployment.yaml:1: YAML aliases"),
    ("kafka: !!python/object:os.system 4.0", "deployment.yaml:1: YAML tags"),
    ("kafka: !x 4.0", "deployment.yaml:1: YAML tags"),
    ("kafka: 4.0\n<<: {topic: {}}", "deployment.yaml:2: YAML merge keys"),
    ('kafka: "4.0', "deployment.yaml:1: is not valid YAML"),
    ("kafka: 4.0\n\ttopic: 1", "deployment.yaml:2: is not valid YAML"),
    ("kafka: 4.0\ntopic: {a: [}", "deployment.yaml:2: is not valid YAML"),
    ("%YAML 9.9\n---\nkafka: 4.0", "deployment.yaml:1: is not valid YAML"),
    ("kafka: [4.0]", "deployment.yaml:1: kafka: must be a single value"),
    ("kafka: 4.0\nproducer: {acks: {all: 1}}", "deployment.yaml:2: acks: must be a single value"),
    ("kafka: 4.0\nproducer: [acks]", "deployment.yaml:2: producer: must contain keys with values"),
    ("kafka: 4.0\nproducer: {acks: }", "deployment.yaml:2: acks: has no value"),
    ("kafka: 4.0\nproducer: {acks: null}", "deployment.yaml:2: acks: has no value"),
    ("kafka: 4.0\n? [a]\n: b", "deployment.yaml:2: a key must be a single value"),
    ("kafka: 4.0\n~: b", "deployment.yaml:2: a key must be a single value"),
    ("kafka: 4.0\n1: b", "deployment.yaml:2: 1: unknown section"),
    (
        "base: {kafka: 4.0}\nvalues: {producer.acks: [1]}",
        "deployment.yaml: is a matrix of many deployments; check it with proofka audit",
    ),
    (
        "kafka: 4.0\nproducer:\n  acks: all\n  settings: {acks: all}",
        "deployment.yaml:4: acks: is given twice, also in line 3; keep one",
    ),
    (
        "kafka: 4.0\nrequire: [no-los]",
        "deployment.yaml:2: no-los: unknown property; did you mean no-loss?",
    ),
    ("kafka: 4.0\nrequire: []", "deployment.yaml:2: require: names no property"),
    ("kafka: 4.0\nrequire: [no-loss, no-loss]", "deployment.yaml:2: require: no-loss is required twice"),
    ("kafka: 4.0\nassume: {faults: [[kill]]}", "deployment.yaml:2: faults: must be a list of names"),
    ("[" * 10_000, "deployment.yaml:1: is nested deeper than 8 levels"),
    ("{a: " * 10_000, "deployment.yaml:1: is nested deeper than 8 levels"),
    ("- " * 10_000, "deployment.yaml:1: is nested deeper than 8 levels"),
    ("kafka: 4.0\nproducer:\n" + "".join(f"  k{i}: 1\n" for i in range(9000)), "has more than 5000 keys"),
    (b"kafka: 4.0\nname: \xff", "deployment.yaml:2: is not valid UTF-8"),
    (b"kafka: 4.0\nname: a\x07 b plus enough other text to count as text", "deployment.yaml:2: has a character"),
    ("kafka: 4.0".encode("utf-16"), "deployment.yaml: is in UTF-16"),
    (b"\x89PNG\r\n\x1a\n\0\0", "is a binary file (it contains NUL bytes)"),
    (b"\x01\x02\x03\x04", "deployment.yaml: is a binary file"),
    (b"#" * (1024 * 1024 + 1), "deployment.yaml: is too large for a configuration file"),
]


@pytest.mark.parametrize(("text", "start"), BROKEN, ids=[str(text[:30]) for text, _ in BROKEN])
def test_broken_file(refusal, text: str | bytes, start: str) -> None:
    message = refusal(text)
    assert start in message
    assert len(message) < 400


def test_byte_order_mark(read_yaml) -> None:
    assert read_yaml(b"\xef\xbb\xbfkafka: 4.0").cluster.kafka == (4, 0, 0)


def test_unreadable_paths(tmp_path) -> None:
    for path, reason in ((tmp_path, "is a directory"), (tmp_path / "no.yaml", "no such file")):
        with pytest.raises(DeploymentError, match=reason):
            read_deployment(path)


def test_a_huge_file_is_refused_at_once(tmp_path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    start = time.monotonic()
    with pytest.raises(DeploymentError, match="too large"):
        read_deployment(path)
    assert time.monotonic() - start < 1


@given(st.one_of(st.text(), st.binary(), st.text(alphabet="kafka: 4.0\n{}[]&*!|>'\"-?,#%\t")))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
def test_any_text_is_read_or_refused(read_yaml, text: str | bytes) -> None:
    content = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    try:
        read_yaml(content)
    except DeploymentError as error:
        assert "\n" not in str(error)
