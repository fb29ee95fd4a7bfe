"""The file of a certificate: a first line, and members packed by several threads, in the order of their names.

Members that other processes packed stay in their files until the certificate is written.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LEVEL = 6
"""Level of compression, from 0 to 9."""

PIECE = 1 << 20
"""Bytes of a file that are copied at a time."""

FORMAT = 4
"""Version of the format of certificates."""

FIRST_LINE = f"proofka-certificate {FORMAT}\n".encode()
"""The first line of a certificate."""


@dataclass(frozen=True)
class Member:
    """A packed member: its name, its size unpacked, and its packed bytes, or the file with these bytes."""

    name: str
    size: int
    packed: bytes | Path

    @property
    def head(self) -> bytes:
        """The line before the packed bytes. Raise OSError if their file is gone."""
        packed = self.packed.stat().st_size if isinstance(self.packed, Path) else len(self.packed)
        return f"{self.name} {packed} {self.size}\n".encode("ascii")

    def __iter__(self) -> Iterator[bytes]:
        """Yield the packed bytes, piece by piece. Raise OSError if their file is gone."""
        if isinstance(self.packed, bytes):
            yield self.packed
            return
        with self.packed.open("rb") as file:
            yield from iter(lambda: file.read(PIECE), b"")


def packed(name: str, content: bytes | str) -> Member:
    """Pack a member; text in UTF-8."""
    whole = content.encode() if isinstance(content, str) else content
    return Member(name, len(whole), zlib.compress(whole, LEVEL))


class Archive:
    """The content of a certificate that is not written yet; several threads can add members at the same time."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}

    def add(self, name: str, content: bytes | str) -> None:
        """Pack a member and add it."""
        self.add_packed(packed(name, content))

    def add_packed(self, member: Member) -> None:
        """Add a member that is packed."""
        self._members[member.name] = member

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces of the file. Raise OSError if the file of a member is gone."""
        yield FIRST_LINE
        for _, member in sorted(self._members.items()):
            yield member.head
            yield from member
