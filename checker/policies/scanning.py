"""The words and signs of a rule's text, each with its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from proofka.checker.policies.errors import RuleSyntaxError
from proofka.checker.policies.places import Place, in_whole_file


class Kind(Enum):
    """The kind of a token."""

    WORD = "word"
    NUMBER = "number"
    TEXT = "text"
    SIGN = "sign"
    LINE_END = "line end"
    END = "end"


@dataclass(frozen=True)
class Token:
    """A word, number, quoted text or sign; ``text`` is without quotes."""

    kind: Kind
    text: str
    line: int
    column: int

    @property
    def shown(self) -> str:
        """The token in an error message."""
        return {Kind.END: "the end of the rule", Kind.LINE_END: "the end of the line"}.get(self.kind, self.text)


@dataclass(frozen=True)
class Lexicon:
    """The words and signs of a language.

    ``word``: a pattern. ``signs``: longest first, with spaces between. ``comment``: the start of a comment.
    ``lines_count``: the end of a line has a meaning.
    """

    word: str
    signs: str
    comment: str
    lines_count: bool = False


ESCAPED = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "t": "\t"}
"""The characters that a backslash before a letter or sign stands for."""


def scan(text: str, lexicon: Lexicon, file: str, place: Place | None = None) -> list[Token]:
    """Return the tokens of a text, each with its place in the file. Raise RuleSyntaxError."""
    place = in_whole_file(text) if place is None else place
    signs = "|".join(re.escape(sign) for sign in lexicon.signs.split())
    pattern = re.compile(
        rf"(?P<space>[ \t\r]+|{re.escape(lexicon.comment)}[^\n]*)|(?P<break>\n)|(?P<raw>`[^`\n]*`)"
        rf"|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
        rf"|(?P<number>\d+(?![\w.]))|(?P<word>{lexicon.word})|(?P<sign>{signs})"
    )
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        found = pattern.match(text, at)
        line, column = place(at)
        if found is None:
            what = f"{text[at]!r} has no meaning here" if text[at] not in "\"'" else "a quoted text has no end"
            raise RuleSyntaxError(what, file=file, line=line, column=column)
        match found.lastgroup:
            case "break" if lexicon.lines_count:
                tokens.append(Token(Kind.LINE_END, "", line, column))
            case "text":
                if (escape := _unknown_escape(found.group())) is not None:
                    what = f"the escape {escape} is not known; write the character itself"
                    raise RuleSyntaxError(what, file=file, line=line, column=column)
                tokens.append(Token(Kind.TEXT, _unquoted(found.group()), line, column))
            case "raw":
                tokens.append(Token(Kind.TEXT, found.group()[1:-1], line, column))
            case "number" | "word" | "sign":
                tokens.append(Token(Kind(found.lastgroup), found.group(), line, column))
        at = found.end()
    tokens.append(Token(Kind.END, "", *place(at)))
    return tokens


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: ESCAPED[found.group(1)], text[1:-1])


def _unknown_escape(text: str) -> str | None:
    return next((found.group() for found in re.finditer(r"\\(.)", text) if found.group(1) not in ESCAPED), None)


class Reader:
    """A reader of tokens from the left, which raises RuleSyntaxError at the first wrong token."""

    def __init__(self, tokens: Sequence[Token], file: str) -> None:
        self._tokens = tokens
        self._at = 0
        self.file = file

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._at]

    def next(self) -> Token:
        """Return the next token, and go on."""
        token = self.token
        self._at += token.kind is not Kind.END
        return token

    def look(self, ahead: int) -> Token:
        """Return the token that follows after ``ahead`` others."""
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def is_at(self, *texts: str) -> bool:
        """Tell whether the next token is one of these words or signs."""
        return self.token.kind in (Kind.WORD, Kind.SIGN) and self.token.text in texts

    def take(self, *texts: str) -> bool:
        """Tell whether the next token is one of these words or signs, and go on if so."""
        taken = self.is_at(*texts)
        if taken:
            self.next()
        return taken

    def expect(self, text: str) -> Token:
        """Return the next token, which must be this word or sign."""
        if not self.is_at(text):
            raise self.wrong(f"expected {text} in place of {self.token.shown}")
        return self.next()

    def wrong(self, message: str, token: Token | None = None) -> RuleSyntaxError:
        """Return the error at a token, or at the next token."""
        place = token or self.token
        return RuleSyntaxError(message, file=self.file, line=place.line, column=place.column)
