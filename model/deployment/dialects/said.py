"""The values of a file, one at a time, before their interpretation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    """One value: the names that lead to it, from the outside in and as written, its text, and its line.

    An item of a list has its number as a name, ``[0]``. ``null``: the value is missing or null. ``file``: the value's
    file, if that is not the file being read but one read with it.
    """

    path: tuple[str, ...]
    value: str
    line: int
    null: bool = False
    file: str = ""

    @property
    def key(self) -> str:
        """The names as one: ``spring.kafka.producer.acks``, ``topics[0].name``."""
        return ".".join(self.path).replace(".[", "[")


def are_equal(some: Iterable[Said], others: Iterable[Said]) -> bool:
    """Tell whether two parts of a file say the same, whatever their lines."""
    return [(one.path, one.value) for one in some] == [(one.path, one.value) for one in others]
