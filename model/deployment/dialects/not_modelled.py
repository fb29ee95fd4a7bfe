"""Configurations that are known by their shape, and whose clients are not modelled: they are named, and rejected.

OpenTelemetry's collector has settings of its own for its Kafka receiver and exporter, in some releases on sarama and in
others on franz-go. Programs in .NET bind sections of ``appsettings.json`` to the classes of Confluent.Kafka.
"""

from __future__ import annotations

from collections.abc import Callable

from model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from model.deployment.dialects.component import Found
from model.deployment.dialects.dialect import Dialect
from model.deployment.dialects.document import YAML, Document
from model.deployment.dialects.formats.yaml import documents_of, values_of
from model.deployment.dialects.nodes import entries_under
from model.deployment.dialects.placeholders import Fillings
from model.deployment.dialects.said import Said
from model.deployment.errors import DeploymentError
from model.deployment.yaml_tree import Node

_OF_COLLECTOR = ("receivers", "exporters")
_FIELDS_OF_NET = frozenset(
    {
        "bootstrapservers",
        "acks",
        "groupid",
        "enableidempotence",
        "enableautocommit",
        "autooffsetreset",
        "messagetimeoutms",
        "isolationlevel",
        "transactionalid",
        "enableautooffsetstore",
    }
)
"""Properties of the classes ProducerConfig and ConsumerConfig, in small letters: .NET compares them so."""


def _nodes(document: Document) -> tuple[Node, ...]:
    try:
        if document.suffix in YAML:
            return document.yaml
        return documents_of(document.text.lstrip("\ufeff").replace("\t", " "), document.file)
    except DeploymentError:
        return ()


def _of_collector(path: tuple[str, ...]) -> tuple[str, ...]:
    """The receiver or exporter that a value of a collector's is for, if that is Kafka's."""
    kafkas = len(path) > 2 and path[0] in _OF_COLLECTOR and path[1].partition("/")[0] == "kafka"
    return path[:2] if kafkas else ()


def _of_net(path: tuple[str, ...]) -> tuple[str, ...]:
    """The section in which a property of a client's stands."""
    return path[:-1] if len(path) > 1 and path[-1].lower() in _FIELDS_OF_NET else ()


def fits_collector(document: Document) -> bool:
    """Receivers and exporters, one of them Kafka's, and the pipelines of a service."""
    if document.suffix not in YAML or "kafka" not in document.text or "service" not in document.text:
        return False
    nodes = _nodes(document)
    if len(nodes) != 1 or not any(key == "pipelines" for key, _ in entries_under(nodes[0], "service")):
        return False
    return any(_of_collector(said.path) for said in values_of(nodes[0]))


def fits_net(document: Document) -> bool:
    """``appsettings.json`` with sections that have at least two properties of a client's."""
    if not document.name.startswith("appsettings") or document.suffix != ".json":
        return False
    if "kafka" not in document.text.lower() and "bootstrapservers" not in document.text.lower():
        return False
    return sum(bool(_of_net(said.path)) for node in _nodes(document) for said in values_of(node)) > 1


def _reader(name: str, section_of: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Callable[..., Found]:
    def read(document: Document, fillings: Fillings) -> Found:
        """Nothing can be used: each section is rejected once, at its first value."""
        accounts = Accounts(document, fillings)
        values = [said for node in _nodes(document) for said in values_of(node)]
        sections = {section for said in values if (section := section_of(said.path))}
        told: set[tuple[str, ...]] = set()
        for said in values:
            section = next((one for one in sections if said.path[: len(one)] == one), ())
            if section and section not in told:
                told.add(section)
                place = Said(section, "", said.line)
                accounts.reject(place, f"configures a client of {name}, which is not modelled as it lies")
                accounts.ignore(said, "of a client that is not modelled")
            else:
                accounts.ignore(said, "of a client that is not modelled" if section else NOT_KAFKAS)
        return accounts.found(name, ())

    return read


COLLECTOR_NAME, NET_NAME = "OpenTelemetry collector", ".NET application"
COLLECTOR = Dialect(COLLECTOR_NAME, fits_collector, _reader(COLLECTOR_NAME, _of_collector))
NET = Dialect(NET_NAME, fits_net, _reader(NET_NAME, _of_net))
