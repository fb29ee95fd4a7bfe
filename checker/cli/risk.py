"""``proofka risk``: the expected number of violations a year of each property, from rates of faults."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from proofka.checker.cli.endings import EXIT_HOLDS, EXIT_UNDECIDED, EXIT_VIOLATED, is_interrupted
from proofka.checker.cli.errors import complain, fail, one_line_errors
from proofka.checker.cli.exploring import acknowledge
from proofka.checker.cli.options import (
    Assume,
    Clients,
    Environment,
    Faults,
    Fill,
    Json,
    Kafka,
    Partly,
    PipelineNumber,
    ResultOrPath,
    Seconds,
    Topic,
)
from proofka.checker.cli.risk_options import AllRuns, AtMost, Properties, RatesFile, SecondsForRepairs, WithRepairs
from proofka.checker.cli.source_options import source_of

if TYPE_CHECKING:
    from proofka.checker.cli.checked import Checked
    from proofka.checker.risk.all_runs import Proofs
    from proofka.checker.source import Source
    from proofka.model.deployment.deployment import Deployment
    from proofka.properties.rates import Rates
    from proofka.properties.risk import RepairRisk, Risk
    from proofka.properties.verdict import Result

PROJECT = Path("proofka.yaml")
"""The file whose rates count where no other file is named."""

SECONDS_OF_WINDOWS = 60.0
"""Seconds for each check of a window over all runs."""

MOST_REPAIRS = 3
"""Number of repairs whose numbers are computed."""


def risk(
    file: ResultOrPath,
    rates: RatesFile = None,
    named: Properties = None,
    at_most: AtMost = None,
    windows: AllRuns = False,
    repairs: WithRepairs = False,
    repair_time: SecondsForRepairs = 600,
    json_output: Json = False,
    kafka: Kafka = None,
    topic: Topic = None,
    assume: Assume = None,
    fill: Fill = None,
    environment: Environment = False,
    partly: Partly = False,
    clients: Clients = None,
    pipeline: PipelineNumber = None,
    faults: Faults = None,
    seconds: Seconds = None,
) -> None:
    """Compute the expected number of violations a year of each property, from rates of faults and common causes.

    The answer is an interval. Its upper end counts the faults that complete a smallest fault set, exactly, and each
    fault set that was not explored. Its lower end is 0 without exposures (docs/risk.md). A kind of fault without a
    rate is named, and the number has no upper end then. There are no default rates; docs/risk.md lists published ones.

    Exit status: 0 every number has an upper end (with --at-most: at most X); 1 with --at-most, a number is surely above
    X; 2 the input is wrong; 3 a number has no upper end, X lies within an interval, or the check was interrupted.
    """
    from proofka.checker.risk.answering import remarks_of
    from proofka.properties.risk import RiskAnswer
    from proofka.reports.risk import RiskReport
    from proofka.reports.risk_document import to_document
    from proofka.reports.terminal import console

    with one_line_errors():
        known = _rates(rates)
        source = source_of(
            file,
            kafka,
            topic,
            assume=assume,
            fill=fill,
            environment=environment,
            partly=partly,
            clients=clients,
            pipeline=pipeline,
        )
        look = _checked(source, file, faults, seconds)
        properties = _asked(look.result, named or ())
        asked = _Asked(known, properties, windows, seconds)
        answer = RiskAnswer(
            look.deployment.name, asked.risks(look.deployment, look.result), remarks_of(look.deployment, known)
        )
        if repairs:
            found = asked.with_repairs(look.deployment, repair_time)
            answer = replace(answer, repairs=found)
    if json_output:
        typer.echo(json.dumps(to_document(answer, known), ensure_ascii=False))
    else:
        console().print(RiskReport(answer, look.deployment, known))
    raise typer.Exit(_status(answer.risks, at_most, interrupted=is_interrupted(look.result.verdicts)))


def _checked(source: Source, file: Path, faults: str | None, seconds: float | None) -> Checked:
    from proofka.checker.cli.checked import checked
    from proofka.model.deployment import DocumentError

    try:
        return checked(source, file, faults=faults, seconds=seconds, all_fault_sets=faults is None)
    except DocumentError as error:
        fail(f"{file}: this version cannot read its deployment ({error}); check it again")


def _rates(file: Path | None) -> Rates:
    """Return the rates of a file, or of the project file in this folder. Raise NoRates, and errors of the file."""
    from proofka.checker.project.reading import rates_in
    from proofka.checker.risk.errors import NoRates

    if file is None and not PROJECT.is_file():
        raise NoRates("no rates of faults; give --rates FILE (docs/risk.md has an example, and published rates)")
    found = rates_in(PROJECT if file is None else file)
    if found is None:
        raise NoRates(f"{file or PROJECT}: has no rates; add the section rates:, or give --rates FILE (docs/risk.md)")
    return found


def _asked(result: Result, named: Sequence[str]) -> tuple[str, ...]:
    """Return the properties of the answer. Raise UnknownProperty."""
    from proofka.checker.risk.errors import UnknownProperty

    there = [verdict.property for verdict in result.verdicts]
    for name in named:
        if name not in there:
            raise UnknownProperty(f"--property {name}: has no verdict here; choose from {', '.join(there)}")
    return tuple(named) or tuple(verdict.property for verdict in result.verdicts if verdict.required)


@dataclass(frozen=True)
class _Asked:
    """The rates, the properties, and how much is computed. ``seconds``: the time limit of a check."""

    rates: Rates
    properties: tuple[str, ...]
    all_runs: bool
    seconds: float | None

    def risks(self, deployment: Deployment, result: Result) -> tuple[Risk, ...]:
        """Return the risks of the properties. Raise OtherModel, and TooLarge."""
        from proofka.checker.risk.answering import Question
        from proofka.checker.risk.errors import OtherModel
        from proofka.checker.risk.windows import windows_of
        from proofka.checker.traces import ReplayMismatch

        try:
            windows = windows_of(deployment, result, self.properties)
        except ReplayMismatch as error:
            raise OtherModel(f"{deployment.name}: {error}; check the deployment again with this version") from None
        proofs = self._proofs(deployment, result) if self.all_runs and not deployment.faults.any_number else {}
        return Question(deployment, result, self.rates, windows, proofs).risks(self.properties)

    def _proofs(self, deployment: Deployment, result: Result) -> Proofs:
        from proofka.checker.budget import Budget
        from proofka.checker.interruption import interrupts
        from proofka.checker.risk.all_runs import proofs_of
        from proofka.checker.solver import SolverUndecided
        from proofka.checker.traces import ReplayMismatch
        from proofka.reports.terminal import console

        stop = threading.Event()
        said = "looking at all runs of two faults (Ctrl-C ends the search)"
        try:
            with console(stderr=True).status(said), interrupts(stop, partial(acknowledge, "the numbers follow")):
                budget_of = partial(Budget, seconds=SECONDS_OF_WINDOWS, stop=stop)
                return proofs_of(deployment, result, self.rates, self.properties, budget_of)
        except (SolverUndecided, ReplayMismatch) as error:
            fail(f"no window: {error}", EXIT_UNDECIDED)

    def with_repairs(self, deployment: Deployment, seconds: float) -> tuple[RepairRisk, ...]:
        """Return the risks with each repair, from a check like that of the deployment itself."""
        from proofka.checker.cli.exploring import run_check
        from proofka.checker.cli.limits import budget_of
        from proofka.checker.cli.repair import searched
        from proofka.checker.deepening import Depth
        from proofka.checker.engine import EmbeddedEngine
        from proofka.checker.reductions.choice import chosen
        from proofka.properties.risk import RepairRisk

        deployment = replace(deployment, require=self.properties)
        if deployment.faults.any_number:
            fail("--faults any: a repair needs a number of faults")
        found, ended = searched(deployment, budget_of(None, {}), seconds, MOST_REPAIRS)
        risks = []
        for repair in found.found:
            made = replace(repair.deployment, faults=repair.deployment.faults.up_to(deployment.faults.total))
            depth = Depth(all_fault_sets=deployment.faults.total is None)
            _, result = run_check(made, budget_of(self.seconds, {}), EmbeddedEngine(None), chosen((), ()), depth)
            risks.append(RepairRisk(tuple(map(str, repair.changes)), self.risks(made, result)))
        if ended:
            complain(f"the search for repairs was stopped: {ended}")
        return tuple(risks)


def _status(risks: Sequence[Risk], at_most: float | None, *, interrupted: bool) -> int:
    if at_most is not None and any(one.lower > at_most for one in risks):
        return EXIT_VIOLATED
    if interrupted or any(one.upper is None for one in risks):
        return EXIT_UNDECIDED
    if at_most is not None and any(one.upper is not None and one.upper > at_most for one in risks):
        return EXIT_UNDECIDED
    return EXIT_HOLDS
