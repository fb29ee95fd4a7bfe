"""The settings that a Python program passes to a client, through names, copies, updates and functions of the file.

A dictionary is followed through uses that are understood; any other use makes its settings unknown, with the line.
confluent_kafka copies its dictionary (``common_conf_setup`` in confluent_kafka.c), and kafka-python and aiokafka get
arguments, so later changes do not reach an existing client.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from proofka.model.deployment.dialects import python_arguments
from proofka.model.deployment.dialects.bindings import of_binding
from proofka.model.deployment.dialects.formats.python import Program, form_of, shown
from proofka.model.deployment.dialects.formats.python_names import Binding, Variable, place
from proofka.model.deployment.dialects.formats.python_order import Order
from proofka.model.deployment.dialects.python_uses import Change, Kind, Uses, parameters
from proofka.model.deployment.dialects.written import Value, Written

_DEEPEST = 20
_MOST_STEPS = 20_000
"""The largest number of steps to follow one client's settings."""

_NESTED = "default.topic.config"
_SETTINGS = "settings"
_DECORATORS = ("staticmethod", "classmethod")


@dataclass(frozen=True)
class _Call:
    """A followed call: the values of its function's parameters, and the enclosing call."""

    arguments: Mapping[Variable, ast.expr] = field(default_factory=dict)
    around: _Call | None = None


@dataclass(frozen=True)
class _Where:
    """The place at which settings are requested, with its call, condition, and depth of nested names."""

    at: ast.AST
    call: _Call
    only_if: str = ""
    depth: int = 0

    def inner(self, at: ast.AST, call: _Call | None = None) -> _Where:
        """Return the place of an expression that is part of the settings here; ``call``: another enclosing call."""
        return _Where(at, self.call if call is None else call, self.only_if, self.depth + 1)


