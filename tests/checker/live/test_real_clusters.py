"""Real clusters of three brokers: every protocol, a broker that is down, missing rights, and no answer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.cluster.errors import JarsUnavailable, MissingProgram
from proofka.checker.cluster.waiting import until
from proofka.checker.cluster.wire import HOST
from proofka.model.deployment.hiding import is_secret
from tests.checker.live.secured import SECONDS, USERS, Secured, secured

pytest.importorskip("kafka")
pytestmark = pytest.mark.cluster

LINES = ("3.9", "4.0")
TOPICS = {
    "orders": {"num_partitions": 2, "replication_factor": 3, "configs": {"min.insync.replicas": "2"}},
    "single": {"assignments": {0: [1]}},
}


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    status: int
    out: str
    err: str


def proofka(*words: object) -> Done:
    """Run a command in a process of its own, as a user would, so that whatever the library prints is seen."""
    command = [sys.executable, "-m", "proofka", *map(str, words)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"})
    return Done(run.returncode, run.stdout, run.stderr)


@pytest.fixture(scope="module", params=LINES)
def cluster(request: pytest.FixtureRequest) -> Iterator[Secured]:
    """Start a cluster with two topics and a group, for the tests of this file; the last test stops brokers."""
    try:
        with secured(request.param) as made:
            client = made.client()
            client.create_topics(TOPICS, wait_for_metadata=True)
            read_by("billing", made)
            yield made
    except (MissingProgram, JarsUnavailable) as missing:
        pytest.skip(str(missing))


def read_by(group: str, cluster: Secured, **settings: object) -> None:
    """Let a consumer of a group commit offsets of the topic orders, and end."""
    from kafka import KafkaConsumer, TopicPartition
    from kafka.structs import OffsetAndMetadata

    consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap("PLAIN").split(","), group_id=group, **settings)
    consumer.assign([TopicPartition("orders", 0)])
    until(
        lambda: consumer.commit({TopicPartition("orders", 0): OffsetAndMetadata(0, "", -1)}) is None,
        what=f"an offset of {group}",
        seconds=SECONDS,
    )
    consumer.close()


EPOCH = re.compile(r"Epoch: \d+$")
"""The end of a feature's line, which grows with each record of the metadata."""
CONFIGS = "kafka.admin.ConfigCommand"
CHECK = ("--faults", "0", "--more", "0")
"""The least exploration: what is read decides these tests."""


@pytest.mark.parametrize(
    ("listener", "mechanism"),
    [("PLAIN", ""), ("TLS", ""), ("LOGIN", "PLAIN"), ("LOGIN", "SCRAM-SHA-512"), ("BOTH", "SCRAM-SHA-512")],
)
def test_every_protocol(listener: str, mechanism: str, cluster: Secured, tmp_path: Path) -> None:
    config = cluster.command_config(listener, mechanism=mechanism) if listener != "PLAIN" else None
    live = ("--bootstrap", cluster.bootstrap(listener), *(() if config is None else ("--command-config", config)))
    run = proofka("snapshot", *live, "-o", tmp_path / "snapshot")
    assert (run.status, run.err) == (0, "")
    assert "2 topics, 2 pipelines" in run.out
    here = proofka("check", *live, "--topic", "orders", *CHECK, "--json", tmp_path / "live.json")
    there = proofka("check", tmp_path / "snapshot", "--topic", "orders", *CHECK, "--json", tmp_path / "there.json")
    assert (here.status, there.status) == (4, 4), here.err + there.err
    one, other = (json.loads((tmp_path / name).read_text()) for name in ("live.json", "there.json"))
    assert [verdict["id"] for verdict in one["verdicts"]] == [verdict["id"] for verdict in other["verdicts"]]
    settings = {(each["scope"], each["key"]): each["value"] for each in one["deployment"]["settings"]}
    release = cluster.release
    assert settings["broker", "release"] == release
    assert settings["topic", "min.insync.replicas"] == "2"
    assert settings["topic", "replication.factor"] == "3"
    texts = [file.read_text() for file in (tmp_path / "snapshot").iterdir()]
    assert not [text for text in texts for password in USERS.values() if password in text]


