"""Figures of a whole state space, for the comparison of engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class InvariantCount:
    """Number of states that violate an invariant, and number of states of the shortest trace to one of them, if any."""

    violating: int
    trace_length: int | None


@dataclass(frozen=True)
class WholeSpace:
    """The figures of a complete exploration.

    ``seconds`` is the time of the exploration, ``compile_seconds`` the time of the preparation. ``traces`` has the
    steps of a shortest trace in words for each invariant that some step violates. ``stopped`` is the reason for an
    incomplete exploration (the counts are then those of the explored part), or None.
    """

    distinct: int
    transitions: int
    levels: Sequence[int]
    invariants: Mapping[str, InvariantCount]
    seconds: float
    compile_seconds: float
    bytes_per_state: float
    traces: Mapping[str, Sequence[str]]
    stopped: str | None = None
