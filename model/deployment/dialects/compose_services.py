"""Services of Compose as they run: with the services that they extend, their files of variables, and the override file.

Compose lays ``compose.override.yml`` over the file beside it. A later file's variables, image and command of a service
take precedence; files of variables are added; ``environment`` outranks all of these files ("Merge Compose files",
"extends", "Environment variables precedence" of its documentation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os.path import normpath
from pathlib import PurePath

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.containers import Container, joined_commands
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.images import image_of
from proofka.model.deployment.dialects.nodes import entries_under
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.yaml_tree import Mapping as Object

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
    """The values of a service, each from its last source."""

    image: Said | None = None
    environment: dict[str, Said] = field(default_factory=dict)
    files: list[Said] = field(default_factory=list)
    commands: dict[str, list[Said]] = field(default_factory=dict)
    count: Said | None = None
    unfollowed: list[tuple[Said, str]] = field(default_factory=list)


@dataclass
class Services:
    """The services of a file. ``values``: the file's values of each service, by its name. ``depth``: the number of
    names in the path to a service's values."""

    document: Document
    values: Mapping[str, list[Said]]
    depth: int
    accounts: Accounts
    along: list[str] = field(default_factory=list)
    """Files that were read with this one."""

    def containers(self) -> Iterator[Container]:
        """Yield the containers, with all values that count for them."""
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
        """Return the services of another file; the file is rejected if it cannot be read."""
        try:
            nodes = document.yaml
        except DeploymentError as error:
            self.accounts.reject(said, f"is laid over this file by Compose, but cannot be read: {error.message}")
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
        """Lay the values of one source over a service, after those of the service that it extends."""
        own: dict[tuple[str, ...], Said] = {}
        for said in values:
            own[said.path[2 if said.file else self.depth :]] = said
        self._extended(service, own, services, document, deepest)
        commands: dict[str, list[Said]] = {}
        for below, said in own.items():
            if below == ("image",):
                if service.image is not None:
                    self.accounts.ignore(service.image, "is replaced by another image")
                service.image = said
            elif below[0] == "environment" and len(below) == 2:
                variable = _variable(said) if below[1].startswith("[") else said
                before = service.environment.get(variable.path[-1])
                if before is not None:
                    self.accounts.ignore(before, f"is replaced by the value in line {said.line}")
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
                self.accounts.ignore(said, "is for the container, not a setting of Kafka")
        for key, words in commands.items():
            for said in service.commands.get(key, ()):
                self.accounts.ignore(said, "is replaced by another command")
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
                self.accounts.ignore(file, "is read with this file")
        base = services.get(self.accounts.text(name))
        if base is None or not deepest:
            service.unfollowed.append((name, "extends a service that was not found, so its values are unknown"))
            return
        self.accounts.ignore(name, "the extended service is included")
        self._add(service, base, services, document, deepest - 1)

    def _container(self, name: str, service: _Service) -> Container:
        variables: dict[str, Said] = {}
        for file in service.files:
            found = self._from_file(file)
            if found is None:
                service.unfollowed.append((file, "names a file of variables that cannot be read"))
                continue
            self.accounts.ignore(file, "names a file of variables, which is read with this file")
            for said in found:
                if said.path[-1] in variables:
                    self.accounts.ignore(variables[said.path[-1]], "a later file has another value for this name")
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
    """Tell whether unknown parts of a service can matter: it runs Kafka, or its image is unknown."""
    if service.image is None or image_of(service.image.value, variables).runs:
        return True
    return any(name.startswith(("KAFKA", "SPRING_KAFKA", "CONNECT_")) for name in variables)


def _variable(said: Said) -> Said:
    """Return ``NAME=value`` as a variable; a name alone has its value in the environment of the user."""
    name, equals, value = said.value.partition("=")
    return replace(said, path=(*said.path[:-1], name.strip()), value=value, null=not equals)


def variables_in(document: Document) -> Iterator[Said]:
    """Yield the variables of a file of variables. Raises DeploymentError."""
    for said in document.properties:
        name, value = said.path[-1], said.value.strip()
        if name == _EXPORTED and "=" in value:
            name, _, value = value.partition("=")
        if len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES:
            value = value[1:-1]
        yield Said((name,), value, said.line)


def is_beside(document: Document, name: str) -> bool:
    """Tell whether an included file is in the folder, so that it is read by itself."""
    return document.beside(name) is not None and normpath(name) != PurePath(document.file).name
