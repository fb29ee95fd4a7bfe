"""What a file or a folder of others holds: configurations, and the pipelines in them as deployments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from checker.source import Source, advice, assumed, said_as
from model.deployment import read_deployment
from model.deployment.deployment import Deployment
from model.deployment.dialects.finding import Findings, find
from model.deployment.dialects.judging import Judged, judge, rejected_in, with_left_out
from model.deployment.dialects.pairing import Paired, pair
from model.deployment.errors import DeploymentError
from model.deployment.given import Given
from model.deployment.hiding import printable
from model.deployment.libraries import LIBRARIES
from model.deployment.problems import by_place, first_of
from model.deployment.release import JAVA
from model.deployment.setting import Origin


@dataclass(frozen=True)
class Sought:
    """What was found in a file or a folder that was not written for this program: configurations, and pipelines."""

    findings: Findings
    paired: Paired
    judged: tuple[Judged, ...]
    own: tuple[Deployment | DeploymentError, ...] = ()
    partial: bool = False

    @property
    def deployments(self) -> tuple[Deployment, ...]:
        """Those that can be checked, each by a name of its own."""
        return tuple(deployment for deployment, _ in self.checks)

    @property
    def checks(self) -> tuple[tuple[Deployment, int | Path], ...]:
        """The same, each with the number of its pipeline, or the file that it is alone in."""
        every: list[tuple[Deployment | DeploymentError | None, int | Path]] = []
        if not self.hidden:
            every += [(one.deployment, number) for number, one in enumerate(self.judged, start=1)]
        every += list(zip(self.own, self.findings.deployments, strict=False))
        named: list[tuple[Deployment, int | Path]] = []
        for one, where in every:
            if isinstance(one, Deployment):
                alike = sum(other.name.partition(" #")[0] == one.name for other, _ in named)
                named.append((replace(one, name=f"{one.name} #{alike + 1}") if alike else one, where))
        return tuple(named)

    @property
    def skipped(self) -> int:
        """How many pipelines there are that cannot be checked."""
        return len(self.judged) + len(self.own) - len(self.checks)

    @property
    def problems(self) -> tuple[DeploymentError, ...]:
        """What keeps pipelines from being checked."""
        own = [one for one in self.own if isinstance(one, DeploymentError)]
        alone = () if self.judged else (error for found in self.findings.found for error in rejected_in(found))
        every = by_place(problem for one in self.judged if one.deployment is None for problem in one.wrong)
        left = (
            DeploymentError(f"{one.component.name or one.component.role}: {why}", file=one.file)
            for one, why in self.paired.unpaired
        )
        told = {str(problem): problem for problem in (*self.hidden, *left, *every, *alone)}
        return (*told.values(), *own)

    @property
    def besides(self) -> tuple[DeploymentError, ...]:
        """What else to tell of pipelines with problems: settings that are misspelt most likely, and what can be done.

        None of it would keep a pipeline from being checked.
        """
        wrong = [one for one in self.judged if one.deployment is None]
        misspelt = {str(error): error for error in by_place(error for one in wrong for error in one.misspelt)}
        if not wrong:
            return ()
        return (*misspelt.values(), *advice(self.partial, helps=any(one.rest is not None for one in wrong)))

    @property
    def hidden(self) -> tuple[DeploymentError, ...]:
        """Files that should be configurations and cannot be read: nobody knows what they would change."""
        if self.partial:
            return ()
        end = "; mend it, or say --partial to check what can be read without it"
        return tuple(
            DeploymentError(f"cannot be read: {one.reason}{end}", file=one.file, line=one.line)
            for one in self.findings.unread
        )

    def only(self, place: str) -> Deployment:
        """The one deployment. Raises DeploymentError for what is wrong with it, and if there are more or none."""
        if self.problems:
            raise first_of((*self.problems, *self.besides))
        if len(self.deployments) != 1:
            names = ", ".join(one.name for one in self.deployments[:8])
            what = f"has {len(self.deployments)} pipelines ({names}); one is needed here"
            raise DeploymentError(what if names else "has no pipeline", file=place)
        return self.deployments[0]


def _are(pipelines: int) -> str:
    return "is 1 pipeline" if pipelines == 1 else f"are {pipelines or 'no'} pipelines"


def seek(place: Path, source: Source) -> Sought:
    """Look into a file or folder, as the options of ``source`` say. Raises DeploymentError."""
    fillings = said_as(source.fill, "--set")
    findings = find(place, {**os.environ, **fillings} if source.environment else fillings)
    paired = pair(findings, source.topic)
    if source.pipeline is not None:
        if not 1 <= source.pipeline <= len(paired.pipelines):
            there = len(paired.pipelines)
            raise DeploymentError(f"--pipeline {source.pipeline}: there {_are(there)}")
        paired = replace(paired, pipelines=(paired.pipelines[source.pipeline - 1],))
    assume = assumed(source.assume)
    clients = _releases(source.clients)
    judged = tuple(
        replace(with_left_out(judge(one, source.kafka, assume, clients), findings), partial=source.partial)
        for one in paired.pipelines
    )
    own = () if source.pipeline is not None else tuple(_read(one, assume) for one in findings.deployments)
    return Sought(findings, paired, judged, own, source.partial)


def _releases(options: Iterable[str]) -> dict[str, Given]:
    """What ``--client [LIBRARY=]V`` says, by library. Raises DeploymentError."""
    found: dict[str, Given] = {}
    for option in options:
        library, equals, version = option.partition("=")
        library, version = (library.strip().lower(), version) if equals else (JAVA, library)
        if library != JAVA and library not in LIBRARIES:
            raise DeploymentError(f"--client {printable(option)}: known are {', '.join((JAVA, *LIBRARIES))}")
        if library in found:
            raise DeploymentError(f"--client {library} is given twice")
        found[library] = Given("version", version.strip(), Origin("option", f"--client {printable(option)}"))
    return found


def _read(file: Path, assume: Mapping[str, str]) -> Deployment | DeploymentError:
    """A deployment in a folder, or what is wrong with it."""
    try:
        return read_deployment(file, assume)
    except DeploymentError as error:
        return error
