"""Python programs, by Python's own parser: names, what they stand for, and conditions. Nothing of them is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from model.deployment.dialects.formats.syntax import LARGEST, LONGEST
from model.deployment.dialects.written import Value
from model.deployment.errors import DeploymentError
from model.deployment.hiding import printable

DEEPEST = 40
"""An expression in an expression, at most so often."""

_LARGEST = 2**63
_LONGEST = 300
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
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
    def changes(self) -> list[ast.Assign | ast.Call]:
        """Assignments and calls, in the order of the file."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.Assign | ast.Call)]
        return sorted(found, key=lambda one: (one.lineno, one.col_offset))

    @cached_property
    def imported(self) -> Mapping[str, str]:
        """What each imported name stands for, with its module: ``confluent_kafka.Producer``."""
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

    def full_name(self, node: ast.expr) -> str:
        """The name of a function or class with its module."""
        name = shown(node)
        first, dot, rest = name.partition(".")
        return f"{self.imported[first]}{dot}{rest}" if first in self.imported else name

    def owner(self, node: ast.AST) -> int:
        """The function that a node stands in; 0: none."""
        above = self.parents.get(id(node))
        while above is not None and not isinstance(above, _FUNCTIONS):
            above = self.parents.get(id(above))
        return 0 if above is None else id(above)

    def owners(self, node: ast.AST) -> Iterator[int]:
        """That function and those around it, up to the file itself (0)."""
        above: ast.AST | None = node
        while above is not None:
            if isinstance(above, _FUNCTIONS) and above is not node:
                yield id(above)
            above = self.parents.get(id(above))
        yield 0

    @cached_property
    def _assigned(self) -> Mapping[tuple[int, str], list[ast.expr | None]]:
        """Each value that a name gets; None: one that is not there to be seen."""
        assigned: dict[tuple[int, str], list[ast.expr | None]] = {}

        def add(node: ast.AST, name: str, value: ast.expr | None) -> None:
            where = 0 if name.startswith("self.") else self.owner(node)
            assigned.setdefault((where, name), []).append(value)

        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for one in target.elts if isinstance(target, ast.Tuple) else (target,):
                        add(node, shown(one), None if isinstance(target, ast.Tuple) else node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                add(node, shown(node.target), node.value)
            elif isinstance(node, ast.AugAssign | ast.For | ast.AsyncFor | ast.NamedExpr):
                add(node, shown(node.target), None)
            elif isinstance(node, ast.arg):
                add(node, node.arg, None)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                for name in node.names:
                    assigned.setdefault((0, name), []).append(None)
        return assigned

    def value_of(self, node: ast.expr) -> ast.expr | None:
        """The expression that a name stands for, if it gets one value, in sight, without a condition."""
        name = shown(node)
        for where in self.owners(node) if not name.startswith("self.") else (0,):
            values = self._assigned.get((where, name))
            if values is not None:
                return values[0] if len(values) == 1 and values[0] is not None else None
        return None

    def value(self, node: ast.expr) -> Value:
        """What an expression comes to."""
        text, outside = self._text(node, 0)
        return Value(text, shown(node), outside)

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
        """A placeholder for a variable of the environment, with its default."""
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
        """A text, number or truth value; None for what is none, or unknown. Each is worked out once."""
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
        """Under which conditions a statement runs once ``known`` has run; empty for none."""
        around = set()
        above = known
        while above is not None:
            around.add(id(above))
            above = self.parents.get(id(above))
        found: list[str] = []
        below: ast.AST = node
        above = self.parents.get(id(node))
        while above is not None and id(above) not in around:
            if isinstance(above, ast.If) and "__name__" not in shown(above.test):
                here = any(below is one for one in above.body)
                found.append(shown(above.test) if here else f"not ({shown(above.test)})")
            elif isinstance(above, ast.For | ast.AsyncFor | ast.While):
                found.append("a loop runs")
            elif isinstance(above, ast.ExceptHandler):
                found.append("something fails")
            elif isinstance(above, ast.match_case):
                found.append(f"it matches {shown(above.pattern)}")
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
    """The text of an expression, as a message shows it."""
    try:
        return " ".join(ast.unparse(node).split())[:_LONGEST]
    except (RecursionError, ValueError, AttributeError):
        return "(an expression)"


def program_of(text: str, file: str) -> Program:
    """A Python program. Raises DeploymentError with the line where it is not valid Python 3."""
    if len(text) > LARGEST:
        raise DeploymentError(f"is larger than a Python program that is read (at most {LARGEST} characters)", file=file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Program(ast.parse(text), file)
    except SyntaxError as error:
        message = f"is not valid Python 3: {printable(error.msg)}"
        raise DeploymentError(message, file=file, line=error.lineno) from None
    except (ValueError, RecursionError, MemoryError, OverflowError):
        raise DeploymentError("is not valid Python 3: it is nested too deep, or broken", file=file) from None
