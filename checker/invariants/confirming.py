"""Confirming a proof: solvers are asked about its scripts alone, which the search for the proof did not read."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import z3

from proofka.checker.obligations.obligation import EXPECTED, Obligation
from proofka.checker.obligations.second_solver import SAT, SECONDS_FOR_ONE, Answer, agreement, z3_answer


class Confirmation(Protocol):
    """The answers to the obligations of a proof. One answer ``sat`` refutes the proof."""

    @property
    def line(self) -> str:
        """Return the summary in a line."""

    def disputes(self) -> Iterator[str]:
        """Yield a line for each obligation that a solver refutes."""

    def left_open(self) -> Iterator[str]:
        """Yield a line for each obligation without an answer."""


@dataclass(frozen=True)
class Alone:
    """The answers of Z3 alone, to scripts that it did not write."""

    answers: tuple[tuple[Obligation, Answer], ...]
    seconds: float

    @property
    def line(self) -> str:
        """Return the summary in a line."""
        agreed = sum(answer.word == EXPECTED for _, answer in self.answers)
        asked = len(self.answers)
        number = f"all {asked:,}" if agreed == asked else f"{agreed:,} of {asked:,}"
        return (
            f"solver: Z3 {z3.get_version_string()} answers {EXPECTED} to {number} obligations, in {self.seconds:.1f} s"
        )

    def disputes(self) -> Iterator[str]:
        """Yield a line for each obligation that Z3 refutes."""
        return (_told(one, answer) for one, answer in self.answers if answer.word == SAT)

    def left_open(self) -> Iterator[str]:
        """Yield a line for each obligation without an answer."""
        return (_told(one, answer) for one, answer in self.answers if answer.word not in (SAT, EXPECTED))


def confirmed(obligations: Iterable[Obligation], *, second: bool, seconds: float = SECONDS_FOR_ONE) -> Confirmation:
    """Ask Z3 about each script, and cvc5 as well with ``second``: at most ``seconds`` for each answer.

    Raise :class:`checker.obligations.second_solver.SolverMissing`.
    """
    if second:
        return agreement(obligations, seconds)
    begun = time.monotonic()
    answers = tuple((one, z3_answer(one.script, seconds)) for one in obligations)
    return Alone(answers, time.monotonic() - begun)


def _told(obligation: Obligation, answer: Answer) -> str:
    return f"Z3 {z3.get_version_string()} answers {answer}: {obligation}"
