"""Go programs: sarama, franz-go, kafka-go and confluent-kafka-go by their own settings."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from proofka.model.deployment.dialects import go_franz, go_kafka_go, go_maps, go_sarama
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component, Found
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.go import Program, program_of
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.written import components_of
from proofka.model.deployment.given import Given, library_of
from proofka.model.deployment.setting import Origin

_TABLE = Path(__file__).with_name("tables") / "go_paths.csv"
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
    newest = _newest_of(program)
    released = [replace(one, newest=newest.get(library_of(one.client))) for one in components]
    return accounts.found("Go source", released)


@cache
def _paths() -> Mapping[str, tuple[str, str]]:
    """Return the library of each import path that newer releases no longer have, and its newest release."""
    with _TABLE.open(encoding="utf-8", newline="") as table:
        return {row["path"]: (row["library"], row["newest"]) for row in csv.DictReader(table)}


def _newest_of(program: Program) -> Mapping[str, Given]:
    """Return the newest release of each library that the import paths of a program allow."""
    found: dict[str, Given] = {}
    for path in program.packages.values():
        if path in _paths():
            library, newest = _paths()[path]
            why = f"the newest release of {path}; change it with --client V"
            found[library] = Given("version", newest, Origin("assumption", why))
    return found


DIALECT = Dialect("Go source", fits, read)
