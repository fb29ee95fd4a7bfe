"""LLVM text of a program: one function for each group of steps, and one for each set of predicates.

The guards form a decision tree that tests the condition shared by most steps first. So a state pays only for the steps
that can be enabled in it, and only the updates of enabled steps are computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

import z3

from proofka.checker.kernel.assembly import Function, module, number
from proofka.checker.kernel.canonical import CanonicalForm
from proofka.checker.kernel.program import Program, Step
from proofka.checker.terms import Node, conjuncts
from proofka.model.language import Variable


class UnsupportedTerm(Exception):
    """A term uses an operator unknown to the kernel. Extend ``_applied`` or rewrite the term."""


def emit(program: Program) -> str:
    """Return the LLVM text of a program's functions.

    Raise :class:`UnsupportedTerm` for an operator that the kernel does not know.
    """
    form = CanonicalForm(program.layout, program.canonical) if program.canonical is not None else None
    functions = [] if form is None else form.functions
    for name, steps in program.groups.items():
        functions.append(_expand(name, program, steps, form))
    for name, predicates in program.predicates.items():
        functions.append(_inspect(name, program, predicates))
    return module(functions)


_COMPARISONS = {
    z3.Z3_OP_LE: "icmp sle i64",
    z3.Z3_OP_LT: "icmp slt i64",
    z3.Z3_OP_GE: "icmp sge i64",
    z3.Z3_OP_GT: "icmp sgt i64",
}
_FOLDS = {
    z3.Z3_OP_AND: "and i1",
    z3.Z3_OP_OR: "or i1",
    z3.Z3_OP_XOR: "xor i1",
    z3.Z3_OP_ADD: "add i64",
    z3.Z3_OP_SUB: "sub i64",
    z3.Z3_OP_MUL: "mul i64",
}
_EQUALITIES = {z3.Z3_OP_EQ: "icmp eq", z3.Z3_OP_DISTINCT: "icmp ne"}
_TRUTHS = {True: "true", False: "false"}


class _Values:
    """The values of nodes, written into a function. A value computed on every path to a place is reused there."""

    def __init__(self, function: Function, program: Program) -> None:
        self.function = function
        self.layout = layout = program.layout
        self.nodes = program.nodes
        self.prints = program.prints
        self.words = [function.load(function.at(function.arguments[0], word)) for word in range(layout.words)]
        self._known: dict[int, str] = {}
        self._order: list[int] = []

    @contextmanager
    def inner(self) -> Iterator[None]:
        """Forget, at the end of the block, the values that were computed in the block."""
        before = len(self._order)
        yield
        for place in self._order[before:]:
            del self._known[place]
        del self._order[before:]

    def of(self, place: int) -> str:
        """Return the value of a node."""
        known = self._known.get(place)
        if known is not None:
            return known
        node = self.nodes[place]
        if node.kind == z3.Z3_OP_ANUM:
            return number(int(node.leaf or 0))
        decided = self.decided(place)
        if decided is not None:
            return _TRUTHS[decided]
        found = self._field(str(node.leaf)) if node.is_variable else self._applied(node)
        self._known[place] = found
        self._order.append(place)
        return found

    def _field(self, name: str) -> str:
        field, function = self.layout.fields[name], self.function
        value = function.masked(function.shifted(self.words[field.word], -field.shift), (1 << field.width) - 1)
        return function.binary("add", value, number(field.variable.low)) if field.variable.low else value

    def _applied(self, node: Node) -> str:
        kind, write = node.kind, self.function.value
        if kind == z3.Z3_OP_TRUE or kind == z3.Z3_OP_FALSE:
            return _TRUTHS[kind == z3.Z3_OP_TRUE]
        values = [self.of(child) for child in node.children]
        if kind == z3.Z3_OP_AND or kind == z3.Z3_OP_OR:
            neutral = _TRUTHS[kind == z3.Z3_OP_AND]
            values = [value for value in values if value != neutral] or [neutral]
        if kind in _FOLDS:
            result = values[0]
            for value in values[1:]:
                result = write(f"{_FOLDS[kind]} {result}, {value}")
            return result
        if kind in _COMPARISONS:
            return write(f"{_COMPARISONS[kind]} {values[0]}, {values[1]}")
        if kind in _EQUALITIES and len(values) == 2:
            return write(f"{_EQUALITIES[kind]} {self._type(node.children[0])} {values[0]}, {values[1]}")
        if kind == z3.Z3_OP_NOT:
            return write(f"xor i1 {values[0]}, true")
        if kind == z3.Z3_OP_UMINUS:
            return write(f"sub i64 0, {values[0]}")
        if kind == z3.Z3_OP_IMPLIES:
            negated = write(f"xor i1 {values[0]}, true")
            return write(f"or i1 {negated}, {values[1]}")
        if kind == z3.Z3_OP_ITE:
            return self.function.select(values[0], values[1], values[2], self._type(node.children[1]))
        raise UnsupportedTerm(
            f"the kernel does not know operator {node.leaf or node.kind}: add it to checker/kernel/emission.py"
        )

    def _type(self, place: int) -> str:
        """Return LLVM's type of a node; a conditional has the type of its branches."""
        node = self.nodes[place]
        while node.kind == z3.Z3_OP_ITE:
            node = self.nodes[node.children[1]]
        return "i1" if node.kind in _BOOLEAN else "i64"

    def decided(self, place: int) -> bool | None:
        """Return the result of a comparison of a variable with a number if the result is the same for all values, else
        None.
        """
        node = self.nodes[place]
        if node.kind == z3.Z3_OP_NOT:
            inner = self.decided(node.children[0])
            return None if inner is None else not inner
        judged = _JUDGED.get(node.kind)
        if judged is None:
            return None
        left = self._range(node.children[0])
        right = self._range(node.children[1]) if left is not None else None
        return None if left is None or right is None else judged(*left, *right)

    def _range(self, place: int) -> tuple[int, int] | None:
        """Return the lowest and the highest possible value of a variable's field or of a number, else None."""
        node = self.nodes[place]
        if node.kind == z3.Z3_OP_ANUM and isinstance(node.leaf, int):
            return node.leaf, node.leaf
        if not node.is_variable or str(node.leaf) not in self.layout.fields:
            return None
        field = self.layout.fields[str(node.leaf)]
        return field.variable.low, field.variable.low + (1 << field.width) - 1


