"""``proofka show``: every effective setting of a deployment, and where it came from."""

from __future__ import annotations

from checker.cli.errors import one_line_errors
from checker.cli.options import Assume, Broker, Consumer, File, Kafka, Producer, Topic
from checker.source import Source


def show(
    file: File = None,
    kafka: Kafka = None,
    topic: Topic = None,
    broker: Broker = None,
    producer: Producer = None,
    consumer: Consumer = None,
    assume: Assume = None,
) -> None:
    """Show every effective setting of a deployment and where it came from."""
    source = Source(file, kafka, topic, broker, producer, consumer, tuple(assume or ()))
    with one_line_errors():
        deployment = source.read()
    from reports.settings import SettingsReport
    from reports.terminal import console

    console().print(SettingsReport(deployment))
