"""Induction over the steps of an open system: the largest set of lemmas that each step keeps, found by Z3.

A lemma that the initial state or a step does not keep is dropped, with the lemmas that need it, until the others are
inductive together (the algorithm Houdini). So wrong candidates cost time, and never make a proof wrong.

Reference: C. Flanagan, K. R. M. Leino, "Houdini, an annotation assistant for ESC/Java", FME 2001.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import z3

from proofka.checker.cone import FreeVariables
from proofka.model.language import Action
from proofka.model.language.lemmas import Lemma, OpenSystem
from proofka.model.language.terms import And, BoolVal, Implies, Not, Or


class NoAnswer(Exception):
    """Z3 gave no answer within the limit of time."""


@dataclass(frozen=True)
class Dropped:
    """A lemma outside of the largest inductive set, and the step that does not keep it (None: the initial state)."""

    lemma: Lemma
    step: Action | None

    def __str__(self) -> str:
        """Return the lemma with the reason against it."""
        why = "is false in the initial state" if self.step is None else f"is not kept by {self.step}"
        return f"{self.lemma.words}: {why}"


@dataclass(frozen=True)
class Largest:
    """The largest inductive set of the candidates, and the candidates that are not in it, in the order of dropping."""

    lemmas: tuple[Lemma, ...]
    dropped: tuple[Dropped, ...]


def domains_of(system: OpenSystem) -> Iterator[Lemma]:
    """Yield that each variable stays within its domain, as far as it has one."""
    for variable in system.variables:
        if variable.name in system.endless:
            words, term = f"{variable.name} is at least {variable.low}", variable.term >= variable.low
        else:
            words, term = f"{variable.name} is between {variable.low} and {variable.high}", variable.domain
        yield Lemma(words, term, general="each variable is within its domain, as far as the domain has bounds")


@dataclass
class Conditions:
    """The conditions of induction for an open system and lemmas about it."""

    system: OpenSystem
    lemmas: Sequence[Lemma]
    _values: tuple[z3.ArithRef, ...] = field(init=False)

    def __post_init__(self) -> None:
        spoken_of = dict.fromkeys(one.decl().name() for lemma in self.lemmas for one in lemma.every)
        self._refuse_inputs()
        self._values = (*self.system.instances, *map(z3.Int, spoken_of))

    @property
    def facts(self) -> z3.BoolRef:
        """The condition on the values of functions that no run decides."""
        return And(*self.system.facts)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the unknown values that are no variables: what a step receives, and what lemmas speak of."""
        variables = {variable.name for variable in self.system.variables}
        spoken_of = (one.decl().name() for lemma in self.lemmas for one in lemma.every)
        received = (one.decl().name() for one in self.system.inputs)
        return tuple(name for name in dict.fromkeys((*received, *spoken_of)) if name not in variables)

    @property
    def initial(self) -> z3.BoolRef:
        """The condition of the initial state."""
        return And(*(variable.term == variable.initial for variable in self.system.variables))

    def used(self, lemma: Lemma) -> list[z3.BoolRef]:
        """Return what a proof uses of a lemma: the lemma at each of the values at which it is needed."""
        if not lemma.every:
            return [lemma.term]
        found = []
        for values in product(self._values, repeat=len(lemma.every)):
            premise = And(*map(self._in_range, values))
            found.append(Implies(premise, z3.substitute(lemma.term, *zip(lemma.every, values, strict=True))))
        return found

    def broken(self, lemma: Lemma, step: Action | None = None) -> z3.BoolRef:
        """Return the condition that a lemma is false, before a step or after it."""
        false = And(*map(self._in_range, lemma.every), Not(lemma.term))
        if step is None:
            return false
        return z3.substitute(false, *((variable.term, value) for variable, value in step.updates.items()))

    def _refuse_inputs(self) -> None:
        """Raise ValueError if a lemma or a step reads something that is neither a variable nor declared.

        A lemma about an input would speak of another value after each step.
        """
        free, variables = FreeVariables(), {variable.name for variable in self.system.variables}
        for lemma in self.lemmas:
            strange = free.of(lemma.term) - variables - {one.decl().name() for one in lemma.every}
            if strange:
                raise ValueError(f"{lemma.words}: speaks of {', '.join(sorted(strange))}, which is no variable")
        inputs = {one.decl().name() for one in self.system.inputs}
        for step in self.system.actions:
            read = free.of(step.guard).union(*map(free.of, step.updates.values()))
            strange = (read - inputs | {variable.name for variable in step.updates}) - variables
            if strange:
                raise ValueError(f"{step}: has {', '.join(sorted(strange))}, which is no variable")

    def _in_range(self, value: z3.ArithRef) -> z3.BoolRef:
        ranges_over = self.system.ranges_over
        return BoolVal(True) if ranges_over is None else ranges_over(value)


