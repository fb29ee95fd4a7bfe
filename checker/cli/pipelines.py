"""The pipelines of one check: of one source, or of all entries of a project file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from proofka.checker.cli.endings import EXIT_BAD_INPUT, EXIT_PARTLY_READ
from proofka.checker.cli.errors import complain, fail
from proofka.checker.cli.show import print_sought
from proofka.model.input.input_error import InputError

if TYPE_CHECKING:
    from datetime import date

    from proofka.checker.existing_files import Sought
    from proofka.checker.project.project import Project
    from proofka.checker.source import Source
    from proofka.model.deployment.deployment import Deployment

MOST_CHECKED = 50
"""Largest number of pipelines in a folder that ``proofka check`` accepts. More belong in an audit or a project file."""


@dataclass(frozen=True)
class Pipeline:
    """A deployment to check, and the source that selects it alone.

    ``profile`` and ``require``: what options or the project file require, for the command that repeats the check.
    ``key``: the path and the name, which stay the same from one commit to the next.
    """

    deployment: Deployment
    source: Source
    profile: str | None = None
    require: tuple[str, ...] = ()
    key: tuple[str, str] = ("", "")


@dataclass
class Pipelines:
    """All pipelines of a check. ``problems``: errors that prevent pipelines from being checked, or make the check fail.

    ``sought``: what was found in the one source of the check, if that is a folder or another program's file.
    """

    source: Source
    those: list[Pipeline] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)
    sought: Sought | None = None
    project: Project | None = None
    skipped: int = 0
    untouched: int = 0
    """Number of pipelines that are left out because no change touches them."""

    @property
    def deployments(self) -> list[Deployment]:
        """The deployments, in order."""
        return [one.deployment for one in self.those]

    def tell(self, *, quiet: bool, details: bool) -> int:
        """Print what was found, and the problems. Return the number of printed lines."""
        above = 0
        if self.sought is not None:
            above = print_sought(self.sought, self.source.kafka, quiet=quiet, details=details)
        for problem in self.problems:
            for one in (problem, *problem.others):
                complain(str(one))
        if self.sought is not None and self.sought.described is not None:
            for sentence in self.sought.described.unread:
                complain(sentence)
        return above

    @property
    def statuses(self) -> list[int]:
        """The exit statuses that follow from reading alone."""
        found = [EXIT_BAD_INPUT] if self.problems or not (self.those or self.untouched) else []
        if self.sought is not None:
            found += [EXIT_BAD_INPUT] if self.sought.problems else []
            described = self.sought.described
            found += [EXIT_PARTLY_READ] if described is not None and described.unread else []
        return found


def of_source(source: Source, faults: str | None, require: Sequence[str], profile: str | None) -> Pipelines:
    """Return the pipelines of a source. Raise DeploymentError."""
    from proofka.checker.project.accepting import today
    from proofka.checker.source import narrowed

    sought = source.seek()
    deployments = [source.read()] if sought is None else list(sought.deployments)
    found = Pipelines(source, sought=sought, skipped=0 if sought is None else sought.skipped)
    for number, one in enumerate(deployments, start=1):
        alone = _alone(source, sought, number)
        asked = narrowed(one, faults, list(require), profile)
        _add(found, asked, Pipeline(asked, alone, profile, tuple(require)), today())
    if len(deployments) > MOST_CHECKED:
        place = source.file or (source.live.bootstrap if source.live is not None else "")
        listed = "proofka show lists them; choose by --topic or --pipeline"
        fail(f"{place}: has {len(deployments)} pipelines, the limit is {MOST_CHECKED}; {listed}")
    return found


def of_project(file: Path, faults: str | None, require: Sequence[str], profile: str | None) -> Pipelines:
    """Return the pipelines of a project file. A pipeline that cannot be read is a problem. Raise ProjectError."""
    from proofka.checker.project.accepting import today
    from proofka.checker.project.finding import places, unique_names
    from proofka.checker.project.reading import read_project
    from proofka.checker.source import Source, narrowed

    project = read_project(file)
    found = Pipelines(Source(file), project=project)
    for place in places(project):
        try:
            source, sought, deployments = place.read()
            for number, one in enumerate(deployments, start=1):
                says = bool(require) or profile is not None
                named = tuple(require) if says else place.entry.require
                chosen = profile if says else place.entry.profile
                asked = narrowed(one, faults, list(named), chosen)
                _add(found, asked, Pipeline(asked, _alone(source, sought, number), chosen, named), today())
        except InputError as error:
            found.problems.append(error)
            found.skipped += 1
            continue
        if sought is not None:
            found.problems += [*sought.problems, *sought.besides]
            found.skipped += sought.skipped
    names = unique_names([(one.deployment, one.source.file or file) for one in found.those])
    found.those = [replace(one, deployment=name) for one, name in zip(found.those, names, strict=True)]
    return found


def _add(found: Pipelines, asked: Deployment, pipeline: Pipeline, day: date) -> None:
    """Add a pipeline without the requirements that are lifted, and the errors about what is accepted."""
    from proofka.checker.project.accepting import with_accepted

    file = pipeline.source.file
    path = file if found.project is not None or (file is not None and file.is_file()) else None
    deployment, problems = with_accepted(asked, path, found.project, day)
    known = set(map(str, found.problems))
    found.problems += [one for one in problems if str(one) not in known]
    key = ("" if file is None else file.as_posix(), asked.name)
    found.those.append(replace(pipeline, deployment=deployment, key=key))


def _alone(source: Source, sought: Sought | None, number: int) -> Source:
    """Return the source that selects one deployment, by its number among all deployments of the source (from 1)."""
    if sought is None or len(sought.checks) == 1:
        return source
    from proofka.checker.source import Source

    where = sought.checks[number - 1][1]
    if isinstance(where, Path):
        return Source(where, assume=source.assume)
    return replace(source, pipeline=where)


def project_file(file: Path | None, others: Mapping[str, object]) -> Path | None:
    """Return the project file that a check without a source reads, or None.

    ``others``: the options that name or change a source. Raise ProjectError if one is given with a project file.
    """
    from proofka.checker.project.errors import ProjectError
    from proofka.checker.project.project import FILE

    named = file is not None and file.name == FILE
    here = Path(FILE)
    sources = ("--kafka", "--topic", "--broker", "--producer", "--consumer", "--bootstrap")
    if not named and (file is not None or any(others.get(one) for one in sources) or not here.is_file()):
        return None
    for option, value in others.items():
        if value:
            what = f"{option} is for one PATH; write it into this file, or name a deployment"
            raise ProjectError("W12", what, file=str(file or here))
    return file or here
