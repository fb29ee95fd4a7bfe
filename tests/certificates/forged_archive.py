"""Forged certificates whose members are not as the page says, or not those that the text names."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tests.certificates.forged_form import CLAIMS, SYSTEM
from tests.certificates.forging import Forgery, of_file, of_members
from tests.certificates.proving import toy_certificate
from tests.certificates.writing import FIRST_LINE, archive, framed, members

ROWS, OTHER_ROWS = "0/0.0", "0/1.0"


@dataclass(frozen=True)
class Packed:
    """A packed member, with what its head says."""

    name: str
    packed: bytes
    size: int


def packed_members() -> Iterator[Packed]:
    """Yield the packed members of the toy's certificate."""
    for name, content in members(toy_certificate()).items():
        yield Packed(name, zlib.compress(content), len(content))


def with_packed(name: str, change: Callable[[Packed], Packed]) -> bytes:
    """Return a file with one packed member changed."""
    found = (change(one) if one.name == name else one for one in packed_members())
    return framed((one.name, one.packed, one.size) for one in found)


def of_packed(name: str, change: Callable[[Packed], Packed], member: str = ROWS) -> Forgery:
    """Forge a packed member, or its head."""
    return Forgery(name, "format", lambda: with_packed(member, change))


def of_head(name: str, old: str, new: str) -> Forgery:
    """Forge the head of a member."""

    def change(content: bytes) -> bytes:
        assert content.count(old.encode()) == 1
        return content.replace(old.encode(), new.encode())

    return of_file("format", name, change)


def longer_than_declared(one: Packed) -> Packed:
    """Return a member with more bytes than its head says."""
    return replace(one, packed=zlib.compress(zlib.decompress(one.packed) + bytes(1000)))


def flipped(one: Packed) -> Packed:
    """Return a member with a flipped bit."""
    return replace(one, packed=one.packed[:8] + bytes([one.packed[8] ^ 8]) + one.packed[9:])


def twice(name: str, other: bytes) -> bytes:
    """Return a file in which a member occurs twice, with two contents."""
    added = framed([(name, zlib.compress(other), len(other))]).removeprefix(FIRST_LINE)
    return archive(members(toy_certificate())) + added


def bomb(all_members: dict[str, bytes]) -> dict[str, bytes]:
    """Return members with a system of many spaces."""
    return {**all_members, SYSTEM: all_members[SYSTEM] + b" " * 30_000_000}


def declared_bomb() -> bytes:
    """Return a file with a head that says that a member has 200 million rows."""
    sizes = {ROWS: 16 * 200_000_000}
    found = members(toy_certificate()).items()
    return framed((name, zlib.compress(content), sizes.get(name, len(content))) for name, content in found)


def without_member(all_members: dict[str, bytes], name: str) -> dict[str, bytes]:
    """Return the members without one of them."""
    return {key: content for key, content in all_members.items() if key != name}


ARCHIVES = (
    of_file("format", "the file is empty", lambda content: b""),
    of_file("format", "the file has no members", lambda content: FIRST_LINE),
    of_file("format", "the file is a text", lambda content: content.partition(b"\n")[2]),
    of_file("format", "an older version", lambda content: content.replace(b"certificate 4\n", b"certificate 3\n", 1)),
    of_file("format", "another version", lambda content: content.replace(b"certificate 4\n", b"certificate 5\n", 1)),
    of_file("format", "the first line ends otherwise", lambda content: content.replace(b"\n", b"\r\n", 1)),
    of_file("format", "the file is truncated", lambda content: content[:-1]),
    of_file("format", "half of the file is missing", lambda content: content[: len(content) // 2]),
    of_file("format", "the first half of the file is missing", lambda content: content[len(content) // 2 :]),
    of_file("format", "bytes stand before the first line", lambda content: b"before" + content),
    of_file("format", "a byte stands before the first member", lambda content: FIRST_LINE + b"\n" + content[22:]),
    of_file("format", "bytes stand behind the last member", lambda content: content + b"behind"),
    of_file("format", "a line stands behind the last member", lambda content: content + b"\n"),
    of_head("a head has two spaces", f"{ROWS} ", f"{ROWS}  "),
    of_head("a head has no size", f"{ROWS} ", f"{ROWS}-"),
    of_head("a size has a leading 0", f"{ROWS} ", f"{ROWS} 0"),
    of_head("a size is negative", f"{ROWS} ", f"{ROWS} -"),
    of_head("a size has 20 digits", f"{ROWS} ", f"{ROWS} {10**17}"),
    of_head("a member is longer than the file", f"{ROWS} ", f"{ROWS} 9000000"),
    of_head("a name has another sign", f"{ROWS} ", "0\\0.0 "),
    of_head("a name is too long", f"{ROWS} ", f"{'0' * 101} "),
    of_packed("a bit of rows is flipped", flipped),
    of_packed("the check sum of rows is wrong", lambda one: replace(one, packed=one.packed[:-4] + bytes(4))),
    of_packed("a stream has no check sum", lambda one: replace(one, packed=one.packed[:-4])),
    of_packed("a stream has no head", lambda one: replace(one, packed=one.packed[2:-4])),
    of_packed("a stream ends before its member", lambda one: replace(one, packed=one.packed + b"\0")),
    of_packed("a stream is longer than declared", longer_than_declared),
    of_packed("a text is shorter than declared", lambda one: replace(one, size=one.size + 1), CLAIMS),
    of_packed("a text is longer than declared", lambda one: replace(one, size=one.size - 1), SYSTEM),
    of_packed("a member is stored", lambda one: replace(one, packed=zlib.decompress(one.packed))),
    Forgery("rows occur twice", "format", lambda: twice(ROWS, members(toy_certificate())[ROWS])),
    Forgery("the system occurs twice", "format", lambda: twice(SYSTEM, b"")),
    of_members("format", "a member is not listed", lambda found: {**found, "0/9.0": b""}),
    of_members("format", "a folder is not listed", lambda found: {**found, "0/": b""}),
    of_members("format", "rows are missing", lambda found: without_member(found, "0/2.0")),
    of_members("format", "the system is missing", lambda found: without_member(found, SYSTEM)),
    of_members("format", "the claims are missing", lambda found: without_member(found, CLAIMS)),
    of_members("format", "rows have a byte more", lambda found: {**found, ROWS: found[ROWS] + b"\0"}),
    of_members("format", "rows have a row less", lambda found: {**found, ROWS: found[ROWS][:-16]}),
    of_members("memory", "rows are a bomb", lambda found: {**found, ROWS: bytes(50_000_000)}, "64MiB"),
    of_members("format", "ranks have a rank more", lambda found: {**found, "1/0.0": found["1/0.0"] + bytes(2)}),
    of_members("memory", "the system is a bomb", bomb, "16MiB"),
    of_members("memory", "the memory is small", lambda found: found, "10000"),
)
"""Forgeries of the members of the file."""

DECLARED_BOMB = Forgery("rows are declared as a bomb", "memory", declared_bomb)
"""A member whose head says more than the member has: certcheck takes memory by the head, and the plain checker not."""
