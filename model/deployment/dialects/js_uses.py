"""Uses, in a JavaScript program, of an object of settings that can change it and are not read.

A client's object has the settings in the file only if no other code changes it. A use is harmless if it is a setting
that the reader understands, the client itself, a log line, a copy, a value that is read, or an export. Any other use is
reported, and the settings are not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.javascript import FUNCTIONS, Program
from proofka.model.deployment.dialects.formats.syntax import around, line_of, named, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_HARMLESS = re.compile(
    r"(console|log|logger|winston|this\.logger|this\.log)(\.\w+)?|[\w.]+\.(log|debug|info|warn|error|trace)"
    r"|JSON\.stringify|structuredClone|Object\.(keys|values|entries|freeze)|expect|util\.inspect"
)
_CLIENTS = re.compile(
    r"(.*\.)?(Kafka|Producer|HighLevelProducer|KafkaConsumer|Consumer|ConsumerGroup|ConsumerStream|KafkaClient)"
    r"|.*\.(createWriteStream|createReadStream|producer|consumer|admin|send|sendBatch|subscribe|run)"
    r"|(.*\.)?(createMicroservice|connectMicroservice|ClientsModule\.register|ClientProxyFactory\.create)"
)
_AROUND = (
    "parenthesized_expression",
    "as_expression",
    "satisfies_expression",
    "non_null_expression",
    "await_expression",
    "array",
)
_READ = ("binary_expression", "unary_expression", "if_statement", "ternary_expression", "template_substitution")
_GIVEN = "{} is passed to {}() here, whose effect on it cannot be followed"
_KEPT = "{} is stored under another name here, whose uses cannot be followed"
CHANGED = "{} is changed here in a way that cannot be followed"
LATER = "{} is changed here after its use in line {}, so it is unknown which client gets this"
WHENEVER = "{} is changed here in a function, and the time of its call is unknown"


def not_followed(program: Program, name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines in which the object of this name can be changed in an unknown way, each with the reason."""
    for use in program.uses(name):
        if use.id not in program.understood:
            why = _what_happens(use)
            if why:
                call = around(use, "call_expression", "new_expression")
                to = "" if call is None else _called(call)
                yield line_of(use), why.format(name, to[:60])


def order(program: Program, name: str, use: Node, write: Node) -> str:
    """Return the reason for which an assignment to the object may not reach its user here; empty if it does."""
    values = program.values_of(name)
    home = around(values[0], *FUNCTIONS) if len(values) == 1 and values[0] is not None else None
    function = around(write, *FUNCTIONS)
    if function != home:
        return WHENEVER.format(name)
    if function == around(use, *FUNCTIONS) and write.start_byte > use.start_byte:
        return LATER.format(name, line_of(use))
    first = program.first_returned(name).get(0 if function is None else function.id)
    if first is not None and first.start_byte < write.start_byte:
        return LATER.format(name, line_of(first))
    return ""


def _what_happens(use: Node) -> str:
    node, fields = use, 0
    above = node.parent
    while above is not None and (above.type in (*_AROUND, "member_expression", "subscript_expression")):
        if above.type == "subscript_expression" and above.child_by_field_name("index") == node:
            return ""
        fields += above.type in ("member_expression", "subscript_expression")
        node, above = above, above.parent
    if above is None:
        return CHANGED
    if above.type in ("assignment_expression", "augmented_assignment_expression", "update_expression"):
        return _assigned(above, node, fields)
    if above.type in ("variable_declarator", "for_in_statement"):
        return "" if fields or above.child_by_field_name("name") == node or above.type == "for_in_statement" else _KEPT
    if above.type == "unary_expression" and text_of(above).startswith("delete"):
        return CHANGED
    if above.type in ("call_expression", "new_expression"):
        method = text_of(node).rpartition(".")[2]
        return "" if fields > 1 or method in ("hasOwnProperty", "toString") else CHANGED
    if above.type == "arguments" and above.parent is not None:
        return _given(above, node, fields)
    if fields or above.type in (*_READ, "spread_element", "return_statement", "expression_statement"):
        return ""
    return "" if around(use, "export_statement") is not None or _is_exported(above) else _KEPT


def _assigned(statement: Node, part: Node, fields: int) -> str:
    left = statement.child_by_field_name("left")
    if left is None or left == part or statement.type == "update_expression":
        return CHANGED
    return "" if fields or _is_export(left) else _KEPT


def _given(arguments: Node, node: Node, fields: int) -> str:
    called = _called(arguments.parent) if arguments.parent is not None else ""
    if called == "Object.assign" and named(arguments)[0] == node:
        return CHANGED
    fine = fields or called == "Object.assign" or _HARMLESS.fullmatch(called) or _CLIENTS.fullmatch(called)
    return "" if fine else _GIVEN


def _called(call: Node) -> str:
    return text_of(call.child_by_field_name("constructor") or call.child_by_field_name("function"))


def _is_exported(node: Node) -> bool:
    """Tell whether a node is in an object that the module exports."""
    statement = around(node, "assignment_expression")
    return statement is not None and _is_export(statement.child_by_field_name("left"))


def _is_export(left: Node | None) -> bool:
    return re.match(r"(module\.)?exports\b", text_of(left)) is not None
