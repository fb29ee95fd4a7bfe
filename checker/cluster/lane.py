"""A lane: the frames of one connection and one side, in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.gate import Gates
from proofka.checker.cluster.parcel import Parcel
from proofka.checker.cluster.passed import DETACHED, DROPPED, HELD, PASSED, RELEASED, Record


@dataclass(frozen=True)
class Desk:
    """The gates that frames pass, and the record of their fates."""

    gates: Gates
    record: Record


class Lane:
    """The frames of one connection and one side that are not forwarded yet. Only the first one comes to the gates."""

    def __init__(self, desk: Desk, forward: Callable[[Parcel], None]) -> None:
        self._desk = desk
        self._forward = forward
        self._waiting: deque[Parcel] = deque()

    @property
    def is_empty(self) -> bool:
        """Tell whether no frame waits."""
        return not self._waiting

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frames that wait, in order; only the first can be held by a gate."""
        return tuple(parcel.frame for parcel in self._waiting)

    def put(self, parcel: Parcel) -> None:
        """Append a frame, and forward what gates admit."""
        self._waiting.append(parcel)
        self.go_on()

    def go_on(self) -> None:
        """Forward the first frame and those behind it, up to the first frame that a gate holds."""
        while self._waiting and self._waiting[0].gate is None:
            parcel = self._waiting[0]
            if not self._desk.gates.admit(parcel):
                parcel.was_held = True
                self._desk.record.add(parcel.frame, HELD)
                return
            self._waiting.popleft()
            self._desk.record.add(parcel.frame, RELEASED if parcel.was_held else PASSED)
            self._forward(parcel)

    def note_detached(self) -> None:
        """Record that the frame that a gate holds now has no client any more."""
        if self._waiting and self._waiting[0].gate is not None:
            self._desk.record.add(self._waiting[0].frame, DETACHED)

    def drop_all(self) -> None:
        """Drop every frame that waits."""
        while self._waiting:
            parcel = self._waiting.popleft()
            if parcel.gate is not None:
                parcel.gate.forget(parcel)
                parcel.gate = None
            self._desk.record.add(parcel.frame, DROPPED)
