"""Conditions as scripts of SMT-LIB, written from the table of terms that the kernel compiles as well.

The text does not come from Z3's own printer, so that a second solver does not read what the first one wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import z3

from proofka.checker.export.named_parts import OWN_NAME, names_of, uses_of
from proofka.checker.export.smtlib import numeral
from proofka.checker.terms import Node, TermTable
from proofka.checker.timing.network import Edge
from proofka.model.language import Variable

_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
"""The names of variables that a script holds as they are."""

_OPERATORS = {
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
    z3.Z3_OP_NOT: "not",
    z3.Z3_OP_XOR: "xor",
    z3.Z3_OP_IMPLIES: "=>",
    z3.Z3_OP_EQ: "=",
    z3.Z3_OP_IFF: "=",
    z3.Z3_OP_DISTINCT: "distinct",
    z3.Z3_OP_ITE: "ite",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_UMINUS: "-",
    z3.Z3_OP_MUL: "*",
}
_NEUTRAL = {z3.Z3_OP_AND: "true", z3.Z3_OP_OR: "false", z3.Z3_OP_ADD: "0"}
"""The operators that a term can apply to fewer than two terms, each with its value for none."""

_OF_NUMBERS = (z3.Z3_OP_ANUM, z3.Z3_OP_UNINTERPRETED, z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_UMINUS, z3.Z3_OP_MUL)
"""The operators whose terms are numbers. Of a choice, the branches decide."""


class CannotBeWritten(ValueError):
    """A term has an operator or a name that a script does not have."""


class Scripts:
    """The scripts of conditions over some variables."""

    def __init__(self, variables: Iterable[Variable], terms: TermTable | None = None) -> None:
        self._variables = {variable.name: variable for variable in variables}
        for name in self._variables:
            if OWN_NAME.fullmatch(name) or not _SYMBOL.fullmatch(name):
                raise CannotBeWritten(f"{name}: cannot be the name of a variable in a script")
        self._terms = TermTable() if terms is None else terms

    def within_domains(self, condition: z3.BoolRef) -> str:
        """Return the script that asks for values within the domains that fulfil the condition."""
        return self._script(condition, {}, in_domains=True)

    def with_constants(self, condition: z3.BoolRef, constants: Mapping[str, int]) -> str:
        """Return the script that asks for values that fulfil the condition, of which the constants have theirs."""
        return self._script(condition, constants, in_domains=False)

    def without_domains(self, condition: z3.BoolRef) -> str:
        """Return the script that asks for values that fulfil the condition, whatever the domains are.

        The condition may apply functions of numbers.
        """
        return self._script(condition, {}, in_domains=False)

    def _script(self, condition: z3.BoolRef, constants: Mapping[str, int], *, in_domains: bool) -> str:
        root = self._terms.add(condition)
        used = uses_of(self._terms.nodes, [root])
        functions = _functions(self._terms.nodes, used)
        logic = "QF_UFLIA" if functions else "QF_LIA"
        lines = ["(set-info :smt-lib-version 2.6)", f"(set-logic {logic})"]
        lines += [f"(declare-fun {name} ({' '.join(['Int'] * count)}) Int)" for name, count in functions.items()]
        names = sorted(str(self._terms.nodes[place].leaf) for place in used if self._terms.nodes[place].is_variable)
        for name in names:
            lines += self._declared(name, constants, in_domains=in_domains)
        lines += [*_Text(self._terms.nodes, used, root).lines(), "(check-sat)"]
        return "\n".join(lines) + "\n"

    def _declared(self, name: str, constants: Mapping[str, int], *, in_domains: bool) -> Iterator[str]:
        variable = self._variables.get(name)
        if variable is None:
            raise CannotBeWritten(f"{name}: is no variable of the system")
        yield f"(declare-const {name} Int)"
        if name in constants:
            yield f"(assert (= {name} {numeral(constants[name])}))"
        elif in_domains:
            yield f"(assert (<= {numeral(variable.low)} {name} {numeral(variable.high)}))"


def _functions(nodes: Sequence[Node], used: Iterable[int]) -> dict[str, int]:
    """Return the functions of numbers that some terms apply, each with the number of its arguments, in order."""
    applied = (nodes[place] for place in used if nodes[place].kind == z3.Z3_OP_UNINTERPRETED)
    found = {str(node.leaf): len(node.children) for node in applied if node.children}
    for name in found:
        if OWN_NAME.fullmatch(name) or not _SYMBOL.fullmatch(name):
            raise CannotBeWritten(f"{name}: cannot be the name of a function in a script")
    return dict(sorted(found.items()))


def cycle_script(edges: Sequence[Edge]) -> str:
    """Return the script that asks for times that satisfy the constraints of a cycle."""
    numbers: dict[int, int] = {}
    for edge in edges:
        for step in (edge.tail, edge.head):
            numbers.setdefault(step, len(numbers))
    lines = ["(set-info :smt-lib-version 2.6)", "(set-logic QF_LIA)"]
    lines += [f"(declare-const at{number} Int)" for number in numbers.values()]
    lines += [
        f"(assert (<= (- at{numbers[edge.head]} at{numbers[edge.tail]}) {numeral(edge.weight)}))" for edge in edges
    ]
    return "\n".join((*lines, "(check-sat)")) + "\n"


class _Text:
    """The text of a condition, in which each part that is used twice or nests deep has a name."""

    def __init__(self, nodes: Sequence[Node], uses: Mapping[int, int], root: int) -> None:
        self._nodes = nodes
        self._root = root
        self._names = names_of(nodes, uses, unnamed=[root])
        self._is_condition: dict[int, bool] = {}
        for place in sorted(uses):
            self._is_condition[place] = self._judged(nodes[place])

    def lines(self) -> Iterator[str]:
        for place, name in self._names.items():
            sort = "Bool" if self._is_condition[place] else "Int"
            yield f"(define-fun {name} () {sort} {self._body(place)})"
        yield f"(assert {self._body(self._root)})"

    def _judged(self, node: Node) -> bool:
        """Tell whether a node is a truth value."""
        if node.kind == z3.Z3_OP_ITE:
            return self._is_condition[node.children[1]]
        return node.kind not in _OF_NUMBERS

    def _written(self, place: int) -> str:
        return self._names.get(place) or self._body(place)

    def _body(self, place: int) -> str:
        node = self._nodes[place]
        if node.is_variable:
            return str(node.leaf)
        if node.kind == z3.Z3_OP_ANUM:
            return numeral(int(str(node.leaf)))
        if node.kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
            return "true" if node.kind == z3.Z3_OP_TRUE else "false"
        if node.kind == z3.Z3_OP_UNINTERPRETED:
            return f"({node.leaf} {' '.join(map(self._written, node.children))})"
        if node.kind not in _OPERATORS:
            raise CannotBeWritten(f"operator {node.kind} of Z3 has no form in a script")
        if node.kind in _NEUTRAL and len(node.children) < 2:
            return self._written(node.children[0]) if node.children else _NEUTRAL[node.kind]
        return f"({_OPERATORS[node.kind]} {' '.join(map(self._written, node.children))})"
