"""Names of a Python program: the scope, the bindings, and the uses of each.

Scopes are those of the language reference, "Naming and binding": a name that a function binds anywhere is local to it;
a class's names are invisible in its methods; a comprehension has its own scope, except for its first source.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

FILE = 0
"""The scope of the file itself."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DYNAMIC = ("globals", "exec")


@dataclass(frozen=True)
class Variable:
    """A name in its scope; with a dot before it, an attribute of the instances of a class."""

    scope: int
    name: str


@dataclass(frozen=True)
class Binding:
    """A place where a variable gets a value; ``value`` is None if no expression gives it."""

    node: ast.AST
    value: ast.expr | None


@dataclass
class Names:
    """Every variable of a file."""

    tree: ast.Module
    parents: Mapping[int, ast.AST]
    bindings: dict[Variable, list[Binding]] = field(default_factory=lambda: defaultdict(list))
    uses: dict[Variable, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))
    augmented: set[Variable] = field(default_factory=set)
    """Variables that an operator changes in place."""
    scopes: dict[int, ast.AST] = field(default_factory=dict)
    """The scopes by their ids: functions, classes, comprehensions; FILE: the file itself."""
    foreign: dict[str, list[ast.Attribute]] = field(default_factory=lambda: defaultdict(list))
    """Attributes of objects other than the instance of the enclosing class, by name."""

    def __post_init__(self) -> None:
        self.scopes[FILE] = self.tree
        self._scope: dict[int, int] = {}
        self._around: dict[int, int] = {}
        self._declared: dict[tuple[int, str], int] = {}
        self._families: dict[int, int] = {}
        self._members: dict[int, list[int]] = defaultdict(list)
        self._all_bindings: dict[Variable, list[Binding]] = {}
        self._dynamic_file = self._dynamic_attributes = False
        self._stars: list[int] = []
        self._lay_out()
        everything = list(ast.walk(self.tree))
        self._declare(everything)
        for node in everything:
            self._bind(node)
        self._relate()
        for node in everything:
            if isinstance(node, ast.Name):
                self._use(node)
        for node in everything:
            if isinstance(node, ast.Attribute):
                self._attribute(node)
            elif isinstance(node, ast.Call):
                self._look_for_magic(node)
        for uses in self.uses.values():
            uses.sort(key=place)

    # Scopes.

    def _lay_out(self) -> None:
        waiting: list[tuple[ast.AST, int]] = [(self.tree, FILE)]
        while waiting:
            node, scope = waiting.pop()
            self._scope[id(node)] = scope
            inside: list[ast.AST]
            if isinstance(node, FUNCTIONS):
                inside = [*_body(node), *_parameters(node.args)]
                self._scope[id(node.args)] = scope
                waiting += [(one, scope) for one in (*node.args.defaults, *node.args.kw_defaults) if one is not None]
                waiting += [(one.annotation, scope) for one in _parameters(node.args) if one.annotation is not None]
                if not isinstance(node, ast.Lambda):
                    waiting += [(one, scope) for one in (*node.decorator_list, node.returns) if one is not None]
            elif isinstance(node, ast.ClassDef):
                inside = list(node.body)
                waiting += [(one, scope) for one in (*node.decorator_list, *node.bases, *node.keywords)]
            elif isinstance(node, _COMPREHENSIONS):
                first = node.generators[0].iter
                waiting.append((first, scope))
                inside = []
                for child in ast.iter_child_nodes(node):
                    if child is node.generators[0]:
                        self._scope[id(child)] = id(node)
                        inside += [node.generators[0].target, *node.generators[0].ifs]
                    else:
                        inside.append(child)
            elif isinstance(node, ast.arg):
                continue
            else:
                waiting += [(child, scope) for child in ast.iter_child_nodes(node)]
                continue
            self._around[id(node)], self.scopes[id(node)] = scope, node
            waiting += [(child, id(node)) for child in inside]

    def scope_of(self, node: ast.AST) -> int:
        """Return the scope in which a node is evaluated: a function, class or comprehension by its id, or FILE."""
        return self._scope.get(id(node), FILE)

    def function_of(self, node: ast.AST) -> int:
        """Return that scope without comprehensions, which run in place."""
        scope = self.scope_of(node)
        while isinstance(self.scopes[scope], _COMPREHENSIONS):
            scope = self._around[scope]
        return scope

    def outermost(self, scope: int, inside: int) -> ast.AST | None:
        """Return the scope around ``scope`` that is directly in ``inside``; None if there is none."""
        while scope in self._around and self._around[scope] != inside:
            scope = self._around[scope]
        return self.scopes[scope] if scope in self._around else None

    # Bindings.

    def _declare(self, everything: list[ast.AST]) -> None:
        """Record the names that a function takes from the file (``global``) or an enclosing function (``nonlocal``)."""
        for node in everything:
            if isinstance(node, ast.Global):
                self._declared |= {(self.scope_of(node), name): FILE for name in node.names}
        stored = {
            (self.scope_of(node), node.arg if isinstance(node, ast.arg) else node.id)
            for node in everything
            if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
        }
        taken = [node for node in everything if isinstance(node, ast.Nonlocal)]
        stored -= {(self.scope_of(node), name) for node in taken for name in node.names}
        for node in taken:
            for name in node.names:
                above = (one for one in self._above(self.scope_of(node)) if (one, name) in stored)
                self._declared[self.scope_of(node), name] = next(above, FILE)

    def _above(self, scope: int) -> Iterator[int]:
        while scope in self._around:
            scope = self._around[scope]
            yield scope

    def _add(self, node: ast.AST, name: str, value: ast.expr | None = None, scope: int | None = None) -> None:
        where = self.scope_of(node) if scope is None else scope
        if isinstance(self.parents.get(id(node)), ast.NamedExpr):
            where = self.function_of(node)
        variable = Variable(self._declared.get((where, name), where), name)
        self.bindings[variable].append(Binding(node, value))

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            if self._is_merged_into(node):
                return
            above = self.parents.get(id(node))
            if not isinstance(above, ast.AnnAssign) or above.value is not None:
                self._add(node, node.id, self._value_for(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._add(node, node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._stars += [node.lineno for one in node.names if one.name == "*"]
            for one in node.names:
                self._add(node, one.asname or one.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            self._add(node, node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            self._add(node, node.rest)
        if isinstance(node, FUNCTIONS):
            for parameter in _parameters(node.args):
                self._add(parameter, parameter.arg, scope=id(node))

    def _is_merged_into(self, target: ast.expr) -> bool:
        """Tell whether a target is in ``target |= more``, which extends its value and does not replace it."""
        above = self.parents.get(id(target))
        return isinstance(above, ast.AugAssign) and above.target is target and isinstance(above.op, ast.BitOr)

    def _value_for(self, target: ast.expr) -> ast.expr | None:
        above = self.parents.get(id(target))
        if isinstance(above, ast.Assign) and any(one is target for one in above.targets):
            return above.value
        return above.value if isinstance(above, ast.AnnAssign) and above.target is target else None

    # Uses.

    def _resolved(self, scope: int, name: str) -> Variable | None:
        at: int | None = scope
        while at is not None:
            if (at, name) in self._declared:
                return Variable(self._declared[at, name], name)
            variable = Variable(at, name)
            if variable in self.bindings and (at == scope or not isinstance(self.scopes[at], ast.ClassDef)):
                return variable
            at = self._around.get(at)
        return None

    def _use(self, node: ast.Name) -> None:
        merged = self._is_merged_into(node)
        if isinstance(node.ctx, ast.Load) or merged:
            variable = self._resolved(self.scope_of(node), node.id)
            if variable is not None:
                self.uses[variable].append(node)
                if merged:
                    self.augmented.add(variable)

    def _relate(self) -> None:
        """Group classes of the file that inherit from each other, because they share attributes."""
        classes = [node for node in self.scopes.values() if isinstance(node, ast.ClassDef)]
        by_name: dict[str, list[ast.ClassDef]] = defaultdict(list)
        for one in classes:
            by_name[one.name].append(one)
        above = {id(one): id(one) for one in classes}

        def first(one: int) -> int:
            while above[one] != one:
                above[one] = above[above[one]]
                one = above[one]
            return one

        for one in classes:
            for base in one.bases:
                for other in by_name.get(base.id if isinstance(base, ast.Name) else "", ()):
                    above[first(id(one))] = first(id(other))
        self._families = {one: first(one) for one in above}
        for cls, of in self._families.items():
            self._members[of].append(cls)

    def family(self, node: ast.expr) -> int | None:
        """Return the class, with its relatives, whose instance a name is in a method; None for another name."""
        if not isinstance(node, ast.Name):
            return None
        variable = self._resolved(self.scope_of(node), node.id)
        method = self.scopes.get(variable.scope) if variable is not None else None
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) or len(self.bindings[variable or _NONE]) != 1:
            return None
        first = [*method.args.posonlyargs, *method.args.args][:1]
        static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in method.decorator_list)
        if not first or first[0].arg != node.id or static:
            return None
        return self._families.get(self._around[id(method)])

    def methods(self, family: int, name: str) -> list[ast.AST]:
        """Return the nodes that classes of a family bind to a name in their bodies."""
        return [binding.node for one in self._members[family] for binding in self.bindings.get(Variable(one, name), ())]

    def attributes_of(self, cls: int, name: str) -> list[ast.expr]:
        """Return each read of a class's attribute, by the class's id, and of that name on unknown objects."""
        own = self.uses.get(Variable(self._families[cls], f".{name}"), [])
        return [*own, *self.foreign.get(name, ()), *self.uses.get(Variable(cls, name), ())]

    def _attribute(self, node: ast.Attribute) -> None:
        family = self.family(node.value)
        if family is None:
            self.foreign[node.attr].append(node)
            return
        variable = Variable(family, f".{node.attr}")
        merged = self._is_merged_into(node)
        if isinstance(node.ctx, ast.Load) or merged:
            self.uses[variable].append(node)
            if merged:
                self.augmented.add(variable)
        elif not isinstance(self.parents.get(id(node)), ast.AnnAssign) or self._value_for(node) is not None:
            self.bindings[variable].append(Binding(node, self._value_for(node)))

    def _look_for_magic(self, call: ast.Call) -> None:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name in _DYNAMIC:
            self._dynamic_file = True
        elif name == "setattr" or (
            isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Attribute)
            and call.func.value.attr == "__dict__"
        ):
            self._dynamic_attributes = True

    # What a name stands for.

    def variable_of(self, node: ast.expr) -> Variable | None:
        """Return the variable of a name, or of an attribute of ``self``."""
        if isinstance(node, ast.Name):
            return self._resolved(self.scope_of(node), node.id)
        family = self.family(node.value) if isinstance(node, ast.Attribute) else None
        return None if family is None or not isinstance(node, ast.Attribute) else Variable(family, f".{node.attr}")

    def bindings_of(self, variable: Variable) -> list[Binding]:
        """Return each place where the variable gets a value; invisible ones have no value."""
        if variable not in self._all_bindings:
            self._all_bindings[variable] = self._every_binding(variable)
        return self._all_bindings[variable]

    def _every_binding(self, variable: Variable) -> list[Binding]:
        found = list(self.bindings.get(variable, ()))
        if variable.name.startswith("."):
            name = variable.name[1:]
            found += [Binding(node, None) for node in self.methods(variable.scope, name)]
            found += [Binding(node, None) for node in self.foreign[name] if not isinstance(node.ctx, ast.Load)]
            found += [Binding(self.tree, None)] if self._dynamic_attributes else []
        elif variable.scope == FILE:
            first = min((getattr(one.node, "lineno", 0) for one in found), default=0)
            hidden = self._dynamic_file or any(line > first for line in self._stars)
            found += [Binding(self.tree, None)] if hidden else []
        return found

    def function(self, call: ast.Call) -> ast.FunctionDef | None:
        """Return the function of the file that a call invokes; None if that is uncertain."""
        found: list[ast.AST] = []
        if isinstance(call.func, ast.Name):
            variable = self.variable_of(call.func)
            found = [one.node for one in self.bindings_of(variable)] if variable is not None else []
        elif isinstance(call.func, ast.Attribute):
            family = self.family(call.func.value)
            if family is not None and not self.bindings.get(Variable(family, f".{call.func.attr}")):
                found = self.methods(family, call.func.attr)
        return found[0] if len(found) == 1 and isinstance(found[0], ast.FunctionDef) else None


_NONE = Variable(-1, "")


def place(node: ast.AST) -> tuple[int, int]:
    """Return the beginning of a node: line and column."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.AST]:
    return [node.body] if isinstance(node, ast.Lambda) else list(node.body)


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    rest = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]
