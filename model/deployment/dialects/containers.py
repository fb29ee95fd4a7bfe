"""Containers: the settings that their images derive from variables, and the topics that they create."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from proofka.model.deployment.defaults import is_known
from proofka.model.deployment.dialects import spring
from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.brokers import Broker
from proofka.model.deployment.dialects.clusters import Ensemble, clusters_of, ensembles_in
from proofka.model.deployment.dialects.component import EVERYTHING, Component, Role
from proofka.model.deployment.dialects.connect import EXACTLY_ONCE, POLICY
from proofka.model.deployment.dialects.connect_clients import OF_WORKERS, client_setting, worker_clients
from proofka.model.deployment.dialects.connect_layers import TRANSACTIONS
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.images import PLAIN, Image, image_of, other_variables, release_in
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.places import moved
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.dialects.started import overrides_in, starts_a_broker
from proofka.model.deployment.dialects.topic_commands import Commands, topics_listed
from proofka.model.deployment.given import Given

_SPRING = ("SPRING_KAFKA_", "SPRING_APPLICATION_JSON")
_CHANNELS = ("MP_MESSAGING_", "_MP_MESSAGING_", "KAFKA_STREAMS_")
_A_PART = "its variables are only part of its configuration; they outrank its application.yml, which is not read here"
_OPTION = re.compile(r"(?:-D|--)((?:spring\.(?:kafka|cloud\.stream)|mp\.messaging)\.[\w.\[\]-]+)=")
_BINDER = "SPRING_CLOUD_STREAM_"
_ADDRESSES_OF = re.compile(
    r"(bootstrap.?servers|brokers|broker.?port|zk.?nodes|client.?id|group.?id|destination)$", re.I
)
_SECURITY = re.compile(r"[._-](ssl|sasl|security|jaas)[._-]", re.I)
_ON_THE_LINE = (
    "sets {}, which outranks the application's files, and values in commands are not interpreted; move it into a file"
)
_OF_THE_BINDER = "sets the binder of Spring Cloud Stream, which is not read from variables; move it into a file"
_OF_A_FRAMEWORK = "sets a framework's value in a form that is not read here; move it into a file"
_OTHER_BROKERS = "runs brokers of another product, which are not modelled"
_OF_OTHERS = "is for brokers of another product"
_OWN = "an application's own variable, whose use is not in this file"


_WORDS = ("kafka", "mp_messaging", "mp.messaging", "spring_cloud_stream", "spring.cloud.stream")


def speaks_of_kafka(text: str) -> bool:
    """Tell whether a manifest can concern Kafka: it names Kafka, or a framework setting without that name."""
    small = text.lower()
    return any(word in small for word in _WORDS)


@dataclass(frozen=True)
class Container:
    """One container. ``variables`` have their names at the end of their paths. ``count``: the number of identical
    containers."""

    name: str
    image: Said | None = None
    variables: Sequence[Said] = ()
    commands: Sequence[Said] = ()
    count: int = 1


@dataclass
class Running:
    """The content of a file's containers."""

    document: Document
    accounts: Accounts
    fillings: Fillings
    commands: Commands
    notes: list[str]
    brokers: list[Broker] = field(default_factory=list)
    ensembles: list[Ensemble] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)

    def all(self) -> list[Component]:
        """Return the clusters, then all other components."""
        clusters = clusters_of(self.brokers, self.ensembles, self.accounts, self.notes)
        return [*clusters, *self.components, *self.commands.components]


