"""A file inside another file, as in a ConfigMap: read by its own dialect, with its own lines."""

from __future__ import annotations

import re
from dataclasses import replace

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.component import Component
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.formats.properties import said_in_properties
from proofka.model.deployment.dialects.placeholders import Fillings
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.errors import DeploymentError

_BLOCK = re.compile(r"[|>][-+0-9]{0,2}\s*(#.*)?\r?$")
_OF_KAFKA = re.compile(
    r"^[^\S\n]*[\"']?(bootstrap[._]servers|metadata\.broker\.list|acks|group\.id|auto\.offset\.reset|enable\.auto\.commit"
    r"|enable\.idempotence|isolation\.level|min\.insync\.replicas)[\"']?\s*[=:]",
    re.MULTILINE,
)
_FILE = re.compile(r".*\.(properties|ya?ml|json|conf|cfg|config|ini|toml|env|hocon|xml|sh)", re.IGNORECASE)


def is_file(name: str, text: str) -> bool:
    """Tell whether an entry of this name contains a file."""
    return "\n" in text.strip() or _FILE.fullmatch(name) is not None


def read_inside(
    document: Document, said: Said, name: str, accounts: Accounts, fillings: Fillings
) -> tuple[Component, ...]:
    """Return the components of the file that a value contains; lines count from the start of the outer file."""
    from proofka.model.deployment.dialects.recognising import dialect_of

    if document.inside:
        accounts.ignore(said, "contains a file that is nested too deeply")
        return ()
    inner = Document(document.file, said.value, inside=name, first=document.first + first_line(document, said) - 1)
    dialect = dialect_of(inner)
    if dialect is None:
        if _OF_KAFKA.search(said.value):
            accounts.reject(said, "contains a file with settings of Kafka, in no known dialect")
        else:
            accounts.ignore(said, "contains a file that is no configuration of Kafka")
        return ()
    try:
        found = dialect.read(inner, fillings)
    except DeploymentError as error:
        line = "" if error.line is None else f" (line {error.line + inner.first})"
        accounts.reject(said, f"contains a file that cannot be read{line}: {error.message}")
        return ()
    accounts.ignore(said, f"contains a file, read as {dialect.name}")
    return accounts.take_over(found)


def first_line(document: Document, said: Said) -> int:
    """Return the line in which a text begins: the next line if the key's line has only the sign of a block."""
    lines = document.text.split("\n")
    is_block = 0 < said.line <= len(lines) and _BLOCK.search(lines[said.line - 1]) is not None
    return said.line + 1 if is_block else said.line


def settings_inside(document: Document, said: Said) -> tuple[Said, ...]:
    """Return the settings in a text of ``.properties``, at their own lines. Raises DeploymentError."""
    values = said_in_properties(said.value, document.file, first_line(document, said))
    return tuple(replace(one, path=(*said.path, one.key)) for one in values)
