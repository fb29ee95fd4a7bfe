"""Python programs, by Python's own parser: names, their values, and conditions. No program is run."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from proofka.model.deployment.dialects.formats.python_names import Names, Variable
from proofka.model.deployment.dialects.formats.syntax import LARGEST, LONGEST, cut
from proofka.model.deployment.dialects.written import Value
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.hiding import printable

DEEPEST = 40
"""The deepest nesting of expressions."""

CLIENT_LIBRARIES = ("confluent_kafka", "kafka", "aiokafka")

_LARGEST = 2**63
_TEXTS = ("STRING", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
"""Tokens that contain text; a text with expressions is one token up to Python 3.11, and several from 3.12 on."""

_LONGEST = 300
_MOST_TOKENS = 60
_BROKEN = "(an expression)"
_ENVIRONMENT = ("os.environ.get", "os.getenv", "environ.get", "getenv")
_SAME = ("str", "int", "float", "bool")


@dataclass
class Program:
    """One Python file."""

    tree: ast.Module
    file: str = ""
    parents: dict[int, ast.AST] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[id(child)] = node

    @cached_property
    def names(self) -> Names:
        """The names of the file, with their scopes."""
        return Names(self.tree, self.parents)

    @cached_property
    def imported(self) -> Mapping[str, str]:
        """The meaning of each imported name, with its module: ``confluent_kafka.Producer``."""
        names: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
            elif isinstance(node, ast.Import):
                names |= {one.asname or one.name.partition(".")[0]: one.name for one in node.names if one.asname}
                names |= {
                    one.name.partition(".")[0]: one.name.partition(".")[0] for one in node.names if not one.asname
                }
        return names

    @cached_property
    def ambiguous(self) -> frozenset[str]:
        """Names with several imports, of which only the running program knows the one that counts."""
        found: dict[str, set[str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                for one in node.names:
                    found.setdefault(one.asname or one.name, set()).add(f"{node.module}.{one.name}")
            elif isinstance(node, ast.Import):
                for one in node.names:
                    name = one.asname or one.name.partition(".")[0]
                    found.setdefault(name, set()).add(one.name if one.asname else name)
        return frozenset(name for name, of in found.items() if len(of) > 1 and name != "*")

    def full_name(self, node: ast.expr) -> str:
        """Return the name of a function or class with its module."""
        name = shown(node)
        first, dot, rest = name.partition(".")
        if first in self.imported:
            return f"{self.imported[first]}{dot}{rest}"
        unbound = isinstance(node, ast.Name) and self.star and self.names.variable_of(node) is None
        return f"{self.star}.{name}" if unbound else name

    @cached_property
    def star(self) -> str:
        """The client library from which the file imports every name; empty for none."""
        return next(
            (
                node.module
                for node in ast.walk(self.tree)
                if isinstance(node, ast.ImportFrom) and node.module and any(one.name == "*" for one in node.names)
                if node.module.partition(".")[0] in CLIENT_LIBRARIES
            ),
            "",
        )

    def value_of(self, node: ast.expr) -> ast.expr | None:
        """Return the expression of a name that gets one value, in sight, without a condition; otherwise None."""
        variable = self.names.variable_of(node)
        if variable is None or variable in self.names.augmented:
            return None
        found = self.names.bindings_of(variable)
        return found[0].value if len(found) == 1 else None

    def calls_of(self, function: int) -> list[ast.Call] | None:
        """Return every call of a function, by its id as a scope; None if it is used otherwise, or hidden."""
        names = self.names
        node = names.scopes[function]
        if not isinstance(node, ast.FunctionDef):
            return None
        around = names.scope_of(node)
        uses: list[ast.expr] = []
        if isinstance(names.scopes[around], ast.ClassDef):
            uses += names.attributes_of(around, node.name)
        else:
            uses += names.uses.get(Variable(around, node.name), ())
        calls = [(use, self.parents.get(id(use))) for use in uses]
        found = [call for use, call in calls if isinstance(call, ast.Call) and call.func is use]
        return found if len(found) == len(calls) else None

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        if id(node) not in self._values:
            text, outside = self._text(node, 0)
            self._values[id(node)] = Value(text, form_of(node), outside)
        return self._values[id(node)]

    @cached_property
    def _values(self) -> dict[int, Value]:
        return {}

    def _text(self, node: ast.expr, depth: int) -> tuple[str | None, bool]:
        if depth > DEEPEST:
            return None, False
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords and shown(node.func) in _SAME:
            return self._text(node.args[0], depth + 1)
        if isinstance(node, ast.Name | ast.Attribute):
            stands_for = self.value_of(node)
            return (None, False) if stands_for is None else self._text(stands_for, depth + 1)
        variable = self._environment(node)
        if variable is not None:
            return variable, True
        plain = self.plain(node, depth)
        if isinstance(plain, bool):
            return str(plain).lower(), False
        return (None, False) if plain is None else (str(plain), False)

    def _environment(self, node: ast.expr) -> str | None:
        """Return a placeholder for an environment variable, with its default; None for any other expression."""
        if isinstance(node, ast.Subscript) and shown(node.value) in ("os.environ", "environ"):
            name = self.plain(node.slice, 0)
            return f"${{{name}}}" if isinstance(name, str) else None
        if isinstance(node, ast.Call) and shown(node.func) in _ENVIRONMENT and node.args:
            name = self.plain(node.args[0], 0)
            default = self.plain(node.args[1], 0) if len(node.args) == 2 else None
            if not isinstance(name, str):
                return None
            if isinstance(default, bool):
                default = str(default).lower()
            simple = default is not None and not set("${}") & set(str(default))
            return f"${{{name}:-{default}}}" if simple else f"${{{name}}}"
        return None

    def plain(self, node: ast.expr, depth: int) -> str | int | float | None:
        """Return a text, number or truth value, cached; None for other or unknown values."""
        if depth > DEEPEST:
            return None
        place = (id(node), depth)
        if place not in self._worked_out:
            plain = self._plain(node, depth)
            self._worked_out[place] = None if isinstance(plain, str) and len(plain) > LONGEST else plain
        return self._worked_out[place]

    @cached_property
    def _worked_out(self) -> dict[tuple[int, int], str | int | float | None]:
        return {}

    def _plain(self, node: ast.expr, depth: int) -> str | int | float | None:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str | int | float) else None
        if isinstance(node, ast.Name | ast.Attribute):
            stands_for = self.value_of(node)
            return None if stands_for is None else self.plain(stands_for, depth + 1)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.plain(node.operand, depth + 1)
            return -value if isinstance(value, int | float) else None
        if isinstance(node, ast.BinOp):
            return _combined(node.op, self.plain(node.left, depth + 1), self.plain(node.right, depth + 1))
        if isinstance(node, ast.JoinedStr):
            parts = [
                self.plain(one.value if isinstance(one, ast.FormattedValue) else one, depth + 1) for one in node.values
            ]
            return None if None in parts else "".join(str(part) for part in parts)
        return None

    def conditions(self, node: ast.AST, known: ast.AST | None) -> str:
        """Return the conditions under which a statement runs once ``known`` has run; empty for none."""
        around = set()
        above = known
        while above is not None:
            around.add(id(above))
            above = self.parents.get(id(above))
        found: list[str] = []
        below: ast.AST = node
        above = self.parents.get(id(node))
        while above is not None and id(above) not in around:
            if isinstance(above, ast.If) and not is_main(above):
                here = any(below is one for one in above.body)
                found.append(form_of(above.test) if here else f"not ({form_of(above.test)})")
            elif isinstance(above, ast.For | ast.AsyncFor | ast.While):
                found.append("a loop runs")
            elif isinstance(above, ast.ExceptHandler):
                found.append("something fails")
            elif isinstance(above, ast.match_case):
                found.append(f"it matches {form_of(above.pattern)}")
            below, above = above, self.parents.get(id(above))
        return " and ".join(reversed(found))


def _combined(operator: ast.operator, first: object, second: object) -> str | int | float | None:
    if isinstance(first, str) and isinstance(second, str) and isinstance(operator, ast.Add):
        return first + second
    if not isinstance(first, int | float) or not isinstance(second, int | float):
        return None
    result: int | float | None = None
    if isinstance(operator, ast.Mult):
        result = first * second
    elif isinstance(operator, ast.Add):
        result = first + second
    elif isinstance(operator, ast.Sub):
        result = first - second
    elif isinstance(operator, ast.Pow) and 0 <= second <= 64 and abs(first) <= 1024:
        result = first**second
    return result if result is not None and abs(result) < _LARGEST else None


def shown(node: ast.AST) -> str:
    """Return the text of an expression, in one line."""
    try:
        return " ".join(ast.unparse(node).split())[:_LONGEST]
    except (RecursionError, ValueError, AttributeError):
        return _BROKEN


def form_of(node: ast.AST) -> str:
    """Return the form of an expression for a message: names and calls, without texts, which can be secrets."""
    try:
        text = ast.unparse(node)
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        parts = ['"..."' if tokenize.tok_name[one.type] in _TEXTS else one.string for one in _spaced(tokens)]
    except (RecursionError, ValueError, AttributeError, SyntaxError, tokenize.TokenError):
        return _BROKEN
    return cut(" ".join("".join(parts).split()))


def _spaced(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of a text, with a space between two of them where the text has one."""
    end = (1, 0)
    for count, one in enumerate(tokens):
        if count > _MOST_TOKENS:
            return
        if one.start != end and count:
            yield one._replace(type=tokenize.OP, string=" ")
        yield one
        end = one.end


def is_main(node: ast.If) -> bool:
    """Tell whether a node is ``if __name__ == "__main__"``, whose body runs with the program."""
    test = node.test
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and isinstance(test.ops[0], ast.Eq)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value == "__main__"
        and not node.orelse
    )


def program_of(text: str, file: str) -> Program:
    """Parse a Python program. Raises DeploymentError with the line of invalid Python 3."""
    if len(text) > LARGEST:
        raise DeploymentError(f"is too large for a Python program (at most {LARGEST} characters)", file=file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Program(ast.parse(text), file)
    except SyntaxError as error:
        message = f"is not valid Python 3: {printable(error.msg)}"
        raise DeploymentError(message, file=file, line=error.lineno) from None
    except (ValueError, RecursionError, MemoryError, OverflowError):
        raise DeploymentError("is not valid Python 3: nested too deeply, or broken", file=file) from None