def components_of(
    containers: Iterable[Container], document: Document, accounts: Accounts, fillings: Fillings, notes: list[str]
) -> list[Component]:
    """Return the components that the containers run: brokers, clients, and created topics. Notes are added to
    ``notes``."""
    running = Running(document, accounts, fillings, Commands(accounts), notes)
    for container in containers:
        variables = accounts.last_of_each(container.variables, "the environment")
        running.ensembles += ensembles_in(container.name, variables)
        name = "" if container.image is None else accounts.text(container.image)
        image = image_of(name, (said.path[-1] for said in variables))
        # An image with its own command and without settings of a broker serves for its tools.
        is_tool = container.commands and not any(is_known("broker", image.key(said.path[-1])) for said in variables)
        started = any(starts_a_broker(said) for said in container.commands)
        if (image.runs == "broker" and not is_tool) or started:
            _broker(container, image if image.runs == "broker" else PLAIN, variables, running)
        elif image.runs == "other" and container.image is not None:
            accounts.reject(container.image, _OTHER_BROKERS, EVERYTHING)
            for said in variables:
                accounts.ignore(said, _OF_OTHERS)
        elif image.runs == "connect":
            _worker(container, image, variables, running)
        else:
            _application(container, variables, running)
        for said in container.commands:
            if option := _option_in(said.value):
                accounts.reject(said, _ON_THE_LINE.format(option), EVERYTHING)
            running.commands.run(said)
    return running.all()


def joined_commands(commands: Sequence[Said], accounts: Accounts) -> tuple[Said, ...]:
    """Return the words of a command as one text, at the place of the longest word."""
    if not commands:
        return ()
    main = max(commands, key=lambda said: len(said.value))
    for said in commands:
        if said is not main:
            accounts.ignore(said, "is a word of the container's command")
    text = " ".join(said.value for said in commands)
    return (replace(main, value=text),)


def _broker(container: Container, image: Image, variables: Iterable[Said], running: Running) -> None:
    accounts, broker = running.accounts, Broker(container.name, container.count)
    for said in variables:
        variable, key = said.path[-1], image.key(said.path[-1])
        if variable == "KAFKA_CREATE_TOPICS":
            running.components += topics_listed(said, accounts)
        elif not key or (variable in other_variables() and not is_known("broker", key)):
            accounts.ignore(said, _not_read(variable, image))
        elif key.startswith("confluent."):
            accounts.ignore(said, "is a setting of Confluent, which Apache Kafka does not have")
        else:
            # A variable without a value has the value of the user's environment.
            broker.settings[key] = replace(said, value=f"${{{variable}}}") if said.null else said
    by_name = {said.path[-1]: said.value for said in container.variables if not said.null}
    for command in container.commands:
        broker.settings |= dict(overrides_in(command, by_name))
    roles = broker.settings.get("process.roles")
    if roles is not None and accounts.text(roles).replace(" ", "") == "controller":
        broker.count = 0
    if container.image is not None:
        release = release_in(accounts.text(container.image))
        if release:
            broker.release = (container.image, release)
        else:
            accounts.ignore(container.image, "names no release of Kafka")
    running.brokers.append(broker)


def _not_read(variable: str, image: Image) -> str:
    if image is PLAIN:
        return "is for scripts or the system; Kafka's own script reads no settings from variables"
    if image.prefix != "KAFKA_" and variable.startswith("KAFKA_"):
        return f"is no setting: this image reads settings from variables that begin with {image.prefix}"
    return "is for the image's scripts or the system, not a setting of Kafka"


def _worker(container: Container, image: Image, variables: Iterable[Said], running: Running) -> None:
    accounts = running.accounts
    said_of: dict[Role, dict[str, Given]] = {Role.PRODUCER: {}, Role.CONSUMER: {}}
    told: dict[str, Given] = {}
    for said in variables:
        key = image.key(said.path[-1])
        client = client_setting(key, OF_WORKERS)
        if key == EXACTLY_ONCE and accounts.text(said).lower() != "disabled":
            accounts.reject(said, TRANSACTIONS)
            told[key] = Given(key, accounts.text(said), accounts.take(said, key).origin)
        elif key == POLICY:
            told[key] = accounts.take(said, key)
            accounts.ignore(said, "determines which overrides of connectors the worker allows")
        elif client is not None and client[1].startswith("override."):
            accounts.ignore(said, "has no effect on a worker, only on a connector")
        elif client is None:
            accounts.ignore(said, "is for the worker, not for its Kafka clients")
        else:
            value = f"${{{said.path[-1]}}}" if said.null else said.value
            said_of[client[0]][client[1]] = accounts.take(replace(said, value=value), client[1])
    if container.image is not None:
        accounts.ignore(container.image, "runs Kafka Connect; its tag is not the brokers' release")
    running.components += worker_clients(container.name, said_of, accounts, told=told)


