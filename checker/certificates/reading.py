"""Reading the text of a certificate: S-expressions, and the claims that ``certificate.txt`` makes."""

from __future__ import annotations

import errno
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.zip_members import END, END_MARK
from model.input.input_error import InputError
from model.input.strict_json import read_json
from properties import certified
from properties.verdict import CutSet

FORMAT = 1
"""Version of the format of certificates."""

MOST_TEXT = 64 << 20
"""Largest size of a member with text, in bytes."""

TEXT, SYSTEM, README = "certificate.txt", "system.smt2", "README.txt"
DEPLOYMENT, TIMES = "deployment.json", "times.json"
"""Names of the members with text. The JSON files are for ``proofka verify`` alone."""

SUFFIX_OF_FILE = ".cert"
"""Suffix of the name of a certificate."""

NAME_OF_SYSTEM = re.compile(r"system(\.[1-9][0-9]*)?\.smt2")
"""The form of the names of members with systems."""

FOR_A_BYTE = 100
"""Bytes of memory that a byte of ``certificate.txt`` or of JSON needs at most as a value, measured."""

FOR_A_BYTE_OF_TEXT = 6
"""Bytes of memory that a byte of a system needs: the text, in letters of up to 4 bytes."""

FOR_A_BYTE_OF_DIRECTORY = 24
"""Bytes of memory that a byte of the directory of a ZIP file needs, measured."""

_ZIP64 = b"PK\x06\x07"
"""The mark before the record at the end, if the file has a second directory for large files."""

Expression = list[Any] | str
"""A list of expressions, or the text of a symbol, a number, a keyword or a string."""

_TOKEN = re.compile(r';[^\r\n]*|"(?:[^"]|"")*"|[()]|[^\s();"]+')


_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError)
"""The errors by which the standard library tells of a damaged or an unusual ZIP archive."""


class NoCertificate(InputError):
    """A file is no certificate, or a text in the file cannot be read."""


class TooMuchMemory(Exception):
    """Reading the texts of a certificate needs more memory than is allowed."""


@dataclass
class Room:
    """The bytes of memory that are left."""

    left: int

    def take(self, amount: int, what: str) -> None:
        """Count memory before the memory is taken. Raise :class:`TooMuchMemory`."""
        if amount > self.left:
            raise TooMuchMemory(
                f"reading {what} needs {amount:,} bytes of memory, and {self.left:,} are left (--memory)"
            )
        self.left -= amount


@dataclass(frozen=True)
class Claimed:
    """A claim as the file states it: its system, property, id of the verdict, and largest total of faults.

    ``smallest``: the smallest fault sets, each as pairs (kind, count) sorted by kind. ``has_witness``: whether the
    file has a run to the witness of the property.
    """

    system: str
    property: str
    id: str
    up_to: int
    smallest: tuple[CutSet, ...]
    has_witness: bool


@dataclass(frozen=True)
class Certificate:
    """The texts of a certificate.

    ``systems``: the texts of the systems, by member. ``times``: by system, the data behind its flags. ``model``: the
    version of the model that wrote the file. ``limits``: by kind of fault. ``states``: number of states in all sets.
    ``format``: version of the format.
    """

    systems: Mapping[str, str]
    times: Mapping[str, Any]
    deployment: dict[str, Any]
    model: str
    limits: Mapping[str, int]
    claims: tuple[Claimed, ...]
    states: int
    format: int

    @property
    def without_witness(self) -> tuple[str, ...]:
        """The claims without a witness: the file does not prove that these passes are not vacuous."""
        return tuple(claim.property for claim in self.claims if not claim.smallest and not claim.has_witness)


def is_certificate(file: Path) -> bool:
    """Tell whether a file must be read as a certificate: by its name, or because it is a ZIP archive with its text."""
    if not file.is_file():
        return False
    if file.suffix.lower() == SUFFIX_OF_FILE:
        return True
    try:
        if _bytes_of_directory(file) > MOST_TEXT:
            return True  # a bundle has a smaller directory; reading the certificate names the problem
        with zipfile.ZipFile(file) as archive:
            return TEXT in archive.namelist()
    except (*_DAMAGED, NoCertificate, ValueError, OSError):
        return False


