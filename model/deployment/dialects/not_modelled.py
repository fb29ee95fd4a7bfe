"""Configurations of recognised form whose clients are not modelled: they are named and rejected.

OpenTelemetry's collector has its own settings for its Kafka receiver and exporter, which use sarama in some releases
and franz-go in others.
"""

from __future__ import annotations

from collections.abc import Callable

from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.component import Found
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.dialects.formats.yaml import documents_of, values_of
from proofka.model.deployment.dialects.nodes import entries_under
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.yaml_tree import Node

_OF_COLLECTOR = ("receivers", "exporters")


def _nodes(document: Document) -> tuple[Node, ...]:
    try:
        if document.suffix in YAML:
            return document.yaml
        return documents_of(document.text.lstrip("\ufeff").replace("\t", " "), document.file)
    except DeploymentError:
        return ()


def _of_collector(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the receiver or exporter of a collector's value, if that is Kafka's."""
    kafkas = len(path) > 2 and path[0] in _OF_COLLECTOR and path[1].partition("/")[0] == "kafka"
    return path[:2] if kafkas else ()


def fits_collector(document: Document) -> bool:
    """Tell whether the document has receivers and exporters, one of them Kafka's, and the pipelines of a service."""
    if document.suffix not in YAML or "kafka" not in document.text or "service" not in document.text:
        return False
    nodes = _nodes(document)
    if len(nodes) != 1 or not any(key == "pipelines" for key, _ in entries_under(nodes[0], "service")):
        return False
    return any(_of_collector(said.path) for said in values_of(nodes[0]))


def _reader(name: str, section_of: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Callable[..., Found]:
    def read(document: Document, fillings: Fillings) -> Found:
        """Reject each section once, at its first value, because nothing can be used."""
        accounts = Accounts(document, fillings)
        values = [said for node in _nodes(document) for said in values_of(node)]
        sections = {section for said in values if (section := section_of(said.path))}
        told: set[tuple[str, ...]] = set()
        for said in values:
            section = next((one for one in sections if said.path[: len(one)] == one), ())
            if section and section not in told:
                told.add(section)
                place = Said(section, "", said.line)
                accounts.reject(place, f"configures a client of {name}, which is not modelled")
                accounts.ignore(said, "belongs to a client that is not modelled")
            else:
                accounts.ignore(said, "belongs to a client that is not modelled" if section else NOT_KAFKAS)
        return accounts.found(name, ())

    return read


COLLECTOR_NAME = "OpenTelemetry collector"
COLLECTOR = Dialect(COLLECTOR_NAME, fits_collector, _reader(COLLECTOR_NAME, _of_collector))
