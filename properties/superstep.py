"""Costs of the supersteps of a distributed search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Superstep:
    """Rows and seconds of one superstep over all partitions, in a search for combinations of ``faults`` faults.

    ``entered`` states are new; ``replaced`` states were known and were reached by a shorter run. ``sent`` rows with
    ``sent_bytes`` go to other partitions. ``states`` and ``bytes`` are the totals after the superstep, ``depth`` is
    the largest depth. ``seconds`` is wall time, ``busy`` the seconds of all tasks together, and ``longest`` the
    seconds of the slowest partition. ``peak`` is the memory of the largest process that ran tasks, in bytes.
    """

    number: int
    faults: int
    expanded: int
    entered: int
    replaced: int
    sent: int
    sent_bytes: int
    states: int
    bytes: int
    depth: int
    seconds: float
    busy: float
    longest: float
    peak: int


def searches(supersteps: Iterable[Superstep]) -> list[list[Superstep]]:
    """Group supersteps by search: one search is one exploration for one number of faults."""
    found: list[list[Superstep]] = []
    for step in supersteps:
        goes_on = found and (last := found[-1][-1]).faults == step.faults and last.number < step.number
        if goes_on:
            found[-1].append(step)
        else:
            found.append([step])
    return found
