"""Files that should be configurations of Kafka's, by their names or texts, whether anybody can read them or not."""

from __future__ import annotations

import re
from pathlib import Path

from model.deployment.dialects.document import YAML, Document
from model.deployment.errors import DeploymentError

_TELLING = re.compile(r"producer|consumer|kafka|server|broker|connect|streams|compose|strimzi|application|topics?\b")
"""Names of files that are taken for configurations also where nobody can read them."""

_SPEAKS_OF_KAFKA = re.compile(r"bootstrap[._-]?servers?\b|\bkafka\b", re.IGNORECASE)
"""What stands in a configuration, whatever its name is."""

_FORMATS = YAML | {".properties", ".config", ".conf", ".json", ".toml", ".env", ".tf"}


def tells(path: Path) -> bool:
    """The name of a file says that it should be a configuration of Kafka's."""
    return path.suffix.lower() in _FORMATS and _TELLING.search(path.name.lower()) is not None


def broken(document: Document) -> DeploymentError | None:
    """Why a file of no dialect cannot be read, if its name or its text says that it should be one."""
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
