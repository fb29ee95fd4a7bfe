"""The sources of a check's deployments: the files, folders and assumptions named on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from proofka.model.deployment import read_deployment
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.dialects.document import read_document
from proofka.model.deployment.dialects.misspelling import misspelt_keys
from proofka.model.deployment.dialects.other_products import mention_of
from proofka.model.deployment.dialects.own import is_deployment, looks_like_deployment
from proofka.model.deployment.dialects.telling import broken
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given
from proofka.model.deployment.hiding import HIDDEN, shown_value
from proofka.model.deployment.leaving_out import with_notes
from proofka.model.deployment.normalised import read_normalised
from proofka.model.deployment.problems import first_of
from proofka.model.deployment.properties_reader import rest_of_properties
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.deployment.source import is_standard_input

PARTIAL = "proofka check --partial checks the pipeline without the rejected values"
"""Advice for rejected values, besides correcting them."""

NOT_EVEN_PARTIAL = "--partial leaves out rejected values; this problem is in no single value, so it must be corrected"
"""Reason why ``--partial`` does not help."""

_IN_A_DEPLOYMENT = {
    "kafka": "names its release (kafka:); change it there",
    "topic": "is a deployment, which has one topic (topic:); leave this option out",
    **{
        role: f"is a deployment, which has its own section ({role}:); change it there, or leave FILE out"
        for role in ("broker", "producer", "consumer")
    },
}
"""The reason why an option and a deployment exclude each other, after the name of the file."""

_PLAIN = re.compile(r"true|false|-?[0-9][0-9.]{0,19}( ?([num]?s|m|h|d|[kKmMgG]?[bB]?))?")
"""Values of placeholders that are always shown, because no secret has this form."""

if TYPE_CHECKING:
    from proofka.checker.existing_files import Sought
    from proofka.checker.live.asked import Asked as Live
    from proofka.model.deployment.given import Given


@dataclass(frozen=True)
class Source:
    """The source of deployments: a deployment in YAML, .properties files of a release, or existing files of other
    programs.

    ``topic`` is a file beside other .properties files, and the name of a topic beside ``file``. ``fill``: values of
    placeholders, ``NAME=VALUE``. ``environment``: other placeholders are looked up in the environment. ``pipeline``:
    the number of the chosen pipeline, if there are several. ``partial``: rejected values in files are ignored.
    ``clients``: releases of clients, ``[LIBRARY=]V``, if no file names them. ``live``: a live cluster instead of files.
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
    live: Live | None = None

    def seek(self) -> Sought | None:
        """Return the content of a folder or of another program's file; None for a deployment. Raise DeploymentError."""
        if self.live is not None:
            from proofka.checker.described_pipelines import seek_live

            return seek_live(self)
        if self.file is None or not is_of_others(self.file):
            return None
        if self.file.is_dir():
            from proofka.checker.described_pipelines import is_described, seek_described

            if is_described(self.file):
                return seek_described(self)
        from proofka.checker.existing_files import seek

        return seek(self.file, self)

    def read(self) -> Deployment:
        """Return the only deployment, with every ``--assume`` applied.

        Raise DeploymentError, also if there are several.
        """
        sought = self.seek()
        if sought is not None:
            return sought.only(str(self.file))
        assume = assumed(self.assume)
        if self.file is not None:
            _expect_deployment(self.file)
            self._refuse_options_of_files(self.file)
            return _read_as_deployment(self.file, assume)
        if not self._given():
            raise DeploymentError(
                "give a deployment FILE, or --kafka V with .properties files; or write proofka.yaml with proofka init"
            )
        if self.kafka is None:
            raise DeploymentError("--kafka V is needed with .properties files: defaults depend on the release")
        files = {
            "topic": None if self.topic is None else Path(self.topic),
            "producer": self.producer,
            "consumer": self.consumer,
            "broker": self.broker,
        }
        rest = rest_of_properties(self.kafka, files, assume=assume, version=self._version_of_java())
        if rest.deployment is not None and (self.partial or not rest.problems):
            return with_notes(rest.deployment, rest.problems)
        raise first_of((*rest.problems, *advice(self.partial, helps=rest.deployment is not None)))

    def _refuse_options_of_files(self, file: Path) -> None:
        """Refuse the options that a deployment excludes, before its values are read.

        Raise DeploymentError.
        """
        if self.clients:
            raise DeploymentError("--client is not for a deployment, which names the version of its clients")
        for option in self._given():
            raise DeploymentError(f"--{option}: {file} {_IN_A_DEPLOYMENT[option]}")
        if self.pipeline is not None:
            raise DeploymentError("--pipeline chooses one of several; this is one deployment")
        if self.fill:
            raise DeploymentError("--set fills in the placeholders of other programs' files; this is a deployment")
        if self.partial:
            raise DeploymentError("--partial needs files of other programs; correct the deployment instead")

    def arguments(self, told: Iterable[str] = ()) -> list[str]:
        """Return the command-line arguments that give the same source.

        Values of ``--set`` are shown only if they are no secrets: numbers, truth values, and ``told``, the values that
        are shown anyway.
        """
        words = [str(self.file)] if self.file is not None else []
        words += [] if self.live is None else self.live.arguments()
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

    def _version_of_java(self) -> Given | None:
        """Return the release of Java's clients that ``--client`` names. Raise DeploymentError for other clients."""
        from proofka.checker.existing_files import client_releases

        releases = client_releases(self.clients)
        others = [library for library in releases if library != JAVA]
        if others:
            raise DeploymentError(
                f"--client {others[0]}: --producer and --consumer take files of Java's clients; give files of other "
                "clients as PATH: proofka check FILE --kafka V"
            )
        return releases.get(JAVA)

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
    """Return advice on ``--partial`` for a deployment with problems: its use, or the reason why it does not help."""
    if partial:
        return (DeploymentError(NOT_EVEN_PARTIAL),)
    return (DeploymentError(PARTIAL),) if helps else ()


