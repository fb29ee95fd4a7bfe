"""Agents with one setting a line: Flume (see its module), Maxwell, canal, Fluent Bit and pmacct."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from proofka.model.deployment.dialects import agents_flume
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.agent import Agent, component_of
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import PROPERTIES, Document
from proofka.model.deployment.dialects.keys import LIBRDKAFKA, has_key
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.source import MOST_KEYS

MAXWELL = Agent("maxwell", Role.PRODUCER, JAVA, version="2.7.0")
CANAL = Agent("canal", Role.PRODUCER, JAVA, version="2.4.0")
FLUENT_BIT = Agent("fluent-bit", Role.PRODUCER, LIBRDKAFKA, lenient=True)
FLUENT_BIT_READS = Agent("fluent-bit-consumer", Role.CONSUMER, LIBRDKAFKA, lenient=True)
_SECTION = re.compile(r"\[\s*(\w+)\s*\]")
_PMACCT = re.compile(r"^[ \t]*(global|topic)[ \t]*,[ \t]*[a-z][\w.]*[ \t]*,", re.MULTILINE)
_FLUENT = re.compile(r"^[ \t]*\[[ \t]*(OUTPUT|INPUT)[ \t]*\]", re.MULTILINE | re.IGNORECASE)
_FLUENT_KAFKA = re.compile(r"^[ \t]*name[ \t]+kafka[ \t\r]*$", re.MULTILINE | re.IGNORECASE)


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document is a file of one of these agents, with a value for Kafka."""
    if document.suffix not in (*PROPERTIES, ""):
        return False
    if _is_fluent(document) or _PMACCT.search(document.text):
        return True
    keys = {said.key: said.value for said in document.properties}
    return agents_flume.is_flume(keys) or _is_maxwell(keys) or _is_canal(keys)


def read(document: Document, fillings: Fillings) -> Found:
    """Return the clients that the agent creates."""
    accounts = Accounts(document, fillings)
    if _is_fluent(document):
        return accounts.found("settings of an agent (fluent-bit)", tuple(_fluent(document, accounts)))
    if _PMACCT.search(document.text):
        components, notes = _pmacct(document, accounts)
        return accounts.found("settings of an agent (pmacct)", components, notes)
    values = accounts.last_of_each(document.properties, "the agent")
    keys = {said.key: said.value for said in values}
    if agents_flume.is_flume(keys):
        clients = tuple(agents_flume.components(values, accounts, document.file))
        return accounts.found("settings of an agent (flume)", clients, agents_flume.NOTES)
    agent = CANAL if _is_canal(keys) else MAXWELL
    prefixes = ("kafka.", "canal.mq.") if agent is CANAL else ("kafka",)
    own = [(said.key, said) for said in values if said.key.startswith(prefixes)]
    for said in values:
        if not said.key.startswith(prefixes):
            accounts.ignore(
                said, *(("determines the reaction to a failure",) if said.key == "ignore_producer_error" else ())
            )
    chooses = "canal.serverMode" if agent is CANAL else "producer"
    chosen = keys.get(chooses, "" if agent is CANAL else "kafka").strip().lower()
    if chosen != "kafka":
        for _, said in own:
            accounts.ignore(said, f"{chooses} is not kafka")
        note = f"{chooses} is not kafka: the agent sends nothing to Kafka"
        return accounts.found(f"settings of an agent ({agent.name})", (), (note,))
    line = own[0][1].line if own else 1
    component = component_of(agent, agent.name, own, accounts, document.file, line, keys)
    return accounts.found(f"settings of an agent ({agent.name})", [component])


def _is_fluent(document: Document) -> bool:
    return _FLUENT.search(document.text) is not None and _FLUENT_KAFKA.search(document.text) is not None


def _is_maxwell(keys: dict[str, str]) -> bool:
    kafka = any(key.startswith("kafka.") or key == "kafka_topic" for key in keys)
    return kafka and keys.get("producer", "").strip() == "kafka"


def _is_canal(keys: dict[str, str]) -> bool:
    """Tell whether the keys are those of canal, including 1.1.4 and before, whose names began with ``canal.mq.``."""
    kafka = any(key.startswith("kafka.") for key in keys) or keys.get("canal.serverMode", "").strip() == "kafka"
    return kafka and any(key.startswith("canal.") for key in keys)


def _fluent(document: Document, accounts: Accounts) -> Iterator[Component]:
    """Yield the clients of a Fluent Bit file: sections of lines with a name, spaces and a value."""
    sections: list[tuple[str, list[tuple[str, Said]]]] = [("", [])]
    for number, line in enumerate(document.text.splitlines(), 1):
        if number > 20 * MOST_KEYS:
            raise DeploymentError(
                "has too many lines for a configuration; check that this is the right file",
                file=document.file,
                line=number,
            )
        stripped = line.strip()
        found = _SECTION.fullmatch(stripped)
        if found is not None:
            sections.append((found[1].lower(), []))
        elif stripped and not stripped.startswith(("#", "@")):
            name, _, value = stripped.partition(" ") if " " in stripped else stripped.partition("\t")
            sections[-1][1].append((name.strip().lower(), Said((name.strip(),), value.strip(), number)))
        elif stripped.startswith("@"):
            accounts.ignore(Said((stripped.split()[0],), "", number))
    for kind, own in sections:
        names = {name: said.value.lower() for name, said in own}
        if kind in ("output", "input") and names.get("name") == "kafka":
            agent = FLUENT_BIT if kind == "output" else FLUENT_BIT_READS
            yield component_of(agent, f"fluent-bit: {kind}", own, accounts, document.file, own[0][1].line)
        else:
            for _, said in own:
                accounts.ignore(said)


def _pmacct(document: Document, accounts: Accounts) -> tuple[list[Component], tuple[str, ...]]:
    """Return the clients of a pmacct file, with a line for each ``global, key, value`` or ``topic, key, value``."""
    settings: dict[str, Said] = {}
    lines = document.text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        try:
            parts = [part.strip() for part in next(csv.reader([line], skipinitialspace=True), [])]
        except csv.Error:
            parts = []
        said = Said((parts[1] if len(parts) > 1 else "a line",), ",".join(parts[2:]), number)
        if len(parts) < 3 or parts[0] not in ("global", "topic"):
            accounts.reject(said, "does not have the form global, NAME, VALUE or topic, NAME, VALUE")
            continue
        before = settings.pop(parts[1], None)
        if before is not None:
            accounts.ignore(before, f"is repeated in line {number}, whose value counts")
        settings[parts[1]] = said
    roles = (Role.PRODUCER, Role.CONSUMER)
    has = {role: {key for key in settings if has_key(LIBRDKAFKA, role, key)} for role in roles}
    chosen = [role for role, other in zip(roles, reversed(roles), strict=True) if has[role] - has[other]]
    if not chosen:
        for said in settings.values():
            accounts.ignore(said, "belongs to no producer or consumer")
        return [], (
            "has no setting that only a producer or only a consumer has, and pmacct uses such a file for either",
        )
    origin = Origin("rule", "pmacct uses it", document.file, 1)
    own = {key: accounts.take(said, key) for key, said in settings.items()}
    return [Component(role, "pmacct", own, client=Given("client", LIBRDKAFKA, origin)) for role in chosen], ()


DIALECT = Dialect("settings of an agent", fits, read)
