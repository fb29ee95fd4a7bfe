"""``proofka show``: every effective setting with its origin."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from model.deployment.deployment import Deployment
from reports import lines, summary, wording
from reports.note_kinds import noted
from reports.table import NARROW


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
            yield from self._narrow_scope(scope, width) if width < NARROW else [self._scope(scope)]
        for heading, notes in noted(self.deployment.notes):
            yield _heading(heading)
            for note in notes:
                yield from lines.wrapped(note, width, first="  ", rest="    ")
        if self.deployment.ignored:
            yield _heading("ignored: no influence on any property here")
            yield from self._narrow_ignored(width) if width < NARROW else [self._ignored()]

    def _narrow_scope(self, scope: str, width: int) -> Iterator[Text]:
        for setting in self.deployment.settings:
            if setting.scope == scope:
                given = setting.origin.kind in ("file", "option")
                said = f"{setting.key} = {setting.value}"
                yield from _below(said, wording.origin(setting.origin), width, given=given)

    def _narrow_ignored(self, width: int) -> Iterator[Text]:
        for ignored in self.deployment.ignored:
            said = f"{ignored.scope} {ignored.key} = {ignored.value}"
            yield from _below(said, f"{wording.origin(ignored.origin)}: {ignored.reason}", width, given=False)

    def _scope(self, scope: str) -> Table:
        table = _grid()
        for setting in self.deployment.settings:
            if setting.scope == scope:
                given = setting.origin.kind in ("file", "option")
                table.add_row(
                    Text(wording.plain(f"  {setting.key}"), style="bold" if given else ""),
                    Text(wording.plain(setting.value)),
                    Text(wording.plain(wording.origin(setting.origin)), style="" if given else "dim"),
                )
        return table

    def _ignored(self) -> Table:
        table = _grid()
        for ignored in self.deployment.ignored:
            table.add_row(
                Text(wording.plain(f"  {ignored.scope} {ignored.key}")),
                Text(wording.plain(ignored.value)),
                Text(wording.plain(f"{wording.origin(ignored.origin)}: {ignored.reason}")),
            )
        return table


def _heading(text: str) -> Text:
    return Text(f"\n{wording.plain(text)}", style="bold")


def _below(said: str, origin: str, width: int, *, given: bool) -> Iterator[Text]:
    """Yield a setting in two lines, value and origin, for widths without room for three columns."""
    yield from lines.wrapped(said, width, first="  ", rest="    ", style="bold" if given else "")
    yield from lines.wrapped(origin, width, first="      ", rest="      ", style="" if given else "dim")


def _grid() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, overflow="fold")
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    return table
