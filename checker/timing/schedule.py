"""Times for the steps of a run: Z3 decides whether times exist, and round times are chosen for readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import z3

from proofka.checker.timing.constraints import Between
from proofka.checker.timing.network import Contradiction, Edge, earliest_times, edges_of, minimal

ROUND = (1000, 500, 100, 50, 10, 5)
"""Round units in milliseconds, best first."""

TOLERANCE = 4
"""Divisor: rounding lengthens a pause by at most one fourth."""


class TimingMismatch(Exception):
    """Z3 and the graph of difference constraints disagree about a run, so one of the two is wrong."""


@dataclass(frozen=True)
class Schedule:
    """The time of each step, in ms since the start."""

    times: tuple[int, ...]


def schedule(steps: int, constraints: Sequence[Between]) -> Schedule | Contradiction:
    """Return round and early times for a run of ``steps`` steps, or a contradiction.

    Raise :class:`TimingMismatch` if Z3 and the graph disagree, or if Z3 does not accept the times.
    """
    edges = edges_of(steps, constraints)
    earliest = earliest_times(steps, edges)
    possible = _is_possible(steps, edges)
    if possible != (not isinstance(earliest, Contradiction)):
        raise TimingMismatch(f"Z3 finds a run of {steps} steps {'possible' if possible else 'impossible'} in time")
    if isinstance(earliest, Contradiction):
        return minimal(steps, earliest)
    times = _rounded(steps, edges, earliest)
    if not _is_possible(steps, edges, times):
        raise TimingMismatch(f"Z3 does not accept the times {times}")
    return Schedule(tuple(times[1:]))


def _is_possible(steps: int, edges: Sequence[Edge], times: Sequence[int] | None = None) -> bool:
    at = [z3.Int(f"t{step}") for step in range(steps + 1)]
    solver = z3.SolverFor("QF_IDL")
    solver.set("ctrl_c", False)
    solver.add(at[0] == 0)
    solver.add(*(at[edge.head] - at[edge.tail] <= edge.weight for edge in edges))
    if times is not None:
        solver.add(*(variable == time for variable, time in zip(at, times, strict=True)))
    answer = solver.check()
    if answer == z3.unknown:
        raise TimingMismatch(f"Z3 cannot decide a run of {steps} steps: {solver.reason_unknown()}")
    return bool(answer == z3.sat)


def _rounded(steps: int, edges: Sequence[Edge], earliest: Sequence[int]) -> list[int]:
    """Return times in which each step in turn moves to the roundest time soon after its earliest that delays no other
    step.
    """
    times = list(earliest)
    fixed: list[Edge] = []
    for step in range(1, steps + 1):
        for candidate in _rounder(times[step - 1], times[step]):
            pinned = [*edges, *fixed, Edge(step, 0, -candidate, None)]
            found = earliest_times(steps, pinned)
            if not isinstance(found, Contradiction) and found[step] == candidate:
                times = found
                break
        fixed += [Edge(0, step, times[step], None), Edge(step, 0, -times[step], None)]
    return times


def _rounder(before: int, time: int) -> list[int]:
    """Return later times with a rounder, slightly longer pause since the previous step, the roundest first."""
    pause = time - before
    found = []
    for unit in ROUND:
        candidate = -(-pause // unit) * unit
        if candidate == pause:
            break
        if (candidate - pause) * TOLERANCE <= pause:
            found.append(before + candidate)
    return found
