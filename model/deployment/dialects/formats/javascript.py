"""JavaScript and TypeScript: modules, values of names and expressions, conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

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
from proofka.model.deployment.errors import DeploymentError

if TYPE_CHECKING:
    from tree_sitter import Node

LANGUAGES = {
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
}
FUNCTIONS = (
    "function_declaration",
    "function_expression",
    "generator_function_declaration",
    "generator_function",
    "arrow_function",
    "method_definition",
)
_PATTERNS = ("object_pattern", "array_pattern", "rest_pattern", "assignment_pattern", "object_assignment_pattern")
DEEPEST = 40
MOST_SETTINGS = 20_000
"""The largest number of settings that are read from names, for all clients together; a reader reads each twice."""

_SAME = ("Number", "parseInt", "parseFloat", "String", "Boolean")
_WRAPPED = (
    "parenthesized_expression",
    "as_expression",
    "satisfies_expression",
    "non_null_expression",
    "await_expression",
)
_ENVIRONMENT = re.compile(r"process\.env(?:\.(\w+)|\[['\"](\w+)['\"]\])")
_LARGEST = 2**53


@dataclass
class Program:
    """One file of JavaScript or TypeScript."""

    root: Node
    file: str = ""
    _settings: int = 0

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """Each name from a module, with that module and its name there: ``kafkajs:Kafka``, ``kafkajs:``."""
        names: dict[str, str] = {}
        for node in all_of(self.root, "import_statement"):
            module = text_of(node.child_by_field_name("source")).strip("'\"`")
            for one in all_of(node, "import_specifier", "namespace_import", "import_clause"):
                if one.type == "import_specifier":
                    name = text_of(one.child_by_field_name("name"))
                    names[text_of(one.child_by_field_name("alias")) or name] = f"{module}:{name}"
                else:
                    names |= {text_of(sub): f"{module}:" for sub in named(one) if sub.type == "identifier"}
        for node in all_of(self.root, "variable_declarator"):
            target, value = node.child_by_field_name("name"), text_of(node.child_by_field_name("value"))
            found = re.match(r"require\(['\"]([^'\"]+)['\"]\)((?:\.\w+)*)$", value)
            if target is None or found is None:
                continue
            inside = found[2].lstrip(".")
            if target.type == "object_pattern":
                for one in named(target):
                    parts = [text_of(part) for part in named(one)] or [text_of(one)]
                    names[parts[-1]] = f"{found[1]}:{f'{inside}.' if inside else ''}{parts[0]}"
            else:
                names[text_of(target)] = f"{found[1]}:{inside}"
        return names

    def full_name(self, node: Node | None) -> str:
        """Return the name of a class or function with its module: ``node-rdkafka:Producer``."""
        first, dot, rest = text_of(node).partition(".")
        known = self.modules.get(first)
        if known is None:
            return text_of(node)
        return f"{known}{dot if rest and not known.endswith(':') else ''}{rest}"

    @cached_property
    def _declared(self) -> Mapping[str, list[Node | None]]:
        declared: dict[str, list[Node | None]] = {}
        for node in all_of(
            self.root, "variable_declarator", "assignment_expression", "augmented_assignment_expression"
        ):
            target = node.child_by_field_name("name") or node.child_by_field_name("left")
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            if target is not None and target.type in ("identifier", "member_expression"):
                plain = node.type != "augmented_assignment_expression"
                declared.setdefault(text_of(target), []).append(value if plain else None)
        for node in all_of(self.root, "update_expression"):
            declared.setdefault(text_of(node).strip("+-"), []).append(None)
        for one in self._bound_otherwise():
            declared.setdefault(text_of(one), []).append(None)
        return declared

    def _bound_otherwise(self) -> Iterator[Node]:
        """Yield names whose value is no expression of the file: parameters, parts of objects, loop variables."""
        for node in all_of(self.root, "formal_parameters", "required_parameter", "optional_parameter", "catch_clause"):
            yield from (one for one in named(node) if one.type == "identifier")
        for node in all_of(self.root, "arrow_function", "for_in_statement"):
            one = node.child_by_field_name("parameter") or node.child_by_field_name("left")
            if one is not None and one.type == "identifier":
                yield one
        patterns = (
            "object_pattern",
            "array_pattern",
            "rest_pattern",
            "assignment_pattern",
            "object_assignment_pattern",
        )
        for node in all_of(self.root, *patterns):
            for one in named(node):
                value = one.child_by_field_name("value") if one.type == "pair_pattern" else one
                if value is not None and value.type in ("identifier", "shorthand_property_identifier_pattern"):
                    yield value

    @cached_property
    def understood(self) -> set[int]:
        """Names of objects that a reader has read, at their places (the ids of their nodes)."""
        return set()

    @cached_property
    def _used(self) -> Mapping[str, list[Node]]:
        used: dict[str, list[Node]] = {}
        for node in all_of(self.root, "identifier", "shorthand_property_identifier", "member_expression"):
            used.setdefault(text_of(node), []).append(node)
        return used

    def first_returned(self, name: str) -> Mapping[int, Node]:
        """Return the first place in each function (its node's id, 0: none) that returns the value of this name."""
        if name not in self._returned:
            found: dict[int, Node] = {}
            for use in self.uses(name):
                back = around(use, "return_statement", *FUNCTIONS)
                if back is not None and back.type == "return_statement":
                    function = around(back, *FUNCTIONS)
                    found.setdefault(0 if function is None else function.id, use)
            self._returned[name] = found
        return self._returned[name]

    @cached_property
    def _returned(self) -> dict[str, dict[int, Node]]:
        return {}

    def count(self, settings: int) -> None:
        """Raise DeploymentError for more settings, of all clients, than a real program has."""
        self._settings += settings
        if self._settings > MOST_SETTINGS:
            raise DeploymentError(
                f"sets more than {MOST_SETTINGS // 2} settings of all its clients; split the file", file=self.file
            )

    @cached_property
    def _set_in(self) -> Mapping[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in all_of(self.root, "assignment_expression"):
            target = node.child_by_field_name("left")
            if target is not None and target.type in ("subscript_expression", "member_expression"):
                found.setdefault(text_of(target.child_by_field_name("object")), []).append(node)
        return found

    def set_in(self, name: str) -> list[Node]:
        """Return every assignment to a property of the object of this name."""
        return self._set_in.get(name, [])

    def uses(self, name: str) -> list[Node]:
        """Return every place with this name."""
        return self._used.get(name, [])

    def values_of(self, name: str) -> list[Node | None]:
        """Return the values that the file gives to a name; None for a value that the file does not contain."""
        return self._declared.get(name, [])

    def value_of(self, node: Node) -> Node | None:
        """Return the expression of a name to which the file always gives one value; otherwise None.

        A field is followed only for ``this``, because another object can have a value from elsewhere.
        """
        values = self._declared.get(text_of(node), [])
        value = values[0] if len(values) == 1 else None
        if value is None or node.type != "member_expression":
            return value
        always = not self.conditions(value, around(value, *FUNCTIONS))
        return value if text_of(node).startswith("this.") and always else None

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
        shown = in_one_line(node)
        inner = named(node)
        if depth > DEEPEST:
            return Value(None, shown)
        if node.type in _WRAPPED and inner:
            return Value(*_parts(self.value(inner[0], depth + 1), shown))
        found = _ENVIRONMENT.fullmatch(text_of(node))
        if found is not None:
            return Value(f"${{{found[1] or found[2]}}}", shown, outside=True)
        if node.type in ("string", "template_string"):
            pieces = [one for one in node.named_children if one.type not in ("string_fragment", "escape_sequence")]
            return Value(None if pieces else text_of(node)[1:-1], shown)
        if node.type == "number":
            return Value(_number(text_of(node)), shown)
        if node.type in ("true", "false"):
            return Value(node.type, shown)
        if node.type in ("identifier", "shorthand_property_identifier", "member_expression"):
            stands_for = self.value_of(node)
            return (
                Value(None, shown) if stands_for is None else Value(*_parts(self.value(stands_for, depth + 1), shown))
            )
        if node.type == "unary_expression" and text_of(node).startswith("-") and inner:
            value = self.value(inner[0], depth + 1)
            return Value(f"-{value.text}" if value.known and (value.text or "").isdigit() else None, shown)
        if node.type == "binary_expression":
            return self._combined(node, depth)
        if node.type == "call_expression" and text_of(node.child_by_field_name("function")) in _SAME:
            arguments = named(node.child_by_field_name("arguments"))
            if arguments:
                return Value(*_parts(self.value(arguments[0], depth + 1), shown))
        return Value(None, shown)

    def _combined(self, node: Node, depth: int) -> Value:
        shown = in_one_line(node)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = text_of(node.child_by_field_name("operator"))
        if left is None or right is None:
            return Value(None, shown)
        first, second = self.value(left, depth + 1), self.value(right, depth + 1)
        if operator in ("||", "??") and first.outside and second.known and first.text is not None:
            plain = not set("${}") & set(second.text or "")
            return Value(f"{first.text[:-1]}:-{second.text}}}" if plain else first.text, shown, outside=True)
        if operator in ("*", "+", "-") and first.known and second.known:
            one, other = first.text or "", second.text or ""
            if _is_number(left, one) and _is_number(right, other):
                numbers = int(one), int(other)
                sums = {"*": numbers[0] * numbers[1], "+": sum(numbers), "-": numbers[0] - numbers[1]}
                result = sums[operator]
                return Value(str(result) if abs(result) < _LARGEST else None, shown)
            if operator == "+" and left.type == right.type == "string":
                return Value(one + other, shown)
        return Value(None, shown)

    def conditions(self, node: Node, known: Node | None) -> str:
        """Return the conditions under which a statement runs once ``known`` has run; empty for none."""
        found: list[str] = []
        below, above = node, node.parent
        while above is not None and not (
            known is not None and above.start_byte <= known.start_byte and known.end_byte <= above.end_byte
        ):
            if above.type in ("if_statement", "ternary_expression"):
                condition = in_one_line(above.child_by_field_name("condition")).strip("()")
                if above.child_by_field_name("consequence") == below:
                    found.append(condition)
                elif above.child_by_field_name("alternative") == below:
                    found.append(f"not {condition}")
            elif above.type == "binary_expression" and above.child_by_field_name("right") == below:
                operator = text_of(above.child_by_field_name("operator"))
                if operator in ("&&", "||", "??"):
                    left = in_one_line(above.child_by_field_name("left"))
                    found.append(left if operator == "&&" else f"not {left}")
            elif above.type == "switch_case":
                found.append(f"the case is {in_one_line(above.child_by_field_name('value'))}")
            elif above.type in (
                "switch_default",
                "catch_clause",
                "for_statement",
                "for_in_statement",
                "while_statement",
                "do_statement",
            ):
                found.append(above.type.replace("_", " "))
            below, above = above, above.parent
        return " and ".join(reversed(found))


def _parts(value: Value, shown: str) -> tuple[str | None, str, bool]:
    return value.text, shown, value.outside


def _is_number(node: Node, text: str) -> bool:
    return node.type not in ("string", "template_string") and text.lstrip("-").isdigit()


def _number(text: str) -> str | None:
    plain = text.replace("_", "").rstrip("n").lower()
    try:
        value = int(plain, 0) if plain[:1] == "0" and len(plain) > 1 and plain[1] in "xob" else float(plain)
    except (ValueError, OverflowError):
        return None
    if abs(value) >= _LARGEST:
        return None
    return str(int(value)) if value == int(value) else str(value)


def program_of(text: str, file: str, suffix: str) -> Program:
    """Parse a file of this ending. Raises DeploymentError with the line of the first error."""
    language = LANGUAGES[suffix]
    name = "JavaScript" if language == "javascript" else "TypeScript"
    return Program(tree_of(text, file, language, name, largest=LARGEST), file)
