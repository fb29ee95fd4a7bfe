"""Shell scripts that create or change topics: their calls of ``kafka-topics`` and ``kafka-configs``.

No script is run.
"""

from __future__ import annotations

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Found
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.topic_commands import Commands, calls_in

_SUFFIXES = (".sh", ".bash", ".zsh")


def fits(document: Document) -> bool:
    """Tell whether the document is a script that creates topics, or changes topics or brokers."""
    text = document.text
    creates = "kafka-topics" in text and "--create" in text
    changes = ("kafka-configs" in text or "kafka-topics" in text) and "--alter" in text
    return document.suffix in _SUFFIXES and (creates or changes)


def read(document: Document, fillings: Fillings) -> Found:
    """Return the topics that the script creates; a topic whose name or settings are known only at run time is
    rejected."""
    accounts = Accounts(document, fillings)
    commands = Commands(accounts)
    for said in calls_in(document.text):
        commands.run(said)
    return accounts.found(DIALECT.name, commands.components)


DIALECT = Dialect("script that creates topics", fits, read)
