"""``proofka show``: every effective setting with its origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.setting import Ignored, Setting
from proofka.reports import lines, summary, wording
from proofka.reports.note_kinds import noted
from proofka.reports.table import NARROW

INDENT, GAP = 2, 2
"""Widths in characters: before the first column, and between columns."""

LONGEST_VALUE = 20
"""Width in characters to which a column of values can shrink."""


class SettingsReport:
    """The effective settings by scope, then notes by kind, then ignored settings with the reasons."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        yield from lines.wrapped(
            f"{self.deployment.name}: {summary.cluster(self.deployment)}", width, rest="  ", style="bold"
        )
        yield from lines.wrapped(summary.clients(self.deployment), width, rest="  ")
        for scope in dict.fromkeys(setting.scope for setting in self.deployment.settings):
            yield _heading(scope)
            yield from _listed([_of_setting(one) for one in self.deployment.settings if one.scope == scope], width)
        for heading, notes in noted(self.deployment.notes):
            yield _heading(heading)
            for note in notes:
                yield from lines.wrapped(note, width, first="  ", rest="    ")
        if self.deployment.ignored:
            yield _heading("ignored: no influence on any property here")
            yield from _listed([_of_ignored(one) for one in self.deployment.ignored], width)


@dataclass(frozen=True)
class _Row:
    """A setting with its value and origin. ``given``: a file or an option has the value."""

    name: str
    value: str
    origin: str
    given: bool


def _of_setting(setting: Setting) -> _Row:
    given = setting.origin.kind in ("file", "option")
    return _Row(
        wording.plain(setting.key), wording.plain(setting.value), wording.plain(wording.origin(setting.origin)), given
    )


def _of_ignored(ignored: Ignored) -> _Row:
    origin = f"{wording.origin(ignored.origin)}: {ignored.reason}"
    return _Row(
        wording.plain(f"{ignored.scope} {ignored.key}"), wording.plain(ignored.value), wording.plain(origin), False
    )


def _listed(rows: Sequence[_Row], width: int) -> Iterator[RenderableType]:
    """Yield rows in three columns, or in two lines each where columns would break the place of a value."""
    if width < NARROW or not _fit(rows, width):
        for row in rows:
            yield from _below(row, width)
    else:
        yield lines.Unpadded(_columns(rows))


def _fit(rows: Sequence[_Row], width: int) -> bool:
    """Tell whether the longest word of an origin, such as ``file:line``, fits beside the other two columns."""
    name, value = (max(map(len, texts)) for texts in ([row.name for row in rows], [row.value for row in rows]))
    word = max(len(word) for row in rows for word in row.origin.split())
    return INDENT + name + GAP + min(value, LONGEST_VALUE) + GAP + word <= width


def _columns(rows: Sequence[_Row]) -> Table:
    table = Table.grid(padding=(0, GAP))
    table.add_column(no_wrap=True, overflow="fold")
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(
            Text(" " * INDENT + row.name, style="bold" if row.given else ""),
            Text(row.value),
            Text(row.origin, style="" if row.given else "dim"),
        )
    return table


def _heading(text: str) -> Text:
    return Text(f"\n{wording.plain(text)}", style="bold")


def _below(row: _Row, width: int) -> Iterator[Text]:
    """Yield a row in two lines, value and origin."""
    said = f"{row.name} = {row.value}"
    yield from lines.wrapped(said, width, first="  ", rest="    ", style="bold" if row.given else "")
    yield from lines.wrapped(row.origin, width, first="      ", rest="      ", style="" if row.given else "dim")
