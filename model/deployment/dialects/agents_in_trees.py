"""Agents with settings in YAML, TOML or JSON: Beats, Telegraf, Benthos (Redpanda Connect), Vector, osquery and
others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.agent import Agent, component_of
from proofka.model.deployment.dialects.agents_in_lines import FLUENT_BIT, FLUENT_BIT_READS
from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.dialects.formats.json import json_of
from proofka.model.deployment.dialects.formats.toml import said_in_toml
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.keys import FRANZ_GO, LIBRDKAFKA, SARAMA
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.release import JAVA

BEATS = Agent("beats", Role.PRODUCER, SARAMA)
FILEBEAT = Agent("filebeat", Role.PRODUCER, SARAMA, like="beats")
TELEGRAF = Agent("telegraf", Role.PRODUCER, SARAMA)
TELEGRAF_READS = Agent("telegraf-consumer", Role.CONSUMER, SARAMA)
BENTHOS = Agent("benthos", Role.PRODUCER, SARAMA)
BENTHOS_READS = Agent("benthos-consumer", Role.CONSUMER, SARAMA)
REDPANDA = Agent("redpanda", Role.PRODUCER, FRANZ_GO)
REDPANDA_READS = Agent("redpanda-consumer", Role.CONSUMER, FRANZ_GO)
VECTOR = Agent("vector", Role.PRODUCER, LIBRDKAFKA)
VECTOR_READS = Agent("vector-consumer", Role.CONSUMER, LIBRDKAFKA)
OSQUERY = Agent("osquery", Role.PRODUCER, LIBRDKAFKA)
HAYSTACK = Agent("haystack", Role.PRODUCER, JAVA)

_STREAMS = (
    ("addresses", ("kafka", "kafka_balanced"), BENTHOS, BENTHOS_READS),
    ("seed_brokers", ("kafka_franz", "redpanda"), REDPANDA, REDPANDA_READS),
)
_TELEGRAF = (("outputs", "kafka"), ("inputs", "kafka_consumer"))
_TOML = (".toml", ".conf")
_JSON = (".json", ".conf")
_GUARANTEES = ("filebeat", "winlogbeat", "journalbeat")
_OFF = "the output is disabled"
GROWING = (
    "Beats from 7.7 on lengthen their pauses between retries, which is not modelled: all pauses are assumed to be "
    "sarama's own"
)


@dataclass(frozen=True)
class _Section:
    """The settings of one client: those below a path, or with a prefix in their name."""

    agent: Agent
    path: tuple[str, ...]
    prefix: str = ""

    def name_of(self, said: Said) -> str | None:
        """Return the name of a setting within the section; None if the setting is elsewhere."""
        if said.path[: len(self.path)] != self.path or len(said.path) == len(self.path):
            return None
        name = ".".join(said.path[len(self.path) :])
        return name if name.startswith(self.prefix) else None


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document has a section that one of these agents has for Kafka."""
    return bool(_sections(_said(document), document))


def read(document: Document, fillings: Fillings) -> Found:
    """Return the clients of the sections of a file."""
    accounts = Accounts(document, fillings)
    values = accounts.last_of_each(_said(document), "the agent")
    sections = _sections(values, document)
    components: list[Component] = []
    done: set[int] = set()
    around = {".".join(said.path): said.value for said in values}
    for section in sections:
        own = [(name, said) for said in values if (name := section.name_of(said)) is not None]
        done |= {id(said) for _, said in own}
        off = next((said for name, said in own if name == "enabled" and said.value.lower() == "false"), None)
        if off is not None:
            for _, said in own:
                accounts.ignore(said, _OFF)
            continue
        line = min((said.line for _, said in own), default=1)
        name = _family(section.agent) + f": {'.'.join(section.path)}".replace(".[", "[").rstrip(": ")
        component = component_of(section.agent, name, own, accounts, document.file, line, around)
        components.append(_with_one_request(component, accounts) if section.agent is TELEGRAF else component)
    for said in values:
        if id(said) not in done:
            accounts.ignore(said)
    names = sorted({_family(section.agent) for section in sections})
    notes = (GROWING,) if "beats" in names else ()
    return accounts.found(f"settings of an agent ({', '.join(names)})", components, notes)


