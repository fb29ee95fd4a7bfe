"""Java .properties files: escaping, line numbers, broken files, and files as they are found."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proofka.model.deployment import DeploymentError, read_properties
from proofka.model.deployment.choices import Acks, Commit
from proofka.model.deployment.properties_reader import read_settings

REAL = Path(__file__).parents[4] / "shared" / "real-configs"


def test_escapes_and_lines(tmp_path) -> None:
    path = tmp_path / "producer.properties"
    path.write_bytes(
        b"# comment\n! another\n\nlinger.ms = 5\nac\\\n  ks:all\n"
        b"client\\ id x\\u0041y\r\nretries 3\rbatch.size=\\=1\nempty\n"
    )
    found = {key: (given.value, given.origin.line) for key, given in read_settings(path).items()}
    assert found == {
        "linger.ms": ("5", 4),
        "acks": ("all", 5),
        "client id": ("xAy", 7),
        "retries": ("3", 8),
        "batch.size": ("=1", 9),
        "empty": ("", 10),
    }


def test_exchanged_files_are_refused(read_files, tmp_path) -> None:
    """A client ignores the other client's settings, so the check would be about the defaults."""
    shared, ofp, ofc = "bootstrap.servers=a:9092\n", "acks=1\n", "group.id=g\nisolation.level=read_committed\n"
    with pytest.raises(DeploymentError) as caught:
        read_files(producer=shared + ofc, consumer=shared + ofp)
    assert [str(error) for error in (caught.value, *caught.value.others)] == [
        f"{tmp_path}/producer.properties: has no setting of a producer alone (group.id is a consumer's): "
        "are --producer and --consumer exchanged?",
        f"{tmp_path}/consumer.properties: has no setting of a consumer alone (acks is a producer's): "
        "are --producer and --consumer exchanged?",
    ]
    read_files(producer=shared, consumer=shared)
    read_files(producer=shared + ofp + ofc, consumer=shared + ofc)


def test_four_files(read_files) -> None:
    deployment = read_files(
        topic="replication.factor=3\nmin.insync.replicas=2",
        broker="process.roles=broker\nlog.flush.interval.messages=1",
        producer="acks=1",
        consumer="group.id=g\nenable.auto.commit=false\nmax.poll.records=10",
        assume={
            "commit": "before",
            "on_send_error": "resend",
            "faults": "1",
            "faults.kill": "1",
            "bounds.records": "1",
        },
    )
    assert (deployment.cluster.replicas, deployment.cluster.min_insync_replicas, deployment.cluster.flush_messages) == (
        3,
        2,
        1,
    )
    assert (deployment.producer.acks, deployment.producer.idempotence) == (Acks.LEADER, False)
    assert (deployment.application.commit, deployment.consumer.max_poll_records) == (Commit.BEFORE, 10)
    assert (deployment.faults.total, deployment.faults.at_most) == (1, (("kill", 1),))
    assert (deployment.bounds.records, deployment.bounds.log, deployment.bounds.sends) == (1, 2, 2)


def test_no_file_at_all_means_defaults() -> None:
    deployment = read_properties(kafka="4.0", assume={"replicas": "3"})
    assert (deployment.name, deployment.cluster.replicas) == ("defaults", 3)


def test_the_release_is_an_option(file_refusal) -> None:
    assert file_refusal("9.9").startswith("--kafka 9.9: no defaults are known for Kafka 9.9; known releases are")
    assert read_properties(kafka="2.4", assume={"replicas": "3"}).cluster.kafka == (2, 4, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "producer.properties: is empty"),
        ("\n \n", "producer.properties: is empty"),
        ("acks=1\nlinger.ms=1\nacks=all", "producer.properties:3: acks: is given twice, also in line 1"),
        ("\nacks=\\u00zz", "producer.properties:2: has a malformed \\u escape"),
        (b"a\0b", "producer.properties:1: is a binary file"),
        (b"\xef\xbb\xbfacks=1", "producer.properties:1: acks: begins with a byte order mark"),
        (b"\xff\xfea\0", "producer.properties: is in UTF-16"),
        ("{% for x in y %}\nacks=1", "producer.properties:1: {%: a template stands in the place of a key"),
        ("a=b\\\n" * 1000, "producer.properties:501: a setting continues over more than 500 lines"),
        ("".join(f"ssl.{i}=1\n" for i in range(6000)), "producer.properties:5001: has more than 5000 settings"),
    ],
)
def test_broken_file(file_refusal, text: str | bytes, message: str) -> None:
    assert file_refusal(producer=text).startswith(message)


def test_a_file_of_comments_sets_nothing(read_files) -> None:
    assert read_files(producer="# acks=1\n").producer.acks is Acks.ALL


def test_other_encodings(read_files) -> None:
    assert read_files(producer="acks=1 \n# \u6d88\u606f".encode("gbk")).producer.acks is Acks.LEADER
    assert read_files(producer=b"\xef\xbb\xbf# by hand\nacks=1").producer.acks is Acks.LEADER
    assert (
        read_files(producer="# \u6d88\u606f\x08 and some text so that it is no binary file\nacks=1").producer.acks
        is Acks.LEADER
    )


@pytest.mark.parametrize("text", ["\\" * 1_000_000, "\\\n" * 500_000, " " * 1_000_000, "a\\ " * 300_000])
def test_nothing_takes_long(read_files, text: str) -> None:
    start = time.monotonic()
    with pytest.raises(DeploymentError):
        read_files(producer=text)
    assert time.monotonic() - start < 10


@given(st.one_of(st.binary(), st.text(alphabet="acks=:\\u0041\n\r \t#!")))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
def test_any_bytes_are_read_or_refused(read_files, text: str | bytes) -> None:
    try:
        read_files(producer=text, consumer=text)
    except DeploymentError as error:
        assert "\n" not in str(error)


def real_files() -> list[Path]:
    return sorted(REAL.glob("java-*-properties/*"))


@pytest.mark.skipif(not REAL.is_dir(), reason=f"needs the real configurations in {REAL.name}, which are not here")
@pytest.mark.parametrize("role", ["topic", "broker", "producer", "consumer"])
def test_real_files_are_read_or_refused_in_one_line(role: str) -> None:
    assert real_files()
    for path in real_files():
        try:
            deployment = read_properties(kafka="4.0", assume={"replicas": "3"}, **{role: path})
        except DeploymentError as error:
            assert str(error).startswith(str(path))
            assert "\n" not in str(error)
            continue
        given = set(read_settings(path))
        accounted = {s.key for s in deployment.ignored} | {s.key for s in deployment.settings}
        standing_in = {s.origin.detail.removeprefix("broker setting ") for s in deployment.settings}
        assert given <= accounted | standing_in
