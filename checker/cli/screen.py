"""The screen that the pipelines of one check share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from proofka.checker.cli.errors import plain

if TYPE_CHECKING:
    from proofka.reports.several import Checked


class Screen:
    """The used lines of the screen, and the outcomes of the pipelines that share the screen.

    ``above``: number of lines used so far. ``skipped``: number of pipelines that were found but are not checked.
    ``brief``: each pipeline takes few lines, where there are several.
    """

    def __init__(self, above: int, skipped: int, pipelines: int, *, brief: bool) -> None:
        from proofka.reports.several import Lines

        self.above = above
        self.skipped = skipped
        self.pipelines = pipelines
        self.is_of_several = brief and pipelines > 1
        """True if several pipelines share the screen."""
        self.lines = Lines(pipelines)
        self.checked: list[tuple[Checked, str]] = []

    def tell(self, checked: Checked, again: str, number: int | None) -> None:
        """Print the line of one pipeline. ``again``: the command that checks this pipeline alone."""
        from proofka.reports import terminal
        from proofka.reports.several import print_checked

        self.checked.append((checked, again))
        print_checked(terminal.console(), self.lines, "" if number is None else f"{number}  ", checked)
        sys.stdout.flush()

    def tell_same(self, name: str, same: str) -> None:
        """Print that two pipelines ask the same question, so the second is not checked again."""
        from proofka.reports import terminal
        from proofka.reports.several import print_same

        if self.is_of_several:
            print_same(terminal.console(), self.lines, name, same)
        else:
            typer.echo(plain(f"{name}: same question as {same}; not checked again"))

    def tell_all(self) -> None:
        """Print the summary of all pipelines."""
        from proofka.reports import terminal
        from proofka.reports.several import print_together

        print_together(terminal.console(), self.checked, self.lines, above=self.above, skipped=self.skipped)
