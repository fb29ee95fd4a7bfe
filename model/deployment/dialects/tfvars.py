"""Files that assign values to Terraform's variables, beside the file that declares them.

Terraform itself loads ``terraform.tfvars``, ``terraform.tfvars.json`` and all ``*.auto.tfvars`` and
``*.auto.tfvars.json`` of a folder, each over those before it ("Input variables", "Variable definition precedence", of
its documentation). Other files count only if the user names them with ``-var-file``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.hcl import blocks_of
from proofka.model.deployment.dialects.formats.yaml import documents_of
from proofka.model.deployment.dialects.hcl_values import Unknown, Values
from proofka.model.deployment.dialects.nodes import entries_under
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.yaml_tree import Node

_ENDINGS = (".tfvars", ".tfvars.json")
_LOADED_FIRST = ("terraform.tfvars", "terraform.tfvars.json")
_LOADED = (".auto.tfvars", ".auto.tfvars.json")


@dataclass(frozen=True)
class Assigned:
    """The assignments of the files of a folder.

    ``values``: by the name of the variable; unknown if only some runs assign it, or its file cannot be read. ``files``:
    the name of the file that counts for a variable. ``broken``: files that Terraform loads and that cannot be read.
    """

    values: dict[str, Node]
    files: dict[str, str]
    broken: list[str]


def assigned_beside(document: Document) -> Assigned:
    """Return the assignments to variables in the folder of a file."""
    found = Assigned({}, {}, [])
    names = [name for ending in _ENDINGS for name in document.names_beside(ending)]
    loaded = [name for name in _LOADED_FIRST if name in names]
    loaded += sorted(name for name in names if name.endswith(_LOADED))
    for name in loaded:
        try:
            for variable, value in _values(document, name):
                found.values[variable] = value
                found.files[variable] = name
        except DeploymentError:
            found.broken.append(name)
    for name in names:
        if name not in loaded:
            for variable in _named(document, name):
                found.values[variable] = Unknown(f"${{var.{variable}}}", 1)
                found.files[variable] = name
    return found


def _named(document: Document, name: str) -> list[str]:
    """Return the variables that a file assigns for some runs; none for an unreadable file, which no run can name."""
    try:
        return [variable for variable, _ in _values(document, name)]
    except DeploymentError:
        return []


def _values(document: Document, name: str) -> Iterator[tuple[str, Node]]:
    """Yield the variables of one file. Raises DeploymentError."""
    beside = document.beside(name)
    if beside is None:
        raise DeploymentError("cannot be read", file=name)
    if name.endswith(".json"):
        for node in documents_of(beside.text.replace("\t", " "), name)[:1]:
            yield from entries_under(node)
        return
    values = Values(name)
    known: set[str] = set()
    for attribute in blocks_of(beside.text, name).attributes:
        if attribute.name in known:
            raise DeploymentError("assigns a variable twice, which Terraform refuses", file=name, line=attribute.line)
        known.add(attribute.name)
        yield attribute.name, values.value(attribute.expression)
