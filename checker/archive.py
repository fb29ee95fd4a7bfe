"""A zip file without a free byte: each byte is fixed, or covered by a hash in another part of the file.

Every zip program can read the file, but only one way of writing the same content exists. Members stand in the order of
their names, each deflated, with one fixed time and no extra fields. The last member is ``manifest.json``, not
compressed, with the SHA-256 of every member, unpacked and packed. The comment of the file holds the SHA-256 of the
manifest. So a reader can rebuild every header and name each difference. The hashes find damage and careless edits; they
are no signature.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofka.checker.zip_members import (
    CENTRAL,
    CENTRAL_MARK,
    DEFLATED,
    END,
    END_MARK,
    LOCAL,
    LOCAL_MARK,
    RAW,
    STORED,
    Member,
    deflated,
)
from proofka.model.input.input_error import InputError
from proofka.model.input.one_line import one_line
from proofka.model.input.strict_json import read_json

MANIFEST = "manifest.json"
FORMAT = 1
"""Version of the layout, raised when a reader of the earlier version would misread a file."""

MAX_FILE = 64 << 20
"""Largest file that is read, in bytes."""
MAX_MEMBERS = 200
MAX_MEMBER = 64 << 20
"""Largest size of an unpacked member, in bytes."""
MAX_TOTAL = 256 << 20
"""Largest size of all unpacked members together, in bytes."""

_LEVEL = 9
_WORDS = f"Proofka bundle {FORMAT}, SHA-256 of {MANIFEST}: "
_COMMENT = len(_WORDS) + 64
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(/[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*)*", re.ASCII)


class DamagedBundle(Exception):
    """A file is no bundle, or differs from what was written. ``problems`` names each wrong part."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class BundleTooLarge(InputError):
    """The content to be written is larger than a reader accepts."""


@dataclass(frozen=True)
class Archive:
    """The content of a bundle: the bytes of each member except the manifest, and the rest of the manifest."""

    members: Mapping[str, bytes]
    manifest: Mapping[str, Any]


