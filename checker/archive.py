"""A zip file in which no byte is free: each is fixed, or covered by a hash that another part of the file holds.

What every zip program reads, written in one way only: members in the order of their names, each deflated, with one
fixed time and no extra fields; last ``manifest.json``, not compressed, with the SHA-256 of every member as it is and
as it is packed; and the SHA-256 of the manifest as the comment of the file. So a reader can rebuild every header from
little, and name what differs. The hashes find damage and careless edits; they are no signature.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from model.input_error import InputError
from model.strict_json import read_json

MANIFEST = "manifest.json"
FORMAT = 1
"""Version of the layout; raised when a reader of the earlier one would misread it."""

MAX_FILE = 64 << 20
"""A file larger than this, in bytes, is not one of ours; it is not read."""
MAX_MEMBERS = 200
MAX_MEMBER = 64 << 20
"""No member unpacks to more bytes than this."""
MAX_TOTAL = 256 << 20
"""Nor do all of them together."""

_LOCAL, _CENTRAL, _END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
_LOCAL_MARK, _CENTRAL_MARK, _END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_NEEDS, _BY, _DATE, _MODE = 20, 0x0314, 0x0021, 0o100644 << 16  # zip 2.0; on Unix; 1980-01-01, which is the first day
_STORED, _DEFLATED, _LEVEL, _RAW = 0, 8, 9, -15
_WORDS = f"Proofka bundle {FORMAT}, SHA-256 of {MANIFEST}: "
_COMMENT = len(_WORDS) + 64
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(/[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)*", re.ASCII)


class DamagedBundle(Exception):
    """A file is no bundle, or is not as it was written: ``problems`` names each part that is wrong."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class BundleTooLarge(InputError):
    """What is to be written is more than may be read again."""


@dataclass(frozen=True)
class Archive:
    """What is in a bundle: the bytes of each member but the manifest, and what the manifest says besides."""

    members: Mapping[str, bytes]
    manifest: Mapping[str, Any]


