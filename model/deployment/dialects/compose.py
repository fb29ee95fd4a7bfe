"""Compose files and files of variables: brokers by their images, and clients by their variables."""

from __future__ import annotations

import re

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Found
from proofka.model.deployment.dialects.compose_services import Services, is_beside, variables_in
from proofka.model.deployment.dialects.containers import Container, components_of, speaks_of_kafka
from proofka.model.deployment.dialects.dialect import Dialect, of_what_parses
from proofka.model.deployment.dialects.document import YAML, Document
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.images import image_of
from proofka.model.deployment.dialects.nodes import entries_under
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.yaml_tree import Mapping, Node

READER = "Compose"
_ENV_FILE = re.compile(r"(.*[._-])?env([._-][\w.-]+)?|.*\.env", re.ASCII)
_VARIABLE = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)", re.ASCII)


def _services(document: Document) -> tuple[str, ...] | None:
    """Return the path to the services, which the first file format has at the top; None for a file without services."""
    try:
        nodes = document.yaml
    except DeploymentError:
        return None
    if len(nodes) != 1 or not isinstance(nodes[0], Mapping):
        return None
    for path in (("services",), ()):
        services = dict(entries_under(nodes[0], *path))
        enough = any if path else all
        if services and enough(_is_service(node) for node in services.values()):
            return path
    return None


def _is_service(node: Node) -> bool:
    keys = {key for key, _ in entries_under(node)}
    return bool(keys & {"image", "build", "extends"})


@of_what_parses
def fits(document: Document) -> bool:
    """Tell whether the document has services, one of which runs or configures Kafka."""
    if document.suffix not in YAML or not speaks_of_kafka(document.text) or _services(document) is None:
        return False
    found = read(document, {})
    return bool(found.components or found.rejected)


def read(document: Document, fillings: Fillings) -> Found:
    """Return the clusters and clients of a compose file."""
    accounts = Accounts(document, fillings)
    path = _services(document) or ()
    root = accounts.each_once(document.yaml[0], READER)
    inside: dict[str, list[Said]] = {}
    for said in values_of(root):
        if said.path[: len(path)] == path and len(said.path) > len(path) + 1:
            inside.setdefault(said.path[len(path)], []).append(said)
        elif said.path[0].startswith("x-"):
            accounts.ignore(said, "counts only where another value refers to it")
        elif said.path[0] == "include" and not is_beside(document, accounts.text(said)):
            accounts.reject(said, "includes a file outside of this folder")
        else:
            accounts.ignore(said)
    services = Services(document, inside, len(path) + 1, accounts)
    notes: list[str] = []
    components = components_of(services.containers(), document, accounts, fillings, notes)
    return accounts.found(COMPOSE.name, components, notes, services.along)


@of_what_parses
def fits_variables(document: Document) -> bool:
    """Tell whether the document is a file of variables, by its name and content, that configure brokers or clients."""
    if _ENV_FILE.fullmatch(document.name) is None:
        return False
    variables = tuple(variables_in(document))
    if not variables or any(_VARIABLE.fullmatch(said.path[-1]) is None for said in variables):
        return False
    names = [said.path[-1] for said in variables]
    return image_of("", names).runs != "" or any(name.startswith("SPRING_KAFKA_") for name in names)


def read_variables(document: Document, fillings: Fillings) -> Found:
    """Return the brokers or the client that a file of variables configures."""
    accounts = Accounts(document, fillings)
    container = Container(document.name, variables=tuple(variables_in(document)))
    notes: list[str] = []
    components = components_of([container], document, accounts, fillings, notes)
    return accounts.found(VARIABLES.name, components, notes)


COMPOSE = Dialect("Compose file", fits, read)
VARIABLES = Dialect("file of variables", fits_variables, read_variables)
