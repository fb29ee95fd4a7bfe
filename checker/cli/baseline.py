"""``proofka baseline``: write down what is known, so that later checks fail only on news."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofka.checker.cli.endings import EXIT_BAD_INPUT, EXIT_UNDECIDED, is_interrupted
from proofka.checker.cli.errors import complain, fail, one_line_errors, plain
from proofka.checker.cli.exploring import run_check
from proofka.checker.cli.limits import budget_of
from proofka.checker.cli.options import Faults, File, Kafka, Memory, Profile, Require, Seconds, Threads
from proofka.checker.cli.pipelines import Pipelines, of_project, of_source, project_file
from proofka.checker.cli.source_options import source_of
from proofka.checker.cli.written import check_file

if TYPE_CHECKING:
    from proofka.checker.budget import Budget
    from proofka.model.deployment.deployment import Deployment
    from proofka.properties.verdict import Result

Output = Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file for the baseline.")]
DEFAULT = Path("proofka-baseline.json")
"""The file of the baseline unless an option names another."""


def baseline(
    file: File = None,
    output: Output = DEFAULT,
    kafka: Kafka = None,
    faults: Faults = None,
    seconds: Seconds = None,
    memory: Memory = None,
    threads: Threads = None,
    require: Require = None,
    profile: Profile = None,
) -> None:
    """Check all pipelines of proofka.yaml (or of PATH), and write what is known: the properties that do not hold, with
    their smallest fault sets (docs/ci.md). proofka check --baseline then fails only on news.

    Exit status: 0 the baseline is written, 2 a pipeline cannot be read, 3 interrupted (nothing is written).
    """
    from proofka.checker.changes.baseline import text_of
    from proofka.model.input.whole_file import write_whole
    from proofka.properties.verdict import Status

    with one_line_errors():
        check_file("--output", output)
        project = project_file(file, {"--kafka": kafka})
        if project is not None:
            found = of_project(project, faults, require or (), profile)
        else:
            found = of_source(source_of(file, kafka, None), faults, require or (), profile)
        _refuse_unread(found)
        answers = []
        results: dict[tuple[Deployment, tuple[str, ...]], Result] = {}
        for one in found.those:
            answers.append((one.key, _result(one.deployment, budget_of(seconds, _limits(memory, threads)), results)))
        write_whole(output, text_of(answers))
    known = sum(verdict.status is not Status.HOLDS for _, one in answers for verdict in one.verdicts)
    pipelines = f"{len(answers)} pipeline{'' if len(answers) == 1 else 's'}"
    said = f"{output}: {known} known verdict{'' if known == 1 else 's'} of {pipelines}"
    typer.echo(plain(f"{said}; proofka check --baseline {output} fails only on others"))


def _limits(memory: int | None, threads: int | None) -> dict[str, int | None]:
    return {"memory": memory, "threads": threads}


def _refuse_unread(found: Pipelines) -> None:
    """End the command if a pipeline cannot be read: what it violates would look new later."""
    problems = [*found.problems, *(found.sought.problems if found.sought is not None else ())]
    for problem in problems:
        complain(str(problem))
    if problems or not found.those:
        fail("no baseline is written; correct this first, or exclude the pipeline", EXIT_BAD_INPUT)


def _result(deployment: Deployment, budget: Budget, known: dict[tuple[Deployment, tuple[str, ...]], Result]) -> Result:
    """Return the result of a deployment; pipelines that ask the same question share one."""
    from proofka.checker.deepening import Depth
    from proofka.checker.engine import EmbeddedEngine
    from proofka.checker.reductions.choice import chosen
    from proofka.model.deployment.question import question

    key = (question(deployment), deployment.require)
    if key not in known:
        depth = Depth(frozenset(deployment.require))
        _, result = run_check(deployment, budget, EmbeddedEngine(None), chosen((), ()), depth)
        if is_interrupted(result.verdicts):
            fail("interrupted: no baseline is written", EXIT_UNDECIDED)
        known[key] = result
    return known[key]
