"""``--changed-since`` and ``--baseline``: which pipelines are checked, and what is news in their verdicts."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proofka.checker.cli.errors import complain, fail, plain

if TYPE_CHECKING:
    from proofka.checker.changes.baseline import Key
    from proofka.checker.changes.comparing import Earlier
    from proofka.checker.cli.pipelines import Pipeline, Pipelines
    from proofka.model.deployment.deployment import Deployment
    from proofka.model.input.input_error import InputError
    from proofka.properties.news import Compared, KnownVerdicts, News
    from proofka.properties.verdict import Result
    from proofka.reports.formats import Answer

ChangedSince = Annotated[
    str | None,
    typer.Option(
        "--changed-since",
        metavar="REF",
        help="Check only the pipelines that changes since the git commit REF touch, compare the verdicts with those of "
        "that commit, and fail only on what became worse (default: off).",
    ),
]
BaselineFile = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="Fail only on what FILE, written by proofka baseline, does not name (default: off).",
    ),
]
CommentFile = Annotated[
    Path | None,
    typer.Option("--comment", metavar="FILE", help="Write a comment for a pull request, in Markdown (default: none)."),
]


class OutputFormat(StrEnum):
    """The form of standard output: text, text with annotations of GitHub Actions, or GitLab's code quality report."""

    TEXT = "text"
    GITHUB = "github"
    GITLAB = "gitlab"


FormatOption = Annotated[
    OutputFormat,
    typer.Option(
        "--format",
        help="Standard output: text, text with annotations for GitHub Actions (github), or only GitLab's code quality "
        "report (gitlab), with the text on standard error.",
    ),
]


@dataclass
class Comparing:
    """The verdicts that were known of the pipelines of a check."""

    compared: Compared
    earlier: Earlier | None
    baseline: Mapping[Key, KnownVerdicts] | None

    def news(self, pipeline: Pipeline, result: Result) -> tuple[News, ...]:
        """Return the change of each verdict of a pipeline."""
        from proofka.properties.news import news_of

        places = []
        if self.earlier is not None:
            places.append(self.earlier.known(pipeline.key, pipeline.deployment, result))
        if self.baseline is not None:
            places.append(self.baseline.get(pipeline.key, {}))
        return news_of(result, places)

    def tell(self, answers: list[Answer]) -> None:
        """Print what is new, what is better, and the result of the comparison."""
        from proofka.reports import changed
        from proofka.reports.lines import print_wrapped
        from proofka.reports.terminal import console

        out = console()
        typer.echo("")
        for answer in answers:
            for one in changed.ordered(answer.news):
                if one.verdict.required:
                    said = f"{answer.deployment.name}: {changed.sentence(one, self.compared)}"
                    print_wrapped(out, said, rest="  ", style="red" if one.is_news else "green")
        for name in self.compared.gone:
            typer.echo(plain(f"{name}: is no longer there"))
        print_wrapped(out, changed.headline(answers, self.compared), rest="  ", style="bold")


def comparing(
    since: str | None,
    baseline: Path | None,
    found: Pipelines,
    gather: Callable[[], Pipelines],
    explore: Callable[[Deployment], Result],
) -> Comparing | None:
    """Return what the options compare with, and leave only the touched pipelines in ``found``. Raise ChangesError.

    ``gather`` reads the pipelines of the current folder. ``explore`` decides a deployment of the earlier commit.
    """
    if since is None and baseline is None:
        return None
    from proofka.checker.changes.baseline import read_baseline
    from proofka.properties.news import Compared

    known = None if baseline is None else read_baseline(baseline)
    compared = Compared(baseline="" if baseline is None else str(baseline), pipelines=len(found.those))
    if since is None:
        return Comparing(compared, None, known)
    from proofka.checker.changes.comparing import Earlier, files_of, gone, is_touched, pipelines_then
    from proofka.checker.changes.repository import repository

    here = repository(since, Path())
    then = pipelines_then(here, lambda: _read(gather), None if found.project is None else found.project.file)
    for sentence in then.unread:
        complain(f"as it was in {here.where}: {sentence}")
    changed = here.changed()
    compared = replace(
        compared, since=here.where, gone=tuple(gone(then, [one.key for one in found.those])), pipelines=len(found.those)
    )
    touched = [
        one
        for one in found.those
        if is_touched(one.deployment, files_of(one.deployment, one.source.file), changed, one.key, then)
    ]
    found.untouched, found.those = len(found.those) - len(touched), touched
    return Comparing(compared, Earlier(here.where, then, explore), known)


def _read(gather: Callable[[], Pipelines]) -> tuple[dict[Key, Deployment], list[InputError]]:
    """Return the pipelines of the current folder, and the errors that kept pipelines from being read."""
    from proofka.checker.project.errors import ProjectError

    found = gather()
    sought = () if found.sought is None else found.sought.problems
    problems = [one for one in (*found.problems, *sought) if not isinstance(one, ProjectError)]
    return {one.key: one.deployment for one in found.those}, problems


def refuse_other_sources(since: str | None, file: Path | None, others: Mapping[str, object]) -> None:
    """End the command if ``--changed-since`` cannot find the source of the check in an earlier commit.

    ``others``: the options that name or change a source.
    """
    if since is None:
        return
    for option in ("--topic", "--broker", "--producer", "--consumer", "--bootstrap"):
        if others[option] and (file is None or option != "--topic"):
            fail(f"--changed-since: {option} is not read from a commit; give a PATH, or write proofka.yaml")
    if file is None and not Path("proofka.yaml").is_file():
        fail("--changed-since: give a PATH, or write proofka.yaml with proofka init")
    if file is not None and (file.is_absolute() or ".." in file.parts or str(file) == "-"):
        fail(f"--changed-since: {file} is no path below the current folder; change to a folder above it")


@contextmanager
def text_of(form: OutputFormat) -> Iterator[None]:
    """Keep the text of a check apart from the report in standard output.

    With GitLab's format the text goes to standard error. GitHub's runner takes no line of the text for a command.
    """
    token = secrets.token_hex(16)
    if form is OutputFormat.GITHUB:
        typer.echo(f"::stop-commands::{token}")
    with redirect_stdout(sys.stderr) if form is OutputFormat.GITLAB else nullcontext():
        yield
    if form is OutputFormat.GITHUB:
        typer.echo(f"::{token}::")


def print_for(form: OutputFormat, answers: list[Answer], compared: Compared | None) -> None:
    """Print what the format adds to the text of a check, or has in its place."""
    if form is OutputFormat.GITLAB:
        from proofka.reports.ci.gitlab import to_code_quality

        typer.echo(to_code_quality(answers), nl=False)
    else:
        from proofka.reports.ci.github import workflow_commands

        for line in workflow_commands(answers, compared):
            typer.echo(line)
