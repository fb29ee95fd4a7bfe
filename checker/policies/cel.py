"""Rules in a part of CEL (Common Expression Language): ``config["acks"] == "all" && spec.replicas >= 3``.

The part has ``&&``, ``||``, ``!``, ``? :``, comparisons, ``in``, ``has()``, sums, texts, whole numbers, lists,
selection of fields and keys, and the conversions ``int()`` and ``string()``. Everything else is refused with its place.
"""

from __future__ import annotations

from proofka.checker.policies.expression import Expression, Order
from proofka.checker.policies.meaning import Listed, Meaning, Node, Operation, Path, Value, literal, outside
from proofka.checker.policies.places import Place
from proofka.checker.policies.scanning import Kind, Lexicon, Reader, Token, scan

LEXICON = Lexicon(
    word=r"[A-Za-z_][A-Za-z0-9_]*",
    signs="&& || == != <= >= < > ( ) [ ] , + - * / % ! ? : . { }",
    comment="//",
)

TYPES = {"int": "number", "uint": "number", "string": "text"}
"""Functions that change the type of a value, and not the value, with the type."""

DEEPEST = 40
"""The deepest nesting of an expression."""


def read_cel(text: str, file: str, place: Place | None = None) -> Expression:
    """Return the meaning of an expression in CEL. Raise PolicyError."""
    parsed = _Cel(Reader(scan(text, LEXICON, file, place), file)).whole()
    return Meaning(file, absent_is_false=False).condition(parsed)


class _Cel:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._depth = 0

    def whole(self) -> Node:
        found = self._conditional()
        if self._reader.token.kind is not Kind.END:
            raise self._reader.wrong(f"expected the end of the rule in place of {self._reader.token.shown}")
        return found

    def _conditional(self) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._reader.wrong(f"is nested deeper than {DEEPEST} expressions")
        found = self._either()
        if self._reader.is_at("?"):
            token = self._reader.next()
            then = self._either()
            self._reader.expect(":")
            found = Operation("?", (found, then, self._conditional()), token)
        self._depth -= 1
        return found

    def _either(self) -> Node:
        parts, token = [self._both()], self._reader.token
        while self._reader.take("||"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Operation("||", tuple(parts), token)

    def _both(self) -> Node:
        parts, token = [self._relation()], self._reader.token
        while self._reader.take("&&"):
            parts.append(self._relation())
        return parts[0] if len(parts) == 1 else Operation("&&", tuple(parts), token)

    def _relation(self) -> Node:
        left = self._sum()
        while self._reader.is_at(*Order, "in"):
            token = self._reader.next()
            left = Operation(token.text, (left, self._sum()), token)
        return left

    def _sum(self) -> Node:
        left = self._unary()
        while self._reader.is_at("+", "-", "*", "/", "%"):
            token = self._reader.next()
            if token.text not in "+-":
                raise outside(f"the operation {token.text}", token, self._reader.file)
            left = Operation(token.text, (left, self._unary()), token)
        return left

    def _unary(self) -> Node:
        if self._reader.is_at("!"):
            token = self._reader.next()
            self._depth += 1
            if self._depth > DEEPEST:
                raise self._reader.wrong(f"is nested deeper than {DEEPEST} expressions")
            found = Operation("!", (self._unary(),), token)
            self._depth -= 1
            return found
        if self._reader.is_at("-") and self._reader.look(1).kind is Kind.NUMBER:
            token = self._reader.next()
            return Value(-int(self._reader.next().text), token)
        return self._selection()

    def _selection(self) -> Node:
        reader = self._reader
        found = self._primary()
        while reader.is_at(".", "["):
            sign = reader.next()
            if not isinstance(found, Path):
                raise outside("a field or key of something that is no setting", sign, reader.file)
            field = reader.next()
            if sign.text == ".":
                if field.text == "?":
                    raise outside("optional fields (.?); ask with has()", field, reader.file)
                if field.kind is not Kind.WORD:
                    raise reader.wrong(f"expected the name of a field in place of {field.shown}", field)
                if reader.is_at("("):
                    raise outside(f"the function {field.text}()", field, reader.file)
            else:
                if field.text == "?" and field.kind is Kind.SIGN:
                    raise outside("optional keys ([?]); ask with in", field, reader.file)
                if field.kind is not Kind.TEXT:
                    raise outside("a key that is no quoted text", field, reader.file)
                reader.expect("]")
            found = Path((*found.parts, field.text), found.token)
        return found

    def _primary(self) -> Node:
        reader = self._reader
        token = reader.next()
        if (value := literal(token)) is not None:
            return value
        match token.kind:
            case Kind.WORD if token.text == "null":
                raise outside("null; ask with has()", token, reader.file)
            case Kind.WORD if reader.is_at("("):
                return self._call(token)
            case Kind.WORD:
                return Path((token.text,), token)
            case Kind.SIGN if token.text == "(":
                found = self._conditional()
                reader.expect(")")
                return found
            case Kind.SIGN if token.text == "[":
                return self._list(token)
            case Kind.SIGN if token.text == "{":
                raise outside("a mapping", token, reader.file)
            case _:
                raise reader.wrong(f"expected a value in place of {token.shown}", token)

    def _call(self, token: Token) -> Node:
        reader = self._reader
        if token.text not in ("has", *TYPES):
            raise outside(f"the function {token.text}()", token, reader.file)
        reader.expect("(")
        found = self._conditional()
        reader.expect(")")
        return Operation(TYPES.get(token.text, token.text), (found,), token)

    def _list(self, token: Token) -> Node:
        items: list[Node] = []
        while not self._reader.take("]"):
            items.append(self._conditional())
            if not self._reader.take(","):
                self._reader.expect("]")
                break
        return Listed(tuple(items), token)
