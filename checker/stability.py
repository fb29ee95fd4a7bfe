"""Stability of verdicts: the required properties at other numbers of records, log slots and replicas.

A verdict holds within the explored sizes. This search checks the same properties at neighbouring sizes, so that a pass
which ends at a larger size is seen. The search never changes a verdict.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from proofka.checker.budget import ANSWERED_TO, MEMORY_SHARE, Budget, physical_memory, processors
from proofka.checker.check import Run, prepare_groups
from proofka.checker.processes import as_completed
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.question import question
from proofka.model.deployment.rebuilding import Place, built_of, said_of
from proofka.model.deployment.setting import Origin, Setting
from proofka.properties.stability import AtSize
from proofka.properties.verdict import CutSet, Status, Verdict

VALUES: dict[str, range] = {"records": range(1, 4), "log": range(2, 5), "replicas": range(3, 6)}
"""The tried values of each size."""

PLACES: dict[str, Place] = {
    "records": ("bounds", "records"),
    "log": ("bounds", "log"),
    "replicas": ("topic", "replication.factor"),
}
"""The place of each size among the settings."""

NOT_BUILT_AGAIN = "its settings alone do not tell the whole deployment"
"""The reason for trying no other size."""

Outcome = dict[str, tuple[Status, tuple[CutSet, ...]]]
"""The status and the smallest fault sets of each property."""


@dataclass(frozen=True)
class Sized:
    """The deployment with another value of one size. ``log``: the log size that changes with the number of records."""

    size: str
    value: int
    deployment: Deployment
    log: int | None = None


def faults_compared(deployment: Deployment) -> int:
    """Return the number of faults with which sizes are compared: the total, or what every check decides."""
    total = deployment.faults.total
    return ANSWERED_TO if total is None else total


def stability(
    deployment: Deployment,
    verdicts: Sequence[Verdict],
    stop: threading.Event | None = None,
    *,
    sizes: Mapping[str, range] = VALUES,
) -> tuple[AtSize, ...]:
    """Return the verdicts on the required properties at each of these sizes. The cheapest sizes are explored first.

    Sizes are explored in processes of their own. Once ``stop`` is set, the sizes that are left have no status.
    """
    required = {verdict.property: verdict for verdict in verdicts if verdict.required}
    if not required:
        return ()
    faults = faults_compared(deployment)
    rows: dict[tuple[str, int], list[AtSize]] = {}
    changed: list[Sized] = []
    for one in _sized(deployment, sizes):
        if isinstance(one, Sized):
            changed.append(one)
            blank = AtSize("", one.size, one.value, faults, None, with_log=one.log)
        else:
            blank = one
        own = blank.is_own
        rows[blank.size, blank.value] = [
            _own(verdict, blank) if own else replace(blank, property=name) for name, verdict in required.items()
        ]
    changed.sort(key=_cost)
    ask = partial(outcome_of, names=frozenset(required), faults=faults)
    for sized, outcome in as_completed(ask, changed, stop):
        key = sized.size, sized.value
        rows[key] = [_decided(row, outcome) for row in rows[key]]
    order = [(size, value) for size in sizes for value in sorted(v for s, v in rows if s == size)]
    return tuple(row for name in required for key in order for row in rows[key] if row.property == name)


def outcome_of(sized: Sized, names: Collection[str], faults: int) -> Outcome:
    """Return the status and fault sets of the named properties at this size, with up to this number of faults."""
    deployment = replace(sized.deployment, faults=sized.deployment.faults.up_to(faults))
    prepared, groups = prepare_groups(deployment)
    wanted = [one for one in groups if any(prop.name in names for prop in one.properties)]
    memory = int(physical_memory() * MEMORY_SHARE) // processors()
    run = Run(deployment, prepared, wanted, Budget(threads=1, memory=memory))
    run.explore(None)
    found = (run.verdict(prop.name) for one in wanted for prop in one.properties if prop.name in names)
    return {verdict.property: (verdict.status, verdict.cut_sets) for verdict in found}


def _sized(deployment: Deployment, sizes: Mapping[str, range]) -> Iterator[Sized | AtSize]:
    """Yield the deployment at each other size; a row for its own sizes, and for sizes that it cannot have."""
    faults = faults_compared(deployment)
    said = said_of(deployment)
    again = _is_built_again(deployment)
    for size, values in sizes.items():
        now = deployment.cluster.replicas if size == "replicas" else getattr(deployment.bounds, size)
        for value in sorted({*values, now}):
            if value == now:
                yield AtSize("", size, value, faults, None, is_own=True)
                continue
            if not again:
                yield AtSize("", size, value, faults, None, refused=NOT_BUILT_AGAIN)
                continue
            place = PLACES[size]
            changed = {**said, place: Setting(*place, str(value), Origin("option", "--stability"))}
            log = None
            if size == "records" and ("bounds", "log") in said:
                # A larger number of records keeps the room for one record that is stored twice.
                log = max(deployment.bounds.log, value + 1)
                changed["bounds", "log"] = Setting("bounds", "log", str(log), Origin("option", "--stability"))
            try:
                built = built_of(changed, deployment)
            except DeploymentError as error:
                yield AtSize("", size, value, faults, None, refused=str(error))
                continue
            moved = built.bounds.log if size == "records" and built.bounds.log != deployment.bounds.log else None
            yield Sized(size, value, built, moved)


def _is_built_again(deployment: Deployment) -> bool:
    """Tell whether the given settings build the same deployment again, so that only the size differs."""
    try:
        return question(built_of(said_of(deployment), deployment)) == question(deployment)
    except (DeploymentError, KeyError):
        return False


def _cost(sized: Sized) -> tuple[int, int, int]:
    """Return an order by cost: replicas multiply states most, then records, then log slots."""
    return sized.deployment.cluster.replicas, sized.deployment.bounds.records, sized.deployment.bounds.log


def _own(verdict: Verdict, blank: AtSize) -> AtSize:
    """Return the row of the deployment's own size, with the fault sets of the compared number of faults."""
    sets = tuple(one for one in verdict.cut_sets if sum(count for _, count in one) <= blank.faults)
    decided = verdict.coverage.complete_to >= blank.faults
    status = verdict.status if decided else Status.UNKNOWN
    if sets:
        status = Status.VIOLATED
    elif status is Status.VIOLATED:
        status = Status.HOLDS  # only larger fault sets than the compared ones violate the property
    return replace(blank, property=verdict.property, status=status, cut_sets=sets)


def _decided(row: AtSize, outcome: Outcome) -> AtSize:
    status, cut_sets = outcome.get(row.property, (Status.UNKNOWN, ()))
    return replace(row, status=status, cut_sets=cut_sets)
