"""Go programs: imports, values of names and expressions, and the conditions of a statement."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.go_names import FUNCTIONS as FUNCTIONS
from proofka.model.deployment.dialects.formats.go_names import Names
from proofka.model.deployment.dialects.formats.syntax import (
    LARGEST,
    LONGEST,
    all_of,
    around,
    in_one_line,
    named,
    text_of,
    tree_of,
)
from proofka.model.deployment.dialects.written import Value

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 40
"""The deepest nesting of expressions."""

_DECLARE = (
    "short_var_declaration",
    "range_clause",
    "receive_statement",
    "const_spec",
    "var_spec",
    "parameter_declaration",
    "variadic_parameter_declaration",
)
_UNITS = {
    "Nanosecond": 1,
    "Microsecond": 10**3,
    "Millisecond": 10**6,
    "Second": 10**9,
    "Minute": 60 * 10**9,
    "Hour": 3600 * 10**9,
}
_NUMBERS = ("int", "int8", "int16", "int32", "int64", "uint", "uint16", "uint32", "uint64", "float64", "string")
_CASES = ("expression_case", "type_case", "communication_case", "default_case")
_LARGEST = 2**63


@dataclass(frozen=True)
class Known:
    """The value of an expression. ``kind``: number, duration (in ns), text, name (of a package's), or environment."""

    kind: str
    value: int | float | str

    @property
    def text(self) -> str:
        """The value in a setting's form."""
        if self.kind == "duration" and isinstance(self.value, int):
            return _duration(self.value)
        return str(self.value)


def _duration(nanoseconds: int) -> str:
    for unit, name in ((10**6, "ms"), (10**3, "us")):
        if nanoseconds % unit == 0:
            return f"{nanoseconds // unit}{name}"
    return f"{nanoseconds}ns"


@dataclass
class Program:
    """One Go file."""

    root: Node
    file: str = ""

    @cached_property
    def packages(self) -> Mapping[str, str]:
        """The path of each package by its name in the file."""
        packages = {}
        for spec in all_of(self.root, "import_spec"):
            path = text_of(spec.child_by_field_name("path")).strip('"`')
            name = text_of(spec.child_by_field_name("name"))
            packages[name or _package_of(path)] = path
        return packages

    @cached_property
    def names(self) -> Names:
        """The variable of each name."""
        return Names(self.root)

    @cached_property
    def _declared(self) -> Mapping[str, list[tuple[int, Node | None]]]:
        """Each name with the function that declares it (0: none) and its value; parameters have no value."""
        declared: dict[str, list[tuple[int, Node | None]]] = {}
        for node in all_of(self.root, *_DECLARE):
            owner = around(node, *FUNCTIONS)
            where = 0 if owner is None else owner.id
            if node.type in _DECLARE[:3]:
                names = named(node.child_by_field_name("left"))
                values = named(node.child_by_field_name("right")) if node.type == _DECLARE[0] else []
            else:
                names = node.children_by_field_name("name")
                values = named(node.child_by_field_name("value"))
            for number, name in enumerate(names):
                value = values[number] if len(values) == len(names) else None
                declared.setdefault(text_of(name), []).append((where, value))
        return declared

    @cached_property
    def _changed(self) -> frozenset[str]:
        """Names that are assigned to, or whose address is taken."""
        changed = set()
        for node in all_of(self.root, "assignment_statement", "unary_expression", "inc_statement", "dec_statement"):
            if node.type == "assignment_statement":
                changed |= {text_of(one) for one in named(node.child_by_field_name("left")) if one.type == "identifier"}
            elif node.type != "unary_expression" or text_of(node).startswith("&"):
                changed |= {text_of(one) for one in named(node) if one.type == "identifier"}
        return frozenset(changed)

    def value_of(self, name: Node) -> Node | None:
        """Return the expression of a name that is declared once, in sight, and never changed; otherwise None."""
        text = text_of(name)
        if text in self._changed:
            return None
        owner: Node | None = name
        while owner is not None:
            owner = around(owner, *FUNCTIONS)
            where = 0 if owner is None else owner.id
            here = [value for at, value in self._declared.get(text, ()) if at == where]
            if here:
                return here[0] if len(here) == 1 else None
        return None

    def value(self, node: Node, packages: tuple[str, ...] = ()) -> Value:
        """Return the value of an expression; constants and calls of these packages remain, without the package's
        name."""
        shown = in_one_line(node)
        known = self.known(node, packages)
        if known is None:
            return Value(None, shown)
        if known.kind == "environment":
            return Value(f"${{{known.value}}}", shown, outside=True)
        return Value(known.text, shown)

    def known(self, node: Node, packages: tuple[str, ...] = (), depth: int = 0) -> Known | None:
        """Return the value with its kind, cached; None if only the running program knows it."""
        if depth > DEEPEST:
            return None
        place = (node.id, packages, depth)
        if place not in self._worked_out:
            known = self._known(node, packages, depth)
            too_long = known is not None and isinstance(known.value, str) and len(known.value) > LONGEST
            self._worked_out[place] = None if too_long else known
        return self._worked_out[place]

    @cached_property
    def _worked_out(self) -> dict[tuple[int, tuple[str, ...], int], Known | None]:
        return {}

    def _known(self, node: Node, packages: tuple[str, ...], depth: int) -> Known | None:
        inner = named(node)
        if node.type in ("int_literal", "float_literal"):
            return _number(text_of(node))
        if node.type in ("interpreted_string_literal", "raw_string_literal"):
            return _text(node)
        if node.type in ("true", "false"):
            return Known("text", node.type)
        if node.type == "identifier":
            if text_of(node) in ("true", "false"):
                return Known("text", text_of(node))
            stands_for = self.value_of(node)
            return None if stands_for is None else self.known(stands_for, packages, depth + 1)
        if node.type in ("parenthesized_expression", "expression_list", "literal_element") and len(inner) == 1:
            return self.known(inner[0], packages, depth + 1)
        if node.type == "unary_expression" and text_of(node).startswith(("-", "&")) and inner:
            value = self.known(inner[0], packages, depth + 1)
            if value is None or text_of(node).startswith("&"):
                return value
            return None if isinstance(value.value, str) else Known(value.kind, -value.value)
        if node.type == "binary_expression":
            return self._combined(node, packages, depth)
        if node.type == "selector_expression":
            package, _, name = text_of(node).partition(".")
            if self.packages.get(package) == "time" and name in _UNITS:
                return Known("duration", _UNITS[name])
            return Known("name", name) if package in packages else None
        if node.type == "call_expression":
            return self._called(node, packages, depth)
        if node.type == "composite_literal":
            items = [self.known(one, packages, depth + 1) for one in named(node.child_by_field_name("body"))]
            texts = [one.text for one in items if one is not None and one.kind in ("text", "name", "number")]
            return Known("text", ",".join(texts)) if items and len(texts) == len(items) else None
        return None

    def _combined(self, node: Node, packages: tuple[str, ...], depth: int) -> Known | None:
        left, right = (node.child_by_field_name(side) for side in ("left", "right"))
        operator = text_of(node.child_by_field_name("operator"))
        if left is None or right is None:
            return None
        first, second = self.known(left, packages, depth + 1), self.known(right, packages, depth + 1)
        if first is None or second is None:
            return None
        if operator == "+" and first.kind == second.kind == "text":
            return Known("text", f"{first.value}{second.value}")
        if isinstance(first.value, str) or isinstance(second.value, str):
            return None
        kind = "duration" if "duration" in (first.kind, second.kind) else "number"
        try:
            result = _computed(operator, first.value, second.value)
        except (OverflowError, ZeroDivisionError, ValueError):
            return None
        if result is None or abs(result) >= _LARGEST:
            return None
        return Known(kind, int(result) if kind == "duration" or result == int(result) else result)

    def _called(self, node: Node, packages: tuple[str, ...], depth: int) -> Known | None:
        function = text_of(node.child_by_field_name("function"))
        arguments = named(node.child_by_field_name("arguments"))
        package, _, name = function.partition(".")
        if function in ("os.Getenv", "os.LookupEnv") and len(arguments) == 1:
            variable = self.known(arguments[0], packages, depth + 1)
            return Known("environment", variable.value) if variable is not None and variable.kind == "text" else None
        if function in (*_NUMBERS, "[]string") or (package in packages and name in ("RequiredAcks", "IsolationLevel")):
            return self.known(arguments[0], packages, depth + 1) if len(arguments) == 1 else None
        if self.packages.get(package) == "time" and name == "Duration" and len(arguments) == 1:
            value = self.known(arguments[0], packages, depth + 1)
            return None if value is None or isinstance(value.value, str) else Known("duration", int(value.value))
        if package in packages and not arguments:
            return Known("name", f"{name}()")
        operand = node.child_by_field_name("function")
        if operand is not None and operand.type == "selector_expression" and not arguments:
            # A chain such as NewOffset().AtStart().
            before = operand.child_by_field_name("operand")
            chain = self.known(before, packages, depth + 1) if before is not None else None
            if chain is not None and chain.kind == "name":
                return Known("name", f"{chain.value}.{text_of(operand.child_by_field_name('field'))}()")
        return None

    def conditions(self, node: Node, known: Node | None) -> str:
        """Return the conditions under which a statement runs once ``known`` has run; empty for none."""
        found: list[str] = []
        below, above = node, node.parent
        while above is not None and not _holds(above, known):
            found += _condition(below, above)
            below, above = above, above.parent
        return " and ".join(reversed(found))


def _holds(node: Node, known: Node | None) -> bool:
    """Tell whether a node contains the other one, and so is no condition between the two."""
    return known is not None and node.start_byte <= known.start_byte and known.end_byte <= node.end_byte


def _condition(below: Node, above: Node) -> Iterator[str]:
    if above.type == "if_statement":
        condition = in_one_line(above.child_by_field_name("condition"))
        if above.child_by_field_name("consequence") == below:
            yield condition
        elif above.child_by_field_name("alternative") == below:
            yield f"not {condition}"
    elif above.type in _CASES:
        switch = around(above, "expression_switch_statement", "type_switch_statement", "select_statement")
        value = in_one_line(switch.child_by_field_name("value")) if switch is not None else ""
        case = in_one_line(above.child_by_field_name("value")) or "something else"
        yield f"{value} is {case}" if value else case
    elif above.type == "for_statement" and above.child_by_field_name("body") == below:
        yield "a loop runs"


def _computed(operator: str, first: float, second: float) -> float | None:
    if operator == "*":
        return first * second
    if operator == "+":
        return first + second
    if operator == "-":
        return first - second
    if operator == "/" and isinstance(first, int) and isinstance(second, int):
        return abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
    if operator == "<<" and isinstance(first, int) and isinstance(second, int) and 0 <= second < 63:
        return first << second
    return None


def _number(text: str) -> Known | None:
    plain = text.replace("_", "").lower()
    try:
        if len(plain) > 20:
            return None
        if plain[:1] == "0" and plain[1:].isdigit():
            return Known("number", int(plain, 8))
        value = int(plain, 0) if plain[:2] in ("0x", "0b", "0o") or plain.isdigit() else float(plain)
    except (ValueError, OverflowError):
        return None
    return Known("number", int(value) if value == int(value) else value) if abs(value) < _LARGEST else None


def _text(node: Node) -> Known | None:
    text = text_of(node)
    if node.type == "raw_string_literal":
        return Known("text", text.strip("`"))
    try:
        return Known("text", json.loads(text, strict=False))
    except ValueError:
        return None


def _package_of(path: str) -> str:
    """Return a package's default name: the end of its path, without a version."""
    parts = [part for part in path.split("/") if not (part[:1] == "v" and part[1:].isdigit())]
    name = parts[-1] if parts else path
    return name.partition(".v")[0].removeprefix("go-").replace("-go", "")


def program_of(text: str, file: str) -> Program:
    """Parse a Go program. Raises DeploymentError with the line of invalid Go."""
    return Program(tree_of(text, file, "go", "Go", largest=LARGEST), file)
