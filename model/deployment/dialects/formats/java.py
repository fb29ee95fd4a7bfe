"""Java: the values of names and expressions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.java_names import Declared, Names, names_of
from proofka.model.deployment.dialects.formats.syntax import (
    LARGEST,
    LONGEST,
    in_one_line,
    named,
    text_of,
    tree_of,
)
from proofka.model.deployment.dialects.written import Value

if TYPE_CHECKING:
    from tree_sitter import Node

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
    r"(?:\w+\.)*(?:OffsetResetStrategy|IsolationLevel|CompressionType|AutoOffsetReset)\.([A-Z_]+)"
    r"(?:\.name|(?:\.name\(\)|\.toString\(\))?\.toLowerCase\([\w.]*\)|\.toString\(\))?"
)
_CLASS = re.compile(r"([\w.]+)\.class(?:\.get(?:Canonical|Simple|Type)?Name\(\))?")
_BOUND = re.compile(r"\$\{([^:{}$#]+)(?::.*)?\}", re.DOTALL)
_LARGEST = 2**63
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass
class Program:
    """One Java file."""

    root: Node
    file: str = ""

    @cached_property
    def names(self) -> Names:
        """The variable of each name."""
        return names_of(self.root)

    def value_of(self, node: Node) -> Node | None:
        """Return the expression of a name that gets only one value; otherwise None."""
        found = self.names.meant(node)
        return None if found is None else found.only_value

    def value(self, node: Node, depth: int = 0) -> Value:
        """Return the value of an expression, cached."""
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
        shown = shape_of(node)
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
            found = self.names.meant(node)
            if found is not None and found.bound is not None and not found.writes:
                return _bound(found)
            return self._same(None if found is None else found.only_value, shown, depth)
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
        shown = shape_of(node)
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
        shown = shape_of(node)
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


def _bound(variable: Declared) -> Value:
    """Return Spring's value: the placeholder without its default, which any property can outrank."""
    text = variable.bound[0] if variable.bound is not None else ""
    found, shown = _BOUND.fullmatch(text), f"@Value {variable.name}"
    if found is not None:
        return Value(f"${{{found[1]}}}", shown, outside=True)
    return Value(None if "${" in text or "#{" in text else text, shown, outside=True)


def shape_of(node: Node | None) -> str:
    """Return an expression for a message, without its texts, which can be secrets."""
    return _TEXTS.sub('"..."', in_one_line(node))


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
    """Parse a Java file. Raises DeploymentError with the line of invalid Java."""
    return Program(tree_of(text, file, "java", "Java", largest=LARGEST), file)
