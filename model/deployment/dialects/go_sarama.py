"""sarama in Go programs: what is assigned to the fields of a ``sarama.Config``, and who gets it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from model.deployment.defaults import find_definition
from model.deployment.dialects.component import Role
from model.deployment.dialects.formats.go import FUNCTIONS, Program
from model.deployment.dialects.formats.syntax import all_of, around, line_of, named, text_of
from model.deployment.dialects.keys import SARAMA, has_key
from model.deployment.dialects.written import Configured, Value, Written, check_number
from model.deployment.libraries import LIBRARIES
from model.deployment.release import Release

if TYPE_CHECKING:
    from tree_sitter import Node

PATHS = ("github.com/IBM/sarama", "github.com/Shopify/sarama", "gopkg.in/Shopify/sarama.v1")
_MAKERS = {
    "NewSyncProducer": Role.PRODUCER,
    "NewAsyncProducer": Role.PRODUCER,
    "NewSyncProducerFromClient": Role.PRODUCER,
    "NewAsyncProducerFromClient": Role.PRODUCER,
    "NewConsumer": Role.CONSUMER,
    "NewConsumerGroup": Role.CONSUMER,
    "NewConsumerFromClient": Role.CONSUMER,
    "NewConsumerGroupFromClient": Role.CONSUMER,
}
_CLIENT, _ADMIN = "NewClient", ("NewClusterAdmin", "NewClusterAdminFromClient", "NewBroker")
_SECTIONS = ("Producer", "Consumer", "Net", "Metadata")
_ALONE = ("ClientID", "RackID", "ChannelBufferSize", "Version")
_SECURITY = ("Net.SASL.", "Net.TLS.", "Net.Proxy.")
_PAUSES = ("Producer.Retry.BackoffFunc", "Metadata.Retry.BackoffFunc", "Consumer.Retry.BackoffFunc")
_ZERO = "a sarama.Config without NewConfig() has no defaults, and sarama refuses it (ConfigurationError)"
_NEED_VERSION = ("Producer.Idempotent", "Producer.Transaction.ID")
_ANY_VERSION = "the protocol's version matters to idempotence only, which is off"
_RETURNS = {
    "Producer.Return.Successes": "NewSyncProducer refuses it: Producer.Return.Successes must be true",
    "Producer.Return.Errors": "NewSyncProducer refuses it: Producer.Return.Errors must be true",
}


@dataclass
class _Config:
    """A configuration in the file: where it is made, what it is called, and what is set in it."""

    configured: Configured
    made: Node | None
    function: str
    given: bool = False
    sync: bool = False
    asynchronous: bool = False
    admin: bool = False
    writes: list[tuple[int, Written]] = field(default_factory=list)
    """What is set in it, with the place in the file where that happens."""


def is_used(program: Program) -> bool:
    """The file imports sarama."""
    return any(path in PATHS for path in program.packages.values())


def configurations(program: Program) -> Iterator[Configured]:
    """Every configuration of sarama in a file, with what it is used for."""
    yield from _Reading(program).all()


class _Reading:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._package = next(name for name, path in program.packages.items() if path in PATHS)
        self._configs: dict[tuple[int, str], _Config] = {}
        self._clients: dict[tuple[int, str], _Config] = {}
        self._alone: list[Configured] = []
        self._unclear: set[Role] = set()

    def all(self) -> Iterator[Configured]:
        """Every configuration, in the order of the file."""
        self._find_configs()
        for node in all_of(self._program.root, "assignment_statement"):
            self._assigned(node)
        for node in all_of(self._program.root, "call_expression"):
            self._called(node)
        for config in self._handed_over():
            yield self._finished(config)
        yield from self._alone

    def _handed_over(self) -> list[_Config]:
        """What functions do with a configuration that they are given belongs to that, if the file gives it to them."""
        handed: set[int] = set()
        for node in all_of(self._program.root, "call_expression"):
            name = text_of(node.child_by_field_name("function")).rpartition(".")[2]
            inside = [one for one in self._configs.values() if one.made is None and one.given and one.function == name]
            for argument in named(node.child_by_field_name("arguments")) if inside else ():
                own = self._config_of(node, text_of(argument).lstrip("&*"))
                for other in inside:
                    if own is None or own is other or own.made is None:
                        continue
                    handed.add(id(other))
                    only_if = self._program.conditions(node, own.made)
                    own.configured.roles |= other.configured.roles
                    own.sync, own.asynchronous = own.sync or other.sync, own.asynchronous or other.asynchronous
                    for _, one in other.writes:
                        both = " and ".join(part for part in (only_if, one.only_if) if part)
                        own.writes.append((node.start_byte, replace(one, only_if=both)))
        return [one for one in self._configs.values() if id(one) not in handed]

    def _find_configs(self) -> None:
        """Names that stand for a new configuration, or for a parameter that is one."""
        for node in all_of(self._program.root, "short_var_declaration", "var_spec", "assignment_statement"):
            if node.type == "var_spec":
                names, values = node.children_by_field_name("name"), named(node.child_by_field_name("value"))
            else:
                names, values = (named(node.child_by_field_name(side)) for side in ("left", "right"))
            if len(names) == len(values):
                for name, value in zip(names, values, strict=True):
                    self._made(name, value)
        types = (f"*{self._package}.Config", f"{self._package}.Config")
        for node in all_of(self._program.root, "parameter_declaration"):
            if text_of(node.child_by_field_name("type")) in types:
                for name in node.children_by_field_name("name"):
                    self._new(name, None).given = True

    def _made(self, name: Node, value: Node) -> None:
        text = text_of(value).lstrip("&*")
        if text == f"{self._package}.NewConfig()":
            self._new(name, value)
        elif text.startswith(f"{self._package}.Config{{"):
            config = self._new(name, value)
            written = Written("sarama.Config", line_of(value), Value("", "sarama.Config{}"), rejected=_ZERO)
            config.writes.append((value.start_byte, written))
            for literal in all_of(value, "literal_value"):
                self._literal(literal, (), config)
                break

    def _literal(self, node: Node, above: tuple[str, ...], config: _Config) -> None:
        """The fields of a struct that is written out."""
        for element in named(node):
            if element.type != "keyed_element" or len(named(element)) != 2:
                continue
            key, value = named(element)
            path = (*above, text_of(key))
            inner = next(all_of(value, "literal_value"), None)
            if inner is not None and len(path) < 6 and not has_key(SARAMA, Role.PRODUCER, ".".join(path)):
                self._literal(inner, path, config)
            else:
                self._write(config, path, value, element)

    def _new(self, name: Node, made: Node | None) -> _Config:
        function = around(name, *FUNCTIONS)
        where = 0 if function is None else function.id
        called = self._name_of(function)
        text = text_of(name)
        label = f"{called}: {text}" if called else text
        config = _Config(Configured(label, line_of(name), SARAMA), made, called)
        if made is None:
            config.configured.name += " (made elsewhere)"
        if (where, text) in self._configs:
            where = -made.id if made is not None else where  # A second one by the same name: both are kept.
        self._configs[(where, text)] = config
        check_number(len(self._configs), self._program.file, line_of(name))
        return config

    def _name_of(self, function: Node | None) -> str:
        while function is not None and function.type == "func_literal":
            function = around(function, *FUNCTIONS)
        return "" if function is None else text_of(function.child_by_field_name("name"))

    def _config_of(self, node: Node, text: str) -> _Config | None:
        return self._in_sight(node, text, self._configs)

    def _in_sight(self, node: Node, text: str, known: dict[tuple[int, str], _Config]) -> _Config | None:
        owner: Node | None = node
        while owner is not None:
            owner = around(owner, *FUNCTIONS)
            found = known.get((0 if owner is None else owner.id, text))
            if found is not None:
                return found
        return None

    def _assigned(self, node: Node) -> None:
        left, right = (named(node.child_by_field_name(side)) for side in ("left", "right"))
        if len(left) != len(right):
            return
        for target, value in zip(left, right, strict=True):
            parts = text_of(target).split(".")
            for number in range(1, len(parts)):
                base, path = ".".join(parts[:number]), tuple(parts[number:])
                config = self._config_of(node, base)
                if config is None and self._is_field(path):
                    config = self._new_at(target, base)
                if config is not None:
                    self._write(config, path, value, node)
                    break

    def _new_at(self, target: Node, base: str) -> _Config:
        """A configuration that comes from elsewhere: its first field that is assigned here."""
        function = around(target, *FUNCTIONS)
        where = 0 if function is None else function.id
        called = self._name_of(function)
        label = f"{called}: {base} (made elsewhere)" if called else base
        config = _Config(Configured(label, line_of(target), SARAMA), None, called)
        self._configs[(where, base)] = config
        check_number(len(self._configs), self._program.file, line_of(target))
        return config

    def _is_field(self, path: tuple[str, ...]) -> bool:
        key = ".".join(path)
        return len(path) > 1 and path[0] in _SECTIONS and any(has_key(SARAMA, role, key) for role in _MAKERS.values())

    def _write(self, config: _Config, path: tuple[str, ...], value: Node, statement: Node) -> None:
        key = ".".join(path)
        said = _with_unit(key, self._program.value(value, (self._package,)), self._program, value, self._package)
        only_if = self._program.conditions(statement, config.made)
        ignored = rejected = ""
        if key in _PAUSES:
            rejected = "pauses that a function of the program computes"
        elif key.startswith(_SECURITY):
            ignored = "security does not change delivery"
        elif not any(has_key(SARAMA, role, key) for role in set(_MAKERS.values())):
            known = path[0] in (*_SECTIONS, *_ALONE, "Admin", "MetricRegistry", "ApiVersionsRequest")
            ignored = "no setting of sarama that changes which deliveries are possible" if known else ""
            rejected = "" if known else "no field of sarama.Config that is known"
        written = Written(key, line_of(statement), said, only_if, ignored, rejected)
        config.writes.append((statement.start_byte, written))

    def _called(self, node: Node) -> None:
        package, _, name = text_of(node.child_by_field_name("function")).partition(".")
        if package != self._package or name not in (*_MAKERS, *_ADMIN, _CLIENT):
            return
        arguments = named(node.child_by_field_name("arguments"))
        configs = [one for one in (self._argument(argument, node) for argument in arguments) if one is not None]
        role = _MAKERS.get(name)
        if name == _CLIENT:
            for config in configs:
                self._remember_client(node, config)
        elif name in _ADMIN:
            for config in configs:
                config.admin = True
        elif role is not None and not configs and arguments and text_of(arguments[-1]) == "nil":
            alone = Configured(f"{name} with sarama's defaults", line_of(node), SARAMA, roles={role})
            self._alone.append(alone)
            check_number(len(self._alone), self._program.file, line_of(node))
        elif role is not None and not configs:
            self._unclear.add(role)
        elif role is not None:
            for config in configs:
                config.configured.roles.add(role)
                config.sync |= name.startswith("NewSync")
                config.asynchronous |= name.startswith("NewAsync")
                config.configured.line = config.configured.line or line_of(node)

    def _argument(self, argument: Node, call: Node) -> _Config | None:
        text = text_of(argument).lstrip("&*")
        if argument.type == "call_expression":
            name = text_of(argument.child_by_field_name("function")).rpartition(".")[2]
            if text == f"{self._package}.NewConfig()":
                config = _Config(Configured("NewConfig()", line_of(argument), SARAMA), argument, "")
                self._configs[(argument.id, text)] = config
                return config
            made = [one for one in self._configs.values() if name and one.function == name and one.made is not None]
            return made[0] if len(made) == 1 else None
        found = self._config_of(call, text) or self._in_sight(call, text, self._clients)
        if found is not None or argument.type != "identifier":
            return found
        value = self._program.value_of(argument)
        return self._argument(value, call) if value is not None and value.type == "call_expression" else None

    def _remember_client(self, node: Node, config: _Config) -> None:
        """The client's name, for what is made from the client."""
        statement = around(node, "short_var_declaration", "assignment_statement")
        names = named(statement.child_by_field_name("left")) if statement is not None else []
        if names:
            function = around(node, *FUNCTIONS)
            self._clients[(0 if function is None else function.id, text_of(names[0]))] = config

    def _finished(self, config: _Config) -> Configured:
        """The configuration with the roles that follow from the whole file."""
        configured = config.configured
        if not configured.roles and not config.admin:
            sections = {one.key.partition(".")[0] for _, one in config.writes}
            by_fields = {role for role in (Role.PRODUCER, Role.CONSUMER) if role.value.title() in sections}
            configured.roles = set(self._unclear if len(self._unclear) == 1 else by_fields or self._unclear)
        configured.written = [_as_taken(one, config) for _, one in sorted(config.writes, key=lambda write: write[0])]
        if Role.PRODUCER in configured.roles:
            _answer(config)
        return configured


