"""Search for a small inductive set of clauses that implies a property, beginning with what the property needs.

The clauses that imply the property are needed. A needed clause that some step breaks needs further clauses: those with
which Z3 shows that no step breaks it. If a state has all clauses and a step from it breaks a needed clause, then a new
clause excludes the state: the shortest that is found of those that hold in all states seen. If there is none, all
clauses that the step breaks are dropped, as in the algorithm Houdini (checker/invariants/induction.py), and what rested
on them is shown again. The search ends when no needed clause is left to show.

Only some statements of a state matter to a counterexample: every state that agrees on them has the same step into a
state without the clause. Clauses about these statements alone are preferred, since they exclude all these states.

Reference: A. R. Bradley, Z. Manna, "Checking safety by inductive generalization of counterexamples to induction",
FMCAD 2007.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import z3
from numpy.typing import NDArray

from proofka.checker.invariants.finite_solver import FiniteStep, literal
from proofka.checker.invariants.induction import NoAnswer
from proofka.checker.invariants.mining import MOST_LITERALS, Clauses
from proofka.checker.invariants.statements import Statements
from proofka.model.language.lemmas import OpenSystem

Truths = NDArray[np.bool_]
"""For each statement, whether it is true in a state."""

AT_A_TIME = 6
"""Largest number of clauses that a counterexample adds to the solver's."""
NOT_IN_TIME = "the search for an invariant found none in time"
MOST_CHOSEN = 16
"""Largest number of literals from which a new clause is cut down."""


@dataclass
class Counts:
    """Numbers of questions, of dropped clauses, and of clauses that were added during the search."""

    asked: int = 0
    dropped: int = 0
    added: int = 0


@dataclass
class _Solver:
    """A solver of counterexamples, with the clauses that it has been told, each with the variable that puts the clause
    in use. ``opposite``: a solver of states that are no counterexamples.
    """

    z3: z3.Solver
    opposite: z3.Solver
    in_use: dict[int, z3.BoolRef] = field(default_factory=dict)


@dataclass(frozen=True)
class _Asked:
    """A question about counterexamples. ``otherwise``: the conditions of which one holds after a step that is none.
    ``first``: the clauses that are used from the beginning.
    """

    assumed: tuple[z3.BoolRef, ...] = ()
    otherwise: Sequence[z3.BoolRef] = ()
    first: Sequence[int] = ()


def _solver(conditions: Sequence[z3.BoolRef]) -> z3.Solver:
    solver = z3.SolverFor("QF_FD")
    solver.set("ctrl_c", False)
    solver.add(*conditions)
    return solver


