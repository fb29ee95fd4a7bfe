"""Java: the order of two statements within a method, whether one has run before the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.java import shape_of
from proofka.model.deployment.dialects.formats.java_names import CLASSES, INITIALIZER, ROUTINES
from proofka.model.deployment.dialects.formats.syntax import all_of, line_of, named, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

LOOPS = ("for_statement", "enhanced_for_statement", "while_statement", "do_statement")
_CASES = ("switch_block_statement_group", "switch_rule")
_TRIES = ("try_statement", "try_with_resources_statement")
_OWN = (*ROUTINES, "class_body")


def holds(outer: Node, inner: Node) -> bool:
    """Tell whether a node is within another one, or is that node."""
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def routine_of(node: Node) -> Node | None:
    """Return the method, constructor or initializer around a node; a lambda is part of the one around it."""
    above = node.parent
    while above is not None:
        if above.type in ROUTINES and above.type != "lambda_expression":
            return above
        if _initializes(above):
            return above
        above = above.parent
    return None


def lambda_of(node: Node, within: Node) -> Node | None:
    """Return the lambda, or the method of an inner class, between a node and an enclosing node."""
    above = node.parent
    while above is not None and above.id != within.id and holds(within, above):
        if above.type in _OWN:
            return above
        above = above.parent
    return None


def loop_of(node: Node, without: Node) -> Node | None:
    """Return the outermost loop around a node that does not contain another node."""
    found, above = None, node.parent
    while above is not None and not holds(above, without):
        if above.type in LOOPS:
            found = above
        above = above.parent
    return found


def returns_of(routine: Node) -> list[Node]:
    """Return the places in which a method returns, without those of its lambdas and classes."""
    return [one for one in all_of(routine, "return_statement") if lambda_of(one, routine) is None]


def conditions(node: Node, use: Node | None) -> str | None:
    """Return the conditions for ``node`` to have run before ``use`` (None: before the end); "" if it always has.

    None if it never has, because both are alternatives.
    """
    found: list[str] = []
    below, above = node, node.parent
    while above is not None and above.type not in ROUTINES[:4]:
        if use is not None and holds(above, use):
            return None if _alternatives(above, node, use) else " and ".join(reversed(found))
        found += _condition(above, below)
        if _initializes(above):
            break
        below, above = above, above.parent
    return " and ".join(reversed(found))


def _initializes(node: Node) -> bool:
    """Tell whether a node is an instance initializer block."""
    return node.type == INITIALIZER and node.parent is not None and node.parent.type in CLASSES


def _alternatives(above: Node, node: Node, use: Node) -> bool:
    """Tell whether two nodes are in branches of which only one runs."""
    if above.type not in ("if_statement", "ternary_expression"):
        return False
    for one, other in (("consequence", "alternative"), ("alternative", "consequence")):
        first, second = above.child_by_field_name(one), above.child_by_field_name(other)
        if first is not None and second is not None and holds(first, node) and holds(second, use):
            return True
    return False


def _condition(above: Node, below: Node) -> Iterator[str]:
    kind = above.type
    if kind in ("if_statement", "ternary_expression"):
        condition = shape_of(above.child_by_field_name("condition")).strip("()")
        if above.child_by_field_name("consequence") == below:
            yield condition
        elif above.child_by_field_name("alternative") == below:
            yield f"not {condition}"
    elif kind in _CASES:
        yield f"the case is {shape_of(next(iter(named(above)), None))}"
    elif kind in LOOPS or kind in ("catch_clause", "labeled_statement"):
        yield kind.replace("_", " ")
    elif kind == "binary_expression" and above.child_by_field_name("right") == below:
        if text_of(above.child_by_field_name("operator")) in ("&&", "||"):
            yield shape_of(above.child_by_field_name("left"))
    elif kind in ("lambda_expression", "class_body"):
        yield f"the code in line {line_of(above)} is called"
    elif kind == "assert_statement":
        yield "assertions are on"
    elif kind in _TRIES and above.child_by_field_name("body") == below and _goes_on(above):
        yield "nothing fails before it"


def _goes_on(attempt: Node) -> bool:
    """Tell whether the method continues after a failure: some ``catch`` does not leave it."""
    for clause in named(attempt):
        if clause.type == "catch_clause":
            last = named(clause.child_by_field_name("body"))[-1:]
            if not last or last[0].type not in ("throw_statement", "return_statement"):
                return True
    return False


def after_return(node: Node, routine: Node, use: Node | None) -> str:
    """Return the condition that an early return sets for later code of a method whose end is ``use``; "" if none."""
    for one in returns_of(routine):
        if one.end_byte <= node.start_byte and not (use is not None and holds(one, use)):
            return f"line {line_of(one)} does not return before"
    return ""