def is_of_others(file: Path) -> bool:
    """Tell whether a file is a folder, or was not written for Proofka."""
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
    from proofka.model.deployment.dialects.recognising import dialect_of

    return dialect_of(document) is not None


def _expect_deployment(file: Path) -> None:
    """Raise DeploymentError for a file that no other dialect fits, and that is no deployment either."""
    if not (is_standard_input(file) or file.exists()):
        raise DeploymentError("no such file", file=str(file))
    if read_normalised(file) is not None:
        return
    document = read_document(file)
    problem = broken(document)
    if problem is not None:
        raise problem
    if not looks_like_deployment(document):
        mention = mention_of(document, file)
        if mention is not None and mention.product is not None:
            raise DeploymentError(mention.sentence, file=str(file))
        what = (
            "is neither a known configuration of Kafka (docs/dialects.md) nor a deployment (docs/deployment-format.md)"
        )
        more = misspelt_keys(document) or ("" if mention is None else mention.advice)
        raise DeploymentError(f"{what}: {more}" if more else what, file=str(file))


def _read_as_deployment(file: Path, assume: Mapping[str, str]) -> Deployment:
    """Read a deployment, as its author wrote it or with every value filled in. Raise DeploymentError."""
    normalised = read_normalised(file)
    if normalised is None:
        return read_deployment(file, assume)
    if assume:
        raise DeploymentError("holds every value already: use --assume with the file's sources", file=str(file))
    return normalised


def assumed(options: Iterable[str]) -> dict[str, str]:
    """Return the assumptions of all ``--assume KEY=VALUE``. Raise DeploymentError."""
    return dict(said_as(options, "--assume"))


def said_as(options: Iterable[str], option: str) -> Mapping[str, str]:
    """Return the values of an option of the form KEY=VALUE that can be repeated. Raise DeploymentError."""
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
    """Return the settings with the total of ``--faults`` instead of the file's total."""
    total, origin = ("assume", "faults.total"), Origin("option", f"--faults {faults}")
    return tuple(
        replace(one, value=faults, origin=origin) if (one.scope, one.key) == total else one for one in settings
    )


def check_profile(name: str) -> None:
    """Raise DeploymentError if ``--profile`` names no profile."""
    from proofka.model.deployment.profiles import properties_of_profile

    properties_of_profile(_profile(name))


def _profile(name: str) -> Given:
    from proofka.model.deployment.given import Given
    from proofka.model.deployment.hiding import printable

    return Given("profile", name, Origin("option", f"--profile {printable(name)}"))


def narrowed(
    deployment: Deployment, faults: str | None, require: list[str] | None, profile: str | None = None
) -> Deployment:
    """Return the deployment with ``--faults``, ``--require`` and ``--profile`` applied."""
    if faults is not None:
        budget = deployment.faults
        limited = budget.without_limits() if faults == "any" else budget.up_to(int(faults))
        deployment = replace(deployment, faults=limited, settings=_with_total(deployment.settings, faults))
    if require or profile is not None:
        from proofka.model.deployment.given import Given
        from proofka.model.deployment.hiding import printable
        from proofka.model.deployment.required_properties import read_required, requiring

        options = [(name, Origin("option", f"--require {printable(name)}")) for name in dict.fromkeys(require or ())]
        asked = tuple(Given("require", name, origin) for name, origin in options) or None
        named = None if profile is None else _profile(profile)
        transactional = deployment.producer.transactional is not None
        required = read_required(asked, transactional=transactional, profile=named)
        deployment = replace(deployment, require=required, profile=requiring(asked, named))
    return deployment
