"""franz-go in Go programs: the ``kgo`` options of a client."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofka.model.deployment.defaults import known_keys
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.go import FUNCTIONS, Program
from proofka.model.deployment.dialects.formats.go_names import Variable
from proofka.model.deployment.dialects.formats.syntax import all_of, around, in_one_line, line_of, named, text_of
from proofka.model.deployment.dialects.go_functions import assigned_in, function_called, named_functions, results_of
from proofka.model.deployment.dialects.go_uses import what_happens
from proofka.model.deployment.dialects.keys import FRANZ_GO, has_key
from proofka.model.deployment.dialects.written import Configured, Value, Written, check_number
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.franz_go import OPTS_IN
from proofka.model.deployment.source import MOST_KEYS

if TYPE_CHECKING:
    from tree_sitter import Node

PATH = "github.com/twmb/franz-go/pkg/kgo"
_ROLES = (Role.PRODUCER, Role.CONSUMER)
_SENDS = {"Produce", "ProduceSync", "TryProduce"}
_POLLS = {"PollFetches", "PollRecords"}
_TOPICS = {"ConsumeTopics", "DefaultProduceTopic"}
_PLAIN = (
    "WithLogger",
    "WithHooks",
    "SASL",
    "Dialer",
    "DialTLS",
    "DialTLSConfig",
    "SoftwareNameAndVersion",
    "WithContext",
    "WithPools",
    "OnPartitionsAssigned",
    "OnPartitionsRevoked",
    "OnPartitionsLost",
    "OnPartitionsCallbackBlocked",
    "AutoCommitCallback",
    "ConsumeRegex",
    "DisableFetchSessions",
    "DisableClientMetrics",
    "UserMetricsFn",
    "PreferLagFn",
    "RecheckPreferredReplicaInterval",
    "BrokerMaxReadBytes",
    "BrokerMaxWriteBytes",
    "KeepRetryableFetchErrors",
    "ConsiderMissingTopicDeletedAfter",
    "DefaultProduceTopicAlways",
)
_CHANGES = ("RetryBackoffFn", "RetryTimeout", "RetryTimeoutFn", "MinVersions", "MaxVersions")
_KNOWN = {*_TOPICS, *_PLAIN, *_CHANGES}
_SLICE = re.compile(r"\[\]\w+\.Opt")
_UNKNOWN = "options that are not in this file, or cannot be followed"
_NO_CLIENT = "the client of these options, and its other options, are not in this file"
_CHANGED = "{} is changed here in a way that cannot be followed"
_NO_OPTION = "an unknown option of franz-go: {}"


def is_used(program: Program) -> bool:
    """Tell whether the file imports kgo."""
    return PATH in program.packages.values()


def configurations(program: Program) -> Iterator[Configured]:
    """Yield every client of franz-go in a file, and the options of each function without a client in the file."""
    for package, path in program.packages.items():
        if path == PATH:
            yield from _Clients(program, package).all()


class _Clients:
    def __init__(self, program: Program, package: str) -> None:
        self._program = program
        self._package = package
        self._functions = named_functions(program)
        self._taken: set[int] = set()
        self._values: dict[Variable, list[tuple[Node, Node]]] = {}
        for names, values in assigned_in(program.root):
            for at, name in enumerate(names):
                variable = program.names.variable(name)
                if variable is not None and values:
                    value = values[at] if len(values) == len(names) else values[0]
                    self._values.setdefault(variable, []).append((name, value))

    def all(self) -> Iterator[Configured]:
        """Yield the clients, and then the remaining options."""
        makers = (f"{self._package}.NewClient", f"{self._package}.NewGroupTransactSession")
        calls = list(all_of(self._program.root, "call_expression"))
        found: list[Configured] = []
        for node in calls:
            if text_of(node.child_by_field_name("function")) in makers:
                found.append(Configured(_label(node, "NewClient"), line_of(node), FRANZ_GO))
                check_number(len(found), self._program.file, line_of(node))
                for argument in named(node.child_by_field_name("arguments")):
                    self._take(argument, found[-1], node, set())
        left: dict[int, Configured] = {}
        for node in calls:
            if node.id not in self._taken and self._name(node) in _KNOWN | _settings():
                one = left.setdefault(_function(node), Configured(_label(node, ""), line_of(node), FRANZ_GO))
                check_number(len(found) + len(left), self._program.file, line_of(node))
                self._option(node, one, _beginning(node))
        for one in left.values():
            _reject(one, one.line, _NO_CLIENT)
        methods = all_of(self._program.root, "selector_expression")
        called = {text_of(node.child_by_field_name("field")) for node in methods}
        for configured in (*found, *left.values()):
            configured.roles = _roles(configured, called)
            yield configured

    def _name(self, node: Node) -> str:
        text = text_of(node.child_by_field_name("function"))
        name = text.removeprefix(f"{self._package}.")
        return "" if text == name else name

    def _take(self, node: Node, configured: Configured, client: Node, seen: set[int | Variable]) -> None:
        """Add the options of an expression to a client; reject an expression that is not understood."""
        inner = named(node)
        if node.id in seen:
            return
        if len(seen) > MOST_KEYS:
            raise DeploymentError(f"has more than {MOST_KEYS} options", file=self._program.file, line=line_of(node))
        seen.add(node.id)
        if node.type in ("variadic_argument", "parenthesized_expression", "literal_element") and inner:
            self._take(inner[0], configured, client, seen)
        elif node.type == "composite_literal":
            for element in named(node.child_by_field_name("body")):
                self._take(element, configured, client, seen)
        elif node.type in ("identifier", "selector_expression"):
            self._named(node, configured, client, seen)
        elif node.type == "call_expression":
            self._call(node, configured, client, seen)
        elif text_of(node) != "nil":
            _reject(configured, line_of(node), _UNKNOWN)

    def _call(self, node: Node, configured: Configured, client: Node, seen: set[int | Variable]) -> None:
        function = text_of(node.child_by_field_name("function"))
        arguments = named(node.child_by_field_name("arguments"))
        own = function_called(self._program, self._functions, node)
        results = [] if own is None else results_of(own, 0)
        if self._name(node):
            self._option(node, configured, client if _function(node) == _function(client) else _beginning(node))
        elif function == "append" or _SLICE.fullmatch(function):
            for argument in arguments:
                self._take(argument, configured, client, seen)
        elif function != "make" and len(results) == 1:
            self._take(results[0], configured, client, seen)
        elif function != "make":
            _reject(configured, line_of(node), _UNKNOWN)

    def _named(self, node: Node, configured: Configured, client: Node, seen: set[int | Variable]) -> None:
        """Add the options of a named list; reject other uses of the list."""
        variable = self._program.names.variable(node)
        values = [] if variable is None else self._values.get(variable, [])
        if variable in seen:
            return
        if variable is None or not values:
            _reject(configured, line_of(node), _UNKNOWN)
            return
        seen.add(variable)
        uses = self._program.names.uses(variable)
        adds = [_adds(self._program, variable, value) for _, value in values]
        home = _function(values[0][0])
        if adds[0] and not any(use.parent is not None and use.parent.type == "var_spec" for use in uses):
            _reject(configured, line_of(node), _UNKNOWN)
        for (name, value), more in zip(values, adds, strict=True):
            later = _function(name) == _function(client) and name.start_byte > client.start_byte
            if later or _function(name) != home or (not more and value is not values[0][1]):
                _reject(configured, line_of(name), _CHANGED.format(text_of(node)))
            self._take(value, configured, client, seen)
        names = {name.id for name, _ in values}
        for use in uses:
            call = around(use, "call_expression")
            called = "" if call is None else text_of(call.child_by_field_name("function"))
            plain = use.parent is not None and use.parent.type in ("argument_list", "variadic_argument")
            if use.id in names or (plain and (called == "append" or called.startswith(f"{self._package}.New"))):
                continue
            why = what_happens(self._program, use)
            if why:
                _reject(configured, line_of(use), why.format(text_of(node), called[:60]))

    def _option(self, node: Node, configured: Configured, known: Node | None) -> None:
        name = self._name(node)
        self._taken.add(node.id)
        if name not in _KNOWN | _settings():
            _reject(configured, line_of(node), _NO_OPTION.format(name))
            return
        configured.written.append(_option(node, name, self._program, self._package, known))
        _note_topics(configured, node, name, self._program)


def _settings() -> frozenset[str]:
    return frozenset(key for role in _ROLES for key in known_keys(f"{FRANZ_GO} {role}"))


def _adds(program: Program, variable: Variable, value: Node) -> bool:
    """Tell whether a value has the form ``opts = append(opts, ...)``."""
    first = next(iter(named(value.child_by_field_name("arguments"))), None) if value.type == "call_expression" else None
    called = text_of(value.child_by_field_name("function"))
    return called == "append" and program.names.variable(first) == variable


def _reject(configured: Configured, line: int, why: str) -> None:
    configured.written.append(Written("options", line, Value(None, ""), only_if=why, rejected=why))


def _label(node: Node, name: str) -> str:
    function = around(node, *FUNCTIONS[:2])
    called = text_of(function.child_by_field_name("name")) if function is not None else ""
    return f"{called}: {name}" if called and name else called or name or "options"


def _function(node: Node) -> int:
    function = around(node, *FUNCTIONS)
    return 0 if function is None else function.id


def _option(node: Node, name: str, program: Program, package: str, known: Node | None) -> Written:
    arguments = named(node.child_by_field_name("arguments"))
    only_if = program.conditions(node, known)
    shown = in_one_line(node)
    if name == "WithContext" and OPTS_IN in text_of(program.root):
        return Written(OPTS_IN, line_of(node), Value("true", shown), only_if)
    if name in _PLAIN or name == "DefaultProduceTopic":
        return Written(
            name, line_of(node), Value("", shown), only_if, ignored="does not change which deliveries are possible"
        )
    if name in _CHANGES:
        return Written(
            name, line_of(node), Value("", shown), only_if, rejected="an option of franz-go that is not modelled"
        )
    if not arguments:
        return Written(name, line_of(node), Value("true", shown), only_if)
    values = [program.value(argument, (package,)) for argument in arguments]
    if any(value.text is None for value in values):
        return Written(name, line_of(node), Value(None, ", ".join(value.shown for value in values)), only_if)
    outside = any(value.outside for value in values)
    text = ",".join(value.text or "" for value in values)
    return Written(name, line_of(node), Value(text, shown, outside), only_if)


def _beginning(node: Node) -> Node | None:
    """Return the body of the function that contains the options; conditions around it do not count."""
    function = around(node, *FUNCTIONS)
    return function.child_by_field_name("body") if function is not None else None


def _note_topics(configured: Configured, node: Node, name: str, program: Program) -> None:
    if name in _TOPICS:
        for argument in named(node.child_by_field_name("arguments")):
            known = program.known(argument)
            if known is not None and known.kind == "text":
                configured.topics.append(known.text)


def _roles(configured: Configured, methods: set[str]) -> set[Role]:
    """Return the roles of a client, by its options, otherwise by the file's calls of client methods."""
    keys = {one.key for one in configured.written}
    has = {role: {key for key in keys if has_key(FRANZ_GO, role, key)} for role in _ROLES}
    roles = {role for role, other in zip(_ROLES, reversed(_ROLES), strict=True) if has[role] - has[other]}
    if "DefaultProduceTopic" in keys or (methods & _SENDS and Role.PRODUCER not in roles):
        roles.add(Role.PRODUCER)
    if not roles and methods & _POLLS:
        roles.add(Role.CONSUMER)
    return roles
