"""Texts of blocks in braces or parentheses (Logstash, rsyslog), parsed with the standard library's lexer."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from proofka.model.deployment.errors import DeploymentError

MOST_TOKENS = 200_000


@dataclass(frozen=True)
class Token:
    """A word, a text without its quotes, or one sign."""

    text: str
    line: int
    sign: bool


@dataclass(frozen=True)
class Block:
    """The content of a block: each name with its texts (several for a list), and the names of enclosing blocks,
    outermost first."""

    names: tuple[str, ...]
    line: int
    values: tuple[tuple[str, tuple[str, ...], int], ...]


def tokens_of(text: str, file: str) -> list[Token]:
    """Return the words and signs of a text, without its comments. Raises DeploymentError with the line."""
    lexer = shlex.shlex(text, posix=True)
    lexer.wordchars += ".-:/@*$%~?!&|^+;<"
    lexer.escapedquotes = '"'
    found: list[Token] = []
    try:
        while (token := lexer.get_token()) is not None:
            found.append(
                Token(token, max(1, lexer.lineno - token.count("\n")), len(token) == 1 and token in "{}[]()=>,")
            )
            if len(found) > MOST_TOKENS:
                raise DeploymentError(f"has more than {MOST_TOKENS} words", file=file, line=lexer.lineno)
    except ValueError:
        raise DeploymentError(
            "has a quotation mark without its closing mark; add it", file=file, line=lexer.lineno
        ) from None
    return found


def blocks_of(text: str, file: str) -> list[Block]:
    """Return every block that sets a value, in the order of the text. Raises DeploymentError with the line."""
    tokens = tokens_of(text, file)
    blocks: list[Block] = []
    open_blocks: list[tuple[str, int, list[tuple[str, tuple[str, ...], int]]]] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.sign and token.text in "{(":
            # For ``match => {``, the name precedes the signs.
            before = next((one for one in reversed(tokens[max(0, at - 3) : at]) if not one.sign), None)
            open_blocks.append(("" if before is None else before.text, token.line, []))
        elif token.sign and token.text in "})" and open_blocks:
            names = tuple(name for name, _, _ in open_blocks)
            _, line, values = open_blocks.pop()
            if values:
                blocks.append(Block(names, line, tuple(values)))
        elif not token.sign and open_blocks:
            sets, after = _set(tokens, at)
            if sets is not None:
                open_blocks[-1][2].append((token.text, sets, token.line))
                at = after
                continue
        at += 1
    return blocks


def _set(tokens: Sequence[Token], at: int) -> tuple[tuple[str, ...] | None, int]:
    """Return the texts after ``name =>`` or ``name =``, and the position after them; None if nothing is set."""
    signs = "".join(one.text for one in tokens[at + 1 : at + 3] if one.sign)
    skip = 3 if signs.startswith("=>") else 2 if signs.startswith("=") else 0
    if not skip or at + skip >= len(tokens) or (skip == 2 and signs.startswith("==")):
        return None, at
    first = tokens[at + skip]
    if not first.sign or first.text not in "[{(":
        return (first.text,), at + skip + 1
    if first.text != "[":
        return None, at
    texts: list[str] = []
    end = at + skip + 1
    while end < len(tokens) and not (tokens[end].sign and tokens[end].text == "]"):
        if not tokens[end].sign:
            texts.append(tokens[end].text)
        end += 1
    return tuple(texts), end + 1
