"""Go programs: sarama, franz-go, kafka-go and confluent-kafka-go by their own settings."""

from __future__ import annotations

import re

from model.deployment.dialects import go_franz, go_kafka_go, go_maps, go_sarama
from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.component import Component, Found
from model.deployment.dialects.dialect import Dialect
from model.deployment.dialects.document import Document
from model.deployment.dialects.formats.go import program_of
from model.deployment.dialects.placeholders import Fillings
from model.deployment.dialects.written import components_of

_IMPORT = re.compile(
    r'"(github\.com/(IBM|Shopify)/sarama|gopkg\.in/Shopify/sarama\.v1|github\.com/twmb/franz-go/pkg/kgo'
    r'|github\.com/segmentio/kafka-go|(github\.com|gopkg\.in)/confluentinc/confluent-kafka-go[\w./]*)"'
)


def fits(document: Document) -> bool:
    """Tell whether the document is a Go file that imports a client library."""
    return document.suffix == ".go" and _IMPORT.search(document.text) is not None


def read(document: Document, fillings: Fillings) -> Found:
    """Return the producers and consumers that a Go file makes, with the settings in the file."""
    program = program_of(document.text, document.file)
    accounts = Accounts(document, fillings)
    components: list[Component] = []
    for library in (go_sarama, go_franz, go_kafka_go, go_maps):
        if not library.is_used(program):
            continue
        for configured in library.configurations(program):
            components += components_of(configured, accounts, document.file)
    return accounts.found("Go source", components)


DIALECT = Dialect("Go source", fits, read)