def _application(container: Container, variables: Iterable[Said], running: Running) -> None:
    accounts, of_spring = running.accounts, []
    for said in variables:
        variable = said.path[-1]
        if variable.startswith(_SPRING[0]) and not said.null and "\n" not in said.value:
            of_spring.append(said)
        elif option := _option_in(said.value):
            accounts.reject(said, _ON_THE_LINE.format(option), EVERYTHING)
        elif variable.startswith(_BINDER) and not said.null and not _is_harmless(variable):
            accounts.reject(said, _OF_THE_BINDER, EVERYTHING)
        elif not said.null and (
            variable.startswith(_SPRING) or (variable.startswith(_CHANNELS) and not _is_harmless(variable))
        ):
            accounts.reject(said, _OF_A_FRAMEWORK, EVERYTHING)
        elif (key := _named_like(variable)) and not said.null:
            accounts.ignore(said, f"is named like {key}: {_OWN}")
        else:
            accounts.ignore(said, _OWN)
    if container.image is not None:
        accounts.ignore(container.image, "runs no known broker")
    if of_spring:
        running.notes.append(f"{container.name}: {_A_PART}")
        running.components += _spring(container, of_spring, running)


def _option_in(text: str) -> str:
    """Return a property of Spring or Quarkus that a command or Java option sets; empty if none matters."""
    return next((one[1] for one in _OPTION.finditer(text) if not _is_harmless(one[1])), "")


def _is_harmless(name: str) -> bool:
    return _ADDRESSES_OF.search(name) is not None or _SECURITY.search(name) is not None


def _named_like(variable: str) -> str:
    """Return the client setting at the end of a variable's name; empty if there is none."""
    words = variable.lower().split("_")
    for at in range(len(words)):
        key = ".".join(words[at:])
        if (at < len(words) - 1 or key == "acks") and any(is_known(role, key) for role in ("producer", "consumer")):
            return "" if key in _ADDRESSES else key
    return ""


_ADDRESSES = frozenset({"bootstrap.servers", "client.id", "security.protocol", "sasl.mechanism", "group.id"})


def _spring(container: Container, variables: Sequence[Said], running: Running) -> Iterator[Component]:
    """Yield the clients of Spring's properties in variables, read as a file with each property at the line of its
    variable."""
    from javaproperties import join_key_value

    lines: dict[int, str] = {}
    others: list[Said] = []
    for said in variables:
        # Variables that share a line, as in YAML's flow style, and those of other files get a line at the end.
        if said.file or said.line in lines:
            others.append(said)
        else:
            lines[said.line] = join_key_value(_property(said.path[-1]), said.value)
    last = max(lines, default=0)
    text = [lines.get(line, "") for line in range(1, last + 1)]
    text += [join_key_value(_property(said.path[-1]), said.value) for said in others]
    document = running.document
    inner = Document(document.file, "\n".join(text), inside="application.properties", first=document.first)
    places = {
        document.first + last + at: (said.file or document.file, said.line + (0 if said.file else document.first))
        for at, said in enumerate(others, start=1)
    }
    for component in running.accounts.take_over(moved(spring.read(inner, running.fillings), places)):
        yield replace(component, name=f"{container.name} {component.name}")


def _property(variable: str) -> str:
    """Return Spring's property for a variable: without dashes, and with dots for underscores."""
    known = {row.replace("-", "").replace(".", ""): row for row in spring.properties()}
    squashed = variable.lower().removeprefix(_SPRING[0].lower()).replace("_", "")
    return f"spring.kafka.{known.get(squashed, variable.lower().removeprefix('spring_kafka_').replace('_', '.'))}"
