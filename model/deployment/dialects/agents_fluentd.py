"""Fluentd: outputs of the types rdkafka and rdkafka2 (librdkafka). The other types use ruby-kafka, which is not
modelled."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proofka.model.deployment.dialects.accounts import NOT_KAFKAS, Accounts
from proofka.model.deployment.dialects.agent import Agent, component_of
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.json import json_of
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.keys import LIBRDKAFKA
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.source import MOST_KEYS

_TYPE = re.compile(r"^[ \t]*@?type[ \t]+\"?(rdkafka2?|kafka2?|kafka_buffered)\"?[ \t\r]*$", re.MULTILINE)
_SECTION = re.compile(r"^[ \t]*<(match|store|source)\b", re.MULTILINE)
_RUBY = "ruby-kafka is not modelled, so none of its settings is used"
_AGENT = Agent("fluentd", Role.PRODUCER, LIBRDKAFKA)
_OPTIONS = "rdkafka_options"
_PLACES = ("brokers", "topic", "default_topic", "username", "password", "id", "log_level")
_RUBY_CODE = re.compile(r"#\{")


def fits(document: Document) -> bool:
    """Tell whether the document has sections of Fluentd, and one for Kafka."""
    if document.suffix not in (".conf", ".cfg", ""):
        return False
    return _SECTION.search(document.text) is not None and _TYPE.search(document.text) is not None


def read(document: Document, fillings: Fillings) -> Found:
    """Return the producers of the outputs for Kafka."""
    accounts = Accounts(document, fillings)
    components: list[Component] = []
    for kind, own in _sections(document):
        said = {one.path[-1]: one.value for one in own}
        output = said.get("type", "").strip('"')
        if kind not in ("match", "store") or not re.fullmatch(r"rdkafka2?|kafka2?|kafka_buffered", output):
            for one in own:
                accounts.ignore(one, NOT_KAFKAS)
        elif output.startswith("rdkafka"):
            named = [(one.key, one) for line in own for one in _unfolded(line, document.file)]
            named = [(name, one) for name, one in named if not _is_code(name, one, accounts)]
            components.append(component_of(_AGENT, f"fluentd: {output}", named, accounts, document.file, own[0].line))
        else:
            for one in own:
                accounts.reject(one, _RUBY)
            client = Given("client", "ruby-kafka", Origin("file", "@type", document.file, own[0].line))
            components.append(Component(Role.PRODUCER, f"fluentd: {output}", client=client))
    return accounts.found("settings of an agent (fluentd)", components)


def _is_code(name: str, said: Said, accounts: Accounts) -> bool:
    """Tell whether a text contains Ruby (``"#{ENV['X']}"``), which only Fluentd evaluates; if so, sort it."""
    if _RUBY_CODE.search(said.value) is None:
        return False
    reason = "contains Ruby code, which only Fluentd evaluates"
    (accounts.ignore if name in _PLACES else accounts.reject)(said, reason)
    return True


def _unfolded(said: Said, file: str) -> list[Said]:
    """Return the inner settings of ``rdkafka_options``: JSON, or names and values with colons, separated by commas."""
    if said.key != _OPTIONS:
        return [said]
    if not said.value.startswith("{"):
        pairs = [pair.partition(":") for pair in said.value.strip("\"'").split(",")]
        return [Said((_OPTIONS, name.strip()), value.strip(), said.line) for name, colon, value in pairs if colon]
    try:
        inside = list(values_of(json_of(said.value, file)))
    except DeploymentError:
        raise DeploymentError(
            "rdkafka_options is not valid JSON; correct its value", file=file, line=said.line
        ) from None
    return [Said((_OPTIONS, ".".join(one.path)), one.value, said.line, one.null) for one in inside] or [said]


def _sections(document: Document) -> list[tuple[str, list[Said]]]:
    """Return each section's own lines. Within a section, an inner section that is no output has its own entry."""
    found: list[tuple[str, list[Said]]] = [("", [])]
    around = [0]
    lines = iter(enumerate(document.text.splitlines(), 1))
    for number, line in lines:
        if number > 20 * MOST_KEYS:
            raise DeploymentError("has too many lines for a configuration", file=document.file, line=number)
        stripped = line.strip()
        if stripped.startswith("</"):
            around = around[:-1] or [0]
        elif stripped.startswith("<") and stripped.endswith(">"):
            found.append((stripped.strip("<>").split()[0] if stripped.strip("<> ") else "", []))
            around.append(len(found) - 1)
        elif stripped and not stripped.startswith("#"):
            name, value = [*stripped.split(None, 1), ""][:2]
            if name == _OPTIONS and value.startswith("{"):
                value, number = _over_lines(lines, number, value)
            found[around[-1]][1].append(Said((name.lstrip("@"),), value.strip(), number))
    return [one for one in found if one[1]]


def _over_lines(lines: Iterator[tuple[int, str]], number: int, value: str) -> tuple[str, int]:
    """Return the JSON value, which can continue over several lines up to its closing bracket, and the last line's
    number."""
    parts = [value]
    while parts and sum(part.count("{") - part.count("}") for part in parts) > 0:
        more = next(lines, None)
        if more is None:
            break
        parts.append(more[1].strip())
    return " ".join(parts), number


DIALECT = Dialect("settings of an agent", fits, read)
