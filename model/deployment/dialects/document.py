"""A file that can be a configuration: its text, and its values in each possible format."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePath

from proofka.model.deployment.dialects.formats.json import json_of
from proofka.model.deployment.dialects.formats.properties import said_in_properties
from proofka.model.deployment.dialects.formats.yaml import documents_of
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.dialects.templates import Templated, templated
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.source import BYTE_ORDER_MARK, decode_text, is_standard_input, read_bytes
from proofka.model.deployment.yaml_tree import Node

PROPERTIES = frozenset({".properties", ".config", ".conf", ".cfg", ".example", ".sample", ".j2", ".template", ".tpl"})
YAML = frozenset({".yaml", ".yml"})

_MOST_BESIDE = 20_000


@dataclass(frozen=True)
class Document:
    """The text of a file. ``file``: its name in output. ``notes``: remarks about reading it as text.

    For a file within another file, ``inside`` is its own name, and ``first`` the number of lines before it. ``others``:
    files that a framework can read with it as one application. ``unread``: those of them that cannot be read, with the
    reason.
    """

    file: str
    text: str
    notes: tuple[str, ...] = ()
    inside: str = ""
    first: int = 0
    others: tuple[Document, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()

    @property
    def together(self) -> tuple[str, ...]:
        """The files of one application, including this one; empty if it is alone."""
        return tuple(sorted((self.file, *(one.file for one in self.others)))) if self.others else ()

    @property
    def name(self) -> str:
        """The name of the file without its folders, in lower case."""
        return PurePath(self.inside or self.file).name.lower()

    def beside(self, name: str) -> Document | None:
        """Return a file that this one names, in its own folder or below; None if no text can be read there.

        Files elsewhere are not followed, even through a link.
        """
        path = PurePath(name)
        if self.inside or not name.strip() or "\0" in name or path.is_absolute() or ".." in path.parts:
            return None
        folder = Path(self.file).parent
        try:
            place = folder / path
            if not place.is_file() or not place.resolve().is_relative_to(folder.resolve()):
                return None
            return read_document(place)
        except (DeploymentError, OSError, RuntimeError, ValueError):
            return None

    def names_beside(self, ending: str) -> tuple[str, ...]:
        """Return the names of files in its folder with this ending, in order."""
        if self.inside:
            return ()
        try:
            with os.scandir(Path(self.file).parent) as entries:
                names = [one.name for one in islice(entries, _MOST_BESIDE)]
        except (OSError, ValueError):
            return ()
        return tuple(sorted(name for name in names if name.endswith(ending)))

    @property
    def has_byte_order_mark(self) -> bool:
        """Tell whether a byte order mark preceded the text, which Java treats as part of it."""
        return BYTE_ORDER_MARK in self.notes

    @property
    def suffix(self) -> str:
        """The ending of the name; for ``x.yaml.sample`` and similar names, the ending before."""
        suffixes = PurePath(self.name).suffixes
        while len(suffixes) > 1 and suffixes[-1] in (".example", ".sample", ".template", ".tpl", ".dist", ".j2"):
            suffixes.pop()
        return suffixes[-1] if suffixes else ""

    @cached_property
    def properties(self) -> tuple[Said, ...]:
        """The values of the document as Java ``.properties``. Raises DeploymentError."""
        return tuple(said_in_properties(self.text, self.file))

    @cached_property
    def template(self) -> Templated:
        """The lines of the document that depend on a template."""
        return templated(self.text)

    @property
    def yaml(self) -> tuple[Node, ...]:
        """The YAML documents of the text. Raises DeploymentError."""
        found = self._yaml
        if isinstance(found, DeploymentError):
            raise DeploymentError(found.message, file=found.file, line=found.line, key=found.key)
        return found

    @cached_property
    def _yaml(self) -> tuple[Node, ...] | DeploymentError:
        """The YAML documents or their error, parsed once although each dialect asks."""
        try:
            return documents_of(self.text, self.file)
        except DeploymentError as error:
            return error

    @cached_property
    def json(self) -> Node:
        """The value of the text as JSON, which can have comments. Raises DeploymentError."""
        return json_of(self.text, self.file)


def read_document(path: Path) -> Document:
    """Return the text of a file. Raises DeploymentError if it is no text, too large, or unreadable."""
    text, notes = decode_text(read_bytes(path))
    return Document(str(path), text, notes, f"stdin{_ending(text)}" if is_standard_input(path) else "")


_SETTING = re.compile(r"\s*([#!].*|[\w.\-\[\]]+\s*[=].*)?")


def _ending(text: str) -> str:
    """Return the ending that a file with this text would have; standard input has no name."""
    if text.lstrip()[:1] in ("{", "["):
        return ".json"
    lines = text.splitlines()
    return ".properties" if all(_SETTING.fullmatch(line) for line in lines) else ".yaml"
