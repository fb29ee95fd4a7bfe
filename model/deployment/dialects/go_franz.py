"""franz-go in Go programs: the options of ``kgo`` that a client is made with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model.deployment.dialects.component import Role
from model.deployment.dialects.formats.go import FUNCTIONS, Program
from model.deployment.dialects.formats.syntax import all_of, around, in_one_line, line_of, named, text_of
from model.deployment.dialects.keys import FRANZ_GO, has_key
from model.deployment.dialects.written import Configured, Value, Written, check_number

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
)
_CHANGES = ("RetryBackoffFn", "RetryTimeout", "RetryTimeoutFn", "MinVersions", "MaxVersions")


def is_used(program: Program) -> bool:
    """The file imports kgo."""
    return PATH in program.packages.values()


def configurations(program: Program) -> Iterator[Configured]:
    """Every client of franz-go in a file, and every list of options that no client of the file gets."""
    package = next(name for name, path in program.packages.items() if path == PATH)
    groups: dict[tuple[int, str], Configured] = {}
    spread: dict[tuple[int, str], tuple[int, str]] = {}
    for node in all_of(program.root, "call_expression"):
        name = text_of(node.child_by_field_name("function"))
        if name in (f"{package}.NewClient", f"{package}.NewGroupTransactSession"):
            group = (node.id, "")
            groups[group] = Configured(_label(node, "NewClient"), line_of(node), FRANZ_GO)
            check_number(len(groups), program.file, line_of(node))
            for argument in named(node.child_by_field_name("arguments")):
                variable = text_of(argument).removesuffix("...").strip()
                if argument.type in ("identifier", "variadic_argument"):
                    spread[(_function(node), variable)] = group
    for node in all_of(program.root, "call_expression"):
        name = text_of(node.child_by_field_name("function")).removeprefix(f"{package}.")
        if text_of(node.child_by_field_name("function")) != f"{package}.{name}":
            continue
        known = any(has_key(FRANZ_GO, role, name) for role in _ROLES) or name in (*_TOPICS, *_PLAIN, *_CHANGES)
        if known:
            group = _group_of(node, package, groups, spread)
            configured = groups.setdefault(group, Configured(_label(node, group[1]), line_of(node), FRANZ_GO))
            check_number(len(groups), program.file, line_of(node))
            configured.written.append(_option(node, name, program, package, groups, group))
            _note_topics(configured, node, name, program)
    methods = {text_of(node.child_by_field_name("field")) for node in all_of(program.root, "selector_expression")}
    for configured in groups.values():
        configured.roles = _roles(configured, methods)
        yield configured


def _label(node: Node, name: str) -> str:
    function = around(node, *FUNCTIONS[:2])
    called = text_of(function.child_by_field_name("name")) if function is not None else ""
    return f"{called}: {name}" if called and name else called or name or "options"


def _function(node: Node) -> int:
    function = around(node, *FUNCTIONS)
    return 0 if function is None else function.id


def _group_of(
    node: Node, package: str, groups: dict[tuple[int, str], Configured], spread: dict[tuple[int, str], tuple[int, str]]
) -> tuple[int, str]:
    """The client that an option is an argument of, or the list of options that it is added to."""
    above = node.parent
    while above is not None and above.type not in ("block", "source_file"):
        if (above.id, "") in groups:
            return above.id, ""
        if above.type in ("assignment_statement", "short_var_declaration", "var_spec"):
            left = above.child_by_field_name("left") or above.child_by_field_name("name")
            name = text_of(left).strip()
            return spread.get((_function(node), name), (_function(node), name))
        above = above.parent
    return _function(node), ""


def _option(
    node: Node,
    name: str,
    program: Program,
    package: str,
    groups: dict[tuple[int, str], Configured],
    group: tuple[int, str],
) -> Written:
    arguments = named(node.child_by_field_name("arguments"))
    made = around(node, "call_expression") if (group[0], "") in groups and not group[1] else None
    only_if = program.conditions(node, made if made is not None and made.id == group[0] else _beginning(node))
    shown = in_one_line(node)
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
    """The function whose options these are: what is around that is no condition."""
    function = around(node, *FUNCTIONS)
    return function.child_by_field_name("body") if function is not None else None


def _note_topics(configured: Configured, node: Node, name: str, program: Program) -> None:
    if name in _TOPICS:
        for argument in named(node.child_by_field_name("arguments")):
            known = program.known(argument)
            if known is not None and known.kind == "text":
                configured.topics.append(known.text)


def _roles(configured: Configured, methods: set[str]) -> set[Role]:
    """By its options; else by what the file does with clients."""
    keys = {one.key for one in configured.written}
    has = {role: {key for key in keys if has_key(FRANZ_GO, role, key)} for role in _ROLES}
    roles = {role for role, other in zip(_ROLES, reversed(_ROLES), strict=True) if has[role] - has[other]}
    if "DefaultProduceTopic" in keys or (methods & _SENDS and Role.PRODUCER not in roles):
        roles.add(Role.PRODUCER)
    if not roles and methods & _POLLS:
        roles.add(Role.CONSUMER)
    return roles
