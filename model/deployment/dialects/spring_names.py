"""Names of properties in Spring Boot's form, in files and in the environment, and the documents of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from proofka.model.deployment.dialects.document import PROPERTIES, YAML, Document
from proofka.model.deployment.dialects.formats.yaml import TEMPLATE_KEY, values_of
from proofka.model.deployment.dialects.formats.yaml_in_java import as_in_java
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.yaml_tree import Mapping, Node, Sequence

_LINE_END = re.compile(r"\r\n|\r|\n")
_SEPARATOR = re.compile(r"[#!]---[ \t\f]*")
_COMMENT = re.compile(r"[ \t\f]*([#!])")
_TRUE = frozenset({"true", "on", "yes", "1"})
_FALSE = frozenset({"false", "off", "no", "0"})
_ENVIRONMENT = re.compile(r"SPRING_[A-Z0-9_]{1,200}", re.ASCII)


def relaxed(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return names in Spring's form: without dashes and underscores, in lower case.

    >>> relaxed(("spring", "kafka", "consumer", "isolationLevel"))
    ('spring', 'kafka', 'consumer', 'isolationlevel')
    """
    return tuple(name.replace("-", "").replace("_", "").lower() for name in path)


def names_in(key: str) -> tuple[str, ...]:
    """Return the names of a key; a name in square brackets keeps its dots, as maps with such keys need.

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
    """Return the names that an environment variable means; None if it is not one of Spring's.

    >>> names_in_environment("SPRING_KAFKA_PRODUCER_ACKS")
    ('spring', 'kafka', 'producer', 'acks')
    """
    return tuple(part for part in name.lower().split("_") if part) if _ENVIRONMENT.fullmatch(name) else None


def documents_in(document: Document) -> Iterator[list[Said]]:
    """Yield the values of each document in a file, with nested and dotted names alike."""
    if document.suffix in YAML:
        for node in document.yaml:
            flat = (said for said in values_of(as_in_java(node)) if said.path)
            yield [replace(said, path=names_in(".".join(said.path))) for said in flat]
    elif document.suffix in PROPERTIES or document.name.endswith(".env"):
        ends = _separators(document.text, [said.line for said in document.properties])
        values = [
            replace(said, path=names_in_environment(said.key) or names_in(said.key)) for said in document.properties
        ]
        for first, last in zip([0, *ends], [*ends, len(document.text) + 2], strict=True):
            yield [said for said in values if first < said.line < last]


def _separators(text: str, settings: list[int]) -> list[int]:
    """Return the lines that separate documents, in a file with settings in these lines.

    ``OriginTrackedPropertiesLoader.isNewDocument``: the sign begins the line, three hyphens follow it, and the line
    before is no comment with the same sign. ``load``: a comment before any setting cancels the separation.
    """
    lines = _LINE_END.split(text)
    found: list[int] = []
    before, at = "", 0
    for number, line in enumerate(lines, start=1):
        comment = _COMMENT.match(line)
        if comment is None:
            before = ""
            continue
        while at < len(settings) and settings[at] < number:
            at += 1
        if _SEPARATOR.fullmatch(line) and before != comment[1]:
            found.append(number)
            # At the beginning of a document, the sign of the line is not kept.
            continue
        while found and (at == 0 or settings[at - 1] < found[-1]):
            found.pop()
        before = comment[1]
    return found


def given_again(nodes: Iterable[Node], path: tuple[str, ...] = ()) -> Iterator[tuple[Said, int]]:
    """Yield the values under repeated keys of a mapping, each with the line of the repetition."""
    for node in nodes:
        if isinstance(node, Sequence):
            for number, item in enumerate(node.items):
                yield from given_again((item,), (*path, f"[{number}]"))
        elif isinstance(node, Mapping):
            last = {entry.key: entry for entry in node.entries}
            for entry in node.entries:
                inner = (*path, entry.key)
                if entry is last[entry.key] or entry.key == TEMPLATE_KEY:
                    yield from given_again((entry.node,), inner)
                else:
                    for said in values_of(entry.node, inner):
                        yield replace(said, path=names_in(".".join(said.path))), last[entry.key].line


def truth(text: str) -> str | None:
    """Return ``true`` or ``false`` as Spring interprets a text (``StringToBooleanConverter``); None for any other text.

    >>> truth(" On "), truth("0"), truth("maybe")
    ('true', 'false', None)
    """
    word = text.strip().lower()
    return "true" if word in _TRUE else "false" if word in _FALSE else None
