"""The contents of maps and properties at a place of a Java program, as far as each step is understood.

The reader follows ``put`` and similar calls, copies, ``Map.of``, and methods of the same file that return a map or
change their argument. Any other use that can change a map leaves a rejected entry with its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from proofka.model.deployment.dialects.formats.java import Program, shape_of
from proofka.model.deployment.dialects.formats.java_flow import (
    after_return,
    conditions,
    lambda_of,
    loop_of,
    returns_of,
    routine_of,
)
from proofka.model.deployment.dialects.formats.java_names import Declared
from proofka.model.deployment.dialects.formats.syntax import all_of, line_of, named, text_of
from proofka.model.deployment.dialects.java_keys import SECURITY, Key, Keys
from proofka.model.deployment.dialects.java_uses import COPIES, PUTS, SAME, Act, Use, Uses, kind_of, parameters_of
from proofka.model.deployment.dialects.written import Value, Written
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.source import MOST_KEYS

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 40
"""The largest number of nested steps through which a map is followed."""

MOST_STEPS = 20_000
"""The largest number of steps in a file."""

_PAIRS = ("Map.of", "ImmutableMap.of", "Collections.singletonMap")
_EMPTY = ("Collections.emptyMap",)
_BUILT = ("build", "buildOrThrow", "buildKeepingLast")
_NOT_FOLLOWED = "in a way that cannot be followed"
_METHOD = "method_declaration"
SETTINGS = "settings"
"""The name of an unknown entry that can concern the whole map."""


@dataclass(frozen=True)
class Entry:
    """One setting of a map. ``owner``: the class of the constant that names it. ``place``: the id of its statement."""

    written: Written
    owner: str = ""
    place: int = 0


Content = tuple[Entry, ...]


@dataclass(eq=False)
class Frame:
    """One call of a method: the values of its parameters, by the id of their declaration, each with its own frame."""

    given: Mapping[int, tuple[Node, Frame | None]]


class Maps:
    """The maps of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.keys = Keys(program)
        self.uses = Uses(program)
        self._depth = self._steps = 0
        self._frames: dict[tuple[int, int], Frame] = {}
        self._known: dict[tuple[int, ...], Content] = {}

    def content(self, node: Node, frame: Frame | None = None, leaves: Node | None = None) -> Content:
        """Return the contents of an expression when it is reached. ``leaves``: the method that returns it."""
        self._step(node)
        if self._depth > DEEPEST:
            return (unknown(node, "is built in more steps than the reader follows"),)
        self._depth += 1
        try:
            found = self._content(node, frame, leaves)
        finally:
            self._depth -= 1
        if len(found) > MOST_KEYS:
            raise DeploymentError(f"sets more than {MOST_KEYS} settings", file=self.program.file, line=line_of(node))
        return found

    def _step(self, node: Node) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise DeploymentError(
                "builds maps in more steps than the reader follows", file=self.program.file, line=line_of(node)
            )

    def _content(self, node: Node, frame: Frame | None, leaves: Node | None) -> Content:
        if node.type in ("parenthesized_expression", "cast_expression") and named(node):
            return self.content(named(node)[-1], frame, leaves)
        if node.type == "null_literal":
            return ()
        variable = self.program.names.meant(node)
        if variable is not None:
            return self.state(variable, node, frame, leaves)
        if node.type == "method_invocation":
            return self._called(node, frame)
        if node.type == "object_creation_expression" and kind_of(node) in COPIES:
            return self._made(node, frame)
        return (_elsewhere(node),)

    def _called(self, node: Node, frame: Frame | None) -> Content:
        given = named(node.child_by_field_name("arguments"))
        owner, name = text_of(node.child_by_field_name("object")), text_of(node.child_by_field_name("name"))
        if f"{owner}.{name}" in _PAIRS and len(given) % 2 == 0:
            return self._pairs(given, node, frame)
        if f"{owner}.{name}" in _EMPTY:
            return ()
        if f"{owner}.{name}" == "Map.ofEntries":
            inner = [named(one.child_by_field_name("arguments")) for one in given if one.type == "method_invocation"]
            if len(inner) == len(given) and all(len(one) == 2 for one in inner):
                return self._pairs([one for pair in inner for one in pair], node, frame)
        if name in SAME and given:
            return self.content(given[0], frame)
        if name in _BUILT and not given:
            return self._chain(node, frame)
        routine = self.uses.routine(node)
        return (_elsewhere(node),) if routine is None else self._returned(routine, node, frame)

    def _pairs(self, given: Sequence[Node], place: Node, frame: Frame | None) -> Content:
        pairs = zip(given[::2], given[1::2], strict=True)
        return tuple(self._entry(key, value, value, place, frame) for key, value in pairs)

    def _chain(self, node: Node, frame: Frame | None) -> Content:
        """Return the contents of ``ImmutableMap.builder().put(..).build()``."""
        calls: list[Node] = []
        below = node.child_by_field_name("object")
        while below is not None and below.type == "method_invocation":
            calls.append(below)
            below = below.child_by_field_name("object")
        if not calls or text_of(calls.pop().child_by_field_name("name")) != "builder":
            return (_elsewhere(node),)
        content: Content = ()
        for call in reversed(calls):
            given = named(call.child_by_field_name("arguments"))
            name = text_of(call.child_by_field_name("name"))
            if name == "put" and len(given) == 2:
                content += (
                    self._entry(given[0], given[1], call.child_by_field_name("arguments") or call, call, frame),
                )
            elif name == "putAll" and len(given) == 1:
                content += self.content(given[0], frame)
            else:
                content += (unknown(call, f"{name} is called here, which cannot be followed"),)
        return content

    def _made(self, node: Node, frame: Frame | None) -> Content:
        """Return the contents of ``new HashMap<>(others) {{ put(..); }}``."""
        given = named(node.child_by_field_name("arguments"))
        content: Content = ()
        if given and self.program.value(given[0]).text is None:
            of_defaults = kind_of(node) == "Properties"
            content = (_elsewhere(given[0]),) if of_defaults else self.content(given[0], frame)
        for body in (one for one in node.children if one.type == "class_body"):
            for call in all_of(body, "method_invocation"):
                if call.child_by_field_name("object") is not None:
                    continue
                inner, name = named(call.child_by_field_name("arguments")), text_of(call.child_by_field_name("name"))
                if name in PUTS and len(inner) == 2:
                    new: Content = (self._entry(inner[0], inner[1], call, call, frame),)
                elif name == "putAll" and len(inner) == 1:
                    new = self.content(inner[0], frame)
                else:
                    new = (unknown(call, f"is changed here ({name}) {_NOT_FOLLOWED}"),)
                content += _only(new, conditions(call, None) or "")
        return content

    def _returned(self, routine: Node, call: Node, frame: Frame | None) -> Content:
        """Return the contents of the map that a method of the file returns."""
        values = [named(one)[0] for one in returns_of(routine) if named(one)]
        values = [one for one in values if one.type != "null_literal"] or values
        same = {id(self.program.names.meant(one)) for one in values}
        if not values or (len(values) > 1 and (len(same) > 1 or self.program.names.meant(values[0]) is None)):
            reason = f"its settings come from {shape_of(call)[:80]}, which returns different maps"
            return (unknown(call, reason) if values else _elsewhere(call),)
        return self.content(values[-1], self._frame(routine, call, frame), routine)

    def _frame(self, routine: Node, call: Node, frame: Frame | None) -> Frame:
        place = (call.id, id(frame))
        if place not in self._frames:
            given = named(call.child_by_field_name("arguments"))
            parameters = (self.uses.parameter(routine, at) for at in range(len(parameters_of(routine))))
            pairs = zip(parameters, given, strict=False)
            self._frames[place] = Frame({id(one): (value, frame) for one, value in pairs if one is not None})
        return self._frames[place]

    def state(
        self, variable: Declared, use: Node | None, frame: Frame | None = None, leaves: Node | None = None
    ) -> Content:
        """Return the contents of a variable at one of its uses; without a use, at the end."""
        place = (id(variable), use.id if use is not None else 0, id(frame), leaves.id if leaves is not None else 0)
        if place not in self._known:
            if variable.is_field:
                self._known[place] = self._field(variable, use, frame)
            else:
                content = self._first(variable, use, frame)
                self._known[place] = self._fold(variable, variable.uses, content, use, frame, leaves)
        return self._known[place]

    def _first(self, variable: Declared, use: Node | None, frame: Frame | None) -> Content:
        """Return the contents of a variable at its declaration."""
        if not variable.parameter:
            return () if variable.value is None else self._assigned(variable.value, frame)
        given = frame.given.get(id(variable)) if frame is not None else None
        if given is None:
            return (_elsewhere(use if use is not None else variable.node, variable.name),)
        return self.content(*given)

    def _assigned(self, value: Node, frame: Frame | None) -> Content:
        """Return the contents of an assigned map, with an unknown entry if the map is changed by its other name
        later."""
        content = self.content(value, frame)
        other = self.program.names.meant(value)
        if other is not None and self.uses.changes(other, value.end_byte):
            content += (unknown(value, f"is also changed through {other.name}, which cannot be followed"),)
        return content

    def _field(self, variable: Declared, use: Node | None, frame: Frame | None) -> Content:
        """Return the contents of a field after constructors and initializers, then methods that have run, then the
        method itself.

        A method without a visible call may or may not have run, unless the field would be empty without it.
        """
        here = routine_of(use) if use is not None else None
        content = () if variable.value is None else self._assigned(variable.value, frame)
        before: dict[int, tuple[Node | None, list[Node]]] = {}
        for one in variable.uses:
            self._step(one)
            routine = routine_of(one)
            if self.uses.of(one).act is not Act.READ and not _same(routine, here):
                before.setdefault(routine.id if routine is not None else 0, (routine, []))[1].append(one)
        for routine, uses in sorted(before.values(), key=lambda one: one[0] is not None and one[0].type == _METHOD):
            sure = "" if routine is None or use is None else self._has_run(routine, variable, here, use)
            content = _joined(content, self._fold(variable, uses, content, None, frame, routine), sure, uses[0])
        own = [one for one in variable.uses if here is not None and _same(routine_of(one), here)]
        return self._fold(variable, own, content, use, frame, None)

    def _has_run(self, routine: Node, variable: Declared, here: Node | None, use: Node) -> str:
        """Return the condition under which a method of the class has run by now; "" if it has."""
        if routine.type != _METHOD:
            alike = [] if variable.body is None else [one for one in named(variable.body) if one.type == routine.type]
            several = routine.type == "constructor_declaration" and len(alike) > 1
            return f"the constructor in line {line_of(routine)} is called" if several else ""
        if any(text_of(one).lstrip("@") == "PostConstruct" for one in all_of(routine, "marker_annotation")):
            return ""
        for call in self.uses.calls_of(routine):
            caller = routine_of(call)
            if _same(caller, here):
                if call.end_byte <= use.start_byte and conditions(call, use) == "":
                    return ""
            elif caller is not None and caller.type != _METHOD and conditions(call, None) == "":
                return ""
        if variable.value is None or variable.value.type == "null_literal":
            setters = {
                getattr(routine_of(one), "id", 0) for one in variable.uses if self.uses.of(one).act is Act.ASSIGNED
            }
            if setters == {routine.id}:
                return ""
        return f"{text_of(routine.child_by_field_name('name'))}() has run before"

    def _fold(
        self,
        variable: Declared,
        uses: Iterable[Node],
        content: Content,
        use: Node | None,
        frame: Frame | None,
        leaves: Node | None,
    ) -> Content:
        """Return the contents after every use up to ``use``, in the order of the text."""
        around = loop_of(use, variable.node) if use is not None else None
        later = use is not None and variable.routine is not None and lambda_of(use, variable.routine) is not None
        for one in uses:
            self._step(one)
            did = self.uses.of(one)
            if did.act is Act.READ:
                continue
            if use is not None and did.node.end_byte > use.start_byte:
                again = around is not None and around.start_byte <= did.node.start_byte < around.end_byte
                if (later or again) and did.act is not Act.ALIAS and not _within(did.node, use):
                    content += (unknown(did.node, "is changed here, perhaps before a client gets it"),)
                continue
            sure = conditions(did.node, use)
            if sure is None:
                continue
            if leaves is not None:
                sure = " and ".join(filter(None, (sure, after_return(did.node, leaves, use))))
            content = self._after(did, content, sure, frame)
            if len(content) > MOST_KEYS:
                what = f"sets more than {MOST_KEYS} settings"
                raise DeploymentError(what, file=self.program.file, line=line_of(did.node))
        return content

    def _after(self, did: Use, content: Content, sure: str, frame: Frame | None) -> Content:
        given = named(did.node.child_by_field_name("arguments"))
        if did.act is Act.PUT:
            return content + _only((self._put(did.node, given, content, frame),), sure)
        if did.act is Act.ALL:
            return content + _only(self.content(given[0], frame), sure)
        if did.act is Act.REMOVE:
            return self._removed(did.node, given[0], content, sure, frame)
        if did.act is Act.ASSIGNED:
            value = did.node.child_by_field_name("right")
            plain = text_of(did.node.child_by_field_name("operator")) in ("", "=")
            if sure == "" and value is not None and plain:
                return self._assigned(value, frame)
            return (*content, unknown(did.node, f"is replaced here, but only if {sure}"))
        if did.act is Act.ALIAS:
            target = self.uses.target(did.node)
            if target is not None and not self.uses.changes(target):
                return content
            if target is not None and target.is_field and _only_sets(self.uses, target):
                return content
        if did.act is Act.HELPER:
            routine = self.uses.routine(did.node)
            parameter = self.uses.parameter(routine, did.at) if routine is not None else None
            if routine is not None and parameter is not None and self._depth <= DEEPEST:
                inner = self._frame(routine, did.node, frame)
                self._depth += 1
                try:
                    new = self._fold(parameter, parameter.uses, content, None, inner, routine)
                finally:
                    self._depth -= 1
                return _joined(content, new, sure, did.node)
        return (*content, unknown(did.node, f"{did.how} {_NOT_FOLLOWED}"))

    def put(self, call: Node) -> Entry:
        """Return the entry that one ``put`` sets."""
        given = named(call.child_by_field_name("arguments"))
        return self._entry(given[0], given[1], call, call, None)

    def _put(self, call: Node, given: Sequence[Node], content: Content, frame: Frame | None) -> Entry:
        entry = self._entry(given[0], given[1], call, call, frame)
        if text_of(call.child_by_field_name("name")) != "putIfAbsent" or entry.written.rejected:
            return entry
        before = [one.written for one in content if one.written.key in (entry.written.key, SETTINGS)]
        before = [one for one in before if not one.ignored]
        if not before:
            return entry
        if any(one.key == entry.written.key and not one.only_if and not one.rejected for one in before):
            return replace(entry, written=replace(entry.written, ignored="has no effect, because it is set already"))
        return replace(entry, written=replace(entry.written, only_if="it is not set before"))

    def _removed(self, call: Node, key: Node, content: Content, sure: str, frame: Frame | None) -> Content:
        name = self._key(key, frame).text
        if name is None or sure:
            return (*content, unknown(call, f"is changed here (remove) {_NOT_FOLLOWED}"))
        reason = f"is removed in line {line_of(call)}"
        return tuple(
            replace(one, written=replace(one.written, ignored=reason)) if one.written.key == name else one
            for one in content
        )

    def _entry(self, key: Node, value: Node, statement: Node, place: Node, frame: Frame | None) -> Entry:
        named_as = self._key(key, frame)
        line = line_of(statement)
        if named_as.text is None:
            reason = f"a setting is set here whose name is not in this file: {shape_of(key)[:80]}"
            return Entry(Written(SETTINGS, line, Value(None, ""), rejected=reason), "", place.id)
        ignored = ""
        if named_as.owner in SECURITY or named_as.text.startswith(("ssl.", "sasl.")):
            ignored = "security does not change delivery"
        elif named_as.foreign:
            ignored = "is for a serializer or deserializer"
        written = Written(named_as.text, line, self._said(value, frame), "", ignored)
        return Entry(written, named_as.owner, place.id)

    def _key(self, node: Node, frame: Frame | None) -> Key:
        found, given = self.keys.of(node), self._given(node, frame)
        return self._key(*given) if found.text is None and given is not None else found

    def _said(self, node: Node, frame: Frame | None) -> Value:
        found, given = self.program.value(node), self._given(node, frame)
        return self._said(*given) if found.text is None and given is not None else found

    def _given(self, node: Node, frame: Frame | None) -> tuple[Node, Frame | None] | None:
        """Return the value of a parameter in this call."""
        variable = self.program.names.meant(node)
        if variable is None or frame is None or variable.writes:
            return None
        return frame.given.get(id(variable))