@dataclass(frozen=True)
class _Member:
    """What a header says of a member: CRC-32 and size as it is, bytes as it is packed, and its place in the file."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    start: int

    @property
    def data(self) -> int:
        """Where its bytes begin."""
        return self.start + _LOCAL.size + len(self.name)

    @property
    def end(self) -> int:
        return self.data + self.packed

    def _figures(self) -> tuple[int, ...]:
        return (_NEEDS, 0, self.method, 0, _DATE, self.crc, self.packed, self.size, len(self.name), 0)

    def local(self) -> bytes:
        return _LOCAL.pack(_LOCAL_MARK, *self._figures()) + self.name.encode("latin-1")

    def central(self) -> bytes:
        head = _CENTRAL.pack(_CENTRAL_MARK, _BY, *self._figures(), 0, 0, 0, _MODE, self.start)
        return head + self.name.encode("latin-1")


def sha256(content: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def write_archive(members: Mapping[str, bytes], about: Mapping[str, Any]) -> bytes:
    """The bytes of a bundle; ``about`` is what its manifest says besides the hashes."""
    packed = {name: _deflated(members[name]) for name in sorted(members)}
    listed = [
        {"name": name, "bytes": len(members[name]), "sha256": sha256(members[name]), "packed_sha256": sha256(content)}
        for name, content in packed.items()
    ]
    text = json.dumps({"format": FORMAT, **about, "members": listed}, indent=1, ensure_ascii=True) + "\n"
    manifest = text.encode("ascii")
    parts: list[bytes] = []
    made: list[_Member] = []
    for name, content in {**packed, MANIFEST: manifest}.items():
        whole, method = (manifest, _STORED) if name == MANIFEST else (members[name], _DEFLATED)
        start = made[-1].end if made else 0
        made.append(_Member(name, method, zlib.crc32(whole), len(content), len(whole), start))
        parts += [made[-1].local(), content]
    written = b"".join([*parts, *(member.central() for member in made), _end(made, sha256(manifest))])
    sizes = [member.size for member in made]
    if len(made) > MAX_MEMBERS or max(sizes) > MAX_MEMBER or sum(sizes) > MAX_TOTAL or len(written) > MAX_FILE:
        raise BundleTooLarge("no bundle is written: it would be larger than one may be; explore fewer faults")
    return written


def read_archive(content: bytes) -> Archive:
    """What a bundle holds. Raises :class:`DamagedBundle`, which names every part that is not as it was written."""
    if len(content) > MAX_FILE:
        raise DamagedBundle(f"is larger than {MAX_FILE >> 20} MB, so it is no bundle")
    # Each header stands twice, before its member and in the directory: whichever explains more of the file is right.
    judged = [_judged(content, layout) for layout in (_by_directory(content), _by_headers(content)) if layout]
    if not judged:
        raise DamagedBundle("is no bundle that Proofka wrote: it has neither members nor a directory of them")
    archive, problems = min(judged, key=lambda one: (one[0] is None, len(one[1])))
    if problems:
        raise DamagedBundle(*problems)
    assert archive is not None
    return archive


def _deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    return packer.compress(content) + packer.flush()


def _end(members: list[_Member], manifest_hash: str) -> bytes:
    count, start = len(members), members[-1].end
    size = sum(len(member.central()) for member in members)
    record = _END.pack(_END_MARK, 0, 0, count, count, size, start, _COMMENT)
    return record + f"{_WORDS}{manifest_hash}".encode("ascii")


def _by_headers(content: bytes) -> list[_Member]:
    """The members, one after the other, as the header before each says."""
    found: list[_Member] = []
    place = 0
    while len(found) <= MAX_MEMBERS and content[place : place + 4] == _LOCAL_MARK:
        if place + _LOCAL.size > len(content):
            break
        _, _, _, method, _, _, crc, packed, size, length, _ = _LOCAL.unpack_from(content, place)
        name = content[place + _LOCAL.size : place + _LOCAL.size + length].decode("latin-1")
        found.append(_Member(name, method, crc, packed, size, place))
        place = found[-1].end
    return found


def _by_directory(content: bytes) -> list[_Member]:
    """The members as the directory at the end says."""
    record = len(content) - _END.size - _COMMENT
    if record < 0 or content[record : record + 4] != _END_MARK:
        return []
    place = _END.unpack_from(content, record)[6]
    found: list[_Member] = []
    while len(found) <= MAX_MEMBERS and content[place : place + 4] == _CENTRAL_MARK and place < record:
        _, _, _, _, method, _, _, crc, packed, size, length, _, _, _, _, _, start = _CENTRAL.unpack_from(content, place)
        name = content[place + _CENTRAL.size : place + _CENTRAL.size + length].decode("latin-1")
        found.append(_Member(name, method, crc, packed, size, start))
        place += _CENTRAL.size + length
    return found


def _judged(content: bytes, members: list[_Member]) -> tuple[Archive | None, list[str]]:
    """What the file holds, and what is wrong with it, if these are its members."""
    refused = list(_refused(members))
    if refused:
        return None, refused
    problems: list[str] = []
    whole: dict[str, bytes] = {}
    packed: dict[str, bytes] = {}
    expected = 0
    for member in members:
        what = f"member {_shown(member.name)}"
        if member.start != expected or content[member.start : member.data] != member.local():
            problems.append(f"{what}: its header was changed")
        expected = member.end
        packed[member.name] = content[member.data : member.end]
        if member.end > len(content):
            problems.append(f"{what}: is cut off")
        unpacked = _unpacked(member, packed[member.name])
        if unpacked is None or zlib.crc32(unpacked) != member.crc:
            problems.append(f"{what}: its content was changed")
        else:
            whole[member.name] = unpacked
    problems += _of_the_end(content, members, packed.get(MANIFEST))
    manifest = _manifest(whole.get(MANIFEST))
    if manifest is None:
        return None, [*problems, f"member {MANIFEST}: is not there, or cannot be read"]
    problems += _against(manifest, members, whole, packed, problems)
    return Archive({name: text for name, text in whole.items() if name != MANIFEST}, manifest), problems


def _refused(members: list[_Member]) -> Iterator[str]:
    """What is not even unpacked: too many, too large, with names that are none of ours, or twice the same."""
    if len(members) > MAX_MEMBERS:
        yield f"has more than {MAX_MEMBERS} members"
        return
    names = [member.name for member in members]
    for name in dict.fromkeys(names):
        if _NAME.fullmatch(name) is None or len(name) > 100:
            yield f"member {_shown(name)}: no member of a bundle is called so"
        if names.count(name) > 1:
            yield f"member {_shown(name)}: is there {names.count(name)} times"
    for member in members:
        if member.size > MAX_MEMBER or member.packed > MAX_FILE:
            yield f"member {_shown(member.name)}: says that it has {max(member.size, member.packed):,} bytes, too many"
    if sum(member.size for member in members) > MAX_TOTAL:
        yield f"its members together have more than {MAX_TOTAL >> 20} MB"


def _unpacked(member: _Member, packed: bytes) -> bytes | None:
    """The bytes of a member, no more than its header says; None if that is not what is there."""
    if member.method == _STORED:
        return packed if len(packed) == member.size else None
    unpacker = zlib.decompressobj(_RAW)
    try:
        found = unpacker.decompress(packed, member.size + 1)
    except zlib.error:
        return None
    done = unpacker.eof and not unpacker.unused_data and len(found) == member.size
    return found if done and member.method == _DEFLATED else None


def _of_the_end(content: bytes, members: list[_Member], manifest: bytes | None) -> Iterator[str]:
    """What is wrong behind the members: in the directory, the record at the end, and the comment."""
    place = members[-1].end
    for member in members:
        entry = member.central()
        if content[place : place + len(entry)] != entry:
            yield f"the directory's entry of {_shown(member.name)}: was changed, or is cut off"
        place += len(entry)
    end = _end(members, sha256(b"" if manifest is None else manifest))
    if content[place : place + _END.size] != end[: _END.size]:
        yield "the record at the end of the file: was changed, or is cut off"
    if content[place + _END.size : place + len(end)] != end[_END.size :]:
        yield f"the comment of the file: is not the one with the hash of {MANIFEST}"
    if len(content) > place + len(end):
        yield f"{len(content) - place - len(end):,} bytes stand after the end of the file"


def _manifest(content: bytes | None) -> dict[str, Any] | None:
    try:
        manifest = read_json(content or b"")
    except (ValueError, RecursionError):
        return None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("members"), list):
        return None
    keys = {"name": str, "bytes": int, "sha256": str, "packed_sha256": str}
    for one in manifest["members"]:
        if not isinstance(one, dict) or any(not isinstance(one.get(key), kind) for key, kind in keys.items()):
            return None
    return manifest


def _against(
    manifest: Mapping[str, Any],
    members: list[_Member],
    whole: Mapping[str, bytes],
    packed: Mapping[str, bytes],
    known: list[str],
) -> Iterator[str]:
    """What is not as the manifest says, beyond the problems that are ``known``."""
    if manifest.get("format") != FORMAT:
        yield f"member {MANIFEST}: is of another format than {FORMAT}, which is all that this version reads"
    listed = {one["name"]: one for one in manifest["members"]}
    for name in sorted(listed.keys() - packed.keys()):
        yield f"member {_shown(name)}: is missing"
    for member in members:
        name = member.name
        said = listed.get(name)
        damaged = f"member {name}: its content was changed"
        if said is None:
            if name != MANIFEST:
                yield f"member {_shown(name)}: was added"
        elif member.method != _DEFLATED:
            yield f"member {name}: is not compressed as every member is"
        elif damaged not in known and (
            sha256(packed[name]) != said["packed_sha256"]
            or len(whole[name]) != said["bytes"]
            or sha256(whole[name]) != said["sha256"]
        ):
            yield damaged
    names = [member.name for member in members]
    if names != [*sorted(name for name in names if name != MANIFEST), MANIFEST]:
        yield f"the members are not in order, with {MANIFEST} as the last one"


def _shown(name: str) -> str:
    """A member's name as it may be printed."""
    cut = name if len(name) <= 60 else f"{name[:57]}..."
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in cut)
