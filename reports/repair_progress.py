"""Progress of a search for repairs on a terminal: a line for each set of changes tried and for each repair found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.text import Text

from proofka.model.deployment.changing import Change
from proofka.properties.verdict import Result
from proofka.reports import wording
from proofka.reports.repairs import Repair, named
from proofka.reports.unmended import preventions

AS_IT_IS = "exploring the deployment unchanged"
"""The line before the first change is tried."""


class RepairProgress:
    """A live line about the current exploration, below the sets of changes that were tried and found.

    Without a terminal nothing is printed.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = console.status(AS_IT_IS) if console.is_terminal else None
        self._shown: set[str] = set()

    def __enter__(self) -> RepairProgress:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def trying(self, changes: Sequence[Change]) -> None:
        """Show the set of changes that is explored now."""
        if self._status is not None:
            what = f"trying {named(changes)}" if changes else AS_IT_IS
            self._status.update(escape(what))

    def unchanged(self, result: Result) -> None:
        """Print, once each, the ways to prevent a fault itself that violates a property of the original deployment."""
        for way in preventions(result.verdicts):
            if self._status is not None and way not in self._shown:
                self._shown.add(way)
                self._console.print(Text(f"found: {way}", style="bold"))

    def tried(self, changes: Sequence[Change], wrong: Collection[str]) -> None:
        """Print the properties that a set of changes leaves violated; a set that leaves none is a repair."""
        if self._status is not None and changes and wrong:
            self._console.print(Text(f"{named(changes)}: leaves {', '.join(wrong)}", style="dim"))

    def found(self, repair: Repair) -> None:
        """Print a repair, once for each set of changes."""
        name = named(repair.changes)
        if self._status is not None and name not in self._shown:
            self._shown.add(name)
            holds = "holds" if len(repair.mends) == 1 else "hold"
            more = "" if repair.needed else "; looking for cheaper repairs"
            said = f"found: {name}; {wording.listed(repair.mends)} {holds}{more}"
            self._console.print(Text(said, style="bold"))
