"""What a file says, one value at a time, before anybody asks what it means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    """One value: the names that lead to it, from the outside in and as they are written, its text, and its line.

    An item of a list has its number as a name, ``[0]``. ``null``: nothing is said, or null. ``file``: where it stands,
    if that is a file beside the one that is read.
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
