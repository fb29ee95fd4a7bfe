"""Uses, in a Go program, of a variable with settings that no reader of a library understands.

A file shows a client's settings completely only if no other code can change them. A use is harmless if it is an
assignment that the reader understands, a client's constructor, a comparison, a field that is read, or a log line. Any
other use is reported, and the settings are not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.go import FUNCTIONS, Program
from proofka.model.deployment.dialects.formats.go_names import Variable
from proofka.model.deployment.dialects.formats.syntax import around, line_of, text_of
from proofka.model.deployment.dialects.written import Configured

if TYPE_CHECKING:
    from tree_sitter import Node

_AROUND = ("parenthesized_expression", "literal_element", "expression_list")
_HARMLESS = re.compile(
    r"(fmt|log|slog|assert|require)\.\w*(Print|Log|Debug|Info|Warn|Error|Fatal|Panic|Equal|Nil|True|False|Empty)\w*"
    r"|\w[\w.]*\.(Print|Debug|Info|Warn|Error|Fatal|Panic|Trace)(f|ln|w)?|fmt\.Sprint\w*|(json|yaml)\.Marshal\w*|len"
    r"|(otelsarama|saramatrace|sarama\w*trace)\.Wrap\w+"
)
"""Functions that only look at their arguments; those of tracers look at ``Producer.Return`` and ``Version``."""

_LOOKS = ("Validate", "Get", "String")
_CHANGES = "{} is changed here in a way that cannot be followed"
_GIVEN = "{} is passed to {}() here, whose effect on it cannot be followed"
_KEPT = "{} is stored under another name here, whose uses cannot be followed"
_LATER = "{} is changed here after its use in line {}, so it is unknown which client gets this"
_WHENEVER = "{} is changed here in a function, and the time of its call is unknown"
_WHICH = "{} is also made in another line, and only the running program decides which counts"
_MADE_IF = "{} is made here only if {}"


@dataclass
class Tracked:
    """A variable with settings, and the uses that the reader understood.

    ``made``: the expression that makes it, None for a parameter. ``place``: the name that gets it. ``writes``: places
    that set a value in it. ``given``: places that pass it on: constructors, returns. Both contain uses of the variable.
    """

    variable: Variable
    name: str
    made: Node | None
    place: Node
    configured: Configured
    client: bool = False
    """The variable is the client itself, which can be called and passed on; only its fields are settings."""
    writes: list[Node] = field(default_factory=list)
    given: list[Node] = field(default_factory=list)


def not_followed(program: Program, tracked: Tracked, alike: Iterable[Tracked]) -> list[tuple[int, str]]:
    """Return the lines of uses that can change the settings and are not understood, each with the reason.

    ``alike``: all values that the same variable holds at some time.
    """
    found: list[tuple[int, str]] = []
    name, makings = tracked.name, list(alike)
    understood = {use.id for one in makings for use in (*one.writes, *one.given, one.place)}
    for use in program.names.uses(tracked.variable):
        reason = "" if use.id in understood else what_happens(program, use, client=tracked.client)
        if reason:
            found.append((line_of(use), reason.format(name, _called(use))))
    home = _function(tracked.place)
    first: dict[int, Node] = {}
    for use in sorted(tracked.given, key=lambda one: one.start_byte):
        first.setdefault(_function(use), use)
    for use in tracked.writes:
        before = first.get(_function(use))
        if before is not None and before.start_byte < use.start_byte:
            found.append((line_of(use), _LATER.format(name, line_of(before))))
        elif _function(use) != home and not (home == 0 and _is_init(use)):
            found.append((line_of(use), _WHENEVER.format(name)))
    return found + _made_otherwise(program, tracked, makings)


def _made_otherwise(program: Program, tracked: Tracked, makings: list[Tracked]) -> list[tuple[int, str]]:
    """Return the lines in which the variable can hold another value than the followed one, on some path."""
    made = tracked.made
    if made is None:
        return []
    for one in makings:
        if one is not tracked and not follows(one.place, made):
            return [(line_of(made), _WHICH.format(tracked.name))]
    for use in tracked.given:
        condition = program.conditions(made, use)
        if condition:
            return [(line_of(made), _MADE_IF.format(tracked.name, condition))]
    return []


def follows(one: Node, other: Node) -> bool:
    """Tell whether both nodes are in statements of one list, so that the later always follows the earlier."""
    places = []
    for node in (one, other):
        above: Node | None = node
        while above is not None and above.parent is not None and above.parent.type not in ("statement_list", "block"):
            above = above.parent
        places.append(0 if above is None or above.parent is None else above.parent.id)
    return places[0] == places[1] != 0


def what_happens(program: Program, use: Node, *, client: bool = False) -> str:
    """Return the reason for which a use of settings can change them; empty if it cannot. ``{}``: its name, and the
    called function."""
    node, fields, pointer = use, 0, False
    above = node.parent
    while above is not None:
        if above.type == "selector_expression":
            fields += 1
        elif above.type == "unary_expression" and text_of(above)[:1] in "&*":
            pointer = pointer or text_of(above).startswith("&")
        elif above.type != "parenthesized_expression":
            break
        node, above = above, above.parent
    while above is not None and above.type in _AROUND:
        node, above = above, above.parent
    if above is None:
        return _CHANGES
    reads = client if not fields else not pointer
    if above.type in ("assignment_statement", "short_var_declaration", "var_spec", "range_clause"):
        return _assigned(above, node, reads=reads)
    if above.type in ("binary_expression", "parameter_declaration"):
        return ""
    if above.type == "call_expression":  # The use is the object of a method call.
        method = text_of(above.child_by_field_name("function")).rpartition(".")[2]
        return "" if fields > 1 or client or method in _LOOKS else _CHANGES
    if above.type == "argument_list" and above.parent is not None:
        called = text_of(above.parent.child_by_field_name("function"))
        return "" if reads or _HARMLESS.fullmatch(called) else _GIVEN
    if above.type == "index_expression" and above.child_by_field_name("operand") == node:
        return _of_index(above, fields)
    if above.type in ("inc_statement", "dec_statement"):
        return _CHANGES
    if above.type in ("keyed_element", "literal_value"):
        return "" if reads else _stored(program, above, use)
    return "" if reads or above.type in ("return_statement", "if_statement", "expression_statement") else _KEPT


def _assigned(statement: Node, part: Node, *, reads: bool) -> str:
    """Return the reason for a use in an assignment, a declaration, or the head of a loop."""
    left = statement.child_by_field_name("left")
    if statement.type == "range_clause":
        return "" if left != part else _CHANGES
    if (left is not None and left == part) or (statement.child_by_field_name("value") is None and left is None):
        return "" if statement.type == "var_spec" else _CHANGES
    return "" if reads or text_of(left).strip() == "_" else _KEPT


def _of_index(index: Node, fields: int) -> str:
    """Return the reason for a use of a map's entry, which is read or set."""
    above = index.parent
    while above is not None and above.type in _AROUND:
        index, above = above, above.parent
    if above is None or above.type in ("inc_statement", "dec_statement", "unary_expression"):
        return _CHANGES
    if above.type == "assignment_statement" and above.child_by_field_name("left") == index:
        return _CHANGES
    return ""


def _stored(program: Program, element: Node, use: Node) -> str:
    """Return the reason for a value kept in a struct: harmless if the file only looks at that field."""
    key = text_of(element.child_by_field_name("key")) if element.type == "keyed_element" else ""
    ones = program.names.fields.get(key, []) if key else []
    if not key or any(what_happens(program, one) for one in ones if one.id != use.id):
        return _KEPT
    return ""


def _called(use: Node) -> str:
    call = around(use, "call_expression")
    return text_of(call.child_by_field_name("function"))[:60] if call is not None else ""


def _function(node: Node) -> int:
    function = around(node, *FUNCTIONS)
    return 0 if function is None else function.id


def _is_init(node: Node) -> bool:
    """Tell whether a node is in ``init()``, which runs before everything except the variables of the package."""
    function = around(node, *FUNCTIONS)
    return function is not None and text_of(function.child_by_field_name("name")) == "init"
