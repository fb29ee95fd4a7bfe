"""Number of messages that connecting takes, by the security of the connection."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("said", "messages"),
    [
        ("client.id=x", 4),
        ("security.protocol=PLAINTEXT", 4),
        ("security.protocol=ssl", 8),
        ("security.protocol=SASL_PLAINTEXT", 14),
        ("security.protocol=SASL_SSL", 18),
        ("security.protocol=${PROTOCOL}", 18),
    ],
)
def test_connecting(read_files, said: str, messages: int) -> None:
    """TCP and versions; TLS twice both ways; SASL's versions, mechanism and three rounds."""
    assert read_files(producer=said).producer.connects == messages
    assert read_files(consumer=said).consumer.connects == messages
    assert read_files(consumer=said).producer.connects == 4


@pytest.mark.parametrize(("least", "waits"), [("1", False), ("0", False), ("2", True)])
def test_fetches_wait_for_bytes(read_files, least: str, waits: bool) -> None:
    deployment = read_files(consumer=f"fetch.min.bytes={least}", broker=f"replica.fetch.min.bytes={least}")
    assert (deployment.consumer.waits_for_bytes, deployment.cluster.followers_wait_for_bytes) == (waits, waits)
    assert {"fetch.min.bytes", "replica.fetch.min.bytes"} <= {setting.key for setting in deployment.settings}