_BOOLEAN = frozenset(
    {
        *(kind for kind, operation in _FOLDS.items() if operation.endswith("i1")),
        *_COMPARISONS,
        *_EQUALITIES,
        z3.Z3_OP_TRUE,
        z3.Z3_OP_FALSE,
        z3.Z3_OP_NOT,
        z3.Z3_OP_IMPLIES,
    }
)


def _at_most(low: int, high: int, least: int, most: int) -> bool | None:
    return True if high <= least else False if low > most else None


def _below(low: int, high: int, least: int, most: int) -> bool | None:
    return True if high < least else False if low >= most else None


def _equal(low: int, high: int, least: int, most: int) -> bool | None:
    return True if low == high == least == most else False if high < least or low > most else None


_JUDGED: Mapping[int, Callable[[int, int, int, int], bool | None]] = {
    z3.Z3_OP_LE: _at_most,
    z3.Z3_OP_LT: _below,
    z3.Z3_OP_GE: lambda low, high, least, most: _at_most(least, most, low, high),
    z3.Z3_OP_GT: lambda low, high, least, most: _below(least, most, low, high),
    z3.Z3_OP_EQ: _equal,
}
"""For each comparison, a function from two ranges to the result, or to None if the result depends on the values."""


Pending = TypeVar("Pending")


def _by_shared_test(
    values: _Values, pending: Sequence[tuple[Pending, frozenset[int]]]
) -> Iterator[tuple[int, list[tuple[Pending, frozenset[int]]]]]:
    """Yield the tests in the order to make them, with the steps behind each test and their remaining tests.

    The test shared by most pending steps comes first; of several, the test with the smallest hash. The place of a node
    would not do: Z3 orders arguments by what it worked on before. The order of tests is the order of successors, and
    the order of successors determines which of several shortest traces is found.
    """
    count = Counter(test for _, tests in pending for test in tests)
    while pending:
        test = min(count, key=lambda place: (-count[place], values.nodes[place].depth, values.prints[place]))
        behind = [(one, tests - {test}) for one, tests in pending if test in tests]
        pending = [one for one in pending if test not in one[1]]
        for done in (done for _, tests in behind for done in (*tests, test)):
            count[done] -= 1
            if not count[done]:
                del count[done]
        yield test, behind


