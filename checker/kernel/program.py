"""A system for the kernel, without Z3: a table of nodes, and the nodes of guards, updates and predicates."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import z3

from proofka.checker.kernel.canonical import Canonical
from proofka.checker.kernel.layout import Layout
from proofka.checker.terms import Node, TermTable, hashes
from proofka.model.language import Action, Variable


@dataclass(frozen=True)
class Step:
    """An action: its label, the node of its guard, and the nodes of the values that the action assigns."""

    label: int
    guard: int
    updates: Mapping[Variable, int]


@dataclass(frozen=True)
class Program:
    """The input of code generation: ``groups`` of steps by name, ``predicates`` by name.

    A program holds no term of Z3, so other threads can read and release a program.
    """

    layout: Layout
    nodes: Sequence[Node]
    groups: Mapping[str, Sequence[Step]]
    predicates: Mapping[str, Sequence[int]]
    canonical: Canonical | None

    @property
    def most_successors(self) -> dict[str, int]:
        """Largest number of successors of a state, by the name of a group."""
        return {name: len(steps) for name, steps in self.groups.items()}

    @cached_property
    def prints(self) -> list[bytes]:
        """The hash of each node."""
        return hashes(self.nodes)

    def digest(self) -> bytes:
        """Return a hash of everything that affects the machine code."""
        known = self.prints
        fields = [
            (name, field.variable.low, field.variable.high, field.word, field.shift, field.width)
            for name, field in self.layout.fields.items()
        ]
        groups = [(name, [_hashed(step, known) for step in steps]) for name, steps in self.groups.items()]
        predicates = [(name, [known[place] for place in places]) for name, places in self.predicates.items()]
        parts = (self.layout.words, fields, groups, predicates, _described(self.canonical))
        return hashlib.sha256(repr(parts).encode()).digest()


def _hashed(step: Step, known: Sequence[bytes]) -> object:
    return step.label, known[step.guard], [(variable.name, known[place]) for variable, place in step.updates.items()]


def _described(canonical: Canonical | None) -> object:
    if canonical is None:
        return None
    ranked = [(one.name, [v.name for v in one.variables], one.reserved) for one in canonical.ranked]
    permutations = [
        (
            [(v.name, to.name) for v, to in one.variables.items()],
            [(v.name, list(values.items())) for v, values in one.values.items()],
        )
        for one in canonical.permutations
    ]
    return ranked, permutations


def program(
    layout: Layout,
    groups: Mapping[str, Sequence[tuple[int, Action]]],
    predicates: Mapping[str, Sequence[z3.BoolRef]],
    canonical: Canonical | None,
) -> Program:
    """Read the terms of labelled actions and of predicates."""
    terms = TermTable()
    steps = {
        name: [
            Step(label, terms.add(action.guard), {v: terms.add(value) for v, value in action.updates.items()})
            for label, action in labelled
        ]
        for name, labelled in groups.items()
    }
    asked = {name: [terms.add(predicate) for predicate in several] for name, several in predicates.items()}
    return Program(layout, terms.nodes, steps, asked, canonical)
