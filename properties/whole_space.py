"""A whole state space in figures: what holding one engine against another compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class InvariantCount:
    """In how many states an invariant is violated, and how many states the shortest trace to one has, if any."""

    violating: int
    trace_length: int | None


@dataclass(frozen=True)
class WholeSpace:
    """What exploring everything found. ``seconds`` is the exploration alone, ``compile_seconds`` what came before.

    ``traces`` holds the steps of a shortest trace, in words, for each invariant that some step violates. ``stopped``
    says why not everything was explored (the counts are then those of what was), else None.
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
