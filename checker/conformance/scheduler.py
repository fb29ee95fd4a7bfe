"""A random scheduler: the same seed makes the same choices, as long as the cluster offers the same controls.

The producers of a run share the faults of the cluster, and each has controls of its own. In a step of the schedule
either one shared control is used, or each producer uses one of its own. So the recording of each producer is as a run
of this producer alone would be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from proofka.checker.conformance.controls import NOBODY, Control, Controls


@dataclass(frozen=True)
class Schedule:
    """The choices of one run.

    ``steps``: number of steps. ``faults``: the largest number of shared faults. A producer has faults of its own as
    long as these and the shared ones so far are fewer.
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
        """Yield one shared control, or a control for each producer that has one of its own.

        A shared control is as likely as in a run of one producer alone.
        """
        allowed = [control for control in possible if not control.is_fault or self._has_room(control, used)]
        producers = sorted({control.producer for control in allowed} - {NOBODY})
        one = random.choice(producers) if producers else NOBODY
        first = _chosen(random, [control for control in allowed if control.concerns(one)])
        if first.producer == NOBODY:
            yield first
            return
        for producer in producers:
            yield _chosen(random, [control for control in allowed if control.producer == producer])

    def _has_room(self, fault: Control, used: Sequence[Control]) -> bool:
        """Tell whether the schedule has fewer faults than it may have."""
        return sum(one.is_fault and one.producer in (NOBODY, fault.producer) for one in used) < self.faults


def _chosen(random: Random, possible: Sequence[Control]) -> Control:
    """Return a random control: first a name by its weight, then one of the controls with this name."""
    names = list(dict.fromkeys(control.name for control in possible))
    weights = {control.name: control.weight for control in possible}
    name = random.choices(names, [weights[name] for name in names])[0]
    return random.choice([control for control in possible if control.name == name])