class Search:
    """The search, for several properties of one system in turn. Shown clauses serve the next property as well."""

    def __init__(self, system: OpenSystem, seen: Statements, clauses: Clauses, seed: int = 0) -> None:
        self.counts = Counts()
        self._seen = seen
        self._step = FiniteStep(system, seen)
        self._clauses, self._number = clauses, len(clauses)
        self._alive = np.ones(len(clauses), dtype=np.bool_)
        self._needed = np.zeros(len(clauses), dtype=np.bool_)
        self._rests_on: dict[int, NDArray[np.int64]] = {}
        self._queue: deque[int] = deque()
        self._reached: list[Truths] = []
        self._random = np.random.default_rng(seed)
        step = [*self._step.state(), *self._step.step()]
        self._steps = _Solver(_solver([*step, *self._step.guards()]), _solver(step))
        self._choices = 0
        self._adds = True
        self._deadline = 0.0
        initial = seen.values_in({variable.name: variable.initial for variable in system.variables})
        self._alive[self._broken(initial)] = False

    def clauses_for(self, violated: z3.BoolRef, seconds: float) -> list[list[int]] | None:
        """Return clauses that are inductive together and imply that no state violates a property; None if the search
        finds none. Raise :class:`~checker.invariants.induction.NoAnswer`.
        """
        self._deadline = time.monotonic() + seconds
        self._needed[:] = False
        self._queue.clear()
        term = self._step.condition(violated)
        states = _Solver(_solver([*self._step.state(), term]), _solver([*self._step.state(), z3.Not(term)]))
        roots: NDArray[np.int64] | None = None
        while roots is None or not self._alive[roots].all() or self._queue:
            if roots is None or not self._alive[roots].all():
                roots = self._excluded(states, _Asked())
                if roots is None:
                    return None
                self._need(roots)
            elif not self._shown(self._queue.popleft()):
                self._show_again()
        return [self.literals(number) for number in self._smaller(states, self._closure(roots))]

    def _smaller(self, states: _Solver, enough: list[int]) -> list[int]:
        """Return a part of an inductive set that suffices for the property as well; all of it if the time is over."""
        kept = self._alive.copy(), self._needed.copy(), dict(self._rests_on)
        others = np.ones(len(self._alive), dtype=np.bool_)
        others[enough] = False
        self._alive[others] = False
        self._needed[:] = False
        self._rests_on.clear()
        self._adds = False
        try:
            roots = self._excluded(states, _Asked())
            self._need(() if roots is None else roots)
            while roots is not None and self._queue and self._shown(self._queue.popleft()):
                pass
            return enough if roots is None or self._queue else self._closure(roots)
        except NoAnswer:
            return enough
        finally:
            self._queue.clear()
            self._adds = True
            self._alive, self._needed, self._rests_on = kept

    def literals(self, number: int) -> list[int]:
        """Return the literals of a clause."""
        return [int(one) for one in self._clauses[number] if one >= 0]

    def _shown(self, number: int) -> bool:
        """Show that no step breaks a needed clause, and need what this rests on; return False after dropping some."""
        if not self._alive[number]:
            return True
        if self._is_shown(number):
            self._need(self._rests_on[number])
            return True
        literals = self.literals(number)
        idle = frozenset.intersection(*(self._step.idle[one >> 1] for one in literals))
        broken = [literal(one ^ 1, self._step.after) for one in literals]
        resting = [z3.Not(self._step.takes[one]) for one in sorted(idle)]
        asked = _Asked((*broken, *resting), [literal(one, self._step.after) for one in literals], [number])
        found = self._excluded(self._steps, asked)
        if found is None:
            return False
        self._rests_on[number] = found[found != number]
        self._need(self._rests_on[number])
        return True

    def _excluded(self, solver: _Solver, asked: _Asked) -> NDArray[np.int64] | None:
        """Return clauses that exclude all counterexamples. If a counterexample cannot be excluded, drop what its step
        breaks, and return None.
        """
        used = set(asked.first)
        self._tell(solver, used)
        while True:
            found = self._ask(solver, asked.assumed, used)
            if not isinstance(found, z3.ModelRef):
                return found
            before = self._truths(found, self._step.before)
            matters = self._mattering(solver, asked, found, before)
            new = self._relevant(before, matters)
            if not new:
                added = self._excluding(before, matters) if self._adds else None
                new = self._relevant(before, np.ones_like(matters)) if added is None else [added]
            if not new:
                if solver is self._steps:
                    self._drop(before, self._truths(found, self._step.after))
                return None
            self._tell(solver, new)
            used.update(new)

    def _relevant(self, truths: Truths, matters: Truths) -> list[int]:
        """Return some of the clauses that exclude a state by statements that matter, the needed ones first."""
        broken = self._broken(truths)
        literals = self._clauses[broken]
        found = broken[(matters[np.maximum(literals, 0) >> 1] | (literals < 0)).all(1)]
        needed = found[self._needed[found]]
        if len(needed):
            return [int(one) for one in needed[:AT_A_TIME]]
        lengths = (self._clauses[found] >= 0).sum(1)
        return [int(one) for one in found[np.lexsort((self._random.random(len(found)), lengths))][:AT_A_TIME]]

    def _mattering(self, solver: _Solver, asked: _Asked, model: z3.ModelRef, truths: Truths) -> Truths:
        """Tell for each statement whether the counterexample rests on it: whether states that agree on the others,
        too, are counterexamples.
        """
        state = [literal(2 * number + int(truth), self._step.before) for number, truth in enumerate(truths)]
        places = {one.get_id(): number for number, one in enumerate(state)}
        fixed: list[z3.BoolRef] = []
        if solver is self._steps:
            (taken,) = (number for number, one in enumerate(self._step.takes) if z3.is_true(model[one]))
            self._choices += 1
            chosen = z3.Bool(f"choice {self._choices}")
            solver.opposite.add(z3.Or(z3.Not(chosen), z3.Not(self._step.allowed[taken]), *asked.otherwise))
            fixed = [chosen, self._step.takes[taken]]
        matters = np.zeros(len(truths), dtype=np.bool_)
        solver.opposite.set("timeout", max(1, round((self._deadline - time.monotonic()) * 1000)))
        for _ in range(2):
            answer = solver.opposite.check(*fixed, *state)
            if answer != z3.unsat:  # the statements do not tell all of a state, or the time is over
                return np.ones(len(truths), dtype=np.bool_)
            core = {one.get_id() for one in solver.opposite.unsat_core()}
            state = [one for one in state if one.get_id() in core]
        matters[[places[one.get_id()] for one in state]] = True
        return matters

    def _drop(self, before: Truths, after: Truths) -> None:
        """Drop the clauses that a step breaks. Both states of the step count as seen from now on."""
        broken = self._broken(after)
        self._alive[broken] = False
        self._needed[broken] = False
        self._reached += [before, after]
        self.counts.dropped += len(broken)

    def _show_again(self) -> None:
        """Put the needed clauses that rest on a dropped clause in the queue."""
        for number, below in list(self._rests_on.items()):
            if not self._alive[number] or not self._alive[below].all():
                del self._rests_on[number]
                if self._alive[number] and self._needed[number]:
                    self._queue.append(number)

    def _is_shown(self, number: int) -> bool:
        below = self._rests_on.get(number)
        return below is not None and bool(self._alive[below].all())

    def _need(self, numbers: Iterable[int]) -> None:
        for number in map(int, numbers):
            if not self._needed[number]:
                self._needed[number] = True
                self._queue.append(number)

    def _closure(self, roots: NDArray[np.int64]) -> list[int]:
        """Return all clauses that these rest on, with them."""
        found: set[int] = set()
        waiting = [int(one) for one in roots]
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += [int(one) for one in self._rests_on[number]]
        return sorted(found)

    def _tell(self, solver: _Solver, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number not in solver.in_use:
                solver.in_use[number] = used = z3.Bool(f"use {number}")
                clause = (literal(one, self._step.before) for one in self.literals(number))
                solver.z3.add(z3.Or(z3.Not(used), *clause))

    def _ask(
        self, solver: _Solver, assumed: Sequence[z3.BoolRef], used: Collection[int]
    ) -> z3.ModelRef | NDArray[np.int64]:
        """Return a state with all needed and all used clauses, or the clauses with which there is none."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise NoAnswer(NOT_IN_TIME)
        solver.z3.set("timeout", max(1, round(left * 1000)))
        in_use = (
            use
            for number, use in solver.in_use.items()
            if self._alive[number] and (self._needed[number] or number in used)
        )
        self.counts.asked += 1
        answer = solver.z3.check(*assumed, *in_use)
        if answer == z3.unknown:
            raise NoAnswer(NOT_IN_TIME)
        if answer == z3.sat:
            return solver.z3.model()
        names = (one.decl().name() for one in solver.z3.unsat_core())
        return np.array([int(name[4:]) for name in names if name.startswith("use ")], dtype=np.int64)

    def _truths(self, model: z3.ModelRef, variables: Sequence[z3.BoolRef]) -> Truths:
        return np.array([z3.is_true(model[one]) for one in variables], dtype=np.bool_)

    def _broken(self, truths: Truths) -> NDArray[np.int64]:
        """Return the clauses in use that are false in a state."""
        clauses = self._clauses[: self._number]
        false = self._alive[: self._number].copy()
        for place in range(clauses.shape[1]):
            column = clauses[:, place]
            if place > 2 and (column < 0).all():
                break
            false &= ~((column >= 0) & (truths[np.maximum(column, 0) >> 1] == ((column & 1) == 1)))
        return np.flatnonzero(false)

    def _excluding(self, truths: Truths, matters: Truths) -> int | None:
        """Return a new clause of statements that matter, which is false in a state and true in all seen states; None if
        none is short enough.
        """
        places = np.flatnonzero(matters[: self._seen.open])
        if not len(places):
            return None
        agree = np.where(truths[places, None], self._seen.bits[places], ~self._seen.bits[places])
        reached = np.array(self._reached, dtype=np.bool_).reshape(-1, len(truths))[:, places]
        likewise = reached == truths[places]
        chosen = self._greedy(agree, likewise)
        if chosen is None:
            return None
        for number in list(chosen):
            others = [one for one in chosen if one != number]
            if others and not self._is_seen(agree[others], likewise[:, others]):
                chosen = others
        if len(chosen) > MOST_LITERALS:
            return None
        return self._add([2 * one + 1 - int(truths[one]) for one in map(int, places[chosen])])

    def _greedy(self, agree: NDArray[np.uint64], likewise: Truths) -> list[int] | None:
        """Return statements that no seen state has with the same truth values; None if there are many or none.

        ``agree``: for each statement, the seen states that agree on it, as bits. ``likewise``: for each reached state,
        the statements that it agrees on.
        """
        left, also = self._seen.full.copy(), np.ones(len(likewise), dtype=np.bool_)
        chosen: list[int] = []
        while left.any() or also.any():
            words = np.flatnonzero(left)
            numbers = np.bitwise_count(agree[:, words] & left[words]).sum(1, dtype=np.int64)
            numbers += likewise[also].sum(0)
            best = int(np.argmin(numbers))
            if best in chosen or len(chosen) == MOST_CHOSEN:
                return None
            chosen.append(best)
            left &= agree[best]
            also &= likewise[:, best]
        return chosen

    def _is_seen(self, agree: NDArray[np.uint64], likewise: Truths) -> bool:
        """Tell whether a seen state agrees on all of some statements."""
        together = np.bitwise_and.reduce(agree, axis=0) & self._seen.full
        return bool(together.any() or likewise.all(1).any())

    def _add(self, literals: Sequence[int]) -> int:
        if self._number == len(self._clauses):
            more = max(1024, self._number // 4)
            self._clauses = np.concatenate([self._clauses, np.full((more, MOST_LITERALS), -1, dtype=np.int32)])
            self._alive = np.concatenate([self._alive, np.zeros(more, dtype=np.bool_)])
            self._needed = np.concatenate([self._needed, np.zeros(more, dtype=np.bool_)])
        number = self._number
        self._clauses[number, : len(literals)] = literals
        self._alive[number] = True
        self._number += 1
        self.counts.added += 1
        return number
