"""The system of a certificate as SMT-LIB text: the same system gives the same text, byte for byte.

The terms stand as the model wrote them, with constants folded by local rules (checker/export/expressions.py), and not
as Z3 has simplified them: Z3's terms depend on its earlier work. An action whose guard folds to false is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import z3

from proofka.checker.export.expressions import Expression, Expressions, Op
from proofka.checker.export.named_parts import OWN_NAME, names_of, uses_of
from proofka.checker.export.smtlib import OPERATORS, numeral
from proofka.model.language import Action, ActionKey, Variable


class NameTaken(ValueError):
    """A variable has a name that the text gives to a term."""


@dataclass(frozen=True)
class Asked:
    """A property in a certificate: ``term`` is the violating term, or the term of the goal if ``is_goal``."""

    name: str
    term: z3.BoolRef
    witness: z3.BoolRef
    is_goal: bool


@dataclass(frozen=True)
class _Step:
    """An action of the text: its guard, and the next value of each variable that it changes, as expressions."""

    action: Action
    guard: int
    values: tuple[tuple[str, int], ...]


@dataclass
class SystemText:
    """The text of a system with properties, and the numbers of its actions in the text."""

    variables: Sequence[Variable]
    actions: Sequence[Action]
    asked: Sequence[Asked]
    _expressions: Expressions = field(init=False)

    def __post_init__(self) -> None:
        if taken := [variable.name for variable in self.variables if OWN_NAME.fullmatch(variable.name)]:
            raise NameTaken(f"{', '.join(taken)}: rename the variable; certificates name terms t0, t1, ...")
        self._expressions = Expressions({variable.name: variable for variable in self.variables})
        read = self._expressions.read
        steps = (_Step(action, read(action.guard), tuple(self._changes(action))) for action in self.actions)
        self._steps = [step for step in steps if not self._expressions.is_(step.guard, False)]
        self._asked = [(one, read(one.term), read(one.witness)) for one in self.asked]
        self._numbers = {step.action.key: number for number, step in enumerate(self._steps)}
        self._names = self._choose_names()

    def _changes(self, action: Action) -> Iterator[tuple[str, int]]:
        for variable in sorted(action.updates, key=lambda one: one.name):
            value = self._expressions.read(action.updates[variable])
            if value != self._expressions.read(variable.term):
                yield variable.name, value

    def number_of(self, key: ActionKey) -> int:
        """Return the number of an action in the text. Raise KeyError for an action that the text does not have."""
        return self._numbers[key]

    def changed_by(self, key: ActionKey) -> Collection[str]:
        """Return the names of the variables that an action changes. Raise KeyError as :meth:`number_of`."""
        return [name for name, _ in self._steps[self._numbers[key]].values]

    def text(self) -> str:
        """Return the script."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "(set-info :smt-lib-version 2.6)"
        yield "(set-logic QF_LIA)"
        for variable in self.variables:
            yield f"(declare-const {variable.name} Int)"
            facts = " ".join(numeral(int(value)) for value in (variable.low, variable.high, variable.initial))
            yield f"(set-info :variable ({variable.name} {facts}))"
        for place, name in self._names.items():
            sort = "Bool" if self._expressions.is_truth(place) else "Int"
            yield f"(define-fun {name} () {sort} {self._body(place)})"
        for number, step in enumerate(self._steps):
            fault = "none" if step.action.fault is None else step.action.fault.value
            yield f"(set-info :action ({number} {quoted(str(step.action))} {fault} {self._names[step.guard]}))"
            for name, value in step.values:
                yield f"(set-info :next ({name} {self._names[value]}))"
        for one, term, witness in self._asked:
            kind = "goal" if one.is_goal else "property"
            yield f"(set-info :{kind} ({quoted(one.name)} {self._names[term]} {self._names[witness]}))"

    def _roots(self) -> Iterator[int]:
        for step in self._steps:
            yield step.guard
            yield from (value for _, value in step.values)
        for _, term, witness in self._asked:
            yield from (term, witness)

    def _choose_names(self) -> dict[int, str]:
        """Return a name for each root, each part that is used twice, and each part that would nest too deep."""
        nodes, roots = self._expressions.nodes, set(self._roots())
        return names_of(nodes, uses_of(nodes, roots), named=roots)

    def _written(self, place: int) -> str:
        is_leaf = not self._expressions.nodes[place].children
        return self._body(place) if is_leaf or place not in self._names else self._names[place]

    def _body(self, place: int) -> str:
        node = self._expressions.nodes[place]
        return _leaf(node) or f"({OPERATORS[node.op]} {' '.join(map(self._written, node.children))})"


def _leaf(node: Expression) -> str | None:
    """Return the text of a variable, a number or a truth value; None for an operator."""
    if node.op is Op.VARIABLE:
        return str(node.leaf)
    if node.op is Op.NUMBER:
        return numeral(int(node.leaf))
    if node.op is Op.TRUTH:
        return "true" if node.leaf else "false"
    return None


def quoted(text: str) -> str:
    """Return a text as a string of SMT-LIB."""
    return '"' + text.replace('"', '""') + '"'
