"""The order in which a restarted application's records leave the client (semantics 3.1, P2; choice 37)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proofka.model.deployment.choices import OnRestart, OnSendError
from proofka.model.deployment.explored import Bounds
from tests.checker.asking import deployment_of
from tests.deployments import changed
from tests.model.scripted import Scenario

BOUNDS = Bounds(records=2, log=4, sends=2, epochs=2, producer_epochs=3)
AGAIN = 2
"""The batch of the second send of the first record."""
CRASHES = "assume: {faults: {total: 2, producer-crash: 1, refused-record: 1}}"
PRODUCERS = {
    "java": "{acks: 1, enable.idempotence: false}",
    "java, idempotent": "{acks: all, enable.idempotence: true}",
    "librdkafka": "{client: librdkafka, acks: 1}",
    "librdkafka, idempotent": "{client: librdkafka, enable.idempotence: true}",
    "franz-go": "{client: franz-go}",
    "sarama": "{client: sarama, Producer.RequiredAcks: WaitForAll}",
    "sarama, idempotent": (
        "{client: sarama, Producer.RequiredAcks: WaitForAll, Producer.Idempotent: true, Net.MaxOpenRequests: 1}"
    ),
}
"""The producers, each with a queue of its own."""


def started(folder: Path, producer: str, **settings: Any) -> Scenario:
    """Return the start of a run with one broker."""
    text = f'kafka: "4.0"\ntopic: {{replicas: 1}}\nproducer: {PRODUCERS[producer]}\n{CRASHES}\n'
    return Scenario(changed(replace(deployment_of(text, folder), bounds=BOUNDS), **settings))


@pytest.mark.parametrize("producer", PRODUCERS)
def test_record_that_is_sent_again_after_a_start_goes_before_later_records(tmp_path: Path, producer: str) -> None:
    run = started(tmp_path, producer, on_restart=OnRestart.RESEND)
    run.do("send", batch=0).do("crash_producer").do("send", batch=AGAIN).do("send", batch=1)
    assert not run.can("transmit", batch=1, leader=1)
    run.do("transmit", batch=AGAIN, leader=1).do("append", batch=AGAIN, leader=1)
    run.do("acknowledge", batch=AGAIN, leader=1).do("transmit", batch=1, leader=1)


@pytest.mark.parametrize("producer", ["java", "java, idempotent", "librdkafka", "franz-go"])
def test_record_that_is_sent_again_after_a_failure_goes_before_or_after_later_records(
    tmp_path: Path, producer: str
) -> None:
    """The model does not remember whether the application heard of the failure before its next send()."""
    run = started(tmp_path, producer, on_send_error=OnSendError.RESEND)
    run.do("send", batch=0).do("transmit", batch=0, leader=1).do("refuse_for_good", batch=0, leader=1)
    run.do("send", batch=1).do("send", batch=AGAIN)
    assert run.can("transmit", batch=1, leader=1)
    assert run.can("transmit", batch=AGAIN, leader=1)
