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
"""The broker of a control that concerns no broker."""


@dataclass(frozen=True)
class Control:
    """A use of a control; ``broker`` is NOBODY for a control of the whole run."""

    name: str
    broker: int = NOBODY

    @property
    def is_fault(self) -> bool:
        """Tell whether the control is a fault, of which a run has few."""
        return bool(CONTROL_ROWS[self.name]["fault"])

    @property
    def weight(self) -> int:
        """The weight of the control in a random choice."""
        return int(CONTROL_ROWS[self.name]["weight"])

    def __str__(self) -> str:
        return self.name if self.broker == NOBODY else f"{self.name}({self.broker})"


class Controls(Protocol):
    """Something that can be controlled: a cluster with its clients, or a model in their place."""

    def possible(self) -> Sequence[Control]:
        """Return the controls that can be used now, in an order that depends on the state alone."""

    def use(self, control: Control, choice: float) -> None:
        """Use a control. ``choice`` (from 0 to 1) decides what else there is to choose, such as a duration."""

    def finish(self) -> None:
        """Undo everything that is held or stopped, and let the run come to its end."""
