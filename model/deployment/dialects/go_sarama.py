"""sarama in Go programs: the assignments to fields of a ``sarama.Config``, and its users.

A configuration is followed from ``NewConfig()`` through assignments in the same function, a function of the file that
returns it, and a function that gets it, to the client's constructor. sarama keeps the pointer (``NewClient``), so any
other use of the variable can change the client and is rejected (``go_uses``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.go import Program
from proofka.model.deployment.dialects.formats.go_names import Variable
from proofka.model.deployment.dialects.formats.syntax import all_of, around, line_of, named, text_of
from proofka.model.deployment.dialects.go_flow import UNKNOWN, Flow, Held, plain
from proofka.model.deployment.dialects.go_sarama_fields import answer, as_taken, is_field, written_field
from proofka.model.deployment.dialects.keys import SARAMA, has_key
from proofka.model.deployment.dialects.written import Configured, Value, Written, check_number

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
_ZERO = (
    "a sarama.Config without NewConfig() has no defaults, so sarama refuses it (ConfigurationError); use NewConfig()"
)


def is_used(program: Program) -> bool:
    """Tell whether the file imports sarama."""
    return any(path in PATHS for path in program.packages.values())


def configurations(program: Program) -> Iterator[Configured]:
    """Yield every configuration of sarama in a file, with its use."""
    for package, path in program.packages.items():
        if path in PATHS:
            yield from _Reading(program, package).all()


class _Reading(Flow):
    library = SARAMA
    types = ("Config",)

    def __init__(self, program: Program, package: str) -> None:
        super().__init__(program, package)
        self._clients: dict[Variable, list[Held]] = {}
        self._alone: list[Configured] = []
        self._unclear: set[Role] = set()

    def all(self) -> Iterator[Configured]:
        """Yield every configuration, in the order of the file."""
        self.find()
        for node in all_of(self.program.root, "assignment_statement"):
            self._assigned(node)
        for node in self.calls:
            self._called(node)
        for held in self.follow():
            yield self._finished(held)
        yield from self._alone

    def made(self, name: Node, value: Node) -> None:
        text = text_of(value).lstrip("&*")
        if text == f"{self.package}.NewConfig()":
            self.new(name, value)
        elif text.startswith(f"{self.package}.Config{{"):
            config = self.new(name, value)
            written = Written("sarama.Config", line_of(value), Value("", "sarama.Config{}"), rejected=_ZERO)
            config.fields.append((value.start_byte, written))
            for literal in all_of(value, "literal_value"):
                self._literal(literal, (), config)
                break

    def _literal(self, node: Node, above: tuple[str, ...], config: Held) -> None:
        """Read the fields of a written struct."""
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

    def _assigned(self, node: Node) -> None:
        left, right = (named(node.child_by_field_name(side)) for side in ("left", "right"))
        for number, target in enumerate(left):
            base: Node | None = target
            path: tuple[str, ...] = ()
            while base is not None and base.type == "selector_expression":
                path = (text_of(base.child_by_field_name("field")), *path)
                base = plain(base.child_by_field_name("operand"))
                config = self.held_by(base) if base is not None else None
                if config is None and base is not None and is_field(path):
                    config = self.new(base, None)
                if config is not None and base is not None:
                    config.writes.append(base)
                    self._write(config, path, right[number] if len(left) == len(right) else node, node)
                    break

    def _write(self, config: Held, path: tuple[str, ...], value: Node, statement: Node) -> None:
        one = written_field(self.program, self.package, path, value, statement, config.made)
        config.fields.append((statement.start_byte, one))

    def _called(self, node: Node) -> None:
        package, _, name = text_of(node.child_by_field_name("function")).partition(".")
        arguments = named(node.child_by_field_name("arguments"))
        if package != self.package or name not in (*_MAKERS, *_ADMIN, _CLIENT) or not arguments:
            return
        role, config = _MAKERS.get(name), self._argument(arguments[-1])
        if config is not None:
            config.kinds.add(name)
            if name == _CLIENT:
                self._remember_client(node, config)
            if role is not None:
                config.configured.roles.add(role)
                config.configured.line = config.configured.line or line_of(node)
        elif role is not None:
            nothing = text_of(arguments[-1]) == "nil"
            called = f"{name} with sarama's defaults" if nothing else name
            self._alone.append(Configured(called, line_of(node), SARAMA, roles={role}))
            check_number(len(self._alone), self.program.file, line_of(node))
            if not nothing:
                self._unclear.add(role)
                told = Written("settings", line_of(node), Value(None, ""), rejected=UNKNOWN)
                self._alone[-1].written.append(told)

    def _argument(self, argument: Node) -> Held | None:
        """Return the configuration that a constructor gets, directly or with a client."""
        node = plain(argument)
        if node is None:
            return None
        if node.type == "call_expression":
            if text_of(node) != f"{self.package}.NewConfig()":
                self.given_at_once.add(node.id)
                return self.result_of(node, 0)
            configured = Configured("NewConfig()", line_of(node), self.library)
            config = Held((node.id, ""), "NewConfig()", node, node, configured)
            self.held.append(config)
            return config
        found = self.held_by(node)
        if found is not None:
            found.given.append(node)
            return found
        variable = self.program.names.variable(node)
        clients = self._clients.get(variable, []) if variable is not None else []
        if not clients and node.type == "selector_expression":
            field = text_of(node.child_by_field_name("field"))
            clients = [one for one in self.held if one.variable[1].endswith(f".{field}") and one.made is not None]
        if len(clients) != 1:
            return None
        clients[0].given += [node] if node.type == "selector_expression" else []
        return clients[0]

    def _remember_client(self, node: Node, config: Held) -> None:
        """Remember the client's name, for objects that are made from the client."""
        statement = around(node, "short_var_declaration", "assignment_statement", "var_spec")
        side = None if statement is None else statement.child_by_field_name("left")
        names = named(side) or ([] if statement is None else statement.children_by_field_name("name"))
        variable = self.program.names.variable(names[0]) if names else None
        if variable is not None:
            self._clients.setdefault(variable, []).append(config)

    def _finished(self, config: Held) -> Configured:
        """Return the configuration with the roles that follow from the whole file."""
        configured, written = config.configured, self.all_fields(config)
        admin = bool(config.kinds & {*_ADMIN})
        if not configured.roles and not admin:
            sections = {one.key.partition(".")[0] for one in written}
            by_fields = {role for role in (Role.PRODUCER, Role.CONSUMER) if role.value.title() in sections}
            configured.roles = set(self._unclear if len(self._unclear) == 1 else by_fields or self._unclear)
        sync, asynchronous = (any(kind.startswith(f"New{how}") for kind in config.kinds) for how in ("Sync", "Async"))
        only_sync, only_admin = sync and not asynchronous, admin and not configured.roles
        configured.written = [as_taken(one, written, only_sync=only_sync, only_admin=only_admin) for one in written]
        if Role.PRODUCER in configured.roles:
            answer(configured, sync=sync, asynchronous=asynchronous)
        return configured
