"""``proofka explain``: a check that also tries which changes would have prevented what was found."""

from __future__ import annotations

from checker.cli.check import check
from checker.cli.options import (
    Assume,
    Broker,
    Clients,
    Consumer,
    Environment,
    Faults,
    File,
    Fill,
    Kafka,
    PipelineNumber,
    Producer,
    Profile,
    Require,
    Seconds,
    Topic,
)


def explain(
    file: File = None,
    kafka: Kafka = None,
    topic: Topic = None,
    broker: Broker = None,
    producer: Producer = None,
    consumer: Consumer = None,
    assume: Assume = None,
    fill: Fill = None,
    environment: Environment = False,
    clients: Clients = None,
    pipeline: PipelineNumber = None,
    faults: Faults = None,
    seconds: Seconds = None,
    require: Require = None,
    profile: Profile = None,
) -> None:
    """Check a deployment, and say of each violation which changes of settings would have prevented it.

    The same as proofka check --explain, which takes every option of a check. Exit status: as of proofka check.
    """
    check(
        file,
        kafka,
        topic,
        broker,
        producer,
        consumer,
        assume=assume,
        fill=fill,
        environment=environment,
        clients=clients,
        pipeline=pipeline,
        faults=faults,
        seconds=seconds,
        require=require,
        profile=profile,
        explain=True,
    )
