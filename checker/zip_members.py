"""Members of ZIP files, with one way of writing each header: one fixed time, and no extra fields."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

LOCAL, CENTRAL, END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
"""The header before a member, that in the directory, and the record at the end of the file."""
LOCAL_MARK, CENTRAL_MARK, END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
STORED, DEFLATED = 0, 8
"""The methods of compression."""
RAW = -15
"""The window of a deflated member, which has no header of its own."""
_NEEDS, _BY, _DATE, _MODE = 20, 0x0314, 0x0021, 0o100644 << 16  # zip 2.0; Unix; 1980-01-01, the first possible day


@dataclass(frozen=True)
class Member:
    """The values of a member's header: CRC-32 and size unpacked, bytes packed, and the member's place in the file."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    start: int

    @property
    def data(self) -> int:
        """The place of the member's first data byte."""
        return self.start + LOCAL.size + len(self.name)

    @property
    def end(self) -> int:
        return self.data + self.packed

    def _figures(self) -> tuple[int, ...]:
        return (_NEEDS, 0, self.method, 0, _DATE, self.crc, self.packed, self.size, len(self.name), 0)

    def local(self) -> bytes:
        return LOCAL.pack(LOCAL_MARK, *self._figures()) + self.name.encode("latin-1")

    def central(self) -> bytes:
        head = CENTRAL.pack(CENTRAL_MARK, _BY, *self._figures(), 0, 0, 0, _MODE, self.start)
        return head + self.name.encode("latin-1")


def deflated(content: bytes, level: int) -> bytes:
    """Return the packed bytes of a member. ``level``: from 0 to 9."""
    packer = zlib.compressobj(level, zlib.DEFLATED, RAW)
    return packer.compress(content) + packer.flush()
