"""A client's settings in a Go program, followed from their creation to the constructor that gets them.

The settings are followed through assignments in their function, functions of the file that return them, and functions
of the file that get them as an argument. Any other use is rejected (``go_uses``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.go import FUNCTIONS, Program
from proofka.model.deployment.dialects.formats.go_names import Variable
from proofka.model.deployment.dialects.formats.syntax import all_of, around, line_of, named, text_of
from proofka.model.deployment.dialects.go_functions import assigned_in, function_called, named_functions, results_of
from proofka.model.deployment.dialects.go_uses import Tracked, not_followed, what_happens
from proofka.model.deployment.dialects.written import Configured, Value, Written, check_number
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.source import MOST_KEYS

if TYPE_CHECKING:
    from tree_sitter import Node

ELSEWHERE = "other values of {} can be set outside of this file"
UNKNOWN = "its configuration is not in this file, or cannot be followed"


@dataclass
class Held(Tracked):
    """A client's settings, or a variable's part of them: their name and their values."""

    function: Node | None = None
    given_to: bool = False
    """The variable is a parameter."""
    origin: Held | None = None
    """The settings that a function of the file returned to this variable."""
    handed: list[tuple[Node, Held]] = field(default_factory=list)
    """Calls of functions of the file with this variable as an argument, and the parameters."""
    taken_over: bool = False
    """Other variables of the file contain all of its values."""
    kinds: set[str] = field(default_factory=set)
    """The constructors that get it."""
    fields: list[tuple[int, Written]] = field(default_factory=list)
    """The values that are set in it, with their positions in the file."""


class Flow:
    """The settings of one library in a file. Each library defines how they are made and set, and who gets them."""

    library = ""
    types: tuple[str, ...] = ()
    """The package's type names of a parameter with settings, without a star."""

    def __init__(self, program: Program, package: str) -> None:
        self.program = program
        self.package = package
        self.held: list[Held] = []
        self.by_variable: dict[Variable, list[Held]] = {}
        self.given_at_once: set[int] = set()
        self.functions = named_functions(program)
        self.calls = list(all_of(program.root, "call_expression"))
        self._results: dict[tuple[int, int], list[Node]] = {}

    def made(self, name: Node, value: Node) -> None:
        """Begin to follow a name if its new value is a new configuration."""
        raise NotImplementedError

    def follow(self) -> Iterator[Held]:
        """Yield all holders of settings whose settings no other holder has taken over, after the constructors are read.

        Uses that are not understood are rejected.
        """
        for held in [one for one in self.held if one.given_to]:
            self._handed_over(held)
        for node in all_of(self.program.root, "return_statement"):
            for one in named(next(iter(named(node)), None)):
                returned, name = self.held_by(plain(one)), plain(one)
                if returned is not None and name is not None:
                    returned.given.append(name)
        for held in self.held:
            if held.made is not None or held.taken_over:
                for line, why in not_followed(self.program, held, self.by_variable.get(held.variable, [held])):
                    self.reject(held, line, why)
            else:
                self.reject(held, held.configured.line, ELSEWHERE.format(held.name))
        self._look_at_results()
        for held in self.held:
            if not held.taken_over or (held.made is not None and held.configured.roles):
                yield held

    def find(self) -> None:
        """Find the names of new configurations, and of parameters that are configurations."""
        types = {f"{star}{self.package}.{name}" for name in self.types for star in ("", "*")}
        for node in all_of(self.program.root, "parameter_declaration"):
            if text_of(node.child_by_field_name("type")) in types:
                for name in node.children_by_field_name("name"):
                    self.new(name, None).given_to = True
        calls: list[tuple[Node, Node, int]] = []
        for names, values in assigned_in(self.program.root):
            if len(values) == len(names):
                for name, value in zip(names, values, strict=True):
                    self.made(name, value)
                    calls.append((name, value, 0))
            elif len(values) == 1:
                calls += [(name, values[0], at) for at, name in enumerate(names)]
        for name, call, at in calls:
            origin = self.result_of(call, at) if call.type == "call_expression" else None
            if origin is not None:
                result = self.new(name, call)
                result.origin, result.kinds = origin, set(origin.kinds)
                origin.taken_over = True

    def new(self, name: Node, made: Node | None, *, client: bool = False) -> Held:
        function = around(name, *FUNCTIONS)
        called = self._name_of(function)
        text = text_of(name)
        label = f"{called}: {text}" if called else text
        configured = Configured(f"{label} (made elsewhere)" if made is None else label, line_of(name), self.library)
        variable = self.program.names.variable(name) or (name.id, text)
        config = Held(variable, text, made, name, configured, client, function=function)
        self.by_variable.setdefault(variable, []).append(config)
        self.held.append(config)
        check_number(len(self.held), self.program.file, line_of(name))
        return config

    def _name_of(self, function: Node | None) -> str:
        while function is not None and function.type == "func_literal":
            function = around(function, *FUNCTIONS)
        return "" if function is None else text_of(function.child_by_field_name("name"))

    def held_by(self, node: Node | None) -> Held | None:
        """Return the configuration that a name holds at its position: the last one made for the name before."""
        variable = self.program.names.variable(node)
        ones = self.by_variable.get(variable, []) if variable is not None else []
        before = [one for one in ones if node is not None and one.place.start_byte <= node.start_byte]
        return (before or ones)[-1] if ones else None

    def result_of(self, call: Node, at: int) -> Held | None:
        """Return the one configuration that a called function of the file makes and returns; None otherwise."""
        function = function_called(self.program, self.functions, call)
        made = [one for one in self.held if one.function == function and one.made is not None and function]
        if function is None or len({one.variable for one in made}) != 1:
            return None
        if (function.id, at) not in self._results:
            self._results[function.id, at] = results_of(function, at)
        results = self._results[function.id, at]
        alike = [one for one in results if self.program.names.variable(plain(one)) == made[0].variable]
        others = [one for one in results if one not in alike and text_of(one) != "nil"]
        return made[0] if alike and not others and len(made) == 1 else None

    def unread(self, node: Node) -> str:
        """Return the reason for which a nameless configuration can change; empty if it cannot."""
        call = around(node, "call_expression")
        to = "" if call is None else text_of(call.child_by_field_name("function"))
        return what_happens(self.program, node).format("this", to[:60])

    def _handed_over(self, other: Held) -> None:
        """Assign a function's changes of its parameter to the configuration that the file passes to it."""
        function = other.function
        name = "" if function is None else text_of(function.child_by_field_name("name"))
        inside = [one for one in self.held if one.given_to and one.function == function]
        if self.functions.get(name) != function or len(inside) != 1 or not name:
            return
        known = True
        for node in self.calls:
            if function_called(self.program, self.functions, node) != function:
                continue
            gets = [(self.held_by(one), one) for one in named(node.child_by_field_name("arguments"))]
            own = [(one, argument) for one, argument in gets if one is not None and one.made is not None]
            known = known and len(own) == 1
            for one, argument in own[:1] if len(own) == 1 else ():
                other.taken_over = True
                one.writes.append(argument)
                one.handed.append((node, other))
                one.configured.roles |= other.configured.roles
                one.kinds |= other.kinds
        other.taken_over = other.taken_over and known

    def all_fields(self, config: Held) -> list[Written]:
        """Return all values of a configuration, including those that functions of the file set, in order."""
        found = [] if config.origin is None else self.all_fields(config.origin)
        there = list(config.fields)
        for node, other in config.handed:
            only_if = self.program.conditions(node, config.made)
            for one in self.all_fields(other):
                both = " and ".join(part for part in (only_if, one.only_if) if part)
                there.append((node.start_byte, replace(one, only_if=both)))
            if len(there) > MOST_KEYS:
                why = f"sets more than {MOST_KEYS} settings; split the file"
                raise DeploymentError(why, file=self.program.file, line=config.configured.line)
        return found + [one for _, one in sorted(there, key=lambda write: write[0])]

    def reject(self, config: Held, line: int, why: str) -> None:
        told = Written("settings", line, Value(None, ""), only_if=why, rejected=why)
        config.fields.append((0, told))

    def _look_at_results(self) -> None:
        """Reject uses of a function's returned configuration that are not understood."""
        places = {one.made.id for one in self.held if one.made is not None} | self.given_at_once
        for node in self.calls:
            config = self.result_of(node, 0) if node.id not in places else None
            why = what_happens(self.program, node) if config is not None else ""
            if config is not None and why:
                called = around(node, "call_expression")
                to = "" if called is None else text_of(called.child_by_field_name("function"))
                self.reject(config, line_of(node), why.format(config.name, to[:60]))


def plain(node: Node | None) -> Node | None:
    """Return an expression without brackets, address operators and dereferences."""
    while node is not None and (
        node.type == "parenthesized_expression" or (node.type == "unary_expression" and text_of(node)[:1] in "&*")
    ):
        node = next(iter(named(node)), None)
    return node
