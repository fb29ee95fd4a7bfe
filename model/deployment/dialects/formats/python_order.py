"""The parts of a Python program that have certainly run when another part runs, as far as its text shows."""

from __future__ import annotations

import ast

from proofka.model.deployment.dialects.formats.python import Program, is_main, shown
from proofka.model.deployment.dialects.formats.python_names import FUNCTIONS, Binding, Variable, place

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_ENDS = ("sys.exit", "exit", "quit", "os._exit")
_SAFE = ("open",)
"""Context managers that let an error through."""


class Order:
    """The order in which the parts of a program run."""

    def __init__(self, program: Program) -> None:
        self._parents = program.parents
        self._names = program.names
        self._blocks = {
            id(one): (block, at)
            for node in ast.walk(program.tree)
            for block in _blocks(node)
            for at, one in enumerate(block)
        }
        """The block of each statement, and its position there."""
        self._own = {
            node.name
            for node in ast.walk(program.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }

    def binding_at(self, variable: Variable, at: ast.AST) -> Binding | None:
        """Return the binding of a variable at a place; None if it depends on the run, or is invisible."""
        found = self._names.bindings_of(variable)
        if len(found) <= 1:
            return found[0] if found else None
        function = self._names.function_of(at)
        if any(isinstance(one.node, ast.Module) or self._names.function_of(one.node) != function for one in found):
            return None
        before = [one for one in found if place(one.node) < place(at)]
        if not before:
            return None
        last = max(before, key=lambda one: place(one.node))
        repeated = any(self.repeats(one.node, at, last.node) for one in found)
        return last if self.surely(last.node, at) and not repeated else None

    def when(self, use: ast.AST, binding: Binding, at: ast.AST) -> bool | None:
        """Return whether a use of a variable has run at a place: True, False, or None if it depends on the run."""
        of_use, of_binding, here = (self._names.function_of(one) for one in (use, binding.node, at))
        if of_use == of_binding and place(use) < place(binding.node):
            return False
        if of_use == here:
            if place(use) < place(at):
                return True if self.surely(use, at) or self._follows(binding.node, use, at) else None
            return False if here == of_binding and not self.repeats(use, at, binding.node) else None
        if of_use != of_binding or not self._follows(binding.node, use, at):
            return None
        begins = self._names.outermost(here, of_binding)
        quiet = self._calls_nothing(binding.node, use)
        return True if quiet or (begins is not None and place(use) < place(begins)) else None

    def repeats(self, later: ast.AST, at: ast.AST, begun: ast.AST) -> bool:
        """Tell whether a loop repeats both places without its start, so that the later one counts in the next turn."""
        if place(later) < place(at):
            return False
        above = self._parents.get(id(at))
        around = {id(one) for one in self._around(later)}
        fresh = {id(one) for one in self._around(begun)}
        while above is not None and not isinstance(above, FUNCTIONS):
            if isinstance(above, _LOOPS) and id(above) in around and id(above) not in fresh:
                return True
            above = self._parents.get(id(above))
        return False

    def surely(self, first: ast.AST, at: ast.AST) -> bool:
        """Tell whether an earlier place of a function has run whenever a later one is reached."""
        around = {id(one) for one in self._around(at)} | {id(at)}
        below, above = first, self._parents.get(id(first))
        while above is not None and id(above) not in around:
            if not self._always(above, below):
                return False
            below, above = above, self._parents.get(id(above))
        if above is None:
            return False
        if not isinstance(below, ast.stmt):
            return not isinstance(below, ast.ExceptHandler | ast.match_case)
        block, other = self._blocks.get(id(below)), self._block_of(at, above)
        if block is None or other is None:
            return False
        after_body = isinstance(above, ast.Try) and block[0] is above.body and other[0] is above.orelse
        return block[0] is other[0] or after_body

    def _always(self, above: ast.AST, below: ast.AST) -> bool:
        """Tell whether a part of a statement runs completely whenever the code after that statement is reached."""
        if isinstance(above, ast.If):
            return below is above.test or (is_main(above) and below is not above.test)
        if isinstance(above, ast.Try):
            if any(below is one for one in above.finalbody):
                return True
            return any(below is one for one in above.body) and all(_leaves(one.body) for one in above.handlers)
        if isinstance(above, ast.With | ast.AsyncWith):
            calls = [one.context_expr for one in above.items]
            return all(isinstance(one, ast.Call) and shown(one.func) in _SAFE for one in calls)
        if isinstance(above, ast.For | ast.AsyncFor):
            return below is above.iter
        conditional = (ast.While, ast.ExceptHandler, ast.match_case, ast.BoolOp, ast.IfExp, ast.Lambda, ast.TryStar)
        return not isinstance(above, (*conditional, ast.comprehension, *FUNCTIONS))

    def _follows(self, first: ast.AST, then: ast.AST, at: ast.AST) -> bool:
        """Tell whether two statements of one block always run together, because nothing leaves the block between
        them."""
        between = self._between(first, then)
        if between is None or any(isinstance(node, _LEAVES) for one in between for node in ast.walk(one)):
            return False
        around = {id(one) for one in self._around(at)}
        return all(
            id(above) in around or not isinstance(above, ast.Try) or all(_leaves(one.body) for one in above.handlers)
            for above in self._around(then)
        )

    def _calls_nothing(self, first: ast.AST, then: ast.AST) -> bool:
        between = self._between(first, then)
        return between is not None and not any(
            isinstance(node, ast.Call) and shown(node.func).rpartition(".")[2] in self._own
            for one in between
            for node in ast.walk(one)
        )

    def _between(self, first: ast.AST, then: ast.AST) -> list[ast.stmt] | None:
        """Return the statements of a block between two of them; None if they are not in one uninterrupted block."""
        one, other = self.statement(first), self.statement(then)
        above = self._parents.get(id(one))
        if one is None or other is None or above is None or isinstance(above, ast.Try | ast.With | ast.AsyncWith):
            return None
        begin, end = self._blocks.get(id(one)), self._blocks.get(id(other))
        if begin is None or end is None or begin[0] is not end[0] or begin[1] > end[1]:
            return None
        return begin[0][begin[1] : end[1] + 1]

    def _block_of(self, node: ast.AST, above: ast.AST) -> tuple[list[ast.stmt], int] | None:
        """Return the block, directly in ``above``, that contains a node."""
        below: ast.AST | None = node
        while below is not None and self._parents.get(id(below)) is not above:
            below = self._parents.get(id(below))
        return self._blocks.get(id(below))

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """Return the statement of which a node is part."""
        above: ast.AST | None = node
        while above is not None and not isinstance(above, ast.stmt):
            above = self._parents.get(id(above))
        return above

    def _around(self, node: ast.AST) -> list[ast.AST]:
        found: list[ast.AST] = []
        above = self._parents.get(id(node))
        while above is not None:
            found.append(above)
            above = self._parents.get(id(above))
        return found


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    named = (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
    return [one for one in named if isinstance(one, list)]


def _leaves(block: list[ast.stmt]) -> bool:
    """Tell whether the code after a block's statement never runs after the block."""
    last = block[-1]
    if isinstance(last, _LEAVES):
        return isinstance(last, ast.Return | ast.Raise)
    return isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and shown(last.value.func) in _ENDS