def read_certificate(file: Path, memory: int = sys.maxsize) -> Certificate:
    """Return the texts of a certificate.

    ``memory``: largest number of bytes that reading may need; no limit for a file that this process wrote.

    Raise :class:`NoCertificate`, :class:`TooMuchMemory`, and OSError.
    """
    room = Room(memory)
    room.take(_bytes_of_directory(file) * FOR_A_BYTE_OF_DIRECTORY, "the directory of the file")
    try:
        with zipfile.ZipFile(file) as archive:
            whole = expression(_text(archive, TEXT, room, FOR_A_BYTE))
            deployment, times = (read_json(_text(archive, name, room, FOR_A_BYTE)) for name in (DEPLOYMENT, TIMES))
            names = dict.fromkeys(_systems(whole))
            systems = {name: _text(archive, name, room, FOR_A_BYTE_OF_TEXT) for name in names}
        if not isinstance(deployment, dict) or not isinstance(times, dict):
            raise ValueError(f"{DEPLOYMENT} or {TIMES} is no object")
        return Certificate(
            systems,
            times,
            deployment,
            _model(whole),
            _limits(whole),
            tuple(_claims(whole)),
            _states(whole),
            int(str(whole[1])),
        )
    except (*_DAMAGED, KeyError) as error:
        raise NoCertificate(f"is no certificate: {_reason(error)}") from None
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise NoCertificate("is no certificate: a place in the file that lies before its beginning") from None
    except (ValueError, IndexError, TypeError) as error:
        raise NoCertificate(f"is no certificate: a text cannot be read: {_reason(error)}") from None


def described(read: Certificate, name: str, *, size: int, sha256: str) -> certified.Certificate:
    """Return a certificate in words of a result. ``name``, ``size`` in bytes, ``sha256``: of the file."""
    claims = {claim.property: claim.id for claim in read.claims}
    return certified.Certificate(name, size, sha256, read.format, claims, read.without_witness)


def _reason(error: Exception) -> str:
    """Return the reason of an error, cut to 200 characters."""
    told = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return told[:200] or type(error).__name__


def _bytes_of_directory(file: Path) -> int:
    """Return the size of the directory at the end of a ZIP file. Raise :class:`NoCertificate`, and OSError."""
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - END.size - 20))
        tail = stream.read()
    if len(tail) < END.size or tail[-END.size :][:4] != END_MARK:
        raise NoCertificate("is no certificate: no ZIP archive, or one with bytes behind its end")
    if tail.startswith(_ZIP64):
        raise NoCertificate("is no certificate: a ZIP archive in the form for large files")
    return min(size, int(END.unpack(tail[-END.size :])[5]))


def _text(archive: zipfile.ZipFile, name: str, room: Room, cost: int) -> str:
    size = archive.getinfo(name).file_size
    if size > MOST_TEXT:
        raise KeyError(f"{name} is larger than {MOST_TEXT >> 20} MB")
    room.take(size * cost, name)
    with archive.open(name) as member:
        return member.read(MOST_TEXT).decode("utf-8")


def _systems(whole: Expression) -> Iterator[str]:
    """Yield the names of the systems of the parts. Raise ValueError for other names."""
    if not isinstance(whole, list) or whole[:1] != ["proofka-certificate"]:
        raise ValueError(f"{TEXT} has no list proofka-certificate")
    for part in _named(whole, "part"):
        ((_, name),) = _named(part, "system")
        if not isinstance(name, str) or NAME_OF_SYSTEM.fullmatch(name) is None:
            raise ValueError(f"a system has another name: {str(name)[:60]!r}")
        yield name


def expression(text: str) -> Expression:
    """Return the first expression of a text. Raise ValueError."""
    open_lists: list[list[Any]] = [[]]
    for found in _TOKEN.finditer(text):
        token = found.group()
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


def _states(whole: Expression) -> int:
    return sum(int(one[2]) for part in _named(whole, "part") for one in _named(part, "set"))


def _claims(whole: Expression) -> Iterator[Claimed]:
    for part in _named(whole, "part"):
        (system,) = _named(part, "system")
        for claim in _named(part, "claim"):
            (of_id,), (up_to,) = _named(claim, "id"), _named(claim, "up-to")
            smallest = tuple(
                tuple(sorted((str(kind), int(count)) for kind, count in one[1])) for one in _named(claim, "smallest")
            )
            has_witness = any(True for _ in _named(claim, "witness"))
            yield Claimed(str(system[1]), str(claim[1]), str(of_id[1]), int(up_to[1]), smallest, has_witness)