def _family(agent: Agent) -> str:
    return agent.like or agent.title


def _with_one_request(component: Component, accounts: Accounts) -> Component:
    """Return the component with one request in flight if idempotence is on, as Telegraf sets it."""
    idempotent = component.settings.get("Producer.Idempotent")
    if idempotent is None or idempotent.value.lower() != "true":
        return component
    one = accounts.by_framework("Net.MaxOpenRequests", "1", "the agent, with idempotence")
    return Component(
        component.role,
        component.name,
        {**component.settings, "Net.MaxOpenRequests": one},
        component.topics,
        client=component.client,
        application=component.application,
    )


def _said(document: Document) -> list[Said]:
    """Return the values of a file, with dotted keys split into names. Raises DeploymentError."""
    if document.suffix in YAML:
        said = [one for node in document.yaml for one in values_of(node)]
        return [Said(tuple(".".join(one.path).split(".")), one.value, one.line, one.null) for one in said]
    problems: list[DeploymentError] = []
    if document.suffix in _TOML and "kafka" in document.text:
        try:
            return list(said_in_toml(document.text, document.file))
        except DeploymentError as error:
            problems.append(error)
    if document.suffix in _JSON and "kafka" in document.text:
        return list(values_of(json_of(document.text, document.file, loose=document.suffix == ".conf")))
    raise problems[0] if problems else DeploymentError("is not a known agent's file", file=document.file)


def _sections(values: Sequence[Said], document: Document) -> list[_Section]:
    sections: dict[tuple[str, ...], _Section] = {}
    first = {said.path[0].lower() for said in values if said.path}
    beat = FILEBEAT if first & {*_GUARANTEES} or any(name in document.name for name in _GUARANTEES) else BEATS
    for said in values:
        found = _section_of(said, values, beat)
        if found is not None:
            sections.setdefault(found.path, found)
    return list(sections.values())


def _section_of(said: Said, values: Sequence[Said], beat: Agent) -> _Section | None:
    path = said.path
    if path[:2] == ("output", "kafka") and len(path) > 2 and path[2] == "hosts":
        return _Section(beat, path[:2])
    if path[:2] in _TELEGRAF and len(path) > 2:
        agent = TELEGRAF if path[0] == "outputs" else TELEGRAF_READS
        return _Section(agent, path[:3]) if path[2].startswith("[") else _Section(agent, path[:2])
    if path[0] == "pipeline" and len(path) == 4 and path[3] == "name" and said.value.lower() == "kafka":
        return _Section(FLUENT_BIT if path[1] == "outputs" else FLUENT_BIT_READS, path[:3])
    if path[:1] in (("sinks",), ("sources",)) and len(path) == 3 and path[2] == "type" and said.value == "kafka":
        return _Section(VECTOR if path[0] == "sinks" else VECTOR_READS, path[:2])
    if len(path) > 2 and path[0] in ("input", "output"):
        return _of_a_stream(path, values)
    if path == ("options", "logger_kafka_brokers"):
        return _Section(OSQUERY, ("options",), "logger_kafka_")
    if len(path) == 5 and path[:3] == ("haystack", "kafka", "sinks") and path[4] == "brokers":
        return _Section(HAYSTACK, path[:4])
    return None


def _of_a_stream(path: tuple[str, ...], values: Sequence[Said]) -> _Section | None:
    """Return the section of Benthos (now Redpanda Connect): older kinds have sarama's clients, newer ones
    franz-go's."""
    for place, kinds, writes, reads in _STREAMS:
        if place in path:
            around = path[: path.index(place)]
            if around[-1] in kinds and _is_chosen(around, values):
                return _Section(writes if path[0] == "output" else reads, around)
    return None


def _is_chosen(path: tuple[str, ...], values: Sequence[Said]) -> bool:
    """Tell whether the kind at this path is the one that the type names, if several kinds are present."""
    kinds = [said.value for said in values if said.path == (*path[:-1], "type")]
    return not kinds or kinds[-1] == path[-1]


DIALECT = Dialect("settings of an agent", fits, read)
