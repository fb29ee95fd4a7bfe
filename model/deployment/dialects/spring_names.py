"""Names of properties as Spring Boot compares them, in files and in the environment, and the documents of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from model.deployment.dialects.document import PROPERTIES, YAML, Document
from model.deployment.dialects.formats.yaml import values_of
from model.deployment.dialects.said import Said

_LINE_END = re.compile(r"\r\n|\r|\n")
_ENVIRONMENT = re.compile(r"SPRING_[A-Z0-9_]{1,200}", re.ASCII)
_FILE = re.compile(r"application-([\w.-]+?)\.(?:ya?ml|properties).*", re.ASCII)
SEPARATORS = frozenset({"#---", "!---"})


def relaxed(path: tuple[str, ...]) -> tuple[str, ...]:
    """Names as Spring compares them: without dashes and underscores, in small letters.

    >>> relaxed(("spring", "kafka", "consumer", "isolationLevel"))
    ('spring', 'kafka', 'consumer', 'isolationlevel')
    """
    return tuple(name.replace("-", "").replace("_", "").lower() for name in path)


def names_in(key: str) -> tuple[str, ...]:
    """The names of a key; a name in square brackets keeps its dots, as maps with such keys need it.

    >>> names_in("spring.kafka.properties[max.poll.records]")
    ('spring', 'kafka', 'properties', 'max.poll.records')
    """
    names: list[str] = []
    for number, part in enumerate(key.split("[")):
        inside, bracket, after = part.partition("]")
        if number and bracket:
            names.append(inside.strip("'\""))
            names += [name for name in after.split(".") if name]
        else:
            names += [name for name in part.split(".") if name]
    return tuple(names)


def names_in_environment(name: str) -> tuple[str, ...] | None:
    """The names that a variable of the environment stands for; None if it is not one of Spring's.

    >>> names_in_environment("SPRING_KAFKA_PRODUCER_ACKS")
    ('spring', 'kafka', 'producer', 'acks')
    """
    return tuple(part for part in name.lower().split("_") if part) if _ENVIRONMENT.fullmatch(name) else None


def documents_in(document: Document) -> Iterator[list[Said]]:
    """The values of each document in a file, names nested or dotted alike."""
    if document.suffix in YAML:
        for node in document.yaml:
            yield [replace(said, path=names_in(".".join(said.path))) for said in values_of(node) if said.path]
    elif document.suffix in PROPERTIES or document.name.endswith(".env"):
        ends = [
            number for number, line in enumerate(_LINE_END.split(document.text), start=1) if line.strip() in SEPARATORS
        ]
        values = [
            replace(said, path=names_in_environment(said.key) or names_in(said.key)) for said in document.properties
        ]
        for first, last in zip([0, *ends], [*ends, len(document.text) + 2], strict=True):
            yield [said for said in values if first < said.line < last]


def profile_of_file(document: Document) -> str:
    """The profile that a file is for by its name: ``application-prod.yml``."""
    found = _FILE.fullmatch(document.name)
    return "" if found is None else found[1]
