"""Java: the declaration of each name, by the scopes of the language, and the number of its assignments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.syntax import line_of, named, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

INITIALIZER = "block"
"""The node type of an instance initializer: a block in the body of a class."""

ROUTINES = (
    "method_declaration",
    "constructor_declaration",
    "compact_constructor_declaration",
    "static_initializer",
    "lambda_expression",
)
CLASSES = ("class_body", "enum_body", "interface_body", "annotation_type_body", "enum_body_declarations")
_SCOPES = (
    "program",
    "block",
    "constructor_body",
    "switch_block",
    "switch_rule",
    "for_statement",
    "enhanced_for_statement",
    "try_with_resources_statement",
    "catch_clause",
    "record_declaration",
    *ROUTINES,
    *CLASSES,
)
_DECLARING = (
    "formal_parameter",
    "catch_formal_parameter",
    "resource",
    "enhanced_for_statement",
    "instanceof_expression",
    "type_pattern",
    "record_pattern_component",
)
_FIELDS = ("field_declaration", "constant_declaration")
_NAMED = ("class_declaration", "enum_declaration", "interface_declaration", "record_declaration")
_THIS = re.compile(r"(?:\w+\.)*this")
_BOUND = re.compile(r'@Value\(\s*(?:value\s*=\s*)?"([^"]*)"\s*\)')
_FILLED = re.compile(r"@(?:[\w.]+\.)?(?:Data|Setter|ConfigurationProperties|ConfigMapping)\b")
_PLAIN = re.compile(r"@(?:SuppressWarnings|Deprecated|NonNull|Nullable|NotNull)\b(?:\([^)]*\))?")


@dataclass(eq=False)
class Declared:
    """A variable. ``node``: its declaration. ``writes``: all assigned values, None for a change that is no expression.

    ``routine``: the method, lambda or initializer that it is local to; None for a field, whose class is ``body``.
    ``bound``: the placeholder and line of Spring's value for it (``@Value``). ``uses``: every place of a read or
    change, in the order of the text.
    """

    name: str
    node: Node
    value: Node | None
    routine: Node | None
    body: Node | None
    parameter: bool = False
    filled: bool = False
    bound: tuple[str, int] | None = None
    writes: list[Node | None] = field(default_factory=list)
    uses: list[Node] = field(default_factory=list)

    @property
    def is_field(self) -> bool:
        """Tell whether the variable belongs to a class or its objects."""
        return self.routine is None

    @property
    def only_value(self) -> Node | None:
        """The expression that is the variable's value at every read, if there is one."""
        if self.parameter or self.filled or self.bound is not None:
            return None
        if self.value is not None:
            return None if self.writes else self.value
        return self.writes[0] if len(self.writes) == 1 and not self.is_field else None


@dataclass
class Names:
    """Every name of a Java file that means a variable of it."""

    of: dict[int, Declared] = field(default_factory=dict)
    """Variables by the id of the node that uses them."""
    every: list[Declared] = field(default_factory=list)
    constants: dict[tuple[str, str], Declared] = field(default_factory=dict)
    """Fields by the name of their class and their own."""

    def meant(self, node: Node | None) -> Declared | None:
        """Return the variable that an expression names: ``props``, ``this.props``, ``Settings.PROPS`` of this file."""
        if node is None:
            return None
        found = self.of.get(node.id)
        if found is None and node.type == "field_access":
            owner = text_of(node.child_by_field_name("object")).rpartition(".")[2]
            found = self.constants.get((owner, text_of(node.child_by_field_name("field"))))
        return found