def sha256(content: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def sha256_of_file(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal. Raise OSError."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_archive(members: Mapping[str, bytes], about: Mapping[str, Any]) -> bytes:
    """Return the bytes of a bundle; ``about`` is the content of its manifest besides the hashes."""
    packed = {name: deflated(members[name], _LEVEL) for name in sorted(members)}
    listed = [
        {"name": name, "bytes": len(members[name]), "sha256": sha256(members[name]), "packed_sha256": sha256(content)}
        for name, content in packed.items()
    ]
    text = json.dumps({"format": FORMAT, **about, "members": listed}, indent=1, ensure_ascii=True) + "\n"
    manifest = text.encode("ascii")
    parts: list[bytes] = []
    made: list[Member] = []
    for name, content in {**packed, MANIFEST: manifest}.items():
        whole, method = (manifest, STORED) if name == MANIFEST else (members[name], DEFLATED)
        start = made[-1].end if made else 0
        made.append(Member(name, method, zlib.crc32(whole), len(content), len(whole), start))
        parts += [made[-1].local(), content]
    written = b"".join([*parts, *(member.central() for member in made), _end(made, sha256(manifest))])
    sizes = [member.size for member in made]
    if len(made) > MAX_MEMBERS or max(sizes) > MAX_MEMBER or sum(sizes) > MAX_TOTAL or len(written) > MAX_FILE:
        raise BundleTooLarge("no bundle is written: it would exceed the size limit; explore fewer faults")
    return written


def read_archive(content: bytes) -> Archive:
    """Return the content of a bundle.

    Raise :class:`DamagedBundle`, which names every part that differs from what was written.
    """
    if len(content) > MAX_FILE:
        raise DamagedBundle(f"is no bundle: it is larger than {MAX_FILE >> 20} MB")
    # Each header stands twice, before its member and in the directory. The copy that explains more of the file is
    # right.
    judged = [_judged(content, layout) for layout in (_by_directory(content), _by_headers(content)) if layout]
    if not judged:
        raise DamagedBundle("is no bundle that Proofka wrote: it has neither members nor a directory")
    archive, problems = min(judged, key=lambda one: (one[0] is None, len(one[1])))
    if problems:
        raise DamagedBundle(*problems)
    assert archive is not None
    return archive


def _end(members: list[Member], manifest_hash: str) -> bytes:
    count, start = len(members), members[-1].end
    size = sum(len(member.central()) for member in members)
    record = END.pack(END_MARK, 0, 0, count, count, size, start, _COMMENT)
    return record + f"{_WORDS}{manifest_hash}".encode("ascii")


def _by_headers(content: bytes) -> list[Member]:
    """Return the members, one after the other, by the header before each member."""
    found: list[Member] = []
    place = 0
    while len(found) <= MAX_MEMBERS and content[place : place + 4] == LOCAL_MARK:
        if place + LOCAL.size > len(content):
            break
        _, _, _, method, _, _, crc, packed, size, length, _ = LOCAL.unpack_from(content, place)
        name = content[place + LOCAL.size : place + LOCAL.size + length].decode("latin-1")
        found.append(Member(name, method, crc, packed, size, place))
        place = found[-1].end
    return found


def _by_directory(content: bytes) -> list[Member]:
    """Return the members listed in the directory at the end of the file."""
    record = len(content) - END.size - _COMMENT
    if record < 0 or content[record : record + 4] != END_MARK:
        return []
    place = END.unpack_from(content, record)[6]
    found: list[Member] = []
    while len(found) <= MAX_MEMBERS and content[place : place + 4] == CENTRAL_MARK and place < record:
        _, _, _, _, method, _, _, crc, packed, size, length, _, _, _, _, _, start = CENTRAL.unpack_from(content, place)
        name = content[place + CENTRAL.size : place + CENTRAL.size + length].decode("latin-1")
        found.append(Member(name, method, crc, packed, size, start))
        place += CENTRAL.size + length
    return found


def _judged(content: bytes, members: list[Member]) -> tuple[Archive | None, list[str]]:
    """Return the content of the file and its problems, under the assumption that these are the members."""
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
        return None, [*problems, f"member {MANIFEST}: is missing, or cannot be read"]
    problems += _against(manifest, members, whole, packed, problems)
    return Archive({name: text for name, text in whole.items() if name != MANIFEST}, manifest), problems


def _refused(members: list[Member]) -> Iterator[str]:
    """Yield the problems that prevent unpacking: too many or too large members, and invalid or repeated names."""
    if len(members) > MAX_MEMBERS:
        yield f"has more than {MAX_MEMBERS} members"
        return
    names = [member.name for member in members]
    for name in dict.fromkeys(names):
        if _NAME.fullmatch(name) is None or len(name) > 100:
            yield f"member {_shown(name)}: no member of a bundle has this name"
        if names.count(name) > 1:
            yield f"member {_shown(name)}: occurs {names.count(name)} times"
    for member in members:
        if member.size > MAX_MEMBER or member.packed > MAX_FILE:
            yield f"member {_shown(member.name)}: its header gives {max(member.size, member.packed):,} bytes, too many"
    if sum(member.size for member in members) > MAX_TOTAL:
        yield f"its members together have more than {MAX_TOTAL >> 20} MB"


def _unpacked(member: Member, packed: bytes) -> bytes | None:
    """Return the unpacked bytes of a member, or None if the bytes do not fit its header."""
    if member.method == STORED:
        return packed if len(packed) == member.size else None
    unpacker = zlib.decompressobj(RAW)
    try:
        found = unpacker.decompress(packed, member.size + 1)
    except zlib.error:
        return None
    done = unpacker.eof and not unpacker.unused_data and len(found) == member.size
    return found if done and member.method == DEFLATED else None


def _of_the_end(content: bytes, members: list[Member], manifest: bytes | None) -> Iterator[str]:
    """Yield the problems behind the members: in the directory, the record at the end, and the comment."""
    place = members[-1].end
    for member in members:
        entry = member.central()
        if content[place : place + len(entry)] != entry:
            yield f"the directory's entry of {_shown(member.name)}: was changed, or is cut off"
        place += len(entry)
    end = _end(members, sha256(b"" if manifest is None else manifest))
    if content[place : place + END.size] != end[: END.size]:
        yield "the record at the end of the file: was changed, or is cut off"
    if content[place + END.size : place + len(end)] != end[END.size :]:
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
    members: list[Member],
    whole: Mapping[str, bytes],
    packed: Mapping[str, bytes],
    known: list[str],
) -> Iterator[str]:
    """Yield the differences from the manifest, without the problems that are already ``known``."""
    if manifest.get("format") != FORMAT:
        yield f"member {MANIFEST}: this version reads format {FORMAT} only"
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
        elif member.method != DEFLATED:
            yield f"member {name}: is not compressed"
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
    """Return a member's name in a printable form, cut to 60 characters."""
    return one_line(name if len(name) <= 60 else f"{name[:57]}...")
