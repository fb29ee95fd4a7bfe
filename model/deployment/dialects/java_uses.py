"""The use of a map of settings at a place in a Java program: it reads the map, changes it, or passes it on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.java import Program
from proofka.model.deployment.dialects.formats.java_names import Declared
from proofka.model.deployment.dialects.formats.syntax import all_of, named, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

PUTS = ("put", "setProperty", "putIfAbsent")
COPIES = (
    "Properties",
    "HashMap",
    "LinkedHashMap",
    "TreeMap",
    "ConcurrentHashMap",
    "ConcurrentSkipListMap",
    "Hashtable",
)
SAME = ("copyOf", "unmodifiableMap", "synchronizedMap", "propsToMap", "requireNonNull")
"""Methods that return their argument, or a copy of it."""

_TAKERS = (
    "KafkaProducer",
    "KafkaConsumer",
    "DefaultKafkaProducerFactory",
    "DefaultKafkaConsumerFactory",
    "KafkaStreams",
    "StreamsConfig",
    "KafkaStreamsConfiguration",
    "ProducerConfig",
    "ConsumerConfig",
    "KafkaAdmin",
    "FlinkKafkaConsumer",
    "FlinkKafkaProducer",
)
"""Classes that copy their argument and never change it (``AbstractConfig`` of Kafka, the factories of Spring)."""

_READS = (
    *("get", "getProperty", "getOrDefault", "containsKey", "contains", "containsValue", "size", "isEmpty", "toString"),
    *("equals", "hashCode", "entrySet", "keySet", "values", "stringPropertyNames", "propertyNames", "forEach", "list"),
    *("store", "clone", "getClass"),
)
_VIEWS = ("entrySet", "keySet", "values")
_CHANGING = ("remove", "removeIf", "removeAll", "retainAll", "clear", "iterator", "setValue")
_TOLD = (
    "println",
    "print",
    "printf",
    "format",
    "valueOf",
    "info",
    "debug",
    "warn",
    "error",
    "trace",
    "log",
    "putAll",
    "configure",
)
_ADMINS = ("AdminClient", "Admin", "KafkaAdminClient")
_LOOKS = (
    *("return_statement", "binary_expression", "instanceof_expression", "expression_statement", "if_statement"),
    *("enhanced_for_statement", "field_access", "synchronized_statement", "array_access"),
)


class Act(Enum):
    """The kinds of uses of a map."""

    READ = "read"
    PUT = "put"
    ALL = "putAll"
    REMOVE = "remove"
    ASSIGNED = "assigned"
    ALIAS = "alias"
    HELPER = "helper"
    OTHER = "other"


@dataclass(frozen=True)
class Use:
    """One use. ``node``: the call or assignment. ``at``: the map's position among the arguments. ``how``: the use in a
    message."""

    act: Act
    node: Node
    at: int = 0
    how: str = ""


@dataclass
class Uses:
    """The uses in one program."""

    program: Program

    def __post_init__(self) -> None:
        root = self.program.root
        self.classes = {text_of(one.child_by_field_name("name")) for one in all_of(root, "class_declaration")}
        self._routines: dict[tuple[str, int], list[Node]] = {}
        for one in all_of(root, "method_declaration", "constructor_declaration"):
            place = (text_of(one.child_by_field_name("name")), len(parameters_of(one)))
            self._routines.setdefault(place, []).append(one)
        self._declared = {one.node.id: one for one in self.program.names.every}
        self._told: dict[int, Use] = {}
        self._calls: dict[int, list[Node]] = {}
        for call in all_of(root, "method_invocation"):
            routine = self.routine(call)
            if routine is not None:
                self._calls.setdefault(routine.id, []).append(call)

    def calls_of(self, routine: Node) -> list[Node]:
        """Return the calls in this file of one of its own methods."""
        return self._calls.get(routine.id, [])

    def routine(self, call: Node) -> Node | None:
        """Return the method or constructor of this file that a call certainly runs, or None."""
        arguments = named(call.child_by_field_name("arguments"))
        if call.type == "object_creation_expression":
            name = kind_of(call)
            if name not in self.classes or any(one.type == "class_body" for one in call.children):
                return None
        else:
            owner = text_of(call.child_by_field_name("object"))
            if owner not in ("", "this") and owner.rpartition(".")[2] not in self.classes:
                return None
            name = text_of(call.child_by_field_name("name"))
        found = self._routines.get((name, len(arguments)), [])
        return found[0] if len(found) == 1 else None

    def parameter(self, routine: Node, at: int) -> Declared | None:
        """Return a parameter of a method by its number."""
        parameters = parameters_of(routine)
        return self._declared.get(parameters[at].id) if at < len(parameters) else None

    def target(self, node: Node) -> Declared | None:
        """Return the variable to which a declaration or an assignment gives a value."""
        if node.type == "variable_declarator":
            return self._declared.get(node.id)
        return self.program.names.meant(node.child_by_field_name("left"))

    def changes(self, variable: Declared, after: int = 0) -> bool:
        """Tell whether the map can be changed by this name, after a place in the file."""
        return any(self.of(use).act not in (Act.READ, Act.ALIAS) for use in variable.uses if use.start_byte >= after)

    def of(self, use: Node) -> Use:
        """Return the use of a variable at one place."""
        if use.id not in self._told:
            self._told[use.id] = self._of(use)
        return self._told[use.id]

    def _of(self, use: Node) -> Use:
        node, above = use, use.parent
        while above is not None and above.type in ("parenthesized_expression", "cast_expression"):
            node, above = above, above.parent
        if above is None:
            return Use(Act.READ, node)
        if above.type == "method_invocation" and above.child_by_field_name("object") == node:
            return _called(above)
        if above.type == "argument_list" and above.parent is not None:
            return self._handed(above.parent, next(at for at, one in enumerate(named(above)) if one == node))
        if above.type == "assignment_expression" and above.child_by_field_name("left") == node:
            return Use(Act.ASSIGNED, above)
        if above.type in ("assignment_expression", "variable_declarator"):
            return Use(Act.ALIAS, above, how="gets another name")
        if above.type in _LOOKS:
            return Use(Act.READ, above)
        return Use(Act.OTHER, above, how="is used")

    def _handed(self, call: Node, at: int) -> Use:
        name = kind_of(call) if call.type == "object_creation_expression" else text_of(call.child_by_field_name("name"))
        how = f"is handed to {name or 'another constructor'}"
        if call.type == "object_creation_expression" and name in (*_TAKERS, *COPIES):
            return Use(Act.READ, call)
        if self.routine(call) is not None:
            return Use(Act.HELPER, call, at, how)
        if call.type == "method_invocation":
            owner = text_of(call.child_by_field_name("object")).rpartition(".")[2]
            if name in (*_TOLD, *SAME) or (name == "create" and owner in _ADMINS):
                return Use(Act.READ, call)
        return Use(Act.OTHER, call, at, how)


def kind_of(created: Node) -> str:
    """Return the class of a ``new`` expression, without its package."""
    return text_of(created.child_by_field_name("type")).partition("<")[0].rpartition(".")[2].strip()


def parameters_of(routine: Node) -> list[Node]:
    """Return the parameters of a method."""
    given = named(routine.child_by_field_name("parameters"))
    return [one for one in given if one.type in ("formal_parameter", "spread_parameter")]


def _called(call: Node) -> Use:
    name, given = text_of(call.child_by_field_name("name")), named(call.child_by_field_name("arguments"))
    if name in PUTS and len(given) == 2:
        return Use(Act.PUT, call)
    if name == "putAll" and len(given) == 1:
        return Use(Act.ALL, call)
    if name == "remove" and len(given) == 1:
        return Use(Act.REMOVE, call)
    if name not in _READS or (name in _VIEWS and not _only_looked_at(call)):
        return Use(Act.OTHER, call, how=f"is changed here ({name})")
    return Use(Act.READ, call)


def _only_looked_at(view: Node) -> bool:
    """Tell whether a view of the map is only read. Removing an element of a view would change the map."""
    above = view.parent
    if above is None or above.type in ("variable_declarator", "assignment_expression"):
        return False
    if above.type == "method_invocation" and above.child_by_field_name("object") == view:
        return text_of(above.child_by_field_name("name")) not in _CHANGING
    body = above.child_by_field_name("body") if above.type == "enhanced_for_statement" else None
    return body is None or not any(
        text_of(one.child_by_field_name("name")) in _CHANGING for one in all_of(body, "method_invocation")
    )