class Induction:
    """The search for the largest inductive set of lemmas."""

    def __init__(self, system: OpenSystem, lemmas: Sequence[Lemma], deadline: float) -> None:
        self._conditions = Conditions(system, lemmas)
        self._system = system
        self._deadline = deadline
        self._solver = z3.Solver()
        self._solver.set("ctrl_c", False)
        self._solver.add(self._conditions.facts)
        self._in_use: dict[int, z3.BoolRef] = {}
        for number, lemma in enumerate(lemmas):
            self._in_use[number] = z3.Bool(f"lemma {number} is in use")
            self._solver.add(*(Implies(self._in_use[number], one) for one in self._conditions.used(lemma)))
        self._lemmas = dict(enumerate(lemmas))
        self._dropped: list[Dropped] = []

    def largest(self) -> Largest:
        """Return the largest inductive set. Raise :class:`NoAnswer`."""
        self._drop_false_at_the_start()
        waiting = list(self._system.actions)
        while waiting:
            before = len(self._lemmas)
            for step in waiting:
                self._drop_not_kept(step)
            waiting = waiting if len(self._lemmas) < before else []
        return Largest(tuple(self._lemmas.values()), tuple(self._dropped))

    def implies(self, violated: z3.BoolRef) -> bool:
        """Tell whether no state with the lemmas that are left violates a property. Raise :class:`NoAnswer`."""
        return self._model(self._in_use_now(), violated, "the property") is None

    def idle_steps(self) -> tuple[Action, ...]:
        """Return the steps that no state with the lemmas that are left allows. Raise :class:`NoAnswer`.

        A proof says nothing of such a step. If many steps are idle, a candidate or the system can be wrong.
        """
        kept = self._in_use_now()
        return tuple(step for step in self._system.actions if self._model(kept, step.guard, str(step)) is None)

    def _drop_false_at_the_start(self) -> None:
        conditions = self._conditions
        for number, lemma in list(self._lemmas.items()):
            asked = And(conditions.initial, conditions.broken(lemma))
            if self._model((), asked, "the initial state") is not None:
                self._drop([number], None)

    def _drop_not_kept(self, step: Action) -> None:
        """Drop lemmas until the step keeps those that are left."""
        while broken := self._can_break(step):
            model = self._model(self._in_use_now(), And(step.guard, Or(*broken.values())), str(step))
            if model is None:
                return
            self._drop([number for number, one in broken.items() if z3.is_true(model.eval(one, True))], step)

    def _can_break(self, step: Action) -> dict[int, z3.BoolRef]:
        """Return, for each lemma that speaks of something that the step changes, the condition that it breaks it."""
        found = {}
        for number, lemma in self._lemmas.items():
            after = self._conditions.broken(lemma, step)
            if not after.eq(self._conditions.broken(lemma)):
                found[number] = after
        return found

    def _in_use_now(self) -> list[z3.BoolRef]:
        return [self._in_use[number] for number in self._lemmas]

    def _drop(self, numbers: Collection[int], step: Action | None) -> None:
        assert numbers, "a counterexample that breaks no lemma"
        self._dropped += [Dropped(self._lemmas.pop(number), step) for number in numbers]

    def _model(self, assumed: Sequence[z3.BoolRef], condition: z3.BoolRef, what: str) -> z3.ModelRef | None:
        """Return a model of the condition, or None if there is none. Raise :class:`NoAnswer`."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise NoAnswer(f"the time was over before Z3 was asked about {what}")
        self._solver.set("timeout", max(1, round(left * 1000)))
        self._solver.push()
        try:
            self._solver.add(condition)
            answer = self._solver.check(*assumed)
            if answer == z3.unknown:
                raise NoAnswer(f"Z3 gave no answer in time about {what}")
            return self._solver.model() if answer == z3.sat else None
        finally:
            self._solver.pop()
