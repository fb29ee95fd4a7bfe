"""``proofka diff``: what changed between two results or configurations, and which setting made the difference."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from checker.cli.endings import EXIT_UNDECIDED, is_interrupted
from checker.cli.errors import complain, fail, one_line_errors, plain
from checker.cli.options import Assume, Clients, Faults, Kafka, Seconds
from checker.cli.rechecking import is_bundle, is_result
from checker.cli.verify import load_document

if TYPE_CHECKING:
    from model.deployment.deployment import Deployment
    from properties.verdict import Result

    Checked = tuple[Deployment, Result]

EXIT_SAME = 0
EXIT_CHANGED = 1
FAULTS_UNLESS_SAID = "1"
"""Total of faults within which two configurations are compared where nobody says another: an answer in seconds."""


def diff(
    old: Annotated[
        Path, typer.Argument(metavar="OLD", help="A bundle, a result that --json wrote, or what proofka check reads.")
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one.")],
    no_causes: Annotated[
        bool, typer.Option("--no-causes", help="Do not check what lies between the two to find what made the change.")
    ] = False,
    kafka: Kafka = None,
    assume: Assume = None,
    clients: Clients = None,
    faults: Faults = None,
    seconds: Seconds = None,
) -> None:
    """Say which verdicts changed between two results or configurations, and which change of a setting caused it.

    Configurations (files or folders) are checked first, up to --faults N (default: 1, beside a result as the result).
    Exit status: 0 nothing changed, 1 a verdict, a setting or a version did, 2 the input is wrong, 3 interrupted.
    """
    asked = _Asked(kafka, tuple(assume or ()), tuple(clients or ()), faults, seconds)
    with one_line_errors():
        olds, news = _side(old, asked), _side(new, asked)
        if olds.is_result and news.is_result and asked != _Asked():
            fail("two results are compared as they are; options of a check change nothing in them")
        pairs = _pairs(olds, news)
    changed = bool(pairs.alone)
    for line in pairs.alone:
        typer.echo(plain(line))
    for number, (before, after) in enumerate(pairs.both):
        if number or pairs.alone:
            typer.echo("")
        changed |= _compared(before, after, asked, causes=not no_causes)
    raise typer.Exit(EXIT_CHANGED if changed else EXIT_SAME)


@dataclass(frozen=True)
class _Asked:
    """What the options say of how configurations are read and checked."""

    kafka: str | None = None
    assume: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    faults: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class _One:
    """A deployment at one place; ``result``: what was found of it before, None where it is still to be checked."""

    place: Path
    deployment: Deployment
    result: Result | None = None


@dataclass(frozen=True)
class _Side:
    """All deployments of OLD or of NEW."""

    ones: tuple[_One, ...]
    is_result: bool


@dataclass(frozen=True)
class _Pairs:
    """Deployments that are compared, and a sentence for each that the other side does not have."""

    both: tuple[tuple[_One, _One], ...]
    alone: tuple[str, ...]


def _side(place: Path, asked: _Asked) -> _Side:
    """Read a result, or the deployments of a configuration. Ends the command where something cannot be read."""
    if is_result(place) or is_bundle(place):
        deployment, result = _load(place)
        return _Side((_One(place, deployment, result),), True)
    from checker.source import Source

    source = Source(place, asked.kafka, assume=asked.assume, clients=asked.clients)
    sought = source.seek()
    if sought is None:
        return _Side((_One(place, source.read()),), False)
    for problem in sought.problems:
        complain(str(problem))
    if sought.problems:
        fail(f"{place}: is compared once everything in it can be read; proofka show {place} says what became of it")
    if not sought.deployments:
        fail(f"{place}: has no pipeline")
    return _Side(tuple(_One(place, deployment) for deployment in sought.deployments), False)


def _pairs(olds: _Side, news: _Side) -> _Pairs:
    """Pair the only deployments of both sides, else those of equal names."""
    if len(olds.ones) == len(news.ones) == 1:
        return _Pairs(((olds.ones[0], news.ones[0]),), ())
    before = {one.deployment.name: one for one in olds.ones}
    after = {one.deployment.name: one for one in news.ones}
    both = tuple((one, after[name]) for name, one in before.items() if name in after)
    gone = tuple(_lacking("NEW", one) for name, one in before.items() if name not in after)
    come = tuple(_lacking("OLD", one) for name, one in after.items() if name not in before)
    return _Pairs(both, (*gone, *come))


def _lacking(side: str, one: _One) -> str:
    return f"{one.place}: {one.deployment.name}: {side} has no pipeline of this name"


def _compared(old: _One, new: _One, asked: _Asked, *, causes: bool) -> bool:
    """Check what is no result yet, print what changed; whether anything did."""
    with one_line_errors():
        before, after = _checked(old, new, asked)
        from checker.difference import asks_for_causes, difference
        from reports.difference import DifferenceReport
        from reports.terminal import console

        found = difference(before, after, causes=False)
        console().print(DifferenceReport(found, _named(old.place, before), _named(new.place, after)))
        sys.stdout.flush()
        if causes and asks_for_causes(found):
            _print_causes(before, after)
    return not found.is_empty


def _checked(old: _One, new: _One, asked: _Asked) -> tuple[Checked, Checked]:
    """Check both within the same faults: those that are asked for, else those of the result among them, else one."""
    totals = [one.deployment.faults.total for one in (old, new) if one.result is not None]
    of_result = None if not totals or totals[0] is None else str(totals[0])
    faults = asked.faults or (of_result if totals else FAULTS_UNLESS_SAID)
    check = _Check(faults, asked.seconds)
    before = check(old)
    if new.result is None and old.result is None:
        from model.deployment.question import question

        # What decides the verdicts is the same: so are the verdicts, but for which of them are required.
        if (question(old.deployment), old.deployment.require) == (question(new.deployment), new.deployment.require):
            return before, (check.narrowed(new), before[1])
    return before, check(new)


@dataclass(frozen=True)
class _Check:
    """Checking one deployment within some faults."""

    faults: str | None
    seconds: float | None

    def narrowed(self, one: _One) -> Deployment:
        """The deployment as it is checked."""
        from checker.source import narrowed

        return narrowed(one.deployment, self.faults, None)

    def __call__(self, one: _One) -> Checked:
        """The result that there is, or that of a check."""
        if one.result is not None:
            return one.deployment, one.result
        from checker.cli.exploring import run_check
        from checker.cli.limits import budget_of
        from checker.engine import EmbeddedEngine
        from checker.reductions.choice import chosen

        deployment = self.narrowed(one)
        _, result = run_check(deployment, budget_of(self.seconds, {}), EmbeddedEngine(None), chosen((), ()))
        if is_interrupted(result.verdicts):
            complain("interrupted: nothing is compared")
            raise typer.Exit(EXIT_UNDECIDED)
        return deployment, result


def _load(file: Path) -> Checked:
    document = load_document(file)
    from model.deployment import DocumentError, from_document
    from reports.document import result_from_document

    try:
        deployment = from_document(document["deployment"])
    except DocumentError as error:
        model = str(document["versions"].get("model", "unknown"))
        fail(f"{file}: of model {model}, whose deployments this version does not read ({error}): check it again")
    return deployment, result_from_document(document)


def _print_causes(before: Checked, after: Checked) -> None:
    """Look for the causes of what changed, and print each once it is found, until all are or somebody interrupts."""
    from checker.budget import Budget
    from checker.difference import SECONDS_EACH, difference
    from checker.interruption import interrupts
    from checker.solver import SolverUndecided
    from checker.traces import ReplayMismatch
    from properties.difference import VerdictChange
    from reports.difference import CauseReport, Remarks
    from reports.terminal import console

    out, err = console(), console(stderr=True)
    out.print("\nCauses", style="bold")
    budget = Budget(seconds=SECONDS_EACH)

    def tell(change: VerdictChange) -> None:
        out.print(CauseReport(change))
        sys.stdout.flush()

    try:
        with err.status("looking for causes") as status, interrupts(budget.stop):
            found = difference(
                before,
                after,
                budget=budget,
                on_check=lambda checks: status.update(f"looking for causes: deployment {checks}"),
                on_cause=tell,
            )
        out.print(Remarks(found))
    except (SolverUndecided, ReplayMismatch) as error:
        complain(f"no further causes: {error}")
    if budget.stop.is_set():
        complain("interrupted: not every cause was looked for")
    sys.stdout.flush()


def _named(file: Path, loaded: Checked) -> str:
    from reports import summary

    deployment, result = loaded
    return f"{file}: {deployment.name}, {summary.cluster(deployment)}, model {result.versions.get('model', 'unknown')}"
