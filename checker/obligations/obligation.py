"""An obligation: a question that has to have the answer ``unsat``, because a verdict rests on this answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from textwrap import wrap
from typing import NamedTuple

import z3

WIDTH = 118
"""Largest width of a comment in a script."""


class Kind(StrEnum):
    """The kinds of obligations, in the order in which they are asked."""

    CONSTANTS = "constants"
    IMPOSSIBLE_ACTIONS = "impossible-actions"
    DOMAINS = "domains"
    RANKS = "ranks"
    SYMMETRY = "symmetry"
    CYCLES = "cycles"
    INVARIANTS = "invariants"


IN_WORDS = {
    Kind.CONSTANTS: "constants filled in, and terms simplified",
    Kind.IMPOSSIBLE_ACTIONS: "actions that never happen",
    Kind.DOMAINS: "updates that stay within their domains",
    Kind.RANKS: "ranked values that are settled",
    Kind.SYMMETRY: "generators of a symmetry",
    Kind.CYCLES: "cycles behind timing lemmas",
    Kind.INVARIANTS: "invariants that every step keeps",
}
"""Each kind in words."""

EXPECTED = "unsat"
"""The answer to every obligation, with which the verdict was reached."""


class Impossible(NamedTuple):
    """A condition that no state fulfils, and what this means in a sentence."""

    meaning: str
    condition: z3.BoolRef


@dataclass(frozen=True)
class Obligation:
    """A question to a solver, of which the answer ``unsat`` is expected.

    ``number``: number among the obligations of this kind. ``script``: commands of SMT-LIB that end with
    ``(check-sat)``.
    """

    kind: Kind
    number: int
    meaning: str
    script: str

    @property
    def name(self) -> str:
        """Return the name, which is also the stem of the name of the file."""
        return f"{self.kind}-{self.number:04}"

    def __str__(self) -> str:
        """Return the name with the meaning."""
        return f"{self.name}: {self.meaning}"

    def file_text(self) -> str:
        """Return the text of a file that any solver for SMT-LIB 2.6 reads."""
        return "\n".join(self._comment()) + "\n" + self.script

    def _comment(self) -> Iterator[str]:
        for line in (str(self), f"Expected answer: {EXPECTED}"):
            yield from (f"; {part}" for part in wrap(" ".join(line.split()), WIDTH, break_on_hyphens=False))
