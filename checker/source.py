"""Where a check's deployment comes from: the files and assumptions named on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from model.deployment import read_deployment, read_properties
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError


@dataclass(frozen=True)
class Source:
    """Where a deployment is read from: one YAML file, or .properties files of a release."""

    file: Path | None
    kafka: str | None = None
    topic: Path | None = None
    broker: Path | None = None
    producer: Path | None = None
    consumer: Path | None = None
    assume: tuple[str, ...] = ()

    def read(self) -> Deployment:
        """The deployment, with every ``--assume`` applied."""
        assume = assumed(self.assume)
        if self.file is not None:
            if self._given():
                raise DeploymentError("give a deployment FILE or .properties files, not both")
            return read_deployment(self.file, assume)
        if not self._given():
            raise DeploymentError("give a deployment FILE, or --kafka V with .properties files")
        if self.kafka is None:
            raise DeploymentError("--kafka V is needed with .properties files: defaults depend on the release")
        return read_properties(
            kafka=self.kafka,
            topic=self.topic,
            broker=self.broker,
            producer=self.producer,
            consumer=self.consumer,
            assume=assume,
        )

    def arguments(self) -> list[str]:
        """The same source as command-line arguments."""
        words = [str(self.file)] if self.file is not None else []
        for name, value in self._given().items():
            words += [f"--{name}", str(value)]
        for assumption in self.assume:
            words += ["--assume", assumption]
        return words

    def _given(self) -> dict[str, str | Path]:
        options = {
            "kafka": self.kafka,
            "topic": self.topic,
            "broker": self.broker,
            "producer": self.producer,
            "consumer": self.consumer,
        }
        return {name: value for name, value in options.items() if value is not None}


def assumed(options: Iterable[str]) -> dict[str, str]:
    """What ``--assume KEY=VALUE``, given several times, says. Raises DeploymentError."""
    values: dict[str, str] = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise DeploymentError(f"--assume {text}: expected KEY=VALUE")
        if key in values:
            raise DeploymentError(f"--assume {key} is given twice")
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
