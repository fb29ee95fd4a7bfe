"""A bundle: everything that is needed to check a result again, in one zip file (docs/bundles.md).

A bundle holds the result, the normalised deployment, the system of each group of properties for other tools, the
certificate if there is one, and the names and hashes of the deployment's source files. A bundle never holds the content
of these files, which can contain secrets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofka.checker.archive import Archive, DamagedBundle, read_archive, sha256_of_file, write_archive
from proofka.model.input.strict_json import AmbiguousJson, read_json

if TYPE_CHECKING:
    from proofka.model.deployment.deployment import Deployment

RESULT = "result.json"
DEPLOYMENT = "deployment.json"
README = "README.md"
CERTIFICATE = "certificate.cert"
FOLDER = "systems/"

LONGEST_NAME = 4096
"""Largest number of characters in a file's name."""

Document = Mapping[str, Any]


@dataclass(frozen=True)
class SourceFile:
    """A file that a deployment was read from: its name on the command line, its size in bytes, and its SHA-256."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class System:
    """The files of an exported system, its properties, and its total number of faults."""

    name: str
    properties: tuple[str, ...]
    faults: int
    files: tuple[str, ...]


@dataclass(frozen=True)
class Bundle:
    """The parsed content of a bundle, and each member by its name."""

    document: Document
    deployment: Any
    sources: tuple[SourceFile, ...]
    systems: tuple[System, ...]
    members: Mapping[str, bytes]


def write_bundle(document: Document, sources: Sequence[SourceFile] = (), certificate: bytes | None = None) -> bytes:
    """Return the bytes of a bundle for a result document. The same arguments give the same bytes.

    ``certificate``: the content of the certificate that the document names, if the bundle holds the certificate.
    """
    from proofka.model.deployment import from_document

    systems, exported = systems_of(from_document(document["deployment"]), document)
    members = {
        README: readme(),
        RESULT: json_bytes(document),
        DEPLOYMENT: json_bytes(document["deployment"]),
        **{name: text.encode() for name, text in exported.items()},
        **({} if certificate is None else {CERTIFICATE: certificate}),
    }
    return write_archive(members, about(sources, systems))


def readme() -> bytes:
    """Return the README of a bundle, the same for all bundles."""
    return files(__package__).joinpath("bundle_readme.j2").read_bytes()


def about(sources: Sequence[SourceFile], systems: Sequence[System]) -> dict[str, Any]:
    """Return the content of the manifest besides the hashes of the members."""
    listed = [{**asdict(one), "properties": list(one.properties), "files": list(one.files)} for one in systems]
    return {"sources": [asdict(one) for one in sources], "systems": listed}


def read_bundle(content: bytes) -> Bundle:
    """Return the content of a bundle; the caller must check that its result is a result. Raise DamagedBundle."""
    archive = read_archive(content)
    try:
        return _read(archive)
    except AmbiguousJson as error:
        raise DamagedBundle(f"has correct hashes, but is no bundle that Proofka wrote: {error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DamagedBundle("has correct hashes, but is no bundle that Proofka wrote") from None


def _read(archive: Archive) -> Bundle:
    manifest = archive.manifest
    systems = tuple(
        System(str(one["name"]), tuple(one["properties"]), int(one["faults"]), tuple(one["files"]))
        for one in manifest["systems"]
    )
    return Bundle(
        read_json(archive.members[RESULT]),
        read_json(archive.members[DEPLOYMENT]),
        tuple(_source(one) for one in manifest["sources"]),
        systems,
        archive.members,
    )


def _source(said: Mapping[str, Any]) -> SourceFile:
    source = SourceFile(str(said["name"]), int(said["bytes"]), str(said["sha256"]))
    if re.fullmatch("[0-9a-f]{64}", source.sha256) is None or len(source.name) > LONGEST_NAME:
        raise ValueError("no source file")
    return source


def json_bytes(value: object) -> bytes:
    """Return JSON in ASCII, whatever characters a file's name has."""
    return (json.dumps(value, indent=2, ensure_ascii=True) + "\n").encode("ascii")


def systems_of(deployment: Deployment, document: Document) -> tuple[tuple[System, ...], dict[str, str]]:
    """Return the system of each group of properties, and the texts of its files by name."""
    from proofka.checker.check import prepare_groups
    from proofka.checker.export.exported import export_deployment
    from proofka.checker.export.writing import Format, texts

    verdicts = {verdict["property"]: verdict for verdict in document["verdicts"]}
    systems, written = [], {}
    for number, group in enumerate(prepare_groups(deployment)[1], start=1):
        names = tuple(prop.name for prop in group.properties)
        total = _faults_in_total(deployment, [verdicts[name] for name in names if name in verdicts])
        exported = export_deployment(deployment, properties=names, total=total)
        named = replace(exported, name=f"system_{number}")
        of_this = {
            FOLDER + name: text for form in (Format.SMT2, Format.TLA) for name, text in texts(named, form).items()
        }
        systems.append(System(named.name, names, total, tuple(of_this)))
        written.update(of_this)
    return tuple(systems), written


def _faults_in_total(deployment: Deployment, verdicts: Iterable[Mapping[str, Any]]) -> int:
    """Return the number of faults of an exported system.

    The number is the total of the deployment. Without a total, the number is the largest number of faults that was
    explored or that a smallest fault set has.
    """
    if deployment.faults.total is not None:
        return deployment.faults.total
    explored = [verdict["bounds"]["faults_complete_to"] for verdict in verdicts]
    needed = [sum(cut_set.values()) for verdict in verdicts for cut_set in verdict["cut_sets"]]
    return int(max((*explored, *needed, 0)))


def sources_of(deployments: Iterable[Deployment], named: Iterable[Path | None]) -> tuple[SourceFile, ...]:
    """Return the named files, and all files from which a value came, sorted by name."""
    origins = [
        origin
        for deployment in deployments
        for origin in (
            *(setting.origin for setting in deployment.settings),
            *(ignored.origin for ignored in deployment.ignored),
        )
    ]
    paths = {str(path) for path in named if path is not None}
    paths |= {origin.file for origin in origins if origin.file is not None}
    return tuple(
        SourceFile(name, Path(name).stat().st_size, sha256_of_file(Path(name)))
        for name in sorted(paths)
        if Path(name).is_file()
    )