class Following:
    """The known facts about a program while the settings of its clients are read."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.order = Order(program)
        self.uses = Uses(program)

    def settings(self, library: str) -> Settings:
        """Return a reader for the settings of one client or topic."""
        return Settings(self, library)


class Settings:
    """The settings of one client, in the order in which it gets them: ``written``."""

    def __init__(self, following: Following, library: str) -> None:
        self.written: list[Written] = []
        self._following = following
        self._program = following.program
        self._library = library
        self._open: set[tuple[Variable, int]] = set()  # variables being followed: a cycle ends there
        self._said: set[tuple[int, str]] = set()  # rejections by node and reason: each is told once
        self._steps = 0

    def take(self, node: ast.expr) -> None:
        """Add the settings of an expression; add unknown settings if it is not understood."""
        self._take(node, _Where(node, _Call()))

    def reject(self, node: ast.expr, reason: str) -> None:
        """Add unknown settings with a reason."""
        self._unknown(node, reason)

    def entry(self, key: str, value: ast.expr, where: _Where | None = None) -> None:
        """Add one setting."""
        only_if = "" if where is None else where.only_if
        if key == _NESTED:
            self._take(value, where or _Where(value, _Call()))
            return
        none = isinstance(value, ast.Constant) and value.value is None
        told = self._program.value(value)
        if self._library in python_arguments.LIBRARIES:
            told = python_arguments.value_of(self._program, key, value)
            none = none and key != python_arguments.GROUP
        ignored = "has no value" if none else of_binding(key)
        self._write(Written(key, value.lineno, told, only_if, ignored=ignored))

    def _write(self, written: Written) -> None:
        # The caller that counts settings reports clients with very many; here they need not be kept.
        if len(self.written) <= _MOST_STEPS:
            self.written.append(written)

    def _take(self, node: ast.expr, where: _Where) -> None:
        self._steps += 1
        if where.depth > _DEEPEST or self._steps > _MOST_STEPS:
            if self._steps <= _MOST_STEPS + 1:
                self._unknown(node)
            return
        inside = where.inner(node)
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is None:
                    self._take(value, where.inner(value))
                else:
                    self._entry_of(key, value, inside)
        elif isinstance(node, ast.Call) and shown(node.func) == "dict" and len(node.args) <= 1:
            self._update(node.args[0] if node.args else None, node.keywords, inside)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            for side in (node.left, node.right):
                self._take(side, where.inner(side))
        elif self._is_copy(node):
            self._take(_copied(node), inside)
        elif isinstance(node, ast.Name | ast.Attribute):
            self._named(node, where)
        elif not (isinstance(node, ast.Call) and self._returned(node, inside)):
            self._unknown(node)

    def _is_copy(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call) or node.keywords:
            return False
        if self._program.full_name(node.func) in ("copy.copy", "copy.deepcopy"):
            return len(node.args) == 1
        return isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args

    def _update(self, more: ast.expr | None, keywords: list[ast.keyword], where: _Where) -> None:
        """Add the settings of ``dict(more, key=...)`` or ``update(more, key=...)``."""
        for expression in (more, *(one.value for one in keywords if one.arg is None)):
            if expression is not None:
                self._take(expression, where.inner(expression))
        for keyword in keywords:
            if keyword.arg is not None:
                self.entry(keyword.arg, keyword.value, where)

    def _returned(self, call: ast.Call, where: _Where) -> bool:
        """Add the settings that a function of the file returns, including those of its arguments; tell whether that was
        possible."""
        program = self._program
        function = program.names.function(call)
        if function is None or any(shown(one) not in _DECORATORS for one in function.decorator_list):
            return False
        inside = [node for node in ast.walk(function) if program.names.function_of(node) == id(function)]
        ends = [node for node in inside if isinstance(node, ast.Return)]
        if len(ends) != 1 or ends[0].value is None or any(isinstance(one, ast.Yield | ast.YieldFrom) for one in inside):
            return False
        given = parameters(function, call, program)
        expressions = (*call.args, *(one.value for one in call.keywords))
        arguments = {Variable(id(function), given[id(one)]): one for one in expressions if id(one) in given}
        value = ends[0].value
        self._take(value, where.inner(value, _Call(arguments, where.call)))
        return True

    def _entry_of(self, key: ast.expr, value: ast.expr, where: _Where) -> None:
        name = self._program.plain(key, 0)
        if isinstance(name, str):
            self.entry(name, value, where)
        else:
            rejected = f"its name is computed: {form_of(key)}"
            self._write(Written("a setting", key.lineno, Value(None, ""), where.only_if, rejected=rejected))

    def _unknown(self, node: ast.expr, reason: str = "") -> None:
        if (id(node), reason) in self._said:
            return
        self._said.add((id(node), reason))
        reason = reason or f"its settings are not in this file: {form_of(node)}"
        self._write(Written(_SETTINGS, node.lineno, Value(None, ""), rejected=reason))

    def _named(self, node: ast.Name | ast.Attribute, where: _Where) -> None:
        """Add the settings of a named dictionary, with its changes before the place of use."""
        variable = self._program.names.variable_of(node)
        binding = None if variable is None else self._binding(variable, where)
        if variable is None or binding is None or (variable, id(binding.node)) in self._open:
            self._unknown(node)
            return
        self._open.add((variable, id(binding.node)))
        self._bound(node, variable, binding, where)
        self._open.discard((variable, id(binding.node)))

    def _binding(self, variable: Variable, where: _Where) -> Binding | None:
        found = self._following.order.binding_at(variable, where.at)
        if found is None or found.value is not None:
            return found
        return found if isinstance(found.node, ast.arg) and variable in where.call.arguments else None

    def _bound(self, node: ast.expr, variable: Variable, binding: Binding, where: _Where) -> None:
        order, changes = self._following.order, self._following.uses.changes(variable)
        value = binding.value
        if value is None:
            value = where.call.arguments[variable]
            self._take(value, where.inner(value, where.call.around or _Call()))
        else:
            same = isinstance(value, ast.Name | ast.Attribute)
            self._take(value, where.inner(where.at if same else value))
            self._others(value, binding, bool(changes))
        here = self._program.names.function_of(where.at)
        told = sorted(changes, key=lambda one: (self._program.names.function_of(one.node) == here, place(one.node)))
        for change in told:
            if change.node is node and not isinstance(self._program.parents.get(id(node)), ast.Return):
                continue
            happens = order.when(change.node, binding, where.at)
            if happens is not False:
                self._changed(change, binding, where, surely=happens is True)

    def _others(self, value: ast.expr, binding: Binding, changed: bool) -> None:
        """Add unknown settings if another name of the same dictionary is changed too, because the order is not
        followed."""
        uses = self._following.uses
        above = self._program.parents.get(id(binding.node))
        others = above.targets if isinstance(above, ast.Assign) and len(above.targets) > 1 else []
        for target in others:
            variable = self._program.names.variable_of(target)
            if target is not binding.node and (variable is None or uses.changes(variable)):
                self._unknown(target, f"{shown(target)} is another name for it and is changed")
        if isinstance(value, ast.Name | ast.Attribute):
            variable = self._program.names.variable_of(value)
            later = [] if variable is None else uses.changes(variable)
            if changed and any(place(one.node) > place(value) for one in later):
                self._unknown(value, f"{shown(value)} is another name for it, and both are changed")

    def _changed(self, change: Change, binding: Binding, where: _Where, *, surely: bool) -> None:
        condition = where.only_if
        if not surely:
            own = self._program.conditions(change.node, binding.node) or "this line has run before"
            condition = " and ".join(part for part in (where.only_if, own) if part)
        inside = _Where(change.node, where.call, condition, where.depth + 1)
        if change.kind is Kind.SET and change.key is not None and change.value is not None:
            self._entry_of(change.key, change.value, inside)
        elif change.kind is Kind.UPDATE:
            self._update(change.value, list(change.keywords), inside)
        elif change.kind is Kind.KEY and change.key is not None:
            name = self._program.plain(change.key, 0)
            key = name if isinstance(name, str) else _SETTINGS
            reason = "" if isinstance(name, str) else self._not_followed(change)
            told = Value(None, form_of(change.statement))
            self._write(Written(key, change.node.lineno, told, condition, rejected=reason))
        else:
            self._unknown(change.node, self._not_followed(change))

    def _not_followed(self, change: Change) -> str:
        statement = self._following.order.statement(change.node) or change.node
        simple = isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.Delete | ast.AnnAssign)
        form = form_of(statement if simple else change.statement)
        return f"{form_of(change.node)} can be changed here in a way that cannot be followed: {form}"


def _copied(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        return node.func.value
    return node.args[0] if isinstance(node, ast.Call) else node
