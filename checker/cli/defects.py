"""``proofka defects``: the register of known defects of Kafka's releases and of client libraries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofka.checker.cli.errors import fail, one_line_errors, plain
from proofka.checker.cli.options import Assume, Broker, Clients, Consumer, Kafka, PipelineNumber, Producer, Topic
from proofka.checker.cli.source_options import source_of

if TYPE_CHECKING:
    from proofka.checker.source import Source
    from proofka.properties.known_defects.defect import Defect

Asked = Annotated[
    str | None,
    typer.Argument(
        metavar="[RELEASE|CLIENT[=VERSION]|ID|FILE]",
        help="A release of Kafka (3.9.1), a client (librdkafka) or a release of one (librdkafka=2.3.0), a defect "
        "(KAFKA-18991), or a file or folder as check takes it (default: the number of known defects of each product).",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the defects as JSON, one object each (default: off).")]


def defects(
    asked: Asked = None,
    kafka: Kafka = None,
    topic: Topic = None,
    broker: Broker = None,
    producer: Producer = None,
    consumer: Consumer = None,
    assume: Assume = None,
    clients: Clients = None,
    pipeline: PipelineNumber = None,
    as_json: AsJson = False,
) -> None:
    """List known defects of Kafka's brokers and of client libraries, and what Proofka does about each.

    Of a configuration, those are listed that could violate what holds.

    Exit status: 0 the defects are listed; 2 no release, client, defect or file has that name.
    """
    from proofka.properties.known_defects.register import register
    from proofka.reports.console import console
    from proofka.reports.defect_list import DefectList, RegisterSummary, WholeDefect
    from proofka.reports.pager import print_paged

    source = source_of(
        None if asked is None else Path(asked),
        kafka,
        topic,
        broker,
        producer,
        consumer,
        assume=assume,
        clients=clients,
        pipeline=pipeline,
    )
    if any(one is not None for one in (kafka, topic, broker, producer, consumer)):
        heading, found = asked or f"Kafka {kafka} and its clients", _of_deployment(source)
    elif asked is not None:
        heading, found = _found(asked, source)
    elif as_json:
        heading, found = "all", register()
    else:
        console().print(RegisterSummary())
        return
    if as_json:
        typer.echo(_json(found))
    elif heading:
        print_paged(console(), DefectList(heading, found))
    else:
        print_paged(console(), *map(WholeDefect, found))


def _found(asked: str, source: Source) -> tuple[str, Sequence[Defect]]:
    """Return the defects for a word, under a heading, or without a heading if the word names a single defect.

    ``source``: the configuration, if the word names a file.
    """
    from proofka.properties.known_defects.named import NoSuchDefect, defects_named, is_known

    if not is_known(asked) and Path(asked).exists():
        return asked, _of_deployment(source)
    try:
        return defects_named(asked)
    except NoSuchDefect as error:
        fail(plain(str(error)))


def _of_deployment(source: Source) -> Sequence[Defect]:
    from proofka.model.deployment.required_properties import ASKED_BY_DEFAULT
    from proofka.properties.known_defects.beside import could_violate, defects_here

    with one_line_errors():
        deployment = source.read()
    here, asked = defects_here(deployment), (*ASKED_BY_DEFAULT, *deployment.require)
    return list(dict.fromkeys(defect for name in asked for defect in here if could_violate(defect, name)))


def _json(found: Sequence[Defect]) -> str:
    import json

    from proofka.properties.known_defects.defect import release_in_words

    return json.dumps(
        [
            {
                "id": one.id,
                "product": one.product,
                "first": release_in_words(one.affected.first) or None,
                "last": release_in_words(one.affected.last) or None,
                "fixed": [release_in_words(release) for release in one.affected.fixed],
                "sentence": one.sentence,
                "breaks": list(one.breaks),
                "settings": list(one.settings),
                "needs": list(one.needs),
                "features": list(one.features),
                "treatment": one.treatment.value,
                "shown_by": one.shown_by,
                "codes": list(one.codes),
                "source": one.source,
                "uncertain": one.uncertain,
            }
            for one in found
        ],
        indent=2,
    )
