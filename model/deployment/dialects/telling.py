"""Files that should be configurations of Kafka, by their names or texts, readable or not."""

from __future__ import annotations

import re
from pathlib import Path

from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.errors import DeploymentError

_TELLING = re.compile(r"producer|consumer|kafka|server|broker|connect|streams|compose|strimzi|application|topics?\b")
"""Names of files that count as configurations even if they cannot be read."""

_SPEAKS_OF_KAFKA = re.compile(r"bootstrap[._-]?servers?\b|\bkafka\b", re.IGNORECASE)
"""Text that a configuration contains, whatever its name."""

_NAMES_BROKERS = re.compile(
    r"bootstrap(?:[._-]?|[ \t]*:\s+)servers?\b|\bkafka://|\bmetadata\.broker\.list\b", re.IGNORECASE
)
"""Text that only a client of Kafka, or its configuration, contains. In YAML, `servers` can stand under `bootstrap`."""

_LISTS_BROKERS = re.compile(r"""(?<![a-z])(?:seed_?)?brokers?\b["']?\s*[:=]""", re.IGNORECASE)
"""Text that a client of Kafka contains where the file speaks of Kafka."""

_TO_BE_READ_BY_PEOPLE = frozenset({".md", ".mdx", ".rst", ".adoc", ".txt", ".html", ".log", ".svg"})

_FORMATS = YAML | {".properties", ".config", ".conf", ".json", ".toml", ".env", ".tf"}


def tells(path: Path) -> bool:
    """Tell whether the name of a file means a configuration of Kafka."""
    return path.suffix.lower() in _FORMATS and _TELLING.search(path.name.lower()) is not None


def is_for_people(document: Document) -> bool:
    """Tell whether the file is a text for people, such as a manual."""
    return document.suffix in _TO_BE_READ_BY_PEOPLE


def mentions(document: Document) -> bool:
    """Tell whether a file of no dialect gives the brokers of a client of Kafka."""
    text = document.text
    if _NAMES_BROKERS.search(text) is not None:
        return True
    return _LISTS_BROKERS.search(text) is not None and re.search("kafka", text, re.IGNORECASE) is not None


def broken(document: Document) -> DeploymentError | None:
    """Return the reason for which a file of no dialect cannot be read, if its name or text means a configuration of
    Kafka."""
    if _TELLING.search(document.name) is None and _SPEAKS_OF_KAFKA.search(document.text) is None:
        return None
    try:
        if document.suffix in YAML:
            _ = document.yaml
        elif document.suffix in (".properties", ".config"):
            _ = document.properties
        elif document.suffix == ".json":
            _ = document.json
    except DeploymentError as error:
        return error
    return None
