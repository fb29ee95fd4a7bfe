"""The ZIP file of a certificate: members packed by several threads, and written in the order of their names.

Python's own writer packs while it holds a lock, one member after the other.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

LEVEL = 6
"""Level of compression, from 0 to 9."""

MOST_BYTES = 0xFFFFFFFF
"""Largest size of a member, and of the file, in bytes: larger files need another form of directory."""
MOST_MEMBERS = 0xFFFF
"""Largest number of members."""

_LOCAL, _CENTRAL, _END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
_NEEDS, _BY, _DEFLATED, _DATE, _MODE, _RAW = 20, 0x0314, 8, 0x0021, 0o100644 << 16, -15
"""Zip 2.0; Unix; 1980-01-01, so that the same verdicts give the same file."""


class TooLarge(ValueError):
    """The content does not fit into a certificate."""


@dataclass(frozen=True)
class _Member:
    name: bytes
    checksum: int
    size: int
    packed: bytes

    @property
    def figures(self) -> tuple[int, ...]:
        sizes = self.checksum, len(self.packed), self.size
        return _NEEDS, 0, _DEFLATED, 0, _DATE, *sizes, len(self.name), 0


class Archive:
    """A ZIP file in memory; several threads can add members at the same time."""

    def __init__(self) -> None:
        self._members: dict[str, _Member] = {}

    def add(self, name: str, content: bytes | str) -> None:
        """Pack a member; text in UTF-8. Raise :class:`TooLarge`."""
        whole = content.encode() if isinstance(content, str) else content
        if len(whole) > MOST_BYTES:
            raise TooLarge(f"{name} has {len(whole):,} bytes; the limit is {MOST_BYTES:,}")
        packer = zlib.compressobj(LEVEL, zlib.DEFLATED, _RAW)
        packed = packer.compress(whole) + packer.flush()
        self._members[name] = _Member(name.encode("ascii"), zlib.crc32(whole), len(whole), packed)

    def content(self) -> bytes:
        """Return the file. Raise :class:`TooLarge`."""
        parts: list[bytes] = []
        directory: list[bytes] = []
        place = 0
        for _, member in sorted(self._members.items()):
            head = _LOCAL.pack(b"PK\x03\x04", *member.figures) + member.name
            central = _CENTRAL.pack(b"PK\x01\x02", _BY, *member.figures, 0, 0, 0, _MODE, min(place, MOST_BYTES))
            directory.append(central + member.name)
            parts += [head, member.packed]
            place += len(head) + len(member.packed)
        count, size = len(directory), sum(map(len, directory))
        if place + size > MOST_BYTES or count > MOST_MEMBERS:
            raise TooLarge(f"{count:,} members with {place:,} bytes do not fit into one file; explore fewer faults")
        return b"".join([*parts, *directory, _END.pack(b"PK\x05\x06", 0, 0, count, count, size, place, 0)])
