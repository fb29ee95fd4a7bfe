"""Java: what names stand for, what expressions come to, and conditions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from model.deployment.dialects.formats.syntax import (
    LARGEST,
    LONGEST,
    all_of,
    around,
    in_one_line,
    line_of,
    named,
    text_of,
    tree_of,
)
from model.deployment.dialects.written import Value

if TYPE_CHECKING:
    from tree_sitter import Node

METHODS = ("method_declaration", "constructor_declaration", "static_initializer", "block_lambda")
DEEPEST = 40
_SAME = ("valueOf", "toString", "parseInt", "parseLong", "ofMillis", "of")
_WRAPPERS = ("String", "Integer", "Long", "Boolean", "Short", "Double")
_LIMITS = {
    "Integer.MAX_VALUE": str(2**31 - 1),
    "Long.MAX_VALUE": str(2**63 - 1),
    "Integer.MIN_VALUE": str(-(2**31)),
    "Boolean.TRUE": "true",
    "Boolean.FALSE": "false",
}
_ENUM = re.compile(
    r"(?:\w+\.)*(?:OffsetResetStrategy|IsolationLevel|CompressionType|AutoOffsetReset)\.([A-Z_]+)\b.*", re.DOTALL
)
_CLASS = re.compile(r"([\w.]+)\.class(?:\.get(?:Canonical|Simple|Type)?Name\(\))?")
_BOUND = re.compile(r'@Value\(\s*(?:value\s*=\s*)?"([^"]*)"\s*\)')
_PLACEHOLDER = re.compile(r"[$#]\{([^:}]*)(?::[^}]*)?\}")
_LARGEST = 2**63


@dataclass
class Program:
    """One Java file."""

    root: Node
    file: str = ""

    @cached_property
    def _declared(self) -> Mapping[str, list[tuple[int, Node | None]]]:
        """Each name with the method that it is declared in (0: a class), and its value."""
        declared: dict[str, list[tuple[int, Node | None]]] = {}
        for node in all_of(
            self.root, "variable_declarator", "assignment_expression", "formal_parameter", "update_expression"
        ):
            target = node.child_by_field_name("name") or node.child_by_field_name("left")
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            name = text_of(target) if target is not None else text_of(node).strip("+-")
            owner = around(node, *METHODS)
            where = 0 if owner is None else owner.id
            if node.type in ("assignment_expression", "update_expression"):
                local = any(at == where for at, _ in declared.get(name.removeprefix("this."), ()))
                declared.setdefault(name.removeprefix("this."), []).append((where if local else 0, value))
            else:
                declared.setdefault(name, []).append((where, value))
        return declared

    @cached_property
    def bound(self) -> Mapping[str, tuple[str, int]]:
        """Each field that Spring sets from a property, with that as a placeholder."""
        fields: dict[str, tuple[str, int]] = {}
        for node in all_of(self.root, "field_declaration", "formal_parameter"):
            found = _BOUND.search(text_of(node))
            names = [one.child_by_field_name("name") for one in all_of(node, "variable_declarator", "formal_parameter")]
            for name in names if found is not None else ():
                if found is not None:
                    fields[text_of(name)] = (_PLACEHOLDER.sub(r"${\1}", found[1]), line_of(node))
        return fields

    def is_local(self, node: Node, name: str) -> bool:
        """The name is declared in the method that the node stands in."""
        owner = around(node, *METHODS)
        return owner is not None and any(at == owner.id for at, _ in self._declared.get(name, ()))

    def value_of(self, node: Node) -> Node | None:
        """The expression that a name stands for, if it gets one value only."""
        name = text_of(node).removeprefix("this.")
        owner = around(node, *METHODS)
        for where in (0 if owner is None else owner.id, 0):
            values = [value for at, value in self._declared.get(name, ()) if at == where]
            if values:
                return values[0] if len(values) == 1 else None
        return None

    def value(self, node: Node, depth: int = 0) -> Value:
        """What an expression comes to. Each is worked out once."""
        place = (node.id, depth)
        if place not in self._worked_out:
            value = self._value(node, depth)
            too_long = value.text is not None and len(value.text) > LONGEST
            self._worked_out[place] = Value(None, value.shown) if too_long else value
        return self._worked_out[place]

    @cached_property
    def _worked_out(self) -> dict[tuple[int, int], Value]:
        return {}

    def _value(self, node: Node, depth: int) -> Value:
        shown = in_one_line(node)
        if depth > DEEPEST:
            return Value(None, shown)
        inner = named(node)
        text = text_of(node)
        if node.type == "string_literal":
            return Value(_text(text), shown)
        if node.type.endswith("_integer_literal"):
            return Value(_number(text), shown)
        if node.type == "decimal_floating_point_literal":
            return Value(text.rstrip("fFdD"), shown)
        if node.type in ("true", "false"):
            return Value(text, shown)
        if text in _LIMITS:
            return Value(_LIMITS[text], shown)
        named_class, one_of = _CLASS.fullmatch(text), _ENUM.fullmatch(text)
        if named_class is not None or one_of is not None:
            return Value(named_class[1] if named_class is not None else one_of[1].lower() if one_of else None, shown)
        if node.type in ("identifier", "field_access"):
            plain = text.removeprefix("this.")
            if plain in self.bound and not self.is_local(node, plain):
                return Value(self.bound[plain][0], f"@Value {plain}", outside=True)
            return self._same(self.value_of(node), shown, depth)
        if node.type in ("parenthesized_expression", "cast_expression") and inner:
            return self._same(inner[-1], shown, depth)
        if node.type == "unary_expression" and text.startswith("-") and inner:
            value = self.value(inner[0], depth + 1)
            return Value(f"-{value.text}" if value.known and (value.text or "").isdigit() else None, shown)
        if node.type == "binary_expression":
            return self._combined(node, depth)
        if node.type == "method_invocation":
            return self._called(node, depth)
        return Value(None, shown)

    def _same(self, node: Node | None, shown: str, depth: int) -> Value:
        if node is None:
            return Value(None, shown)
        value = self.value(node, depth + 1)
        return Value(value.text, shown, value.outside)

    def _called(self, node: Node, depth: int) -> Value:
        shown = in_one_line(node)
        receiver, name = node.child_by_field_name("object"), text_of(node.child_by_field_name("name"))
        arguments = named(node.child_by_field_name("arguments"))
        if text_of(receiver) == "System" and name == "getenv" and len(arguments) == 1:
            variable = self.value(arguments[0], depth + 1)
            return Value(f"${{{variable.text}}}" if variable.known else None, shown, outside=variable.known)
        if text_of(receiver) in _WRAPPERS and name in _SAME and len(arguments) == 1:
            return self._same(arguments[0], shown, depth)
        if name == "toString" and not arguments:
            return self._same(receiver, shown, depth)
        return Value(None, shown)

    def _combined(self, node: Node, depth: int) -> Value:
        shown = in_one_line(node)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return Value(None, shown)
        first, second = self.value(left, depth + 1), self.value(right, depth + 1)
        operator = text_of(node.child_by_field_name("operator"))
        if not first.known or not second.known:
            return Value(None, shown)
        one, other = first.text or "", second.text or ""
        texts = "string_literal" in (left.type, right.type)
        if not texts and one.lstrip("-").isdigit() and other.lstrip("-").isdigit() and max(len(one), len(other)) < 20:
            sums = {"*": int(one) * int(other), "+": int(one) + int(other), "-": int(one) - int(other)}
            result = sums.get(operator)
            return Value(None if result is None or abs(result) >= _LARGEST else str(result), shown)
        return Value(one + other if operator == "+" and texts else None, shown)

    def conditions(self, node: Node) -> str:
        """Under which conditions in its method a statement runs; empty for none."""
        found: list[str] = []
        below, above = node, node.parent
        while above is not None and above.type not in METHODS:
            if above.type in ("if_statement", "ternary_expression"):
                condition = in_one_line(above.child_by_field_name("condition")).strip("()")
                if above.child_by_field_name("consequence") == below:
                    found.append(condition)
                elif above.child_by_field_name("alternative") == below:
                    found.append(f"not {condition}")
            elif above.type in ("switch_block_statement_group", "switch_rule"):
                found.append(f"the case is {in_one_line(next(iter(named(above)), None))}")
            elif above.type in ("catch_clause", "for_statement", "enhanced_for_statement", "while_statement"):
                found.append(above.type.replace("_", " "))
            below, above = above, above.parent
        return " and ".join(reversed(found))


def _text(literal: str) -> str | None:
    try:
        return str(json.loads(literal, strict=False))
    except ValueError:
        return None


def _number(literal: str) -> str | None:
    plain = literal.replace("_", "").rstrip("lL").lower()
    try:
        octal = len(plain) > 1 and plain.isdigit() and plain[0] == "0"
        return str(int(plain, 8 if octal else 0)) if len(plain) < 40 else None
    except ValueError:
        return None


def program_of(text: str, file: str) -> Program:
    """A Java file. Raises DeploymentError with the line where it is not valid Java."""
    return Program(tree_of(text, file, "java", "Java", largest=LARGEST), file)