def test_kafkas_own_tools_print_the_same(cluster: Secured, tmp_path: Path) -> None:
    """The texts of a snapshot are those of the tools of this release, but for the settings in topics' first lines."""
    run = proofka("snapshot", "--bootstrap", cluster.bootstrap("PLAIN"), "-o", tmp_path / "snapshot")
    assert run.status == 0, run.err

    def printed(main: str, *words: str) -> list[str]:
        text = cluster.tool(main, "--bootstrap-server", cluster.bootstrap("PLAIN"), *words)
        return sorted(EPOCH.sub("", line.rstrip()) for line in text.splitlines() if line.strip())

    def kept(name: str) -> list[str]:
        return sorted(EPOCH.sub("", line) for line in (tmp_path / "snapshot" / name).read_text().splitlines())

    assert printed("org.apache.kafka.tools.FeatureCommand", "describe") == kept("features.txt")
    described = ("--describe", "--all", "--entity-type")
    topics = printed(CONFIGS, *described, "topics", "--entity-name", "orders")
    own = (tmp_path / "snapshot" / "topic-configs.txt").read_text().partition("All configs for topic single")[0]
    assert topics == sorted(line.rstrip() for line in own.splitlines())
    brokers = printed(CONFIGS, *described, "brokers", "--entity-name", "1")
    text = (tmp_path / "snapshot" / "brokers.txt").read_text().partition("All configs for broker 2")[0]
    # A setting whose name can be that of a secret is kept without its value, which the tool prints.
    texts = (text.splitlines(), brokers)
    ours, theirs = ([line for line in lines if not is_secret(line.partition("=")[0])] for lines in texts)
    assert sorted(line.rstrip() for line in ours) == theirs


def test_a_group(cluster: Secured) -> None:
    live = ("--bootstrap", cluster.bootstrap("PLAIN"))
    run = proofka("check", *live, "--group", "billing", *CHECK)
    assert run.status == 4, run.err
    assert "orders:defaults:group-billing" in run.out
    run = proofka("check", *live, "--group", "nobody")
    assert run.status == 2
    assert run.err.startswith("--group nobody: the cluster lists no such group")


def test_rights(cluster: Secured) -> None:
    live = ("--bootstrap", cluster.bootstrap("LOGIN"), "--command-config")
    for more in ((), ("--topic", "orders"), ("--group", "billing")):
        run = proofka("check", *live, cluster.command_config("LOGIN", user="stranger"), *more)
        assert run.status == 8, run.err
        assert "this user lacks a right" in run.err
        assert len(run.err.splitlines()) == 1
    run = proofka("check", *live, cluster.command_config("LOGIN"), "--group", "billing", *CHECK)
    assert run.status == 4, run.err


def refused(*words: object) -> Done:
    run = proofka("check", *words)
    assert len(run.err.splitlines()) == 1, run.err
    assert not run.out
    return run


def test_refused_connections(cluster: Secured) -> None:
    login = cluster.command_config("LOGIN", user="nobody")
    run = refused("--bootstrap", cluster.bootstrap("LOGIN"), "--command-config", login)
    assert run.status == 7
    assert "perhaps sasl.mechanism and sasl.jaas.config are wrong" in run.err
    assert "no-such-user" not in run.err
    run = refused("--bootstrap", cluster.bootstrap("TLS"))
    assert (run.status, "security.protocol is PLAINTEXT" in run.err) == (7, True)
    untrusted = cluster.command_config("TLS", ssl_truststore_location=str(other_authority(cluster.folder)))
    run = refused("--bootstrap", cluster.bootstrap("TLS"), "--command-config", untrusted)
    assert (run.status, "the certificate is not trusted" in run.err) == (7, True)
    run = refused("--bootstrap", cluster.bootstrap("PLAIN"), "--command-config", cluster.command_config("TLS"))
    assert (run.status, "TLS fails" in run.err) == (7, True)


def other_authority(folder: Path) -> Path:
    """Return the certificate of an authority that the brokers do not know."""
    from tests.checker.live.secured import certificates

    other = folder / "other"
    other.mkdir(exist_ok=True)
    return certificates(other)[0]


def test_ports_without_a_listener() -> None:
    run = refused("--bootstrap", f"{HOST}:1", "--timeout", "3")
    assert (run.status, "the cluster is not reached" in run.err) == (6, True)


def live_brokers(client: Any) -> list[int]:
    """Return the brokers that are not fenced; releases from 4.0 on also list the others."""
    found = client.describe_cluster()["brokers"]
    return sorted(one["broker_id"] for one in found if not one.get("is_fenced", False))


def test_brokers_that_are_down_or_silent(cluster: Secured, tmp_path: Path) -> None:
    """Broker 3 dies, and then the others are paused. Nothing else may follow on this cluster."""
    cluster.nodes[3].kill()
    client = cluster.client()
    until(lambda: live_brokers(client) == [1, 2], what="broker 3 fenced", seconds=SECONDS)
    live = ("--bootstrap", cluster.bootstrap("PLAIN"))
    run = proofka("snapshot", *live, "-o", tmp_path / "snapshot")
    assert run.status == 9, run.err
    assert run.err.startswith("broker 3 is down, so its settings are unknown: topic orders")
    run = proofka("check", *live, *CHECK)
    assert run.status == 9
    assert "single:defaults:defaults" in run.out
    cluster.nodes[2].pause()
    run = proofka("check", "--bootstrap", cluster.bootstrap("PLAIN", (1,)), "--timeout", "1", *CHECK)
    assert run.status == 9, run.err
    cluster.nodes[1].pause()
    run = refused("--bootstrap", cluster.bootstrap("PLAIN", (1, 2)), "--timeout", "2")
    assert (run.status, "no answer within 2 s" in run.err) == (6, True)
