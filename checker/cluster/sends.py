"""The values of records, which tell the calls of ``send()``.

The value of a record's first send is "record-1", and that of its second send is "record-1-send-2". So a later send
differs from a client's retry of the first. The programs in ``programs/`` build the same values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from proofka.checker.cluster.errors import ClusterError

_VALUE = re.compile(rb"record-(\d+)(?:-send-(\d+))?")


class ForeignValue(ClusterError):
    """A value that no client program sends."""

    code = "K39"

    def __init__(self, value: bytes | None) -> None:
        super().__init__(f"{value!r} is no value of a client program: let nothing else write into the topic")


@dataclass(frozen=True)
class Send:
    """One call of ``send()``: the ``attempt``-th (from 1) for ``record``."""

    record: int
    attempt: int = 1

    def __str__(self) -> str:
        return f"record {self.record}" + (f" (send {self.attempt})" if self.attempt > 1 else "")

    @property
    def value(self) -> str:
        """The value of the record that the call sends."""
        return f"record-{self.record}" + (f"-send-{self.attempt}" if self.attempt > 1 else "")


def send_of(value: bytes | None) -> Send:
    """Return the call of ``send()`` that made a record with this value. Raises ForeignValue."""
    found = _VALUE.fullmatch(value or b"")
    if found is None:
        raise ForeignValue(value)
    return Send(int(found[1]), int(found[2] or 1))


def sends_in(data: bytes) -> frozenset[Send]:
    """Return the calls of ``send()`` whose records stand in the bytes of a message, without compression."""
    return frozenset(Send(int(record), int(attempt or 1)) for record, attempt in _VALUE.findall(data))