class _Expansion:
    """The function that writes the successors of a group of steps."""

    def __init__(self, values: _Values, form: CanonicalForm | None) -> None:
        self.values = values
        self.form = form
        self.count = values.function.cell()

    def tree(self, pending: Sequence[tuple[Step, frozenset[int]]]) -> None:
        """Test the condition that most pending steps share once, and write these steps behind the test."""
        values = self.values
        for step, tests in pending:
            if not tests:
                with values.inner():
                    self._successor(step)
        for test, behind in _by_shared_test(values, [one for one in pending if one[1]]):
            with values.function.when(values.of(test)), values.inner():
                self.tree(behind)

    def _successor(self, step: Step) -> None:
        function, words = self.values.function, self.values.layout.words
        row = self._updated(step.updates)
        position = function.load(self.count)
        out = function.at(function.arguments[1], function.binary("mul", position, str(words + 1)))
        for offset, value in enumerate([*row, str(step.label)]):
            function.store(value, function.at(out, offset))
        if self.form is not None:
            self.form.apply(function, out, self.values.words, row, frozenset(step.updates))
        function.store(function.binary("add", position, "1"), self.count)

    def _updated(self, updates: Mapping[Variable, int]) -> list[str]:
        """Return the words of the state, with the new values of these variables."""
        values, layout, function = self.values, self.values.layout, self.values.function
        kept = [(1 << 64) - 1] * layout.words
        constant = [0] * layout.words
        added: list[list[str]] = [[] for _ in range(layout.words)]
        for variable, place in updates.items():
            field, node = layout.fields[variable.name], values.nodes[place]
            kept[field.word] &= ~field.mask
            if node.kind == z3.Z3_OP_ANUM:
                constant[field.word] |= (int(node.leaf or 0) - variable.low) << field.shift
                continue
            value = values.of(place)
            if variable.low:
                value = function.binary("sub", value, number(variable.low))
            added[field.word].append(function.shifted(value, field.shift))
        row = []
        for word, mask, fixed, changed in zip(values.words, kept, constant, added, strict=True):
            parts = [function.masked(word, mask), *changed]
            row.append(function.any_of([*parts, number(fixed)] if fixed else parts))
        return row


def _expand(name: str, program: Program, steps: Sequence[Step], form: CanonicalForm | None) -> str:
    function = Function(name, 2)
    expansion = _Expansion(_Values(function, program), form)
    expansion.tree([(step, conjuncts(program.nodes, step.guard)) for step in steps])
    return function.text(function.load(expansion.count))


def _inspect(name: str, program: Program, predicates: Sequence[int]) -> str:
    """Write the function that evaluates predicates.

    Each predicate is a disjunction; a disjunct is evaluated only if its cheap conditions hold.
    """
    function, nodes = Function(name, 1), program.nodes
    values = _Values(function, program)
    result = function.cell()
    pending = [
        (bit, frozenset(test for test in tests if values.decided(test) is None))
        for bit, predicate in enumerate(predicates)
        for tests in _disjuncts(nodes, predicate)
        if not any(values.decided(test) is False for test in tests)
    ]
    _bits(values, result, pending)
    return function.text(function.load(result))


def _disjuncts(nodes: Sequence[Node], place: int) -> list[frozenset[int]]:
    """Return the disjuncts of a predicate, each as a set of conditions."""
    node = nodes[place]
    if node.kind == z3.Z3_OP_OR:
        return [tests for child in node.children for tests in _disjuncts(nodes, child)]
    return [] if node.kind == z3.Z3_OP_FALSE else [conjuncts(nodes, place)]


def _bits(values: _Values, result: str, pending: Sequence[tuple[int, frozenset[int]]]) -> None:
    """Set the bit of each predicate with a disjunct that holds, and test shared conditions once."""
    function = values.function
    held = sum(1 << bit for bit in {bit for bit, tests in pending if not tests})
    if held:
        function.store(function.binary("or", function.load(result), number(held)), result)
    for test, behind in _by_shared_test(values, [one for one in pending if one[1]]):
        with function.when(values.of(test)), values.inner():
            _bits(values, result, behind)