def _as_taken(one: Written, config: _Config) -> Written:
    why = _RETURNS.get(one.key)
    if why and config.sync and not config.asynchronous and one.value.text == "false" and not one.only_if:
        return Written(one.key, one.line, one.value, rejected=why)
    if one.key == "Version" and not any(other.key in _NEED_VERSION for _, other in config.writes):
        return replace(one, ignored=one.ignored or ("" if one.value.known and not one.only_if else _ANY_VERSION))
    if config.admin and not config.configured.roles:
        return Written(one.key, one.line, one.value, ignored="only the admin client has it: it sends and reads nothing")
    return one


def _answer(config: _Config) -> None:
    """What the kind of producer says of how the application sends."""
    line = config.configured.line
    if config.sync and not config.asynchronous:
        config.configured.answers["sends"] = ("sync", line)
    unseen = [one for one in config.configured.written if one.key == "Producer.Return.Errors"]
    if unseen and unseen[-1].value.text == "false" and not config.sync and not any(one.only_if for one in unseen):
        config.configured.answers["on_send_error"] = ("ignore", unseen[-1].line)


def _with_unit(key: str, value: Value, program: Program, node: Node, package: str) -> Value:
    """A duration that is a plain number is in nanoseconds."""
    definitions = (
        find_definition(f"{SARAMA} {role}", key, Release(*LIBRARIES[SARAMA].newest))
        for role in (Role.PRODUCER, Role.CONSUMER)
    )
    known = program.known(node, (package,))
    if known is not None and known.kind == "number" and any(one and one.type == "duration" for one in definitions):
        return Value(f"{known.text}ns" if known.value else "0s", value.shown)
    return value
