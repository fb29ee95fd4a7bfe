"""The uses of a dictionary of settings in a Python program: uses that change it, and uses that do not."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum

from proofka.model.deployment.dialects.formats.python import CLIENT_LIBRARIES, Program, shown
from proofka.model.deployment.dialects.formats.python_names import Variable

_DEEPEST = 12
"""The largest depth of aliases of aliases, and of functions that pass on their arguments."""

_NESTED = "default.topic.config"
"""A setting of librdkafka that is itself a dictionary: code that reads it out can change it."""

_COUNTS = ("all", "any", "bool", "hash", "id", "isinstance", "len", "max", "min", "sum", "type")
_SHOWS = ("format", "pprint", "print", "repr", "str")
_WALKS = ("dict", "enumerate", "filter", "frozenset", "iter", "list", "map", "next", "set", "sorted", "tuple", "zip")
_READING = frozenset((*_COUNTS, *_SHOWS, *_WALKS))
_READING_FULL = frozenset(("json.dumps", "json.dump", "copy.copy", "copy.deepcopy", "pprint.pprint", "yaml.dump"))
_METHODS = frozenset(("copy", "items", "keys", "values", "get", "__contains__", "__len__"))
_OF_ONE_KEY = frozenset(("pop", "setdefault", "__setitem__", "__delitem__"))
_LOGS = frozenset(("debug", "info", "warning", "warn", "error", "exception", "critical", "log", "fatal"))
_LOGGERS = ("log", "logger", "logging", "_log", "_logger", "self.log", "self.logger", "self._log", "self._logger")


class Kind(Enum):
    """The effects of a use."""

    SET = "one setting gets a value"
    UPDATE = "settings of another dictionary come over it"
    KEY = "one setting changes in a way that is not followed"
    UNKNOWN = "nobody can see what it does"


@dataclass(frozen=True)
class Change:
    """A use that changes a dictionary, or can. ``key`` and ``value``: expressions, if there are any."""

    kind: Kind
    node: ast.expr
    statement: ast.AST
    key: ast.expr | None = None
    value: ast.expr | None = None
    keywords: tuple[ast.keyword, ...] = ()


class Uses:
    """The uses of a program's variables, each examined once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, Change | None] = {}
        self._changes: dict[Variable, list[Change]] = {}
        self._asked: set[Variable] = set()

    def changes(self, variable: Variable) -> list[Change]:
        """Return every use that changes the value of a variable, or can, in the order of the file."""
        if variable not in self._changes:
            names = self._program.names
            found = [self.change(node) for node in names.uses.get(variable, ())]
            if variable.name.startswith("."):
                found += [one for one in map(self._from_outside, names.foreign[variable.name[1:]]) if one is not None]
            self._changes[variable] = [one for one in found if one is not None]
        return self._changes[variable]

    def change(self, node: ast.expr, depth: int = 0) -> Change | None:
        """Return the change that a use makes; None if it leaves the dictionary unchanged."""
        if id(node) not in self._known:
            self._known[id(node)] = self._looked_at(node, depth)
        return self._known[id(node)]

    def _from_outside(self, node: ast.Attribute) -> Change | None:
        """Return a clear change through an attribute of this name of another object, which can be the same
        dictionary."""
        found = self.change(node)
        plain = found is not None and (found.kind is not Kind.UNKNOWN or isinstance(found.statement, ast.Attribute))
        return Change(Kind.UNKNOWN, node, node) if plain else None

    def _looked_at(self, node: ast.expr, depth: int) -> Change | None:
        above = self._program.parents.get(id(node))
        if isinstance(above, ast.AugAssign) and above.target is node:
            return Change(Kind.UPDATE, node, above, value=above.value)
        if isinstance(above, ast.Subscript) and above.value is node:
            return self._subscript(node, above)
        if isinstance(above, ast.Attribute):
            return self._method(node, above)
        if isinstance(above, ast.Call | ast.keyword | ast.Starred):
            return None if self._harmless_argument(node, above, depth) else self._unknown(node)
        if isinstance(above, ast.Return):
            return None if self._harmless_return(node, above, depth) else self._unknown(node)
        if isinstance(above, ast.Assign | ast.AnnAssign):
            return None if self._harmless_alias(above, depth) else self._unknown(node)
        return None if self._reads(node, above) else self._unknown(node)

    def _unknown(self, node: ast.expr) -> Change:
        return Change(Kind.UNKNOWN, node, self._program.parents.get(id(node), node))

    def _subscript(self, node: ast.expr, above: ast.Subscript) -> Change | None:
        statement = self._program.parents.get(id(above))
        key = above.slice
        if isinstance(above.ctx, ast.Load):
            nested = self._program.plain(key, 0) == _NESTED
            chained = isinstance(statement, ast.Subscript | ast.Attribute) and not isinstance(statement.ctx, ast.Load)
            called = isinstance(statement, ast.Attribute) and statement.attr in (*_OF_ONE_KEY, "update", "clear")
            return self._unknown(node) if nested or chained or called else None
        plain = isinstance(statement, ast.Assign) and any(one is above for one in statement.targets)
        if plain or (isinstance(statement, ast.AnnAssign) and statement.target is above):
            return Change(Kind.SET, node, statement or above, key, getattr(statement, "value", None))
        return Change(Kind.KEY, node, statement or above, key)

    def _method(self, node: ast.expr, above: ast.Attribute) -> Change | None:
        call = self._program.parents.get(id(above))
        if not isinstance(call, ast.Call) or call.func is not above:
            return Change(Kind.UNKNOWN, node, above)
        own = isinstance(self._program.parents.get(id(call)), ast.Expr)
        if above.attr in _METHODS:
            nested = any(self._program.plain(one, 0) == _NESTED for one in call.args)
            return Change(Kind.UNKNOWN, node, call) if nested else None
        if above.attr == "update" and own and len(call.args) <= 1:
            return Change(Kind.UPDATE, node, call, value=next(iter(call.args), None), keywords=tuple(call.keywords))
        if above.attr in _OF_ONE_KEY and call.args:
            return Change(Kind.KEY, node, call, call.args[0])
        return Change(Kind.UNKNOWN, node, above)

    def _harmless_argument(self, node: ast.expr, above: ast.AST, depth: int) -> bool:
        if isinstance(above, ast.Starred) or (isinstance(above, ast.keyword) and above.arg is None):
            return True
        call = self._program.parents.get(id(above)) if isinstance(above, ast.keyword) else above
        if not isinstance(call, ast.Call) or call.func is node:
            return False
        name = self._program.full_name(call.func)
        first, _, last = name.rpartition(".")
        bound = isinstance(call.func, ast.Name) and self._program.names.variable_of(call.func) is not None
        if name.partition(".")[0] in CLIENT_LIBRARIES or name in _READING_FULL or (name in _READING and not bound):
            return True
        if isinstance(call.func, ast.Attribute) and (last == "update" or (last in _LOGS and first in _LOGGERS)):
            return True
        function = self._program.names.function(call)
        if function is None or depth > _DEEPEST:
            return False
        parameter = parameters(function, call, self._program).get(id(node))
        return parameter is not None and self._left_alone(Variable(id(function), parameter), depth)

    def _left_alone(self, variable: Variable, depth: int) -> bool:
        """Tell whether nothing changes the value of the variable, by this name or another."""
        if depth > _DEEPEST or variable in self._asked:
            return False
        self._asked.add(variable)
        try:
            return all(
                self.change(node, depth + 1) is None for node in self._program.names.uses.get(variable, ())
            ) and not (variable.name.startswith(".") and self.changes(variable))
        finally:
            self._asked.discard(variable)

    def _harmless_alias(self, above: ast.Assign | ast.AnnAssign, depth: int) -> bool:
        targets = above.targets if isinstance(above, ast.Assign) else [above.target]
        variables = [self._program.names.variable_of(one) for one in targets]
        return all(one is not None and self._left_alone(one, depth) for one in variables)

    def _harmless_return(self, node: ast.expr, above: ast.Return, depth: int) -> bool:
        """Tell whether a returned value is harmless: it is new in each call, or no caller changes it."""
        names = self._program.names
        variable, function = names.variable_of(node), names.function_of(above)
        made = names.bindings_of(variable) if variable is not None else []
        if variable is not None and variable.scope == function and all(self._is_new(one.value, depth) for one in made):
            return True
        calls = self._program.calls_of(function)
        return calls is not None and depth <= _DEEPEST and all(self.change(call, depth + 1) is None for call in calls)

    def _is_new(self, value: ast.expr | None, depth: int) -> bool:
        """Tell whether an expression makes a new dictionary, which no other code has."""
        if isinstance(value, ast.Dict | ast.BinOp):
            return True
        if not isinstance(value, ast.Call) or depth > _DEEPEST:
            return False
        if shown(value.func) == "dict" or (isinstance(value.func, ast.Attribute) and value.func.attr == "copy"):
            return True
        names, function = self._program.names, self._program.names.function(value)
        if function is None or function.decorator_list:
            return False
        ends = [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Return) and names.function_of(node) == id(function)
        ]
        return all(self._is_new_there(one, id(function), depth + 1) for one in ends)

    def _is_new_there(self, value: ast.expr | None, function: int, depth: int) -> bool:
        if not isinstance(value, ast.Name):
            return self._is_new(value, depth)
        variable = self._program.names.variable_of(value)
        if variable is None or variable.scope != function:
            return False
        return all(self._is_new(one.value, depth) for one in self._program.names.bindings_of(variable))

    def _reads(self, node: ast.expr, above: ast.AST | None) -> bool:
        if isinstance(above, ast.If | ast.While | ast.IfExp | ast.Assert):
            return above.test is node
        if isinstance(above, ast.For | ast.AsyncFor | ast.comprehension):
            return above.iter is node
        if isinstance(above, ast.Dict):
            return any(key is None and value is node for key, value in zip(above.keys, above.values, strict=True))
        if isinstance(above, ast.BinOp):
            return isinstance(above.op, ast.BitOr | ast.Mod)
        if isinstance(above, ast.Tuple):
            return isinstance(self._program.parents.get(id(above)), ast.BinOp)
        if isinstance(above, ast.BoolOp):
            return self._reads(above, self._program.parents.get(id(above)))
        if isinstance(above, ast.UnaryOp):
            return isinstance(above.op, ast.Not)
        return isinstance(above, ast.FormattedValue | ast.Compare | ast.Expr)


def parameters(function: ast.FunctionDef, call: ast.Call, program: Program) -> dict[int, str]:
    """Return the parameter of each argument of a call, as far as it is certain."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(call.func, ast.Attribute) and program.names.family(call.func.value) is not None:
        static = any(shown(one) == "staticmethod" for one in function.decorator_list)
        names = names if static else names[1:]
    found: dict[int, str] = {}
    for name, argument in zip(names, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        found[id(argument)] = name
    every = {*names, *(one.arg for one in function.args.kwonlyargs)}
    return found | {id(one.value): one.arg for one in call.keywords if one.arg in every and one.arg is not None}
