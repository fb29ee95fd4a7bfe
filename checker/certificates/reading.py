"""Reading the text of a certificate: S-expressions, and the claims that ``certificate.txt`` makes."""

from __future__ import annotations

import re
import sys
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from proofka.checker.certificates.archive import FIRST_LINE, FORMAT
from proofka.model.input.input_error import InputError
from proofka.model.input.strict_json import read_json
from proofka.properties import certified
from proofka.properties.verdict import CutSet

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

FOR_A_MEMBER = 600
"""Bytes of memory that a name with a place and sizes needs at most, measured."""

Expressions = list[Any]
"""Lists of expressions, and the texts of symbols, numbers, keywords and strings."""

_TOKEN = re.compile(r';[^\r\n]*|"(?:[^"]|"")*"|[()]|[^\s();"]+')

_HEAD = re.compile(rb"([0-9A-Za-z._/-]{1,100}) (0|[1-9][0-9]{0,17}) (0|[1-9][0-9]{0,17})\n")
"""The line before a member: its name, its size packed, and its size."""


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
    file has a run to the witness of the property. ``unlimited``: the kinds of which the claim is for any number.
    """

    system: str
    property: str
    id: str
    up_to: int
    smallest: tuple[CutSet, ...]
    has_witness: bool
    unlimited: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Certificate:
    """The texts of a certificate.

    ``systems``: the texts of the systems, by member. ``times``: by system, the data behind its flags. ``model``: the
    version of the model that wrote the file. ``limits``: by kind of fault. ``states``: number of states in all sets, or
    up to a quarter more where the sets have ranks. ``format``: version of the format. ``about``: the words about the
    file that a checker prints without a proof.
    """

    systems: Mapping[str, str]
    times: Mapping[str, Any]
    deployment: dict[str, Any]
    model: str
    limits: Mapping[str, int]
    claims: tuple[Claimed, ...]
    states: int
    format: int
    about: tuple[tuple[str, str], ...] = ()

    @property
    def without_witness(self) -> tuple[str, ...]:
        """The claims without a witness: the file does not prove that these passes are not vacuous."""
        return tuple(claim.property for claim in self.claims if not claim.smallest and not claim.has_witness)


def is_certificate(file: Path) -> bool:
    """Tell whether a file must be read as a certificate: by its name, or by its first line."""
    if not file.is_file():
        return False
    if file.suffix.lower() == SUFFIX_OF_FILE:
        return True
    try:
        with file.open("rb") as stream:
            return stream.readline(len(FIRST_LINE)) == FIRST_LINE
    except OSError:
        return False


def read_certificate(file: Path, memory: int = sys.maxsize) -> Certificate:
    """Return the texts of a certificate.

    ``memory``: largest number of bytes that reading may need; no limit for a file that this process wrote.

    Raise :class:`NoCertificate`, :class:`TooMuchMemory`, and OSError.
    """
    try:
        with file.open("rb") as stream:
            archive = _Archive(stream, Room(memory))
            told = _read(expressions(archive.text(TEXT, FOR_A_BYTE)))
            deployment, times = (read_json(archive.text(name, FOR_A_BYTE)) for name in (DEPLOYMENT, TIMES))
            systems = {name: archive.text(name, FOR_A_BYTE_OF_TEXT) for name in dict.fromkeys(told.systems)}
            states = sum(archive.size(member) // part_bytes for member, part_bytes in told.rows)
        if not isinstance(deployment, dict) or not isinstance(times, dict):
            raise ValueError(f"{DEPLOYMENT} or {TIMES} is no object")
        claims, about = tuple(told.claims), tuple(told.about)
        return Certificate(systems, times, deployment, told.model, told.limits, claims, states, FORMAT, about)
    except (ValueError, IndexError, TypeError, RecursionError) as error:
        raise NoCertificate(f"is no certificate: a text cannot be read: {str(error)[:200]}") from None


def described(read: Certificate, name: str, *, size: int, sha256: str) -> certified.Certificate:
    """Return a certificate in words of a result. ``name``, ``size`` in bytes, ``sha256``: of the file."""
    claims = {claim.property: claim.id for claim in read.claims}
    return certified.Certificate(name, size, sha256, read.format, claims, read.without_witness)


@dataclass(frozen=True)
class _Member:
    """The place of a member's packed bytes in the file, their number, and the size of the content."""

    place: int
    packed: int
    size: int


