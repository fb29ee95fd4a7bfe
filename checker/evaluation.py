"""Evaluation of terms in a concrete state, in plain Python: many terms at once, each shared part once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import z3

from proofka.checker.terms import Node, TermTable
from proofka.model.language import State

Value = int | bool


class UnknownOperator(Exception):
    """A term uses an operator that no model uses."""


def _joined(symbol: str, nothing: str) -> Callable[[Sequence[str]], str]:
    return lambda children: symbol.join(children) if children else nothing


_EXPRESSIONS: dict[int, Callable[[Sequence[str]], str]] = {
    z3.Z3_OP_TRUE: lambda _: "True",
    z3.Z3_OP_FALSE: lambda _: "False",
    z3.Z3_OP_AND: _joined(" and ", "True"),
    z3.Z3_OP_OR: _joined(" or ", "False"),
    z3.Z3_OP_NOT: lambda children: f"not {children[0]}",
    z3.Z3_OP_IMPLIES: lambda children: f"not {children[0]} or {children[1]}",
    z3.Z3_OP_EQ: _joined(" == ", "True"),
    z3.Z3_OP_DISTINCT: lambda children: f"len({{{', '.join(children)}}}) == {len(children)}",
    z3.Z3_OP_ITE: lambda children: f"{children[1]} if {children[0]} else {children[2]}",
    z3.Z3_OP_LE: _joined(" <= ", "True"),
    z3.Z3_OP_LT: _joined(" < ", "True"),
    z3.Z3_OP_GE: _joined(" >= ", "True"),
    z3.Z3_OP_GT: _joined(" > ", "True"),
    z3.Z3_OP_ADD: _joined(" + ", "0"),
    z3.Z3_OP_SUB: _joined(" - ", "0"),
    z3.Z3_OP_UMINUS: lambda children: f"-{children[0]}",
    z3.Z3_OP_MUL: _joined(" * ", "1"),
}
"""For each operator, a function from the names of its operands to a Python expression."""


class Evaluator:
    """An evaluator of fixed terms, compiled to Python code once."""

    def __init__(self, terms: Iterable[z3.ExprRef]) -> None:
        table = TermTable()
        places = [table.add(term) for term in terms]
        self._values: Callable[[State], list[Value]] = _compiled(table.nodes, places)

    def values(self, state: State) -> list[Value]:
        """Evaluate each term in a state."""
        return self._values(state)


def _compiled(nodes: Sequence[Node], places: Sequence[int]) -> Callable[[State], list[Value]]:
    """Return a function from a state to the values of these nodes. Raise :class:`UnknownOperator`."""
    lines = ["def values(state):"]
    names: list[str] = []
    for place, node in enumerate(nodes):
        if node.kind == z3.Z3_OP_ANUM:
            names.append(f"({node.leaf})")
            continue
        names.append(f"v{place}")
        lines.append(f"    v{place} = {_expression(node, names)}")
    lines.append(f"    return [{', '.join(names[place] for place in places)}]")
    scope: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<terms>", "exec"), scope)
    made: Callable[[State], list[Value]] = scope["values"]
    return made


def _expression(node: Node, names: Sequence[str]) -> str:
    if node.is_variable:
        return f"state[{node.leaf!r}]"
    if node.kind not in _EXPRESSIONS:
        raise UnknownOperator(f"no model is written with operator {node.kind} of Z3")
    return _EXPRESSIONS[node.kind]([names[child] for child in node.children])
