"""A random scheduler: the same seed makes the same choices, as long as the cluster offers the same controls."""

from __future__ import annotations

from collections.abc import Sequence
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
            control = _chosen(random, [one for one in controls.possible() if left > 0 or not one.is_fault])
            controls.use(control, random.random())
            used.append(control)
        controls.finish()
        return tuple(used)


def _chosen(random: Random, possible: Sequence[Control]) -> Control:
    """Return a random control: first a name by its weight, then a broker."""
    names = list(dict.fromkeys(control.name for control in possible))
    weights = {control.name: control.weight for control in possible}
    name = random.choices(names, [weights[name] for name in names])[0]
    return random.choice([control for control in possible if control.name == name])
