"""The content of other programs' files and folders: configurations, and the pipelines in them as deployments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from proofka.checker.described_pipelines import DescribedPipelines
from proofka.checker.source import Source, advice, assumed, said_as
from proofka.model.deployment import read_deployment
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.dialects.finding import Findings, find
from proofka.model.deployment.dialects.judging import Judged, judge, rejected_in, with_left_out
from proofka.model.deployment.dialects.pairing import Paired, pair
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, library_of
from proofka.model.deployment.hiding import printable
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.problems import by_place, first_of
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.setting import Origin


@dataclass(frozen=True)
class Sought:
    """The content of a file or a folder that was not written for Proofka: configurations, and pipelines.

    ``described``: the pipelines of a cluster that Kafka's tools describe, or of a live one; all else is empty then.
    """

    findings: Findings
    paired: Paired
    judged: tuple[Judged, ...]
    own: tuple[Deployment | DeploymentError, ...] = ()
    partial: bool = False
    described: DescribedPipelines | None = None

    @property
    def deployments(self) -> tuple[Deployment, ...]:
        """The deployments that can be checked, each with a name of its own."""
        return tuple(deployment for deployment, _ in self.checks)

    @property
    def checks(self) -> tuple[tuple[Deployment, int | Path], ...]:
        """The deployments that can be checked, each with the number of its pipeline, or the file that holds only this
        deployment.
        """
        every: list[tuple[Deployment | DeploymentError | None, int | Path]] = []
        if not self.hidden:
            every += [(one.deployment, number) for number, one in enumerate(self.judged, start=1)]
        every += list(zip(self.own, self.findings.deployments, strict=False))
        every += [(one, number) for number, _, one in self._of_cluster]
        named: list[tuple[Deployment, int | Path]] = []
        for one, where in every:
            if isinstance(one, Deployment):
                alike = sum(other.name.partition(" #")[0] == one.name for other, _ in named)
                named.append((replace(one, name=f"{one.name} #{alike + 1}") if alike else one, where))
        return tuple(named)

    @property
    def _of_cluster(self) -> tuple[tuple[int, str, Deployment | DeploymentError], ...]:
        return () if self.described is None else self.described.ones

    @property
    def pipelines(self) -> int:
        """Number of pipelines, also of those that cannot be checked."""
        return len(self.judged) + len(self.own) + len(self._of_cluster)

    @property
    def skipped(self) -> int:
        """Number of pipelines that cannot be checked."""
        return self.pipelines - len(self.checks)

    @property
    def problems(self) -> tuple[DeploymentError, ...]:
        """The problems that prevent pipelines from being checked."""
        own = [one for one in self.own if isinstance(one, DeploymentError)]
        own += {str(one): one for _, _, one in self._of_cluster if isinstance(one, DeploymentError)}.values()
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
        """Further messages about pipelines with problems: settings that are probably misspelt, and possible remedies.

        None of these messages alone would prevent a check.
        """
        wrong = [one for one in self.judged if one.deployment is None]
        misspelt = {str(error): error for error in by_place(error for one in wrong for error in one.misspelt)}
        if not wrong:
            return ()
        return (*misspelt.values(), *advice(self.partial, helps=any(one.rest is not None for one in wrong)))

    @property
    def hidden(self) -> tuple[DeploymentError, ...]:
        """Files that should be configurations and cannot be read, so that their effect is unknown."""
        if self.partial:
            return ()
        end = "; correct this file, or use --partial to check the other files without it"
        return tuple(
            DeploymentError(f"cannot be read: {one.reason}{end}", file=one.file, line=one.line)
            for one in self.findings.unread
        )

    def only(self, place: str) -> Deployment:
        """Return the only deployment.

        Raise DeploymentError for its problems, and if there are several deployments or none.
        """
        if self.problems:
            raise first_of((*self.problems, *self.besides))
        if len(self.deployments) != 1:
            names = ", ".join(one.name for one in self.deployments[:8])
            several = f"has {len(self.deployments)} pipelines ({names}); this command needs one"
            numbered = ", or choose one with --pipeline N" if len(self.judged) + len(self._of_cluster) > 1 else ""
            what = f"{several}: name its file{numbered}" if names else "has no pipeline"
            raise DeploymentError(what, file=place)
        return self.deployments[0]


def _are(pipelines: int) -> str:
    return "is 1 pipeline" if pipelines == 1 else f"are {pipelines or 'no'} pipelines"


def seek(place: Path, source: Source) -> Sought:
    """Read a file or folder with the options of ``source``. Raise DeploymentError."""
    fillings = said_as(source.fill, "--set")
    findings = find(place, {**os.environ, **fillings} if source.environment else fillings)
    paired = pair(findings, source.topic)
    if source.pipeline is not None:
        if not 1 <= source.pipeline <= len(paired.pipelines):
            there = len(paired.pipelines)
            also = (
                " besides the deployments, which have no number: name the file of one" if findings.deployments else ""
            )
            raise DeploymentError(f"--pipeline {source.pipeline}: there {_are(there)}{also}")
        paired = replace(paired, pipelines=(paired.pipelines[source.pipeline - 1],))
    assume = assumed(source.assume)
    clients = client_releases(source.clients)
    _refuse_clients_of_no_pipeline(clients, paired)
    judged = tuple(
        replace(with_left_out(judge(one, source.kafka, assume, clients), findings), partial=source.partial)
        for one in paired.pipelines
    )
    own = () if source.pipeline is not None else tuple(_read(one, assume) for one in findings.deployments)
    return Sought(findings, paired, judged, own, source.partial)


def _refuse_clients_of_no_pipeline(clients: Iterable[str], paired: Paired) -> None:
    """Raise DeploymentError for a library that no client of the pipelines uses: its release would have no effect."""
    placed = (one for pipeline in paired.pipelines for one in (pipeline.producer, pipeline.consumer) if one is not None)
    used = {library_of(one.component.client) for one in placed}
    for library in clients:
        if library != JAVA and library not in used:
            raise DeploymentError(
                f"--client {library}: no client of these files is of {library}, as far as their settings tell; give a "
                f"deployment with client: {library} (docs/deployment-format.md)"
            )


def client_releases(options: Iterable[str]) -> dict[str, Given]:
    """Return the releases given by ``--client [LIBRARY=]V``, by library. Raise DeploymentError."""
    found: dict[str, Given] = {}
    for option in options:
        library, equals, version = option.partition("=")
        library, version = (library.strip().lower(), version) if equals else (JAVA, library)
        if library != JAVA and library not in LIBRARIES:
            raise DeploymentError(
                f"--client {printable(option)}: the known libraries are {', '.join((JAVA, *LIBRARIES))}"
            )
        if library in found:
            raise DeploymentError(f"--client {library} is given twice")
        found[library] = Given("version", version.strip(), Origin("option", f"--client {printable(option)}"))
    return found


def _read(file: Path, assume: Mapping[str, str]) -> Deployment | DeploymentError:
    """Return a deployment in a folder, or its error."""
    try:
        return read_deployment(file, assume)
    except DeploymentError as error:
        return error
