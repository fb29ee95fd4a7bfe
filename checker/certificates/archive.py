"""The ZIP file of a certificate: members packed by several threads, and written in the order of their names.

Python's own writer packs while it holds a lock, one member after the other. Members that other processes packed stay in
their files until the certificate is written.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from checker.zip_members import DEFLATED, END, END_MARK, Member, deflated

LEVEL = 6
"""Level of compression, from 0 to 9."""

PIECE = 1 << 20
"""Bytes of a file that are copied at a time."""

MOST_BYTES = 0xFFFFFFFF
"""Largest size of a member, and of the file, in bytes: larger files need another form of directory."""
MOST_MEMBERS = 0xFFFF
"""Largest number of members."""


class TooLarge(ValueError):
    """The content does not fit into a certificate."""


@dataclass(frozen=True)
class Content:
    """The bytes of a certificate, piece by piece: the file of a member is read when its turn comes."""

    members: tuple[tuple[Member, bytes | Path], ...]
    size: int

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces of the file. Raise OSError if the file of a member is gone."""
        for member, packed in self.members:
            yield member.local()
            if isinstance(packed, Path):
                with packed.open("rb") as file:
                    yield from iter(lambda: file.read(PIECE), b"")
            else:
                yield packed
        place = self.members[-1][0].end if self.members else 0
        directory = b"".join(member.central() for member, _ in self.members)
        yield directory
        yield END.pack(END_MARK, 0, 0, len(self.members), len(self.members), len(directory), place, 0)


class Archive:
    """A ZIP file that is not written yet; several threads can add members at the same time."""

    def __init__(self) -> None:
        self._packed: dict[str, tuple[Member, bytes | Path]] = {}

    def add(self, name: str, content: bytes | str) -> None:
        """Pack a member; text in UTF-8. Raise :class:`TooLarge`."""
        whole = content.encode() if isinstance(content, str) else content
        if len(whole) > MOST_BYTES:
            raise TooLarge(f"{name} has {len(whole):,} bytes; the limit is {MOST_BYTES:,}")
        packed = deflated(whole, LEVEL)
        self._packed[name] = Member(name, DEFLATED, zlib.crc32(whole), len(packed), len(whole), 0), packed

    def add_packed(self, member: Member, file: Path) -> None:
        """Add a member whose packed bytes are a file."""
        self._packed[member.name] = member, file

    def content(self) -> Content:
        """Return the bytes of the file. Raise :class:`TooLarge`."""
        members: list[tuple[Member, bytes | Path]] = []
        place = 0
        for _, (member, packed) in sorted(self._packed.items()):
            members.append((replace(member, start=place), packed))
            place = members[-1][0].end
        if place > MOST_BYTES or len(members) > MOST_MEMBERS:
            raise TooLarge(
                f"{len(members):,} members with {place:,} bytes do not fit into one file; explore fewer faults"
            )
        directory = sum(len(member.central()) for member, _ in members)
        return Content(tuple(members), place + directory + END.size)
