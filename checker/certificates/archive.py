"""The ZIP file of a certificate: members packed by several threads, and written in the order of their names.

Python's own writer packs while it holds a lock, one member after the other.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

from checker.zip_members import DEFLATED, END, END_MARK, Member, deflated

LEVEL = 6
"""Level of compression, from 0 to 9."""

MOST_BYTES = 0xFFFFFFFF
"""Largest size of a member, and of the file, in bytes: larger files need another form of directory."""
MOST_MEMBERS = 0xFFFF
"""Largest number of members."""


class TooLarge(ValueError):
    """The content does not fit into a certificate."""


class Archive:
    """A ZIP file in memory; several threads can add members at the same time."""

    def __init__(self) -> None:
        self._packed: dict[str, tuple[Member, bytes]] = {}

    def add(self, name: str, content: bytes | str) -> None:
        """Pack a member; text in UTF-8. Raise :class:`TooLarge`."""
        whole = content.encode() if isinstance(content, str) else content
        if len(whole) > MOST_BYTES:
            raise TooLarge(f"{name} has {len(whole):,} bytes; the limit is {MOST_BYTES:,}")
        packed = deflated(whole, LEVEL)
        self._packed[name] = Member(name, DEFLATED, zlib.crc32(whole), len(packed), len(whole), 0), packed

    def content(self) -> bytes:
        """Return the file. Raise :class:`TooLarge`."""
        parts: list[bytes] = []
        members: list[Member] = []
        for _, (member, packed) in sorted(self._packed.items()):
            members.append(replace(member, start=members[-1].end if members else 0))
            parts += [member.local(), packed]
        count, place = len(members), members[-1].end if members else 0
        if place > MOST_BYTES or count > MOST_MEMBERS:
            raise TooLarge(f"{count:,} members with {place:,} bytes do not fit into one file; explore fewer faults")
        directory = b"".join(member.central() for member in members)
        end = END.pack(END_MARK, 0, 0, count, count, len(directory), place, 0)
        return b"".join([*parts, directory, end])