class _Archive:
    """The members of a certificate. Raise :class:`NoCertificate`, :class:`TooMuchMemory`, and OSError."""

    def __init__(self, stream: BinaryIO, room: Room) -> None:
        self._stream, self._room = stream, room
        self._members: dict[str, _Member] = {}
        end = stream.seek(0, 2)
        stream.seek(0)
        if stream.readline(len(FIRST_LINE)) != FIRST_LINE:
            raise NoCertificate(
                f"is no certificate of format {FORMAT}: the first line is not {FIRST_LINE.decode().strip()!r}; "
                "for an older certificate, write a new one from its result: proofka certify"
            )
        while head := stream.readline(200):
            room.take(FOR_A_MEMBER, "the list of members")
            found = _HEAD.fullmatch(head)
            if found is None or found[1].decode() in self._members:
                raise NoCertificate(f"is no certificate: a member twice, or the head of none: {head[:60]!r}")
            member = _Member(stream.tell(), int(found[2]), int(found[3]))
            if member.place + member.packed > end:
                raise NoCertificate(f"is no certificate: {found[1].decode()} is cut off")
            self._members[found[1].decode()] = member
            stream.seek(member.place + member.packed)

    def size(self, name: str) -> int:
        """Return the number of bytes of a member."""
        if name not in self._members:
            raise NoCertificate(f"is no certificate: {name} is missing")
        return self._members[name].size

    def text(self, name: str, cost: int) -> str:
        """Return a member that is a text, each byte of which needs ``cost`` bytes of memory."""
        member = self._members.get(name)
        if member is None or max(member.size, member.packed) > MOST_TEXT:
            problem = "is missing" if member is None else f"is larger than {MOST_TEXT >> 20} MB"
            raise NoCertificate(f"is no certificate: {name} {problem}")
        self._room.take(member.size * cost + member.packed, name)
        self._stream.seek(member.place)
        unpacker = zlib.decompressobj()
        try:
            content = unpacker.decompress(self._stream.read(member.packed), member.size + 1)
        except zlib.error as error:
            raise NoCertificate(f"is no certificate: {name} is damaged: {error}") from None
        if len(content) != member.size or not unpacker.eof or unpacker.unused_data:
            raise NoCertificate(f"is no certificate: {name} has another size than its head says")
        return content.decode("utf-8")


def expressions(text: str) -> Expressions:
    """Return the expressions of a text. Raise ValueError."""
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
    if len(open_lists) != 1:
        raise ValueError("a list without an end")
    return open_lists[0]


@dataclass
class _Told:
    """The commands of ``certificate.txt``.

    ``rows``: members with the bytes of a row, without ranks. ``earlier_claims``: number of claims of earlier parts.
    """

    model: str = ""
    about: list[tuple[str, str]] = field(default_factory=list)
    limits: dict[str, int] = field(default_factory=dict)
    systems: list[str] = field(default_factory=list)
    words: int = 1
    rows: list[tuple[str, int]] = field(default_factory=list)
    unlimited: frozenset[str] = frozenset()
    earlier_claims: int = 0
    claims: list[Claimed] = field(default_factory=list)


def _read(commands: Expressions) -> _Told:
    """Read the commands of ``certificate.txt``. Raise ValueError, TypeError, and IndexError."""
    told = _Told()
    for head, *words in commands:
        if head == "about":
            told.about.append((str(words[0]), str(words[1])))
            told.model = str(words[1]) if words[0] == "model" else told.model
        elif head == "limit":
            told.limits[str(words[0])] = int(words[1])
        elif head == "system":
            if NAME_OF_SYSTEM.fullmatch(str(words[0])) is None:
                raise ValueError(f"a system has another name: {str(words[0])[:60]!r}")
            told.systems.append(words[0])
            told.words, told.unlimited, told.earlier_claims = 1, frozenset(), len(told.claims)
        elif head == "unlimited":
            if len(told.claims) > told.earlier_claims:
                raise ValueError("an unlimited kind stands behind a claim of its part")
            told.unlimited |= {str(words[0])}
        elif head == "word":
            told.words += 1
        elif head == "rows":
            told.rows.append((str(words[0]), 8 * told.words))
        elif head == "claim":
            name, of_verdict, up_to = str(words[0]), str(words[1]), int(words[2])
            told.claims.append(Claimed(told.systems[-1], name, of_verdict, up_to, (), False, told.unlimited))
        elif head == "witness":
            told.claims[-1] = replace(told.claims[-1], has_witness=True)
        elif head == "smallest":
            faults = tuple(sorted(Counter(map(str, words[0])).items()))
            told.claims[-1] = replace(told.claims[-1], smallest=(*told.claims[-1].smallest, faults))
    if not told.model or not told.claims:
        raise ValueError(f"{TEXT} has no claim, or does not name the model")
    return told