def unknown(node: Node, reason: str) -> Entry:
    """Return an entry for a change that cannot be followed."""
    return Entry(Written(SETTINGS, line_of(node), Value(None, ""), rejected=reason), "", node.id)


def _elsewhere(node: Node, name: str = "") -> Entry:
    return unknown(node, f"its settings are not in this file: {name or shape_of(node)[:80]}")


def _only(entries: Content, condition: str) -> Content:
    if not condition:
        return entries
    return tuple(
        replace(one, written=replace(one.written, only_if=" and ".join(filter(None, (condition, one.written.only_if)))))
        for one in entries
    )


def _joined(before: Content, after: Content, condition: str, node: Node) -> Content:
    """Return the contents after a step that is taken only under a condition."""
    if not condition:
        return after
    lost = any(one not in after for one in before)
    new = _only(tuple(one for one in after if one not in before), condition)
    return (*before, *new, *((unknown(node, f"is changed here, but only if {condition}"),) if lost else ()))


def _only_sets(uses: Uses, field: Declared) -> bool:
    """Tell whether a map in this field is changed by no other use of the field."""
    return all(uses.of(one).act in (Act.READ, Act.ALIAS, Act.ASSIGNED) for one in field.uses)


def _same(one: Node | None, other: Node | None) -> bool:
    return one is not None and other is not None and one.id == other.id


def _within(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte
