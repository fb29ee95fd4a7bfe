"""A random scheduler: the same seed makes the same choices, as long as the cluster offers the same controls.

The producers of a run share the faults of the cluster, and each has controls of its own. In a step of the schedule
either one shared control is used, or each producer uses one of its own. So the recording of each producer is as a run
of this producer alone would be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from checker.conformance.controls import NOBODY, Control, Controls


@dataclass(frozen=True)
class Schedule:
    """The choices of one run.

    ``steps``: number of steps. ``faults``: the largest number of faults that a producer meets, shared ones included.
    """

    seed: int
    steps: int = 24
    faults: int = 3

    def run(self, controls: Controls) -> tuple[Control, ...]:
        """Use random controls, and finish; return the controls that were used."""
        random = Random(self.seed)
        used: list[Control] = []
        for _ in range(self.steps):
            for control in self._step(random, controls.possible(), used):
                controls.use(control, random.random())
                used.append(control)
        controls.finish()
        return tuple(used)

    def _step(self, random: Random, possible: Sequence[Control], used: Sequence[Control]) -> Iterator[Control]:
        """Yield one shared control, or a control for each producer that has one of its own."""
        allowed = [control for control in possible if not control.is_fault or self._has_room(control, possible, used)]
        first = _chosen(random, allowed)
        if first.producer == NOBODY:
            yield first
            return
        for producer in sorted({control.producer for control in allowed} - {NOBODY}):
            yield _chosen(random, [control for control in allowed if control.producer == producer])

    def _has_room(self, fault: Control, possible: Sequence[Control], used: Sequence[Control]) -> bool:
        """Tell whether each producer that the fault concerns has met fewer faults than the schedule allows."""
        producers = {control.producer for control in (*possible, *used)} or {NOBODY}
        met = (sum(one.is_fault and one.concerns(each) for one in used) for each in producers if fault.concerns(each))
        return max(met, default=0) < self.faults


def _chosen(random: Random, possible: Sequence[Control]) -> Control:
    """Return a random control: first a name by its weight, then one of the controls with this name."""
    names = list(dict.fromkeys(control.name for control in possible))
    weights = {control.name: control.weight for control in possible}
    name = random.choices(names, [weights[name] for name in names])[0]
    return random.choice([control for control in possible if control.name == name])
