"""Functions of a Go file: by name, their callers, and their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.go import FUNCTIONS, Program
from proofka.model.deployment.dialects.formats.syntax import all_of, around, named, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def named_functions(program: Program) -> Mapping[str, Node | None]:
    """Return functions and methods by their names; None for a name of several methods."""
    found: dict[str, Node | None] = {}
    for node in all_of(program.root, *FUNCTIONS[:2]):
        name = text_of(node.child_by_field_name("name"))
        found[name] = None if name in found else node
    return found


def function_called(program: Program, functions: Mapping[str, Node | None], call: Node) -> Node | None:
    """Return the function of this file that a call invokes; None if another package or variable can have it."""
    text = text_of(call.child_by_field_name("function"))
    before, _, name = text.rpartition(".")
    function = functions.get(name)
    if function is None or before.partition(".")[0] in program.packages:
        return None
    return function if (function.type == "method_declaration") == bool(before) else None


def results_of(function: Node, at: int) -> list[Node]:
    """Return the expressions that a function returns at this position of its results."""
    found = []
    for node in all_of(function, "return_statement"):
        values = named(next(iter(named(node)), None))
        if around(node, *FUNCTIONS) == function and len(values) > at:
            found.append(values[at])
    return found


def assigned_in(root: Node) -> Iterator[tuple[list[Node], list[Node]]]:
    """Yield the names and values of every declaration and assignment."""
    for node in all_of(root, "short_var_declaration", "var_spec", "assignment_statement"):
        if node.type == "var_spec":
            yield node.children_by_field_name("name"), named(node.child_by_field_name("value"))
        else:
            yield named(node.child_by_field_name("left")), named(node.child_by_field_name("right"))
