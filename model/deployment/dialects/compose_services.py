"""Services of Compose as they run: with what they extend, the files of variables they name, and the override beside.

Compose lays ``compose.override.yml`` over the file beside it by itself; of a service a later file's variables, and its
image and command, count; files of variables are added; what ``environment`` says outranks all of these files ("Merge
Compose files", "extends", "Environment variables precedence" of its documentation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os.path import normpath
from pathlib import PurePath

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.containers import Container, joined_commands
from model.deployment.dialects.document import Document
from model.deployment.dialects.formats.yaml import values_of
from model.deployment.dialects.images import image_of
from model.deployment.dialects.nodes import entries_under
from model.deployment.dialects.said import Said
from model.deployment.errors import DeploymentError
from model.deployment.yaml_tree import Mapping as Object

OVERRIDES = (
    "compose.override.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
    "docker-compose.override.yaml",
)
_OVERRIDDEN = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
_DEEPEST = 8
_EXPORTED = "export"
_QUOTES = ("'", '"')


@dataclass
class _Service:
    """What is said of a service, by whoever says it last."""

    image: Said | None = None
    environment: dict[str, Said] = field(default_factory=dict)
    files: list[Said] = field(default_factory=list)
    commands: dict[str, list[Said]] = field(default_factory=dict)
    count: Said | None = None
    unfollowed: list[tuple[Said, str]] = field(default_factory=list)


@dataclass
class Services:
    """The services of a file. ``values``: what it says of each, by its name; ``depth``: so many names lead there."""

    document: Document
    values: Mapping[str, list[Said]]
    depth: int
    accounts: Accounts
    along: list[str] = field(default_factory=list)
    """Files that were read along with it."""

    def containers(self) -> Iterator[Container]:
        """What runs, with all that counts for it."""
        over = self._override()
        for name in dict.fromkeys((*self.values, *over)):
            service = _Service()
            self._add(service, self.values.get(name, []), self.values, self.document, _DEEPEST)
            self._add(service, over.get(name, []), over, self.document, _DEEPEST)
            yield self._container(name, service)

    def _override(self) -> Mapping[str, list[Said]]:
        if self.document.name not in _OVERRIDDEN:
            return {}
        for name in OVERRIDES:
            beside = self.document.beside(name)
            if beside is not None:
                self.along.append(beside.file)
                return self._services_in(beside, Said((name,), "", 1))
        return {}

    def _services_in(self, document: Document, said: Said) -> Mapping[str, list[Said]]:
        """The services of another file; it is rejected where it cannot be read."""
        try:
            nodes = document.yaml
        except DeploymentError as error:
            self.accounts.reject(said, f"is laid over this file by Compose, and cannot be read: {error.message}")
            return {}
        found: dict[str, list[Said]] = {}
        for node in nodes[:1]:
            for name, service in entries_under(node, "services"):
                path = ("",) * (self.depth - 1) + (name,)
                values = values_of(service, path) if isinstance(service, Object) else ()
                found[name] = [
                    replace(one, path=("services", name, *one.path[self.depth :]), file=document.file) for one in values
                ]
        return found

    def _add(
        self,
        service: _Service,
        values: Iterable[Said],
        services: Mapping[str, list[Said]],
        document: Document,
        deepest: int,
    ) -> None:
        """Lay what one place says over what is there, what it extends first."""
        own: dict[tuple[str, ...], Said] = {}
        for said in values:
            own[said.path[2 if said.file else self.depth :]] = said
        self._extended(service, own, services, document, deepest)
        commands: dict[str, list[Said]] = {}
        for below, said in own.items():
            if below == ("image",):
                if service.image is not None:
                    self.accounts.ignore(service.image, "another image is laid over it")
                service.image = said
            elif below[0] == "environment" and len(below) == 2:
                variable = _variable(said) if below[1].startswith("[") else said
                before = service.environment.get(variable.path[-1])
                if before is not None:
                    self.accounts.ignore(before, f"what stands in line {said.line} is laid over it")
                service.environment[variable.path[-1]] = variable
            elif below[0] == "env_file" and below[-1] in ("env_file", "path", below[1] if len(below) == 2 else ""):
                service.files.append(said)
            elif below[0] in ("command", "entrypoint"):
                commands.setdefault(below[0], []).append(said)
            elif below[0] == "extends":
                continue
            else:
                if below in (("deploy", "replicas"), ("scale",)):
                    service.count = said
                self.accounts.ignore(said, "says how the container runs, no setting of Kafka's")
        for key, words in commands.items():
            for said in service.commands.get(key, ()):
                self.accounts.ignore(said, "another command is laid over it")
            service.commands[key] = words

    def _extended(
        self,
        service: _Service,
        own: Mapping[tuple[str, ...], Said],
        services: Mapping[str, list[Said]],
        document: Document,
        deepest: int,
    ) -> None:
        name = own.get(("extends", "service")) or own.get(("extends",))
        file = own.get(("extends", "file"))
        if name is None:
            return
        if file is not None:
            beside = document.beside(self.accounts.text(file))
            document = document if beside is None else beside
            services = {} if beside is None else self._services_in(beside, file)
            if beside is not None:
                self.accounts.ignore(file, "is read along with this one")
        base = services.get(self.accounts.text(name))
        if base is None or not deepest:
            service.unfollowed.append((name, "extends a service that is not found: what that says is not followed"))
            return
        self.accounts.ignore(name, "what it extends is laid under it")
        self._add(service, base, services, document, deepest - 1)

    def _container(self, name: str, service: _Service) -> Container:
        variables: dict[str, Said] = {}
        for file in service.files:
            found = self._from_file(file)
            if found is None:
                service.unfollowed.append((file, "names variables in a file that cannot be read here"))
                continue
            self.accounts.ignore(file, "names a file of variables, which is read along")
            for said in found:
                if said.path[-1] in variables:
                    self.accounts.ignore(variables[said.path[-1]], "a later file has another value under this name")
                variables[said.path[-1]] = said
        for variable, said in service.environment.items():
            if variable in variables:
                self.accounts.ignore(variables[variable], f"environment in line {said.line} has another value")
            variables[variable] = said
        runs = _runs_kafka(service, variables)
        for said, reason in service.unfollowed:
            (self.accounts.reject if runs else self.accounts.ignore)(said, reason)
        words = [said for key in ("entrypoint", "command") for said in service.commands.get(key, ())]
        count = "" if service.count is None else service.count.value
        number = int(count) if count.isdecimal() and len(count) < 4 else 1
        commands = joined_commands(words, self.accounts)
        return Container(name, service.image, tuple(variables.values()), commands, number)

    def _from_file(self, file: Said) -> list[Said] | None:
        base = Document(file.file, "") if file.file else self.document
        beside = base.beside(self.accounts.text(file))
        if beside is None:
            return None
        try:
            found = [replace(said, file=beside.file) for said in variables_in(beside)]
        except DeploymentError:
            return None
        self.along.append(beside.file)
        return found


def _runs_kafka(service: _Service, variables: Mapping[str, Said]) -> bool:
    """Whether what is not known of a service may matter: it is known to run Kafka, or nobody knows what it runs."""
    if service.image is None or image_of(service.image.value, variables).runs:
        return True
    return any(name.startswith(("KAFKA", "SPRING_KAFKA", "CONNECT_")) for name in variables)


def _variable(said: Said) -> Said:
    """``NAME=value``, or a name whose value is in the environment of whoever starts it."""
    name, equals, value = said.value.partition("=")
    return replace(said, path=(*said.path[:-1], name.strip()), value=value, null=not equals)


def variables_in(document: Document) -> Iterator[Said]:
    """The variables of a file of them. Raises DeploymentError."""
    for said in document.properties:
        name, value = said.path[-1], said.value.strip()
        if name == _EXPORTED and "=" in value:
            name, _, value = value.partition("=")
        if len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES:
            value = value[1:-1]
        yield Said((name,), value, said.line)


def is_beside(document: Document, name: str) -> bool:
    """Whether a file that is included lies in the folder, so that it is read where it lies."""
    return document.beside(name) is not None and normpath(name) != PurePath(document.file).name
