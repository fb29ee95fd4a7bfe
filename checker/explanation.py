"""Which single change would have prevented a violation: computed, by exploring the same faults with that change."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from checker.budget import Budget
from checker.check import Run, prepare_groups
from checker.processes import in_processes
from model.deployment.changing import brought, changed, changes_of, turned
from model.deployment.deployment import Deployment
from model.deployment.explored import FaultBudget
from properties.verdict import CutSet, Prevention, Status, Verdict

SECONDS_EACH = 30.0
"""How long a command that people wait for lets each change take."""

Left = Mapping[str, tuple[CutSet, ...] | None]
"""The smallest fault sets of each property with a change; None where it was not decided."""


def preventions(
    deployment: Deployment,
    verdicts: Sequence[Verdict],
    stop: threading.Event | None = None,
    seconds: float | None = SECONDS_EACH,
) -> tuple[Prevention, ...]:
    """Of each violated property: the changes with which the faults of its first trace, and fewer, do not violate it.

    Changes that leave it undecided are left out. Raises :class:`model.deployment.changing.Unchangeable`.
    """
    targets = {v.property: v.cut_sets[0] for v in verdicts if v.status is Status.VIOLATED}
    if not targets:
        return ()
    most: dict[str, int] = {}
    for kind, count in (fault for target in targets.values() for fault in target):
        most[kind] = max(count, most.get(kind, 0))
    total = max(sum(count for _, count in target) for target in targets.values())
    faults = FaultBudget(total, tuple(sorted(most.items())))
    changes = changes_of(deployment)
    variants = [replace(changed(deployment, [change]), faults=faults) for change in changes]
    # Fewer outcomes than changes where it was stopped.
    outcomes = in_processes(partial(left_over, properties=frozenset(targets), seconds=seconds), variants, stop)
    return tuple(
        Prevention(
            name,
            target,
            str(change),
            settings=turned(deployment, variant, change),
            brings=tuple(brought(deployment, variant, change)),
        )
        for change, variant, left in zip(changes, variants, outcomes, strict=False)
        for name, target in targets.items()
        if _prevents(left.get(name), target)
    )


def left_over(deployment: Deployment, properties: frozenset[str], seconds: float | None) -> Left:
    """The smallest fault sets of these properties within the deployment's own fault budget."""
    prepared, groups = prepare_groups(deployment)
    asked = [one for one in groups if any(prop.name in properties for prop in one.properties)]
    run = Run(deployment, prepared, asked, Budget(threads=1, seconds=seconds))
    run.explore(None)
    return run.cut_sets()


def _prevents(left: tuple[CutSet, ...] | None, target: CutSet) -> bool:
    if left is None:
        return False
    allowed = dict(target)
    return not any(all(count <= allowed.get(kind, 0) for kind, count in one) for one in left)
