"""``proofka diff``: changed verdicts between two results or configurations, and the setting that caused each change."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofka.checker.cli.endings import EXIT_UNDECIDED, is_interrupted
from proofka.checker.cli.errors import complain, fail, one_line_errors, plain
from proofka.checker.cli.options import Assume, Clients, FaultsOfBoth, Kafka, Seconds
from proofka.checker.cli.verify import load_document
from proofka.checker.cli.verify_again import is_bundle, is_result

if TYPE_CHECKING:
    from proofka.model.deployment.deployment import Deployment
    from proofka.properties.verdict import Result

    Checked = tuple[Deployment, Result]

EXIT_SAME = 0
EXIT_CHANGED = 1
FAULTS_UNLESS_SAID = "1"
"""Total number of faults used to compare two configurations if neither an option nor a file names another. A check up
to this total takes seconds."""


def diff(
    old: Annotated[
        Path, typer.Argument(metavar="OLD", help="A bundle, a result that --json wrote, or a PATH of proofka check.")
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The file to compare OLD with, of the same kinds.")],
    no_causes: Annotated[
        bool, typer.Option("--no-causes", help="Do not search for the setting that caused each change (default: off).")
    ] = False,
    kafka: Kafka = None,
    assume: Assume = None,
    clients: Clients = None,
    faults: FaultsOfBoth = None,
    seconds: Seconds = None,
) -> None:
    """Print the verdicts that changed between two results or configurations, and the change of a setting that caused
    each.

    Configurations (files or folders) are checked first, up to --faults N faults (default: the total of the result on
    the other side, else the larger total in the files, else 1).

    Exit status: 0 nothing changed, 1 a verdict, a setting or a version changed, 2 the input is wrong, 3 interrupted.
    """
    asked = _Asked(kafka, tuple(assume or ()), tuple(clients or ()), faults, seconds)
    with one_line_errors():
        olds, news = _side(old, asked), _side(new, asked)
        if olds.is_result and news.is_result and asked != _Asked():
            fail("OLD and NEW are results; options of a check apply to configurations only")
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
    """Options for reading and checking configurations."""

    kafka: str | None = None
    assume: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    faults: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class _One:
    """A deployment at one place. ``result`` is its earlier result, or None if the deployment must still be checked."""

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
    """The pairs of deployments to compare, and a sentence for each deployment that is missing on the other side."""

    both: tuple[tuple[_One, _One], ...]
    alone: tuple[str, ...]


def _side(place: Path, asked: _Asked) -> _Side:
    """Read a result, or the deployments of a configuration. End the command if something cannot be read."""
    if is_result(place) or is_bundle(place):
        deployment, result = _load(place)
        return _Side((_One(place, deployment, result),), True)
    from proofka.checker.source import Source

    source = Source(place, asked.kafka, assume=asked.assume, clients=asked.clients)
    sought = source.seek()
    if sought is None:
        return _Side((_One(place, source.read()),), False)
    for problem in sought.problems:
        complain(str(problem))
    if sought.problems:
        fail(f"{place}: cannot be read completely, so it is not compared; proofka show {place} names each problem")
    if not sought.deployments:
        fail(f"{place}: has no pipeline")
    return _Side(tuple(_One(place, deployment) for deployment in sought.deployments), False)


def _pairs(olds: _Side, news: _Side) -> _Pairs:
    """Pair the deployments of both sides: the only deployment of each side, or those with equal names."""
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
    """Check each deployment without a result, print the changes, and return whether anything changed."""
    with one_line_errors():
        before, after = _checked(old, new, asked)
        from proofka.checker.difference import asks_for_causes, difference
        from proofka.reports.difference import DifferenceReport
        from proofka.reports.terminal import console

        found = difference(before, after, causes=False)
        console().print(DifferenceReport(found, _named(old.place, before), _named(new.place, after)))
        sys.stdout.flush()
        if causes and asks_for_causes(found):
            _print_causes(before, after)
    return not found.is_empty


def _checked(old: _One, new: _One, asked: _Asked) -> tuple[Checked, Checked]:
    """Check both deployments with the same total of faults.

    The total comes from ``--faults``, else from the result on one of the sides, else from the files, the larger one,
    else it is one.
    """
    totals = [one.deployment.faults.total for one in (old, new) if one.result is not None]
    of_result = None if not totals or totals[0] is None else str(totals[0])
    faults = asked.faults or (of_result if totals else _total_of_files(old, new))
    check = _Check(faults, asked.seconds)
    before = check(old)
    if new.result is None and old.result is None:
        from proofka.model.deployment.question import question

        # The questions are equal, so the verdicts are equal, too, up to the list of required properties.
        if (question(old.deployment), old.deployment.require) == (question(new.deployment), new.deployment.require):
            return before, (check.narrowed(new), before[1])
    return before, check(new)


def _total_of_files(old: _One, new: _One) -> str:
    """Return the larger total of faults that the configurations name, or one."""
    named = [one.deployment.faults.total for one in (old, new) if one.deployment.faults.total is not None]
    return str(max(named)) if named else FAULTS_UNLESS_SAID


@dataclass(frozen=True)
class _Check:
    """Check one deployment with a given total of faults."""

    faults: str | None
    seconds: float | None

    def narrowed(self, one: _One) -> Deployment:
        """Return the deployment with the total of faults applied."""
        from proofka.checker.source import narrowed

        return narrowed(one.deployment, self.faults, None)

    def __call__(self, one: _One) -> Checked:
        """Return the deployment with its earlier result, or with the result of a new check."""
        if one.result is not None:
            return one.deployment, one.result
        from proofka.checker.cli.exploring import run_check
        from proofka.checker.cli.limits import budget_of
        from proofka.checker.engine import EmbeddedEngine
        from proofka.checker.reductions.choice import chosen

        deployment = self.narrowed(one)
        _, result = run_check(deployment, budget_of(self.seconds, {}), EmbeddedEngine(None), chosen((), ()))
        if is_interrupted(result.verdicts):
            fail("interrupted: nothing was compared", EXIT_UNDECIDED)
        return deployment, result


def _load(file: Path) -> Checked:
    document = load_document(file)
    from proofka.model.deployment import DocumentError, from_document
    from proofka.reports.document import result_from_document

    try:
        deployment = from_document(document["deployment"])
    except DocumentError as error:
        model = str(document["versions"].get("model", "unknown"))
        fail(f"{file}: written by model {model}; this version cannot read its deployment ({error}); check it again")
    return deployment, result_from_document(document)


def _print_causes(before: Checked, after: Checked) -> None:
    """Find the cause of each change, and print each cause as soon as it is found. Ctrl-C ends the search."""
    from proofka.checker.budget import Budget
    from proofka.checker.difference import SECONDS_EACH, difference
    from proofka.checker.interruption import interrupts
    from proofka.checker.solver import SolverUndecided
    from proofka.checker.traces import ReplayMismatch
    from proofka.properties.difference import VerdictChange
    from proofka.reports.difference import CauseReport, Remarks
    from proofka.reports.terminal import console

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
        complain("interrupted: some causes were not searched for")
    sys.stdout.flush()


def _named(file: Path, loaded: Checked) -> str:
    from proofka.reports import summary

    deployment, result = loaded
    return f"{file}: {deployment.name}, {summary.cluster(deployment)}, model {result.versions.get('model', 'unknown')}"
