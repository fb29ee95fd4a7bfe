"""Forged certificates whose archive breaks a rule of the form, or says something else than the members are."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Mapping

from tests.certificates.forged_form import CLAIMS, SYSTEM
from tests.certificates.forging import Forgery, edited, of_file, of_members
from tests.certificates.proving import toy_certificate
from tests.certificates.writing import archive, members

LAST_HEAD = struct.Struct("<4s6H3I5H2I")
"""The head of a member in the central directory of an archive."""


def with_method(contents: Mapping[str, bytes], method: int) -> bytes:
    """Return an archive with another compression method."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as written:
        for name, content in contents.items():
            written.writestr(name, content)
    return file.getvalue()


def twice(contents: Mapping[str, bytes], name: str, other: bytes) -> bytes:
    """Return an archive in which a member occurs twice, with two contents."""
    file = io.BytesIO(archive(contents))
    with warnings.catch_warnings(), zipfile.ZipFile(file, "a") as written:
        warnings.simplefilter("ignore")  # zipfile warns of the second member
        written.writestr(name, other)
    return file.getvalue()


def with_head(content: bytes, name: str, changes: Mapping[int, int]) -> bytes:
    """Return an archive whose central directory has other numbers for a member, by their place in `LAST_HEAD`."""
    at = content.rindex(name.encode()) - LAST_HEAD.size
    fields = list(LAST_HEAD.unpack_from(content, at))
    assert fields[0] == b"PK\1\2"
    for field, number in changes.items():
        fields[field] = number
    return content[:at] + LAST_HEAD.pack(*fields) + content[at + LAST_HEAD.size :]


FLAGS, METHOD, CHECKSUM, PACKED, SIZE, OFFSET = 3, 4, 7, 8, 9, 16


def longer_than_declared(content: bytes) -> bytes:
    """Return an archive with a member whose stream has more bytes than the directory says, with a right check sum."""
    name = "0/0.rows"
    all_members = members(toy_certificate())
    honest = all_members[name]
    all_members[name] = honest + b"\0" * 1000
    return with_head(archive(all_members), name, {SIZE: len(honest), CHECKSUM: zlib.crc32(honest)})


def flipped(content: bytes, name: str) -> bytes:
    """Return an archive with a flipped bit in the content of a member."""
    changed = bytearray(content)
    changed[content.index(name.encode()) + len(name) + 4] ^= 8
    return bytes(changed)


def bomb(all_members: dict[str, bytes]) -> dict[str, bytes]:
    """Return members with a system of many spaces."""
    return {**all_members, SYSTEM: all_members[SYSTEM] + b" " * 30_000_000}


def declared_bomb() -> bytes:
    """Return an archive whose directory and claims say that a member has 200 million rows."""
    count, name = 200_000_000, "0/0.rows"
    all_members = members(toy_certificate())
    text = {'(set () 15 (rows "0/0.rows" 15))': f'(set () {count} (rows "0/0.rows" {count}))'}
    all_members[CLAIMS] = edited(all_members[CLAIMS], text)
    return with_head(archive(all_members), name, {SIZE: 16 * count})


def without_member(all_members: dict[str, bytes], name: str) -> dict[str, bytes]:
    """Return the members without one of them."""
    return {key: content for key, content in all_members.items() if key != name}


def moved(content: bytes, by: int) -> bytes:
    """Return an archive with bytes before its first member, and a directory that knows the new places."""
    head = struct.Struct("<4x4H2LH")
    *counts, size, start, comment = head.unpack(content[-head.size :])
    directory, at = bytearray(content[start : start + size]), 0
    while at < size:
        fields = list(LAST_HEAD.unpack_from(directory, at))
        fields[OFFSET] += by
        LAST_HEAD.pack_into(directory, at, *fields)
        at += LAST_HEAD.size + sum(fields[10:13])
    end = b"PK\5\6" + struct.pack("<4H2LH", *counts, size, start + by, comment)
    return bytes(by) + content[:start] + bytes(directory) + end


def with_comment(content: bytes) -> bytes:
    """Return an archive with a comment at its end."""
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as written:
        written.comment = b"a comment"
    return file.getvalue()