@dataclass
class _Walk:
    names: Names = field(default_factory=Names)
    scopes: list[dict[str, Declared]] = field(default_factory=list)
    routines: list[Node] = field(default_factory=list)
    bodies: list[dict[str, Declared]] = field(default_factory=list)
    written: list[Node] = field(default_factory=list)
    qualified: list[Node] = field(default_factory=list)

    unknown: list[Node] = field(default_factory=list)

    def finish(self) -> Names:
        """Finish the names after every class was seen: ``Settings.PROPS``, and assignments.

        An inherited name, or a field of some object, can be any field of that name in the file, so each of them gets
        its changes.
        """
        for node in self.qualified:
            found = self.names.meant(node)
            if found is not None and node.id not in self.names.of:
                self.names.of[node.id] = found
                found.uses.append(node)
            elif found is None:
                self.unknown.append(node)
        fields: dict[str, list[Declared]] = {}
        for one in self.names.every:
            if one.is_field:
                fields.setdefault(one.name, []).append(one)
        for node in self.unknown:
            for one in fields.get(_last(node), ()):
                one.uses.append(node)
        for one in self.names.every:
            one.uses.sort(key=lambda use: use.start_byte)
        for node in self.written:
            self.write(node, fields)
        return self.names

    def enter(self, node: Node, parent: Node | None) -> None:
        self.scopes.append({})
        if node.type in ROUTINES or (node.type == INITIALIZER and parent is not None and parent.type in CLASSES):
            self.routines.append(node)
        if node.type in CLASSES:
            self.bodies.append(self.scopes[-1])
            self._fields(node, parent)
        if node.type == "lambda_expression":
            given = node.child_by_field_name("parameters")
            names = [given] if given is not None and given.type == "identifier" else named(given)
            for one in names:
                if one.type == "identifier":
                    self._declare(one, one, None, parameter=True)

    def leave(self, node: Node) -> None:
        self.scopes.pop()
        if self.routines and self.routines[-1].id == node.id:
            self.routines.pop()
        if node.type in CLASSES:
            self.bodies.pop()

    def _fields(self, body: Node, owner: Node | None) -> None:
        kind = text_of(owner.child_by_field_name("name")) if owner is not None and owner.type in _NAMED else ""
        head = "" if owner is None else " ".join(text_of(one) for one in owner.children if one.type == "modifiers")
        for member in named(body):
            if member.type not in _FIELDS:
                continue
            marks = " ".join(text_of(one) for one in member.children if one.type == "modifiers")
            filled = "final" not in marks.split() and (_FILLED.search(head) is not None or "@" in _PLAIN.sub("", marks))
            bound = _BOUND.search(marks)
            for one in member.children_by_field_name("declarator"):
                name = one.child_by_field_name("name")
                if name is None:
                    continue
                value = one.child_by_field_name("value")
                declared = Declared(text_of(name), one, value, None, body, filled=filled and member.type == _FIELDS[0])
                if bound is not None:
                    declared.bound = (bound[1], line_of(member))
                self.scopes[-1][declared.name] = declared
                self.names.every.append(declared)
                if kind:
                    self.names.constants.setdefault((kind, declared.name), declared)

    def _declare(self, node: Node, name: Node, value: Node | None, *, parameter: bool = False) -> Declared:
        routine = self.routines[-1] if self.routines else None
        declared = Declared(text_of(name), node, value, routine, None, parameter=parameter or routine is None)
        self.scopes[-1][declared.name] = declared
        self.names.every.append(declared)
        return declared

    def declare(self, node: Node, parent: Node | None) -> None:
        """Record the variable that a node declares, if it does."""
        if node.type == "variable_declarator" and (parent is None or parent.type not in _FIELDS):
            name = node.child_by_field_name("name")
            if name is not None:
                spread = parent is not None and parent.type == "spread_parameter"
                self._declare(node, name, node.child_by_field_name("value"), parameter=spread)
        elif node.type in _DECLARING:
            name = node.child_by_field_name("name")
            if name is None and node.type != "instanceof_expression":
                name = next((one for one in named(node) if one.type == "identifier"), None)
            if name is not None:
                value = node.child_by_field_name("value")
                declared = self._declare(node, name, value, parameter=node.type != "resource")
                bound = _BOUND.search(text_of(node)) if node.type == "formal_parameter" else None
                if bound is not None:
                    declared.bound = (bound[1], line_of(node))

    def use(self, node: Node) -> None:
        """Record the use of a name, or of a field of ``this``."""
        if node.type == "field_access":
            name, outer = (
                text_of(node.child_by_field_name("field")),
                text_of(node.child_by_field_name("object")) != "this",
            )
            bodies = reversed(self.bodies) if outer else self.bodies[-1:]
            found = next((body[name] for body in bodies if name in body), None)
            if found is None:
                self.unknown.append(node)
        else:
            name = text_of(node)
            found = next((scope[name] for scope in reversed(self.scopes) if name in scope), None)
        if found is not None:
            self.names.of[node.id] = found
            found.uses.append(node)
        elif node.type == "identifier":
            self.unknown.append(node)

    def write(self, node: Node, fields: dict[str, list[Declared]]) -> None:
        """Record an assignment or ``++``."""
        target = node.child_by_field_name("left") or next(iter(named(node)), None)
        found = self.names.meant(target)
        if found is not None:
            plain = node.type == "assignment_expression" and text_of(node.child_by_field_name("operator")) in ("", "=")
            found.writes.append(node.child_by_field_name("right") if plain else None)
        elif target is not None:
            for one in fields.get(_last(target), ()):
                one.writes.append(None)


def _last(node: Node) -> str:
    """Return the name itself, without its object."""
    return text_of(node.child_by_field_name("field") if node.type == "field_access" else node)


def names_of(root: Node) -> Names:
    """Return the names of a file, in one walk."""
    walk = _Walk()
    waiting: list[tuple[Node, Node | None, bool]] = [(root, None, False)]
    while waiting:
        node, parent, leaving = waiting.pop()
        if leaving:
            walk.leave(node)
            continue
        if node.type in _SCOPES:
            walk.enter(node, parent)
            waiting.append((node, parent, True))
        walk.declare(node, parent)
        if node.type in ("assignment_expression", "update_expression"):
            walk.written.append(node)
        of_this = (
            node.type == "field_access" and _THIS.fullmatch(text_of(node.child_by_field_name("object"))) is not None
        )
        if node.type == "identifier" or of_this:
            walk.use(node)
        else:
            if node.type == "field_access":
                walk.qualified.append(node)
            waiting += [(child, node, False) for child in _parts(node)]
    return walk.finish()


def _parts(node: Node) -> Iterator[Node]:
    """Yield the parts in which variables are used, the last first."""
    skipped: set[int] = set()
    if node.type == "method_reference":
        yield from node.named_children[:1]
        return
    for role in ("name", "field", "key", "label"):
        part = node.child_by_field_name(role)
        if part is not None and node.type != "array_access":
            skipped.add(part.id)
    if node.type in ("inferred_parameters", "labeled_statement", "break_statement", "continue_statement"):
        skipped |= {one.id for one in node.named_children if one.type == "identifier"}
    if node.type == "lambda_expression":
        given = node.child_by_field_name("parameters")
        if given is not None and given.type == "identifier":
            skipped.add(given.id)
    for child in reversed(node.named_children):
        if child.id not in skipped:
            yield child
