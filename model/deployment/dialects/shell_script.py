"""Scripts of a shell that create topics: the calls of ``kafka-topics --create`` in them. None is run."""

from __future__ import annotations

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.component import Component, Found
from model.deployment.dialects.dialect import Dialect
from model.deployment.dialects.document import Document
from model.deployment.dialects.placeholders import Fillings
from model.deployment.dialects.topic_commands import calls_in, topics_created

_SUFFIXES = (".sh", ".bash", ".zsh")


def fits(document: Document) -> bool:
    """A script in which topics are created."""
    text = document.text
    return document.suffix in _SUFFIXES and "kafka-topics" in text and "--create" in text


def read(document: Document, fillings: Fillings) -> Found:
    """The topics that it creates; one whose name or settings are told only when it runs is rejected."""
    accounts = Accounts(document, fillings)
    components: list[Component] = []
    for said in calls_in(document.text):
        components += topics_created(said, accounts)
    return accounts.found(DIALECT.name, components)


DIALECT = Dialect("script that creates topics", fits, read)
