"""``proofka explain``: a check that also finds changes that would have prevented each violation."""

from __future__ import annotations

from proofka.checker.cli.check import check
from proofka.checker.cli.more import DEFAULT_MORE
from proofka.checker.cli.options import (
    Assume,
    Broker,
    Clients,
    Consumer,
    Environment,
    Faults,
    File,
    Fill,
    Kafka,
    More,
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
    more: More = DEFAULT_MORE,
) -> None:
    """Check a deployment, and print the changes of settings that would have prevented each violation.

    Same as proofka check --explain, with fewer options. Exit status: as for proofka check.
    """
    check(
        file,
        kafka,
        [topic] if topic else None,
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
        more=more,
        explain=True,
    )
