"""Brokers of a Compose file: those that share an address of ZooKeeper or of a controller are one cluster."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.clusters import APART
from proofka.model.deployment.dialects.component import Found, Role
from tests.model.deployment.dialects.accounting import read_text, values

BROKER = """  {name}:
    image: apache/kafka:{release}
    environment:
      KAFKA_{key}: {address}
      KAFKA_MIN_INSYNC_REPLICAS: {least}
"""
SERVER = "  {name}:\n    image: zookeeper:3.9\n    environment:\n      {key}: {servers}\n"


def compose(key: str, *addresses: str, least: str = "222", releases: tuple[str, ...] = (), more: str = "") -> Found:
    """Return the content of a Compose file with one broker for each address, named a, b, c."""
    text = "services:\n" + more
    for at, address in enumerate(addresses):
        release = releases[at] if releases else "3.9.0"
        text += BROKER.format(name="abc"[at], key=key, address=address, least=least[at], release=release)
    return read_text(text, "docker-compose.yml")


def clusters(found: Found) -> list[str]:
    return [one.name for one in found.by_role[Role.BROKER]]


@pytest.mark.parametrize(
    ("key", "addresses", "expected"),
    [
        ("ZOOKEEPER_CONNECT", ("z1:2181,z2:2181", "z2,z3", "z3:2181"), ["a, b, c"]),
        ("ZOOKEEPER_CONNECT", ("z1:2181", "z2:2181", "z1"), ["a, c", "b"]),
        ("ZOOKEEPER_CONNECT", ("z1:2181/one", "z1:2181/two", "z1:2181/one"), ["a, c", "b"]),
        ("CONTROLLER_QUORUM_VOTERS", ("1@a:9093,2@b:9093", "1@a:9093", "2@b:9093"), ["a, b, c"]),
        ("CONTROLLER_QUORUM_BOOTSTRAP_SERVERS", ("a:9093", "a:9093,b:9093", "c:9093"), ["a, b", "c"]),
        ("CONTROLLER_QUORUM_VOTERS", ("1@localhost:9093", "1@localhost:9093", "1@localhost:9093"), ["a", "b", "c"]),
    ],
)
def test_brokers_that_share_an_address_are_one_cluster(
    key: str, addresses: tuple[str, ...], expected: list[str]
) -> None:
    found = compose(key, *addresses)
    assert clusters(found) == expected
    apart = [APART.format("; ".join(expected))] if len(expected) > 1 else []
    assert [note for note in found.notes if "separate clusters" in note] == apart


@pytest.mark.parametrize(
    ("key", "servers"),
    [
        ("ZOO_SERVERS", "server.1=0.0.0.0:2888:3888;2181 server.2=z2:2888:3888;2181"),
        ("ZOOKEEPER_SERVERS", "z1:2888:3888;z2:2888:3888"),
    ],
)
def test_brokers_of_an_ensemble_of_zookeeper_are_one_cluster(key: str, servers: str) -> None:
    more = SERVER.format(name="z1", key=key, servers=servers)
    assert clusters(compose("ZOOKEEPER_CONNECT", "z1:2181", "z2:2181", more=more)) == ["a, b"]
    assert clusters(compose("ZOOKEEPER_CONNECT", "z1:2181", "z3:2181", more=more)) == ["a", "b"]


def test_a_disagreement_of_brokers_with_different_addresses_of_one_cluster_is_named() -> None:
    found = compose("ZOOKEEPER_CONNECT", "z1,z2", "z2", least="21", releases=("3.9.0", "3.8.0"))
    assert values(found, Role.BROKER)["min.insync.replicas"] == "${not that of b}"
    reasons = [left.reason for left in found.rejected]
    assert reasons == [
        "differs from a: set the same value on all brokers of a cluster",
        "differs from the release of a",
    ]
