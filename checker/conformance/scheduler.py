"""A random scheduler: the same seed makes the same choices, as long as the cluster offers the same controls."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from checker.conformance.controls import Control, Controls


@dataclass(frozen=True)
class Schedule:
    """The choices of one run. ``steps``: number of controls. ``faults``: the largest number of faults among these."""

    seed: int
    steps: int = 24
    faults: int = 3

    def run(self, controls: Controls) -> tuple[Control, ...]:
        """Use random controls, and finish; return the controls that were used."""
        random = Random(self.seed)
        used: list[Control] = []
        for _ in range(self.steps):
            left = self.faults - sum(control.is_fault for control in used)
            choices = [control for control in controls.possible() if left > 0 or not control.is_fault]
            control = random.choices(choices, [choice.weight for choice in choices])[0]
            controls.use(control, random.random())
            used.append(control)
        controls.finish()
        return tuple(used)
