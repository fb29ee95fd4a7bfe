"""Lines of text broken to a width, with a hanging prefix."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from proofka.reports import wording
from proofka.reports.console import MAX_WIDTH

MIN_ROOM = 20
"""Smallest number of characters of text in a line, on a terminal of any width."""


_COMMAND = re.compile(r"\bproofka \S+ \S+")
"""A command to copy, up to its first argument."""

_UNBROKEN = "\xa0"
"""A space at which no line is broken."""


def wrapped(text: str, width: int, *, first: str = "", rest: str = "", style: str = "") -> Iterator[Text]:
    """Yield ``text`` in lines of at most ``width`` characters. No line is broken within a word or a command, which can
    be wider.

    The first line begins with ``first``, the others with ``rest``. Only the text has the style.
    """
    room = max(width, MIN_ROOM + max(len(first), len(rest)))
    broken = textwrap.wrap(
        _COMMAND.sub(lambda command: command[0].replace(" ", _UNBROKEN), wording.plain(text)),
        room,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
        break_long_words=False,
    )
    for position, line in enumerate(broken):
        prefix = rest if position else first
        said = line[len(prefix) :].replace(_UNBROKEN, " ")
        yield Text.assemble(prefix, (said, style), no_wrap=True, overflow="ignore")


class Unpadded:
    """A table without spaces at the end of its lines, for pipes and files."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self.table, options, pad=False):
            text = Text.assemble(*((one.text, one.style or "") for one in line), no_wrap=True, overflow="ignore")
            text.rstrip()
            yield text


def print_wrapped(out: Console, text: str, *, first: str = "", rest: str = "", style: str = "") -> None:
    """Print ``text`` in lines as of :func:`wrapped`."""
    for line in wrapped(text, out.width, first=first, rest=rest, style=style):
        out.print(line, soft_wrap=True)


def title(text: str, width: int) -> Iterator[Text]:
    """Yield ``text`` as the heading of a section: ``── text ─────``."""
    lines = [line.plain for line in wrapped(text, width, first="── ", rest="   ")]
    lines[-1] += " " + "─" * max(0, min(width, MAX_WIDTH) - len(lines[-1]) - 1)
    yield from (Text(line, style="bold", no_wrap=True, overflow="ignore") for line in lines)


def cut(text: Text, width: int) -> Text:
    """Return a line that ends in an ellipsis after a whole word, because the text continues after it."""
    room = max(width - len(" ..."), 1)
    shown = text.copy()
    if len(text) > room:
        end = max(text.plain.rfind(" ", 0, room + 1), 0)
        # A line of a single long word is cut within the word.
        shown.truncate(end if text.plain[:end].strip() else room, overflow="crop")
    shown.rstrip()
    return shown.append(" ...")


def first_of(texts: Sequence[Sequence[Text]], most: int, width: int) -> list[Text]:
    """Return the first ``most`` lines of several texts; a text that is cut ends in an ellipsis."""
    shown: list[Text] = []
    for text in texts:
        room = most - len(shown)
        if len(text) <= room:
            shown += text
        elif room > 0:
            shown += [*text[: room - 1], cut(text[room - 1], width)]
    return shown
