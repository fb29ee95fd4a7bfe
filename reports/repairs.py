"""Repairs for a reader: which changes make what hold, what each costs, and what stops writes then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from model.deployment.changing import Change
from model.deployment.choices import Acks
from model.deployment.deployment import Deployment
from properties.verdict import Result
from reports import lines, wording


class Repair(Protocol):
    """A set of changes with which these properties hold."""

    @property
    def changes(self) -> Sequence[Change]: ...
    @property
    def deployment(self) -> Deployment: ...
    @property
    def result(self) -> Result: ...
    @property
    def holds(self) -> Sequence[str]: ...
    @property
    def cost(self) -> int: ...


class Repairs(Protocol):
    """What a search for repairs found."""

    @property
    def wanted(self) -> Sequence[str]: ...
    @property
    def found(self) -> Sequence[Repair]: ...
    @property
    def hopeless(self) -> Sequence[str]: ...
    @property
    def tried(self) -> int: ...
    @property
    def stopped(self) -> bool: ...


class RepairReport:
    """Each repair with its changes and their costs, cheapest first; or the front of what can be had."""

    def __init__(self, deployment: Deployment, violated: Sequence[str], repairs: Repairs) -> None:
        self.deployment = deployment
        self.violated = violated
        self.repairs = repairs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, repairs = options.max_width, self.repairs
        yield from lines.wrapped(self._answer(), width, rest="  ", style="bold")
        for number, repair in enumerate(repairs.found, start=1):
            yield Text()
            yield from self._repair(number, repair, width)
        yield Text()
        for line in self._evidence():
            yield from lines.wrapped(line, width, rest="  ", style="dim")

    def _evidence(self) -> Iterator[str]:
        """What was explored of each repair: a pass says nothing beyond that."""
        yield f"{wording.counted(self.repairs.tried, 'set')} of changes explored"
        verdicts = [verdict for repair in self.repairs.found for verdict in repair.result.verdicts]
        for what, words in (("explored", wording.bounds), ("faults", wording.fault_kinds), ("sizes", wording.sizes)):
            for said in dict.fromkeys(words(verdict.coverage) for verdict in verdicts):
                yield f"each repair was checked as a whole; {what}: {said}" if what == "explored" else f"{what}: {said}"

    def _answer(self) -> str:
        repairs, name = self.repairs, self.deployment.name
        wrong = wording.listed(self.violated)
        if not self.violated:
            return f"{name}: nothing to repair, no required property is violated."
        whole = [repair for repair in repairs.found if set(repair.holds) >= set(repairs.wanted)]
        stopped = " The time ran out before the search was over." if repairs.stopped else ""
        if whole:
            kinds = f"{wording.counted(len(whole), 'repair')}" + (", cheapest first" if len(whole) > 1 else "")
            holds = "it holds" if len(repairs.wanted) == 1 else f"all {len(repairs.wanted)} properties hold"
            return f"{name}: {wrong} violated. {kinds}, with which {holds}:{stopped}"
        if repairs.found:
            hopeless = f" Nothing here mends {wording.listed(repairs.hopeless)}." if repairs.hopeless else ""
            return f"{name}: {wrong} violated. No set of changes mends all; what can hold together:{hopeless}{stopped}"
        return f"{name}: {wrong} violated. None of the known changes mends that.{stopped}"

    def _repair(self, number: int, repair: Repair, width: int) -> Iterator[Text]:
        changes = " + ".join(map(str, repair.changes))
        yield from lines.wrapped(changes, width, first=f"{number:>2}  ", rest="      ", style="bold")
        held = set(repair.holds)
        missing = [name for name in self.repairs.wanted if name not in held]
        if missing:
            mended = [name for name in self.violated if name in held]
            what = f"mends {wording.listed(mended)}; does not hold: {wording.listed(missing)}"
            yield from lines.wrapped(what, width, first="    ", rest="      ")
        for line in costs(self.deployment, repair):
            yield from lines.wrapped(line, width, first="    ", rest="      ", style="dim")


def costs(before: Deployment, repair: Repair) -> Iterator[str]:
    """What a repair costs, in words: latency, what stops, and how many brokers writes need."""
    for change in repair.changes:
        for what, words in (("latency", change.latency), ("availability", change.availability)):
            if words:
                yield f"{what}: {words}"
    was, now = tolerated(before), tolerated(repair.deployment)
    if was != now:
        yield (
            f"writes go on with {wording.counted(now, 'broker')} away, not with {now + 1} (before: with {was})"
            if now < was
            else f"writes go on with {wording.counted(now, 'broker')} away (before: with {was})"
        )


def tolerated(deployment: Deployment) -> int:
    """How many brokers may be away while a leader still takes records of this producer (semantics 3.2, 6.3)."""
    needed = deployment.min_insync_replicas if deployment.acks is Acks.ALL else 1
    return deployment.replicas - needed
