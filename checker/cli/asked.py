"""The options of ``proofka check``, without its source."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from proofka.checker.cli.endings import exit_status
from proofka.checker.cli.limits import budget_of
from proofka.checker.cli.more import DEFAULT_MORE
from proofka.checker.cli.options import EngineName
from proofka.checker.cli.written import Written
from proofka.checker.reductions.choice import Reduction

SNAPSHOT = "snapshot"
"""The folder in a command line that reads a live cluster for a command that reads files only."""

if TYPE_CHECKING:
    from proofka.checker.budget import Budget
    from proofka.checker.deepening import Depth
    from proofka.checker.engine import Engine as ExploringEngine
    from proofka.checker.source import Source
    from proofka.model.deployment.deployment import Deployment
    from proofka.properties.news import News
    from proofka.properties.verdict import Result


@dataclass(frozen=True)
class Asked:
    """The options of a check, without its source files."""

    faults: str | None
    seconds: float | None
    limits: Mapping[str, int | None]
    require: tuple[str, ...]
    profile: str | None
    fail_on: tuple[str, ...]
    fails_on_known_defects: bool
    switches: tuple[tuple[str, tuple[str, ...]], ...]
    reductions: frozenset[Reduction]
    engine: EngineName
    explorer: Callable[[], AbstractContextManager[ExploringEngine]]
    written: Written
    all_traces: bool
    details: bool
    more: float
    options: tuple[str, ...]
    all_properties: bool
    all_fault_sets: bool
    stability: float
    explain: bool
    quiet: bool
    checkpoint: Path | None
    is_of_changes: bool = False
    """True if only what changes make worse counts, so that only properties that decide the status are explored."""
    compare: Callable[[Result], tuple[News, ...]] | None = None
    """The function that tells what is news in a result, where the check is compared with what was known."""

    @property
    def is_one_sentence(self) -> bool:
        """Tell whether the answer is one sentence on the properties that determine the exit status, and no file."""
        asks_for_more = self.all_properties or self.all_fault_sets or self.explain or self.checkpoint is not None
        return self.quiet and not asks_for_more and not self.written.is_wanted

    def status(self, result: Result) -> int:
        """Return the exit status of a result; of a check that is compared, the status of what is news."""
        verdicts = result.verdicts
        if self.compare is not None:
            news = {one.verdict.property for one in self.written.news if one.is_news}
            verdicts = tuple(verdict for verdict in verdicts if verdict.property in news)
        return exit_status(verdicts, self.fail_on, fails_on_known_defects=self.fails_on_known_defects)

    def budget(self) -> Budget:
        """Return the limits of one exploration."""
        return budget_of(self.seconds, dict(self.limits))

    def command(self, source: Source, deployment: Deployment) -> str:
        """Return the command line that repeats this check."""
        words = ["proofka", "check", *source.arguments({setting.value for setting in deployment.settings})]
        words += [*self._bounds(), *self._required(), *self._switched()]
        words += [] if self.engine is EngineName.EMBEDDED else ["--engine", self.engine.value]
        words += ["--stability", f"--stability-time={self.stability:g}"] if self.stability else []
        return shlex.join([*words, *self.options, *(["--explain"] if self.explain else [])])

    def about(self, command: str, source: Source) -> str:
        """Return the command line of ``trace`` or ``repair`` for these files, with the options that the answer depends
        on.

        ``check`` stands for ``trace`` if options name the files, and with options that ``trace`` does not take.
        """
        if command == "repair":
            # A repair needs a number of faults, and its limit of time is of the whole search.
            faults = [] if self.faults in (None, "any") else ["--faults", str(self.faults)]
            if source.live is None:
                return shlex.join(["proofka", command, *source.arguments(()), *faults, *self._required()])
            read = shlex.join(["proofka", "snapshot", *source.live.arguments(), "-o", SNAPSHOT])
            return f"{read} && {shlex.join(['proofka', command, SNAPSHOT, *faults, *self._required()])}"
        only_of_check = [*self._required(), *self._switched(), *self._explored()]
        if source.file is None or only_of_check or self.limits.get("states") is not None:
            words = ["check", "--all-traces", *source.arguments(()), *self._bounds(), *only_of_check]
            return shlex.join(["proofka", *words])
        return shlex.join(["proofka", command, *source.arguments(()), *self._bounds(of_trace=True)])

    def _bounds(self, *, of_trace: bool = False) -> list[str]:
        """Return the options that bound the exploration, or those of them that ``trace`` takes."""
        limits = {} if of_trace else self.limits
        given = {"faults": self.faults, "time": self.seconds, **limits}
        return [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]

    def _required(self) -> list[str]:
        named = [word for name in self.require for word in ("--require", name)]
        return named if self.profile is None else ["--profile", self.profile, *named]

    def _switched(self) -> list[str]:
        return [word for option, names in self.switches for name in names for word in (option, name)]

    def _explored(self) -> list[str]:
        wanted = {"--all-properties": self.all_properties, "--all-fault-sets": self.all_fault_sets}
        return [option for option, is_wanted in wanted.items() if is_wanted]

    def depth(self, deployment: Deployment) -> Depth:
        """Choose the properties to explore first: those that the user named, or all that one sentence is about."""
        from proofka.checker.deepening import Depth
        from proofka.model.deployment.required_properties import required_unless_said

        if self.is_of_changes and not (self.all_properties or self.all_fault_sets):
            # A smallest fault set that is left out at the commit would look new.
            return Depth(frozenset(self.fail_on or deployment.require), only_first=True, goes_on=True)
        if self.is_one_sentence:
            return Depth(frozenset(self.fail_on or deployment.require), only_first=True)
        by_default = required_unless_said(deployment)
        named = self.fail_on or (() if deployment.require == by_default else deployment.require)
        return Depth(frozenset(named), all_properties=self.all_properties, all_fault_sets=self.all_fault_sets)


def options_of(more: float, *, all_properties: bool, all_fault_sets: bool) -> tuple[str, ...]:
    """Return the options that set the amount of exploration, for the command line that repeats the check."""
    words = ["--all-properties"] if all_properties else []
    words += ["--all-fault-sets"] if all_fault_sets else []
    return (*words, *(() if more == DEFAULT_MORE else ("--more", f"{more:g}")))
