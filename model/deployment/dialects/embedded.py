"""A file inside another one, as a ConfigMap holds them: read by its own dialect, at its own lines."""

from __future__ import annotations

import re

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.component import Component
from model.deployment.dialects.document import Document
from model.deployment.dialects.placeholders import Fillings
from model.deployment.dialects.said import Said
from model.deployment.errors import DeploymentError

_BLOCK = re.compile(r"[|>][-+0-9]{0,2}\s*(#.*)?\r?$")
_OF_KAFKA = re.compile(
    r"^\s*[\"']?(bootstrap[._]servers|metadata\.broker\.list|acks|group\.id|auto\.offset\.reset|enable\.auto\.commit"
    r"|enable\.idempotence|isolation\.level|min\.insync\.replicas)[\"']?\s*[=:]",
    re.MULTILINE,
)
_FILE = re.compile(r".*\.(properties|ya?ml|json|conf|cfg|config|ini|toml|env|hocon|xml|sh)", re.IGNORECASE)


def is_file(name: str, text: str) -> bool:
    """Whether an entry of this name holds a file."""
    return "\n" in text.strip() or _FILE.fullmatch(name) is not None


def read_inside(
    document: Document, said: Said, name: str, accounts: Accounts, fillings: Fillings
) -> tuple[Component, ...]:
    """The components of the file that a value holds, its lines counted in the file around it."""
    from model.deployment.dialects.recognising import dialect_of

    if document.inside:
        accounts.ignore(said, "holds a file, itself in a file that another one holds")
        return ()
    first = said.line if _is_block(document, said) else said.line - 1
    inner = Document(document.file, said.value, inside=name, first=document.first + first)
    dialect = dialect_of(inner)
    if dialect is None:
        if _OF_KAFKA.search(said.value):
            accounts.reject(said, "holds a file with settings of Kafka's, of no dialect that is known")
        else:
            accounts.ignore(said, "holds a file that is no configuration of Kafka's")
        return ()
    try:
        found = dialect.read(inner, fillings)
    except DeploymentError as error:
        line = "" if error.line is None else f" (line {error.line + inner.first})"
        accounts.reject(said, f"holds a file that cannot be read{line}: {error.message}")
        return ()
    accounts.ignore(said, f"holds a file, read as {dialect.name}")
    return accounts.take_over(found)


def _is_block(document: Document, said: Said) -> bool:
    """The text begins in the line below: what stands in its own is the sign of a block."""
    lines = document.text.split("\n")
    return 0 < said.line <= len(lines) and _BLOCK.search(lines[said.line - 1]) is not None
