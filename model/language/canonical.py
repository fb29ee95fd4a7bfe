"""States that differ in nothing that matters: names, parts that can be exchanged, values that nothing reads.

All are *declarations* for reductions (checker/reductions). A reduction that exchanges values or parts first proves the
declaration of the system at hand; tests compare the answers with and without values that nothing reads.

Reference: C. N. Ip, D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9 (1996).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import z3

from proofka.model.language.variables import Variable


@dataclass(frozen=True)
class Ranked:
    """Variables whose values are only compared with one another and copied: an ordered scalarset.

    A fresh value is ``newest`` + 1. Values up to ``reserved`` have a meaning of their own (0 = none, 1 = the first) and
    keep it; of the others only the order matters. Once ``settled`` holds no fresh value is made any more, and a
    reduction can reset ``newest`` to a reserved value.
    """

    name: str
    variables: tuple[Variable, ...]
    newest: Variable
    reserved: int = 0
    settled: z3.BoolRef | None = None

    def __post_init__(self) -> None:
        if self.newest not in self.variables:
            raise ValueError(
                f"{self.name}: {self.newest.name} makes the fresh values and has to be one of the variables"
            )


@dataclass(frozen=True)
class Unread:
    """Variables that nothing reads from the moment that a condition holds, which then holds permanently.

    ``once`` is made of conjunctions, disjunctions and comparisons of a variable with a value.
    """

    name: str
    once: z3.BoolRef
    variables: tuple[Variable, ...]


@dataclass(frozen=True)
class Permutation:
    """A renaming of states: variable ``v``'s value goes to ``variables[v]``, and there becomes ``values[v][value]``.

    Variables, values and action arguments that are not named stay unchanged.
    """

    name: str
    variables: Mapping[Variable, Variable]
    values: Mapping[Variable, Mapping[int, int]] = field(default_factory=dict)
    arguments: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Symmetry:
    """Parts that can be exchanged: the permutations that generate the group."""

    name: str
    generators: tuple[Permutation, ...]
