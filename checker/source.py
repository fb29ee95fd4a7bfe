"""Where a check's deployments come from: the files, folders and assumptions named on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from model.deployment import read_deployment
from model.deployment.deployment import Deployment
from model.deployment.dialects.document import YAML, read_document
from model.deployment.dialects.own import is_deployment
from model.deployment.dialects.telling import broken
from model.deployment.errors import DeploymentError
from model.deployment.hiding import HIDDEN, shown_value
from model.deployment.leaving_out import with_notes
from model.deployment.normalised import read_normalised
from model.deployment.problems import first_of
from model.deployment.properties_reader import rest_of_properties
from model.deployment.setting import Origin, Setting
from model.deployment.source import is_standard_input

PARTIAL = "proofka check --partial checks what is left without the rejected values, as if nobody had said them"
"""What can be done about values that were rejected, besides mending them."""

NOT_EVEN_PARTIAL = "--partial leaves out values that were rejected; what is wrong here is in no single value: mend it"
"""Why ``--partial`` does not help."""

_PLAIN = re.compile(r"true|false|-?[0-9][0-9.]{0,19}( ?([num]?s|m|h|d|[kKmMgG]?[bB]?))?")
"""What a value given for a placeholder may be, to be shown whatever it was for."""

if TYPE_CHECKING:
    from checker.sought import Sought
    from model.deployment.given import Given


@dataclass(frozen=True)
class Source:
    """Where deployments are read from: a YAML file of its own, .properties files of a release, or files as they lie.

    ``topic`` is a file beside other .properties files, and the name of a topic beside ``file``. ``fill``: values of
    placeholders, ``NAME=VALUE``; ``environment``: those that are not said are looked up there. ``pipeline``: the
    number of the one that is asked for, where there are several. ``partial``: what was rejected in files is taken as if
    nobody had said it. ``clients``: releases of clients, ``[LIBRARY=]V``, where no file says them.
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
    clients: tuple[str, ...] = ()

    def seek(self) -> Sought | None:
        """What there is in a folder, or in a file of another program; None of a deployment. Raises DeploymentError."""
        if self.file is None or not _is_of_others(self.file):
            return None
        from checker.sought import seek

        return seek(self.file, self)

    def read(self) -> Deployment:
        """The one deployment, with every ``--assume`` applied. Raises DeploymentError, also if there are several."""
        sought = self.seek()
        if sought is not None:
            return sought.only(str(self.file))
        assume = assumed(self.assume)
        if self.clients:
            raise DeploymentError("--client goes with files of others; a deployment says the version of its clients")
        if self.file is not None:
            if self._given():
                raise DeploymentError("give a deployment FILE or .properties files, not both")
            if self.pipeline is not None:
                raise DeploymentError("--pipeline chooses one of several; this is one deployment")
            if self.fill:
                raise DeploymentError("--set fills in the placeholders of other programs' files; this is a deployment")
            if self.partial:
                raise DeploymentError("--partial goes with files of others; take what is wrong out of a deployment")
            return _read_as_deployment(self.file, assume)
        if not self._given():
            raise DeploymentError("give a deployment FILE, or --kafka V with .properties files")
        if self.kafka is None:
            raise DeploymentError("--kafka V is needed with .properties files: defaults depend on the release")
        files = {
            "topic": None if self.topic is None else Path(self.topic),
            "producer": self.producer,
            "consumer": self.consumer,
            "broker": self.broker,
        }
        rest = rest_of_properties(self.kafka, files, assume=assume)
        if rest.deployment is not None and (self.partial or not rest.problems):
            return with_notes(rest.deployment, rest.problems)
        raise first_of((*rest.problems, *advice(self.partial, helps=rest.deployment is not None)))

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
        for client in self.clients:
            words += ["--client", client]
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


def advice(partial: bool, *, helps: bool) -> tuple[DeploymentError, ...]:
    """Say in a line below what is wrong whether ``--partial``, which is given or not, would go on without it."""
    if partial:
        return (DeploymentError(NOT_EVEN_PARTIAL),)
    return (DeploymentError(PARTIAL),) if helps else ()


def _is_of_others(file: Path) -> bool:
    """A folder, or a file that was not written for this program."""
    if file.is_dir():
        return True
    try:
        if read_normalised(file) is not None:
            return False
        document = read_document(file)
    except DeploymentError:
        return False
    if is_deployment(document):
        return False
    from model.deployment.dialects.recognising import dialect_of

    return dialect_of(document) is not None


def _read_as_deployment(file: Path, assume: Mapping[str, str]) -> Deployment:
    """A file of no other dialect. What has not even the name of a deployment is told to be neither."""
    if not (is_standard_input(file) or file.exists()):
        raise DeploymentError("no such file", file=str(file))
    normalised = read_normalised(file)
    if normalised is not None:
        if assume:
            raise DeploymentError("holds every value already: --assume goes with what it was made of", file=str(file))
        return normalised
    problem = broken(read_document(file))
    if problem is not None:
        raise problem
    if file.suffix.lower() in YAML or (is_standard_input(file) and read_document(file).suffix in YAML):
        return read_deployment(file, assume)
    try:
        return read_deployment(file, assume)
    except DeploymentError as error:
        why = f"it {error.message}" if error.key is None else f"{error.key}: {error.message}"
        what = f"is no configuration of Kafka that is known (docs/dialects.md), and no deployment: {why}"
        raise DeploymentError(what, file=str(file), line=error.line) from None


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


def _with_total(settings: Iterable[Setting], faults: str) -> tuple[Setting, ...]:
    """The settings with what ``--faults`` says in the place of the file's total."""
    total, origin = ("assume", "faults.total"), Origin("option", f"--faults {faults}")
    return tuple(
        replace(one, value=faults, origin=origin) if (one.scope, one.key) == total else one for one in settings
    )


def check_profile(name: str) -> None:
    """Raise DeploymentError where ``--profile`` names no profile."""
    from model.deployment.profiles import properties_of_profile

    properties_of_profile(_profile(name))


def _profile(name: str) -> Given:
    from model.deployment.given import Given
    from model.deployment.hiding import printable

    return Given("profile", name, Origin("option", f"--profile {printable(name)}"))


def narrowed(
    deployment: Deployment, faults: str | None, require: list[str] | None, profile: str | None = None
) -> Deployment:
    """The deployment with ``--faults``, ``--require`` and ``--profile`` applied."""
    if faults is not None:
        budget = deployment.faults
        limited = budget.without_limits() if faults == "any" else budget.up_to(int(faults))
        deployment = replace(deployment, faults=limited, settings=_with_total(deployment.settings, faults))
    if require or profile is not None:
        from model.deployment.given import Given
        from model.deployment.hiding import printable
        from model.deployment.required_properties import read_required, requiring

        options = [(name, Origin("option", f"--require {printable(name)}")) for name in dict.fromkeys(require or ())]
        asked = tuple(Given("require", name, origin) for name, origin in options) or None
        named = None if profile is None else _profile(profile)
        transactional = deployment.transactional is not None
        required = read_required(asked, transactional=transactional, profile=named)
        deployment = replace(deployment, require=required, profile=requiring(asked, named))
    return deployment
