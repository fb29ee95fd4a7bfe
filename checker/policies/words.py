"""Rules in words: ``acks == all and min.insync.replicas >= 2``.

A condition compares settings with values, with other settings, or with sums. ``and``, ``or``, ``not``, ``in [..]``,
``not in [..]``, ``has(SETTING)`` and parentheses combine conditions. A setting without its component (``acks``) is the
topic's or the application's, the client's, or the broker's. A value needs quotes only if it is the name of a setting or
has signs.
"""

from __future__ import annotations

from proofka.checker.policies.expression import (
    FALSE,
    TRUE,
    AllOf,
    Among,
    AnyOf,
    Compare,
    Expression,
    Has,
    Literal,
    Not,
    Order,
    Read,
    Sum,
    Term,
)
from proofka.checker.policies.names import find, read_of, written
from proofka.checker.policies.places import Place
from proofka.checker.policies.scanning import Kind, Lexicon, Reader, Token, scan

LEXICON = Lexicon(
    word=r"[A-Za-z_][A-Za-z0-9_.\-]*",
    signs="== != <= >= < > = ( ) [ ] , + -",
    comment="#",
)

DEEPEST = 40
"""The deepest nesting of conditions."""


def read_words(text: str, file: str, place: Place | None = None) -> Expression:
    """Return the meaning of a rule in words. Raise PolicyError."""
    reader = _Words(Reader(scan(text, LEXICON, file, place), file))
    return reader.whole()


class _Words:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._depth = 0

    def whole(self) -> Expression:
        found = self._either()
        if self._reader.token.kind is not Kind.END:
            raise self._reader.wrong(f"expected and, or, or the end of the rule in place of {self._reader.token.shown}")
        return found

    def _either(self) -> Expression:
        parts = [self._both()]
        while self._reader.take("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _both(self) -> Expression:
        parts = [self._negated()]
        while self._reader.take("and"):
            parts.append(self._negated())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _negated(self) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._reader.wrong(f"is nested deeper than {DEEPEST} conditions")
        found = Not(self._negated()) if self._reader.take("not") else self._condition()
        self._depth -= 1
        return found

    def _condition(self) -> Expression:
        reader = self._reader
        if reader.take("("):
            found = self._either()
            reader.expect(")")
            return found
        if reader.is_at("has") and reader.look(1).text == "(":
            reader.next()
            reader.expect("(")
            token = reader.next()
            if token.kind is not Kind.WORD:
                raise reader.wrong(f"has() takes the name of a setting, not {token.shown}", token)
            reader.expect(")")
            return Has(self._read(token))
        for text, fixed in (("true", TRUE), ("false", FALSE)):
            if reader.is_at(text) and not _compares(reader.look(1)):
                reader.next()
                return fixed
        return self._comparison()

    def _comparison(self) -> Expression:
        reader = self._reader
        start = reader.token
        left = self._sum(is_left=True)
        if reader.is_at("not") and reader.look(1).text == "in":
            reader.next()
            return Not(self._among(left))
        if reader.is_at("in"):
            return self._among(left)
        order = reader.next()
        if order.text == "=":
            raise reader.wrong("write == for a comparison", order)
        if not _compares(order):
            raise reader.wrong(f"expected a comparison such as == or >= in place of {order.shown}", order)
        right = self._sum(is_left=False)
        if not _reads(left) and not _reads(right):
            raise reader.wrong("compares no setting; begin a comparison with the name of a setting", start)
        return Compare(Order(order.text), _usual(left, right), _usual(right, left))

    def _among(self, left: Term) -> Expression:
        reader = self._reader
        reader.expect("in")
        reader.expect("[")
        values = [self._literal(left)]
        while reader.take(","):
            values.append(self._literal(left))
        reader.expect("]")
        return Among(left, tuple(values))

    def _literal(self, left: Term) -> Literal:
        term = self._factor(is_left=False, is_value=True)
        found = _usual(term, left)
        assert isinstance(found, Literal)
        return found

    def _sum(self, *, is_left: bool) -> Term:
        term = self._factor(is_left=is_left)
        while self._reader.is_at("+", "-"):
            sign = 1 if self._reader.next().text == "+" else -1
            term = Sum(term, self._factor(is_left=False), sign)
        return term

    def _factor(self, *, is_left: bool, is_value: bool = False) -> Term:
        reader = self._reader
        token = reader.next()
        match token.kind:
            case Kind.NUMBER:
                return Literal(int(token.text))
            case Kind.SIGN if token.text == "-" and reader.token.kind is Kind.NUMBER:
                return Literal(-int(reader.next().text))
            case Kind.TEXT:
                return Literal(token.text)
            case Kind.WORD if token.text in ("true", "false"):
                return Literal(token.text == "true")
            case Kind.WORD if is_value or not (is_left or "." in token.text or find(token.text)):
                return Literal(token.text)
            case Kind.WORD:
                return self._read(token)
            case _:
                raise reader.wrong(f"expected a setting or a value in place of {token.shown}", token)

    def _read(self, token: Token) -> Read:
        return read_of(token.text, token.line, token.column, self._reader.file)


def _compares(token: Token) -> bool:
    return token.kind is Kind.SIGN and token.text in tuple(Order)


def _reads(term: Term) -> bool:
    match term:
        case Read():
            return True
        case Sum(left, right, _):
            return _reads(left) or _reads(right)
        case _:
            return False


def _usual(term: Term, beside: Term) -> Term:
    """Return a value in the usual form of the setting that the value is compared with."""
    if isinstance(term, Literal) and isinstance(beside, Read) and not isinstance(term.value, bool):
        text = written(beside, str(term.value))
        return term if text == str(term.value) else Literal(text)
    return term
