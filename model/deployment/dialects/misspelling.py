"""Files of no dialect whose keys resemble settings of Kafka: probably all of their settings are misspelt."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from proofka.model.deployment.defaults import known_keys
from proofka.model.deployment.dialects.document import PROPERTIES, Document
from proofka.model.deployment.dialects.telling import tells
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.hiding import printable, shown_key
from proofka.model.deployment.known_keys import MEANT, NEAR

MOST_NAMED = 4
"""Largest number of keys that a sentence names."""

MOST_COMPARED, LONGEST_COMPARED = 100, 100
"""Largest number of keys of a file that are compared with settings, and largest length of such a key in characters."""

_SCOPES = ("producer", "consumer", "broker", "topic")


def misspelt_keys(document: Document) -> str:
    """Return a sentence about keys that resemble settings of Kafka, or ``""``.

    Only a file of properties counts whose name means a configuration of Kafka, such as ``producer.properties``.
    """
    if document.suffix not in PROPERTIES or not tells(Path(document.file)):
        return ""
    try:
        found = list(_resembling(document))
    except DeploymentError:
        return ""
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"no key is a setting of Kafka: {'; '.join(found[:MOST_NAMED])}{more}" if found else ""


def _resembling(document: Document) -> Iterator[str]:
    """Yield each key that resembles a setting, with its line and the setting."""
    choices = list(dict.fromkeys(key for scope in _SCOPES for key in known_keys(scope)))
    for said in document.properties[:MOST_COMPARED]:
        if len(said.key) <= LONGEST_COMPARED:
            for near in get_close_matches(said.key.lower().replace("_", "."), choices, n=1, cutoff=NEAR):
                yield f"line {said.line}: {printable(shown_key(said.key))}, {MEANT} {near}?"
