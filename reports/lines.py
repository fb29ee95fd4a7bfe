"""Lines of text broken to a width, with a prefix that hangs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.text import Text

from reports import wording

MIN_ROOM = 20
"""However narrow the terminal, a line has room for so many characters of text."""


def wrapped(text: str, width: int, *, first: str = "", rest: str = "", style: str = "") -> Iterator[Text]:
    """``text`` in lines of at most ``width``, after ``first`` and then ``rest``; only the text is styled."""
    room = max(width, MIN_ROOM + max(len(first), len(rest)))
    broken = textwrap.wrap(
        wording.plain(text), room, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    for position, line in enumerate(broken):
        prefix = rest if position else first
        yield Text.assemble(prefix, (line[len(prefix) :], style), no_wrap=True)


def title(text: str, width: int) -> Iterator[Text]:
    """``text`` as the heading of a section: ``── text ─────``."""
    lines = [line.plain for line in wrapped(text, width, first="── ", rest="   ")]
    lines[-1] += " " + "─" * max(0, width - len(lines[-1]) - 1)
    yield from (Text(line, style="bold", no_wrap=True) for line in lines)


def cut(text: Text, width: int) -> Text:
    """Mark the last line that is shown of a text as one after which the text goes on."""
    shown = text.copy()
    shown.truncate(max(width - 4, 1))
    shown.rstrip()
    return shown.append(" ...")


def first_of(texts: Sequence[Sequence[Text]], most: int, width: int) -> list[Text]:
    """As many lines of several texts as are wanted; a text of which only a part is shown ends in an ellipsis."""
    shown: list[Text] = []
    for text in texts:
        room = most - len(shown)
        if len(text) <= room:
            shown += text
        elif room > 0:
            shown += [*text[: room - 1], cut(text[room - 1], width)]
    return shown
