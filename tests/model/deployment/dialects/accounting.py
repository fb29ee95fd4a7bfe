"""Accounting for every value of a file, which a test of any dialect asks of a reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.document import Document, read_document
from proofka.model.deployment.dialects.recognising import dialect_of
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.given import Given

REAL = Path(__file__).parents[5] / "shared" / "real-configs"
"""Configuration files of public projects. They are other people's: read where they lie, never copied."""

needs_real_files = pytest.mark.skipif(not REAL.is_dir(), reason="SKIPPED: the files of public projects are not here")


def read_text(text: str, name: str, fillings: Mapping[str, str] | None = None, dialect: str | None = None) -> Found:
    """Return the content of a text in a file of this name; ``dialect`` must be the dialect recognised."""
    return read_with(Document(name, text), fillings, dialect)


def read_file(path: Path, fillings: Mapping[str, str] | None = None, dialect: str | None = None) -> Found:
    """Return the content of a file."""
    return read_with(read_document(path), fillings, dialect)


def read_with(document: Document, fillings: Mapping[str, str] | None = None, dialect: str | None = None) -> Found:
    """Return the content of a document."""
    taken_for = dialect_of(document)
    assert taken_for is not None, f"{document.file} is taken for nothing"
    assert dialect in (None, taken_for.name)
    return taken_for.read(document, fillings or {})


def lines_of(found: Found) -> set[int]:
    """Return the lines of the file whose values are accounted for."""
    left = [one.given for one in (*found.ignored, *found.rejected)]
    return {given.origin.line for given in (*left, *_given(found.components)) if given.origin.line is not None}


def unaccounted(said: Iterable[Said], found: Found) -> list[Said]:
    """Return the values of a file that are not accounted for."""
    lines = lines_of(found)
    return [one for one in said if one.line not in lines]


def values(found: Found, role: Role, number: int = 0) -> dict[str, str]:
    """Return the settings of a component as keys and values."""
    return {key: given.value for key, given in found.by_role[role][number].settings.items()}


def _given(components: Iterable[Component]) -> Iterable[Given]:
    for one in components:
        yield from one.settings.values()
        yield from one.application.values()
        yield from (given for given in (one.client, one.version, one.kafka, one.brokers) if given is not None)
