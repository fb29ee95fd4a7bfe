"""A frame on its way through the proxy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from proofka.checker.cluster.frames import Frame


class Waiting(Protocol):
    """The lane on which a frame waits."""

    def go_on(self) -> None:
        """Forward the first frame and those behind it, as far as gates admit them."""


class Carrier(Protocol):
    """The connection on which a frame travels."""

    @property
    def is_abandoned(self) -> bool:
        """Tell whether the client's connection is closed."""

    def close(self) -> None:
        """Close both connections, and drop their frames."""

    def abandon(self) -> None:
        """Close the client's connection, and keep requests with the connection to the broker."""


class Holder(Protocol):
    """A gate that holds a frame."""

    def forget(self, parcel: Parcel) -> None:
        """Stop to hold a frame."""


@dataclass(eq=False)
class Parcel:
    """A frame on its way: ``raw`` are all its bytes, ``seen_by`` is the number of the last gate that saw the frame.

    ``is_answered`` tells whether a broker answers the frame, ``gate`` holds the frame now, and ``was_held`` tells
    whether any gate has held the frame.
    """

    frame: Frame
    raw: bytes
    lane: Waiting
    connection: Carrier
    is_answered: bool = False
    seen_by: int = -1
    gate: Holder | None = None
    was_held: bool = False
