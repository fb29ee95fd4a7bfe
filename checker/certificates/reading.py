"""Reading the text of a certificate: S-expressions, and the claims that ``certificate.txt`` makes."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.input.input_error import InputError
from model.input.strict_json import read_json

MOST_TEXT = 64 << 20
"""Largest size of a member with text, in bytes."""

TEXT, SYSTEM, README = "certificate.txt", "system.smt2", "README.txt"
DEPLOYMENT, TIMES = "deployment.json", "times.json"
"""Names of the members with text. The JSON files are for ``proofka verify`` alone."""

SUFFIX_OF_FILE = ".cert"
"""Suffix of the name of a certificate."""

SUFFIX = ".smt2"
"""Suffix of the members with systems."""

Expression = list[Any] | str
"""A list of expressions, or the text of a symbol, a number, a keyword or a string."""

_TOKEN = re.compile(r';[^\n]*|"(?:[^"]|"")*"|[()]|[^\s();"]+')


class NoCertificate(InputError):
    """A file is no certificate, or a text in the file cannot be read."""


@dataclass(frozen=True)
class Claimed:
    """A claim as the file states it: its system, property, id of the verdict, and largest total of faults."""

    system: str
    property: str
    id: str
    up_to: int


@dataclass(frozen=True)
class Certificate:
    """The texts of a certificate.

    ``systems``: the texts of the systems, by member. ``times``: by system, the data behind its flags. ``model``: the
    version of the model that wrote the file. ``limits``: by kind of fault.
    """

    systems: Mapping[str, str]
    times: Mapping[str, Any]
    deployment: dict[str, Any]
    model: str
    limits: Mapping[str, int]
    claims: tuple[Claimed, ...]


def is_certificate(file: Path) -> bool:
    """Tell whether a file must be read as a certificate: by its name, or because it is a ZIP archive with its text."""
    if not file.is_file():
        return False
    if file.suffix.lower() == SUFFIX_OF_FILE:
        return True
    try:
        with zipfile.ZipFile(file) as archive:
            return TEXT in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False


def read_certificate(file: Path) -> Certificate:
    """Return the texts of a certificate. Raise :class:`NoCertificate`, and OSError."""
    try:
        with zipfile.ZipFile(file) as archive:
            text, deployment, times = (_text(archive, name) for name in (TEXT, DEPLOYMENT, TIMES))
            systems = {name: _text(archive, name) for name in archive.namelist() if name.endswith(SUFFIX)}
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError, NotImplementedError) as error:
        raise NoCertificate(f"{file}: is no certificate: {error}") from None
    try:
        whole = expression(text)
        found = Certificate(
            systems, read_json(times), read_json(deployment), _model(whole), _limits(whole), tuple(_claims(whole))
        )
    except (ValueError, IndexError, RecursionError, TypeError) as error:
        raise NoCertificate(f"{file}: {TEXT} or {DEPLOYMENT} cannot be read: {error}") from None
    return found


def _text(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > MOST_TEXT:
        raise KeyError(f"{name} is larger than {MOST_TEXT >> 20} MB")
    with archive.open(name) as member:
        return member.read(MOST_TEXT).decode("utf-8")


def expression(text: str) -> Expression:
    """Return the first expression of a text. Raise ValueError."""
    open_lists: list[list[Any]] = [[]]
    for token in _TOKEN.findall(text):
        if token.startswith(";"):
            continue
        if token == "(":
            open_lists.append([])
        elif token == ")":
            if len(open_lists) == 1:
                raise ValueError("a closing parenthesis too many")
            done = open_lists.pop()
            open_lists[-1].append(done)
        else:
            open_lists[-1].append(token[1:-1].replace('""', '"') if token.startswith('"') else token)
    if len(open_lists) != 1 or not open_lists[0]:
        raise ValueError("a list without an end")
    first: Expression = open_lists[0][0]
    return first


def _named(whole: Expression, name: str) -> Iterator[list[Any]]:
    for one in whole:
        if isinstance(one, list) and one and one[0] == name:
            yield one


def _model(whole: Expression) -> str:
    (about,) = _named(whole, "about")
    (model,) = _named(about, "model")
    return str(model[1])


def _limits(whole: Expression) -> dict[str, int]:
    (limits,) = _named(whole, "limits")
    return {str(kind): int(most) for kind, most in limits[1:]}


def _claims(whole: Expression) -> Iterator[Claimed]:
    for part in _named(whole, "part"):
        (system,) = _named(part, "system")
        for claim in _named(part, "claim"):
            (of_id,), (up_to,) = _named(claim, "id"), _named(claim, "up-to")
            yield Claimed(str(system[1]), str(claim[1]), str(of_id[1]), int(up_to[1]))
