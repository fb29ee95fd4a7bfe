"""The pipelines of a project file: the files and folders that its patterns match, each as a source of deployments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from proofka.checker.existing_files import Sought
from proofka.checker.project.errors import ProjectError
from proofka.checker.project.project import Entry, Project
from proofka.checker.source import Source, is_of_others
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault


@dataclass(frozen=True)
class Place:
    """A file or folder of the project, with the entry that it belongs to."""

    path: Path
    entry: Entry

    @cached_property
    def source(self) -> Source:
        """The source of the pipelines of this place, with the entry's release, assumptions and budget."""
        kafka = self.entry.kafka if is_of_others(self.path) else None
        faults = tuple(f"faults.{key}={value}" for key, value in self.entry.budget.items())
        return Source(self.path, kafka=kafka, assume=(*self.entry.assume, *faults))

    def read(self) -> tuple[Source, Sought | None, tuple[Deployment, ...]]:
        """Return the source, the content of other programs' files, and the deployments. Raise DeploymentError.

        A kind of fault that a file names and the budget does not name cannot happen.
        """
        source, sought, deployments = _read(self.source)
        named = set(self.entry.budget) - {"total"}
        possible = {kind for one in deployments for kind, _ in one.faults.at_most}
        if named and possible - named:
            absent = tuple(f"faults.{kind.value}=0" for kind in Fault if kind.value in possible - named)
            source, sought, deployments = _read(replace(source, assume=(*source.assume, *absent)))
        return source, sought, deployments


def _read(source: Source) -> tuple[Source, Sought | None, tuple[Deployment, ...]]:
    sought = source.seek()
    return source, sought, (source.read(),) if sought is None else sought.deployments


def places(project: Project) -> tuple[Place, ...]:
    """Return the files and folders of the pipelines, in the order of the entries. Raise ProjectError.

    An entry leaves out what an earlier entry matches, and what ``exclude`` names.
    """
    found: dict[Path, Place] = {}
    problems: list[ProjectError] = []
    for entry in project.entries:
        matched = [path for path in sorted(_matches(project, entry)) if not project.means(project.exclude, path)]
        if not matched:
            what = f"{entry.pattern} matches no file and no folder; correct the pattern, or remove it"
            problems.append(ProjectError("W08", what, file=str(project.file), line=entry.line, key="pipelines.path"))
        for path in matched:
            found.setdefault(path, Place(path, entry))
    if problems:
        problems[0].others = tuple(problems[1:])
        raise problems[0]
    return tuple(found.values())


def _matches(project: Project, entry: Entry) -> Iterator[Path]:
    for path in project.matching(entry.pattern):
        # A pattern for files also matches folders by chance; a path without a pattern can be a folder.
        if path != project.file and (path.is_file() or not _has_pattern(entry.pattern) or entry.pattern.endswith("/")):
            yield path


def _has_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def unique_names(deployments: list[tuple[Deployment, Path]]) -> list[Deployment]:
    """Return the deployments; of those with the same name in different files, each has its file behind the name."""
    names = [deployment.name for deployment, _ in deployments]
    named: list[Deployment] = []
    for deployment, path in deployments:
        alike = names.count(deployment.name) > 1
        named.append(replace(deployment, name=f"{deployment.name} ({path})") if alike else deployment)
    return named
