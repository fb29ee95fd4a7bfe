"""The guide on a terminal: the entry on one word, or the list of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from proofka.reports import lines, wording
from proofka.reports.guide import other_names, words
from proofka.reports.guide.entry import Entry, table
from proofka.reports.guide.settings import owners

LABEL = 12
"""Width of a label, in characters."""


class EntryReport:
    """One entry: word and kind, then the paragraphs beside their labels."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from lines.title(f"{self.entry.word}: {self.entry.kind}", options.max_width)
        for label, text in self.entry.paragraphs:
            if len(label) > LABEL - 2:
                yield from lines.wrapped(f"{label}: {text}", options.max_width, first="  ", rest=" " * (LABEL + 2))
                continue
            first = f"  {label:<{LABEL}}" if label else "  "
            yield from lines.wrapped(text, options.max_width, first=first, rest=" " * len(first))


class Contents:
    """The list of words. ``commands``: description of each command by name."""

    def __init__(self, commands: Mapping[str, str]) -> None:
        self.commands = commands

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield Text("proofka help WORD explains a word; proofka COMMAND --help a command.", no_wrap=width >= 68)
        for heading, names in (
            ("commands", self.commands),
            ("properties", words.properties()),
            ("faults", words.faults()),
            ("assumptions (--assume KEY=VALUE)", [key for key in words.assumptions() if not key.startswith("faults.")]),
            ("verdicts", words.verdicts()),
            ("marks", words.marks()),
            ("exit statuses", [f"{row['status']} {row['name']}" for row in table("statuses")]),
            ("client rules", _ranges(list(words.rules()))),
            ("not modelled yet", _ranges(list(words.refusals()))),
            ("claims, findings and incidents", _ranges(list(words.claims()))),
            ("names in Jepsen's tests", other_names.anomalies()),
            ("terms", words.terms()),
            ("reductions (--with, --without)", words.reductions()),
        ):
            yield from _listed(heading, names, width)
        of = sorted({component for whose in owners().values() for component in whose})
        said = f"{wording.number(len(owners()))} of {', '.join(of)}, and their names in other programs"
        yield from _listed("settings", [said], width)


def _listed(heading: str, names: Iterable[str], width: int) -> RenderResult:
    yield Text(f"\n{heading}", style="bold")
    yield from lines.wrapped(", ".join(names), width, first="  ", rest="  ")


def _ranges(ids: Sequence[str]) -> list[str]:
    """Return the range of ids for each letter: ``P02 to P91``."""
    letters = dict.fromkeys(one[0] for one in ids)
    of = {
        letter: sorted((one for one in ids if one[0] == letter), key=lambda one: (len(one), one)) for letter in letters
    }
    return [f"{some[0]} to {some[-1]}" for some in of.values()]