def with_local_head(content: bytes, name: str, at: int, bit: int) -> bytes:
    """Return an archive in which a bit of the head before a member differs from the directory."""
    changed = bytearray(content)
    changed[content.index(name.encode()) + at] ^= bit
    return bytes(changed)


ARCHIVES = (
    of_file("format", "the file is empty", lambda content: b""),
    of_file("format", "the file is a text", lambda content: b"(proofka-certificate 1)"),
    of_file("format", "the file is truncated", lambda content: content[:-1]),
    of_file("format", "half of the file is missing", lambda content: content[: len(content) // 2]),
    of_file("format", "the first half of the file is missing", lambda content: content[len(content) // 2 :]),
    of_file("format", "a bit of deflated rows is flipped", lambda content: flipped(content, "0/0.rows")),
    of_file("format", "a bit of stored rows is flipped", lambda content: flipped(content, "0/1.rows")),
    of_file("format", "a check sum is wrong", lambda content: with_head(content, "0/1.rows", {CHECKSUM: 1})),
    of_file("format", "a member is encrypted", lambda content: with_head(content, "0/1.rows", {FLAGS: 1})),
    of_file("format", "a method is unknown", lambda content: with_head(content, "0/1.rows", {METHOD: 99})),
    of_file("format", "a member is another one's", lambda content: with_head(content, "0/2.rows", {OFFSET: 0})),
    of_file(
        "format", "a member begins behind the file", lambda content: with_head(content, "0/2.rows", {OFFSET: 2**31})
    ),
    of_file(
        "format", "a member is longer than the file", lambda content: with_head(content, "0/2.rows", {PACKED: 2**31})
    ),
    of_file("format", "a stream is longer than declared", longer_than_declared),
    of_file("format", "bytes stand before the archive", lambda content: b"before" + content),
    of_file("format", "bytes stand before the first member", lambda content: moved(content, 6)),
    of_file("format", "bytes stand behind the archive", lambda content: content + b"behind"),
    of_file("format", "a comment ends the archive", with_comment),
    of_file("format", "a member has two names", lambda content: with_local_head(content, "0/1.rows", 0, 1)),
    of_file("format", "a member has two methods", lambda content: with_local_head(content, "0/1.rows", -22, 8)),
    Forgery("the method is bzip2", "format", lambda: with_method(members(toy_certificate()), zipfile.ZIP_BZIP2)),
    Forgery(
        "rows occur twice",
        "format",
        lambda: twice(members(toy_certificate()), "0/0.rows", members(toy_certificate())["0/0.rows"]),
    ),
    Forgery("the system occurs twice", "format", lambda: twice(members(toy_certificate()), SYSTEM, b"")),
    of_members("format", "a member is not listed", lambda found: {**found, "0/9.rows": b""}),
    of_members("format", "a folder is not listed", lambda found: {**found, "0/": b""}),
    of_members("format", "rows are missing", lambda found: without_member(found, "0/2.rows")),
    of_members("format", "ranks are missing", lambda found: without_member(found, "1/2.ranks")),
    of_members("format", "a stuck set is missing", lambda found: without_member(found, "1/stuck.0.0.rows")),
    of_members("format", "the system is missing", lambda found: without_member(found, SYSTEM)),
    of_members("format", "the claims are missing", lambda found: without_member(found, CLAIMS)),
    of_members("format", "rows have a byte more", lambda found: {**found, "0/0.rows": found["0/0.rows"] + b"\0"}),
    of_members("format", "rows have a row less", lambda found: {**found, "0/0.rows": found["0/0.rows"][:-16]}),
    of_members("format", "rows are a bomb", lambda found: {**found, "0/0.rows": bytes(50_000_000)}),
    of_members("format", "ranks have a rank more", lambda found: {**found, "1/0.ranks": bytes(32)}),
    of_members("memory", "the system is a bomb", bomb, "16MiB"),
    of_members("memory", "the memory is small", lambda found: found, "10000"),
    Forgery("rows are declared as a bomb", "memory", declared_bomb),
)
"""Forgeries of the archive."""
