"""The controls of a run: what a scheduler can do to a cluster and its clients."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_TABLE = Path(__file__).parent / "tables" / "controls.csv"

CONTROL_ROWS: Mapping[str, Mapping[str, str]] = {
    row["control"]: row for row in csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines())
}
"""Name of a control -> its row of the table."""

NOBODY = 0
"""The number in place of a broker, or of a producer, that a control does not have."""


@dataclass(frozen=True)
class Control:
    """A use of a control.

    ``broker``: NOBODY for a control that concerns no broker. ``producer``: the number of the producer, NOBODY for a
    control that all producers of the run share.
    """

    name: str
    broker: int = NOBODY
    producer: int = NOBODY

    @property
    def is_fault(self) -> bool:
        """Tell whether the control is a fault, of which a run has few."""
        return bool(CONTROL_ROWS[self.name]["fault"])

    @property
    def is_of_consumer(self) -> bool:
        """Tell whether the control is one of the consumer of the producer's topic."""
        return CONTROL_ROWS[self.name]["of"] == "consumer"

    @property
    def weight(self) -> int:
        """The weight of the control in a random choice."""
        return int(CONTROL_ROWS[self.name]["weight"])

    def __str__(self) -> str:
        return self.name if self.broker == NOBODY else f"{self.name}({self.broker})"

    def concerns(self, producer: int) -> bool:
        """Tell whether the control is one of a producer, or one that all producers share."""
        return self.producer in (NOBODY, producer)


class Controls(Protocol):
    """Something that can be controlled: a cluster with its clients, or a model in their place."""

    def possible(self) -> Sequence[Control]:
        """Return the controls that can be used now, in an order that depends on the state alone."""

    def use(self, control: Control, choice: float) -> None:
        """Use a control. ``choice`` (from 0 to 1) decides what else there is to choose, such as a duration."""

    def finish(self) -> None:
        """Undo everything that is held or stopped, and let the run come to its end."""
