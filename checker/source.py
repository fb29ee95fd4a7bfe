"""Where a check's deployments come from: the files, folders and assumptions named on the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from model.deployment import read_deployment, read_properties
from model.deployment.deployment import Deployment
from model.deployment.dialects.document import YAML, read_document
from model.deployment.dialects.finding import Findings, find
from model.deployment.dialects.judging import Judged, judge, rejected_in, with_rejected
from model.deployment.dialects.pairing import Paired, pair
from model.deployment.dialects.recognising import dialect_of, is_deployment
from model.deployment.errors import DeploymentError
from model.deployment.hiding import HIDDEN, shown_value

_PLAIN = re.compile(r"true|false|-?[0-9][0-9.]{0,19}( ?([num]?s|m|h|d|[kKmMgG]?[bB]?))?")
"""What a value given for a placeholder may be, to be shown whatever it was for."""


@dataclass(frozen=True)
class Sought:
    """What was found in a file or a folder that was not written for this program: configurations, and pipelines."""

    findings: Findings
    paired: Paired
    judged: tuple[Judged, ...]
    own: tuple[Deployment | DeploymentError, ...] = ()

    @property
    def deployments(self) -> tuple[Deployment, ...]:
        """Those that can be checked, each by a name of its own."""
        return tuple(deployment for deployment, _ in self.checks)

    @property
    def checks(self) -> tuple[tuple[Deployment, int | Path], ...]:
        """The same, each with the number of its pipeline, or the file that it is alone in."""
        every: list[tuple[Deployment | DeploymentError | None, int | Path]] = []
        every += [(one.deployment, number) for number, one in enumerate(self.judged, start=1)]
        every += list(zip(self.own, self.findings.deployments, strict=False))
        named: list[tuple[Deployment, int | Path]] = []
        for one, where in every:
            if isinstance(one, Deployment):
                alike = sum(other.name.partition(" #")[0] == one.name for other, _ in named)
                named.append((replace(one, name=f"{one.name} #{alike + 1}") if alike else one, where))
        return tuple(named)

    @property
    def problems(self) -> tuple[DeploymentError, ...]:
        """What keeps pipelines from being checked."""
        own = [one for one in self.own if isinstance(one, DeploymentError)]
        alone = () if self.judged else (error for found in self.findings.found for error in rejected_in(found))
        every = (problem for one in self.judged for problem in (*one.problems, *one.rejected))
        told = {str(problem): problem for problem in (*every, *alone)}
        return (*told.values(), *own)


@dataclass(frozen=True)
class Source:
    """Where deployments are read from: a YAML file of its own, .properties files of a release, or files as they lie.

    ``topic`` is a file beside other .properties files, and the name of a topic beside ``file``. ``fill``: values of
    placeholders, ``NAME=VALUE``; ``environment``: those that are not said are looked up there. ``pipeline``: the
    number of the one that is asked for, where there are several. ``partial``: what was rejected in files is taken as if
    nobody had said it.
    """

    file: Path | None
    kafka: str | None = None
    topic: str | None = None
    broker: Path | None = None
    producer: Path | None = None
    consumer: Path | None = None
    assume: tuple[str, ...] = ()
    fill: tuple[str, ...] = ()
    environment: bool = False
    pipeline: int | None = None
    partial: bool = False

    def seek(self) -> Sought | None:
        """What there is in a folder, or in a file of another program; None of a deployment. Raises DeploymentError."""
        if self.file is None or not _is_of_others(self.file):
            return None
        fillings = said_as(self.fill, "--set")
        findings = find(self.file, {**os.environ, **fillings} if self.environment else fillings)
        paired = pair(findings, self.topic)
        if self.pipeline is not None:
            if not 1 <= self.pipeline <= len(paired.pipelines):
                raise DeploymentError(f"--pipeline {self.pipeline}: there are {len(paired.pipelines)} pipelines")
            paired = replace(paired, pipelines=(paired.pipelines[self.pipeline - 1],))
        assume = assumed(self.assume)
        judged = tuple(judge(one, self.kafka, assume) for one in paired.pipelines)
        if not self.partial:
            judged = tuple(with_rejected(one, findings) for one in judged)
        own = () if self.pipeline is not None else tuple(_read(one, assume) for one in findings.deployments)
        return Sought(findings, paired, judged, own)

    def read(self) -> Deployment:
        """The one deployment, with every ``--assume`` applied. Raises DeploymentError, also if there are several."""
        sought = self.seek()
        if sought is not None:
            return _only(sought, str(self.file))
        assume = assumed(self.assume)
        if self.file is not None:
            if self._given():
                raise DeploymentError("give a deployment FILE or .properties files, not both")
            if self.pipeline is not None:
                raise DeploymentError("--pipeline chooses one of several; this is one deployment")
            if self.fill:
                raise DeploymentError("--set fills in the placeholders of other programs' files; this is a deployment")
            return _read_as_deployment(self.file, assume)
        if not self._given():
            raise DeploymentError("give a deployment FILE, or --kafka V with .properties files")
        if self.kafka is None:
            raise DeploymentError("--kafka V is needed with .properties files: defaults depend on the release")
        return read_properties(
            kafka=self.kafka,
            topic=None if self.topic is None else Path(self.topic),
            broker=self.broker,
            producer=self.producer,
            consumer=self.consumer,
            assume=assume,
        )

    def arguments(self, told: Iterable[str] = ()) -> list[str]:
        """The same source as command-line arguments.

        Of ``--set`` only what is no secret: numbers, truth values, and ``told``, the values that are shown anyway.
        """
        words = [str(self.file)] if self.file is not None else []
        for name, value in self._given().items():
            words += [f"--{name}", str(value)]
        for assumption in self.assume:
            words += ["--assume", assumption]
        for filling in self.fill:
            name, _, value = filling.partition("=")
            plain = value in told or _PLAIN.fullmatch(value) is not None
            words += ["--set", f"{name}={shown_value(name, value) if plain else HIDDEN}"]
        words += ["--env"] if self.environment else []
        words += ["--partial"] if self.partial else []
        return words + (["--pipeline", str(self.pipeline)] if self.pipeline is not None else [])

    def _given(self) -> dict[str, str | Path]:
        options = {
            "kafka": self.kafka,
            "topic": self.topic,
            "broker": self.broker,
            "producer": self.producer,
            "consumer": self.consumer,
        }
        return {name: value for name, value in options.items() if value is not None}


def _is_of_others(file: Path) -> bool:
    """A folder, or a file that was not written for this program."""
    if file.is_dir():
        return True
    try:
        document = read_document(file)
    except DeploymentError:
        return False
    return not is_deployment(document) and dialect_of(document) is not None


def _read_as_deployment(file: Path, assume: Mapping[str, str]) -> Deployment:
    """A file of no other dialect. What has not even the name of a deployment is told to be neither."""
    if file.suffix.lower() in YAML:
        return read_deployment(file, assume)
    read_document(file)
    try:
        return read_deployment(file, assume)
    except DeploymentError as error:
        why = f"it {error.message}" if error.key is None else f"{error.key}: {error.message}"
        what = f"is no configuration of Kafka that is known (docs/dialects.md), and no deployment: {why}"
        raise DeploymentError(what, file=str(file), line=error.line) from None


def _read(file: Path, assume: Mapping[str, str]) -> Deployment | DeploymentError:
    """A deployment in a folder, or what is wrong with it."""
    try:
        return read_deployment(file, assume)
    except DeploymentError as error:
        return error


def _only(sought: Sought, place: str) -> Deployment:
    for problem in sought.problems:
        raise problem
    if len(sought.judged) != 1:
        names = ", ".join(one.pipeline.name for one in sought.judged[:8])
        what = f"has {len(sought.judged)} pipelines ({names}); one is needed here" if names else "has no pipeline"
        raise DeploymentError(what, file=place)
    deployment = sought.judged[0].deployment
    assert deployment is not None
    return deployment


def assumed(options: Iterable[str]) -> dict[str, str]:
    """What ``--assume KEY=VALUE``, given several times, says. Raises DeploymentError."""
    return dict(said_as(options, "--assume"))


def said_as(options: Iterable[str], option: str) -> Mapping[str, str]:
    """What an option of the form KEY=VALUE says that may come several times. Raises DeploymentError."""
    values: dict[str, str] = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise DeploymentError(f"{option} {text if option == '--assume' else key}: expected KEY=VALUE")
        if key in values:
            raise DeploymentError(f"{option} {key} is given twice")
        values[key] = value
    return values


def narrowed(deployment: Deployment, faults: str | None, require: list[str] | None) -> Deployment:
    """The deployment with ``--faults`` and ``--require`` applied."""
    if faults is not None:
        budget = deployment.faults
        deployment = replace(
            deployment, faults=budget.without_limits() if faults == "any" else budget.up_to(int(faults))
        )
    if require:
        from model.deployment.given import Given
        from model.deployment.hiding import printable
        from model.deployment.required_properties import read_required
        from model.deployment.setting import Origin

        options = [(name, Origin("option", f"--require {printable(name)}")) for name in dict.fromkeys(require)]
        asked = tuple(Given("require", name, origin) for name, origin in options)
        required = read_required(asked, transactional=deployment.transactional is not None)
        deployment = replace(deployment, require=required)
    return deployment
