"""Rules in a part of Rego, the language of OPA: ``deny contains msg if { input.spec.replicas < 3; msg := "few" }``.

The part has ``default``, ``allow``, ``deny`` and ``violation`` rules, rules that these name, named values (``:=``),
comparisons, ``in``, ``not``, sums and ``to_number``. Messages are read and have no meaning. Everything else is refused
with its place. A deployment is allowed if ``allow`` is true or no rule has this name, and neither ``deny`` nor
``violation`` has a member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from proofka.checker.policies.errors import RuleSyntaxError
from proofka.checker.policies.expression import FALSE, AllOf, Expression, Has, Not, Order, Read
from proofka.checker.policies.meaning import (
    Listed,
    Meaning,
    Node,
    Operation,
    Path,
    Value,
    conjunction,
    disjunction,
    literal,
    outside,
)
from proofka.checker.policies.paths import places, value_at
from proofka.checker.policies.places import Place, in_whole_file
from proofka.checker.policies.scanning import Kind, Lexicon, Reader, Token, scan

LEXICON = Lexicon(
    word=r"[A-Za-z_][A-Za-z0-9_]*",
    signs=":= == != <= >= < > = ( ) [ ] { } , ; . + - * / % | & :",
    comment="#",
    lines_count=True,
)

ALLOW = "allow"
FORBID = ("deny", "violation")
"""The names of rules that forbid what they hold for."""

IMPORTS = ("rego.v1", "future.keywords")
"""Imports that only name keywords."""

TO_NUMBER = "to_number"
DEEPEST = 40
"""The deepest nesting of a rule, of terms and of rules that name each other."""


@dataclass(frozen=True)
class Literal:
    """One line of a body: a condition, its negation, or a name with its value."""

    node: Node
    negated: bool = False
    name: str = ""


@dataclass(frozen=True)
class Body:
    """The lines of one rule, and the message of its head."""

    lines: tuple[Literal, ...]
    message: Node | None
    token: Token


@dataclass
class Module:
    """The rules of a file by name, and the values that have names."""

    rules: dict[str, list[Body]] = field(default_factory=dict)
    values: dict[str, Node] = field(default_factory=dict)


def read_rego(text: str, file: str, place: Place | None = None) -> Expression:
    """Return the meaning of a file in Rego. Raise PolicyError."""
    place = in_whole_file(text) if place is None else place
    module = _Parser(Reader(scan(text, LEXICON, file, place), file)).module()
    if ALLOW not in module.rules and not any(name in module.rules for name in FORBID):
        names = ", ".join((ALLOW, *FORBID))
        line, column = place(0)
        raise RuleSyntaxError(f"has none of the rules {names}", file=file, line=line, column=column)
    return _Meaning(module, file).whole()


class _Meaning:
    """The meaning of a module."""

    def __init__(self, module: Module, file: str) -> None:
        self._module = module
        self._file = file
        self._meaning = Meaning(file, absent_is_false=True)
        self._open: list[str] = []

    def whole(self) -> Expression:
        parts = [self._rule(ALLOW)] if ALLOW in self._module.rules else []
        parts += [Not(self._rule(name)) for name in FORBID if name in self._module.rules]
        return conjunction(parts)

    def _rule(self, name: str) -> Expression:
        bodies = self._module.rules[name]
        if name in self._open or len(self._open) > DEEPEST:
            raise outside(f"the rule {name} names itself", bodies[0].token, self._file)
        self._open.append(name)
        found = disjunction(self._body(body) for body in bodies) if bodies else FALSE
        self._open.pop()
        return found

    def _body(self, body: Body) -> Expression:
        names = dict(self._module.values)
        parts: list[Expression] = []
        for line in body.lines:
            node = self._with(line.node, names)
            if line.name:
                if line.name in names or line.name in self._module.rules:
                    raise outside(f"the name {line.name} has another value already", node.token, self._file)
                names[line.name] = node
                parts += self._defined(node)
            else:
                found = self._line(node)
                parts.append(Not(found) if line.negated else found)
        if body.message is not None:
            parts += self._defined(self._with(body.message, names))
        return AllOf(tuple(parts))

    def _line(self, node: Node) -> Expression:
        if isinstance(node, Path) and len(node.parts) == 1 and node.parts[0] in self._module.rules:
            name = node.parts[0]
            if any(body.message is not None for body in self._module.rules[name]):
                raise outside(f"{name} is a set, which is there even if it is empty", node.token, self._file)
            return self._rule(name)
        return self._meaning.condition(node)

    def _defined(self, node: Node) -> Iterator[Expression]:
        """Yield the conditions under which a value is defined; parts that are no settings are always defined."""
        match node:
            case Path(parts, token) if any(place.fits(parts) for place in places()):
                found = value_at(parts, line=token.line, column=token.column, file=self._file)
                if isinstance(found, Read):
                    yield Has(found)
            case Operation(_, nodes, _) | Listed(nodes, _):
                for one in nodes:
                    yield from self._defined(one)

    def _with(self, node: Node, names: Mapping[str, Node]) -> Node:
        """Return a node with the values of names in place of the names."""
        match node:
            case Path(parts, token) if parts[0] in names:
                value = names[parts[0]]
                if len(parts) == 1:
                    return value
                if not isinstance(value, Path):
                    raise outside("a field of something that is no setting", token, self._file)
                return Path((*value.parts, *parts[1:]), token)
            case Operation(sign, nodes, token):
                return Operation(sign, tuple(self._with(one, names) for one in nodes), token)
            case Listed(nodes, token):
                return Listed(tuple(self._with(one, names) for one in nodes), token)
            case _:
                return node


class _Parser:
    """The parser of a module; the end of a line separates the lines of a body."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._module = Module()
        self._depth = 0

    def module(self) -> Module:
        self._skip()
        if self._reader.take("package"):
            self._dotted()
        self._skip()
        while self._reader.token.kind is not Kind.END:
            if self._reader.is_at("import"):
                self._import()
            elif self._reader.is_at("default"):
                self._default()
            else:
                self._rule()
            self._skip()
        return self._module

    def _skip(self) -> None:
        while self._reader.token.kind is Kind.LINE_END:
            self._reader.next()

    def _dotted(self) -> str:
        parts = [self._word()]
        while self._reader.is_at(".", "["):
            if self._reader.next().text == ".":
                parts.append(self._word())
            else:
                parts.append(self._reader.next().text)
                self._reader.expect("]")
        return ".".join(parts)

    def _word(self) -> str:
        token = self._reader.next()
        if token.kind is not Kind.WORD:
            raise self._reader.wrong(f"expected a name in place of {token.shown}", token)
        return token.text

    def _import(self) -> None:
        token = self._reader.next()
        name = self._dotted()
        if name not in IMPORTS and not name.startswith(f"{IMPORTS[1]}."):
            raise outside(f"the import of {name}", token, self._reader.file)

    def _default(self) -> None:
        reader = self._reader
        token = reader.next()
        name = self._word()
        if not reader.take(":="):
            reader.expect("=")
        value = self._term()
        if not (isinstance(value, Value) and value.value is False):
            raise outside(f"a default of {name} other than false", token, reader.file)
        self._module.rules.setdefault(name, [])

    def _rule(self) -> None:
        reader = self._reader
        token = reader.token
        name = self._word()
        message: Node | None = None
        if reader.is_at("("):
            raise outside("functions with arguments", token, reader.file)
        if reader.take("contains"):
            message = self._term()
        elif reader.take("["):
            message = self._term()
            reader.expect("]")
        elif reader.take(":=", "="):
            value = self._expression()
            if not reader.is_at("if", "{"):
                if name in self._module.values or name in self._module.rules:
                    raise outside(f"a second value of {name}", token, reader.file)
                self._module.values[name] = value
                return
            if not (isinstance(value, Value) and value.value is True):
                raise outside(f"a value of {name} under a condition, other than true", token, reader.file)
        if name == ALLOW and message is not None:
            raise outside("a set with the name allow", token, reader.file)
        lines = self._lines()
        self._module.rules.setdefault(name, []).append(Body(lines, message, token))
        self._skip()
        if reader.is_at("else"):
            raise outside("else", reader.token, reader.file)

    def _lines(self) -> tuple[Literal, ...]:
        """Return the body of a rule."""
        reader = self._reader
        if reader.take("if") and not self._opens():
            return (self._literal(),)
        if not self._opens():
            return ()
        reader.expect("{")
        found: list[Literal] = []
        while True:
            self._skip()
            while reader.take(";"):
                self._skip()
            if reader.take("}"):
                break
            found.append(self._literal())
            if not reader.is_at(";", "}") and reader.token.kind is not Kind.LINE_END:
                raise reader.wrong(f"expected the end of the line in place of {reader.token.shown}")
        if not found:
            raise reader.wrong("a rule without a condition")
        return tuple(found)

    def _opens(self) -> bool:
        return self._reader.is_at("{")

    def _literal(self) -> Literal:
        reader = self._reader
        if reader.is_at("some", "every", "with"):
            raise outside(reader.token.text, reader.token, reader.file)
        if reader.take("not"):
            return Literal(self._expression(), negated=True)
        if reader.token.kind is Kind.WORD and reader.look(1).text in (":=", "=") and reader.look(1).kind is Kind.SIGN:
            name = reader.next().text
            reader.next()
            return Literal(self._term(), name=name)
        found = Literal(self._expression())
        if reader.is_at("with"):
            raise outside("with", reader.token, reader.file)
        return found

    def _expression(self) -> Node:
        left = self._term()
        reader = self._reader
        if reader.is_at(*Order, "in"):
            token = reader.next()
            return Operation(token.text, (left, self._term()), token)
        if reader.is_at("=", ":="):
            raise outside("unification (=) of something that is no new name; write ==", reader.token, reader.file)
        return left

    def _term(self) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._reader.wrong(f"is nested deeper than {DEEPEST} terms")
        left = self._factor()
        reader = self._reader
        while reader.is_at("+", "-", "*", "/", "%", "|", "&"):
            token = reader.next()
            if token.text not in "+-":
                raise outside(f"the operation {token.text}", token, reader.file)
            left = Operation(token.text, (left, self._factor()), token)
        self._depth -= 1
        return left

    def _factor(self) -> Node:
        reader = self._reader
        token = reader.next()
        if (value := literal(token)) is not None:
            return value
        match token.kind:
            case Kind.WORD if token.text == "null":
                raise outside("null", token, reader.file)
            case Kind.WORD:
                return self._reference(token)
            case Kind.SIGN if token.text == "-" and reader.token.kind is Kind.NUMBER:
                return Value(-int(reader.next().text), token)
            case Kind.SIGN if token.text == "(":
                found = self._expression()
                reader.expect(")")
                return found
            case Kind.SIGN if token.text in "[{":
                return self._list(token)
            case _:
                raise reader.wrong(f"expected a value in place of {token.shown}", token)

    def _reference(self, token: Token) -> Node:
        reader = self._reader
        parts = [token.text]
        while reader.is_at(".", "["):
            if reader.next().text == ".":
                parts.append(self._word())
                continue
            key = reader.next()
            if key.kind is not Kind.TEXT:
                raise outside(f"a key that is no quoted text ({key.shown})", key, reader.file)
            parts.append(key.text)
            reader.expect("]")
        if not reader.is_at("("):
            return Path(tuple(parts), token)
        reader.next()
        arguments = self._items(")")
        name = ".".join(parts)
        if name == TO_NUMBER and len(arguments) == 1:
            return Operation("number", arguments, token)
        return Operation(f"{name}()", arguments, token)

    def _list(self, token: Token) -> Node:
        closing = {"[": "]", "{": "}"}[token.text]
        items = self._items(closing)
        if closing == "}" and not items:
            return Operation("{}()", (), token)
        return Listed(items, token)

    def _items(self, closing: str) -> tuple[Node, ...]:
        reader = self._reader
        items: list[Node] = []
        self._skip()
        while not reader.take(closing):
            item = self._term()
            self._skip()
            if reader.take(":"):
                self._skip()
                item = self._term()  # the value of an object, which only messages have
                self._skip()
            items.append(item)
            if not reader.take(","):
                reader.expect(closing)
                break
            self._skip()
        return tuple(items)
