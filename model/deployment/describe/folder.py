"""The files of a folder that contains a cluster: outputs of Kafka's tools, client property files, a list of pipelines.

The kind of a file follows from its name: ``*.properties`` are clients, ``pipelines.csv`` is the list, and texts
(``.txt``, ``.out``, ``.log``, or no ending) are outputs. Other files are not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from proofka.model.deployment.describe.cluster import Cluster, put_together
from proofka.model.deployment.describe.lines import is_from_a_tool
from proofka.model.deployment.describe.output import Output, read_output
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import GivenClient
from proofka.model.deployment.properties_reader import read_settings
from proofka.model.deployment.source import LARGEST_OF_A_FLEET, read_bytes

PIPELINES = "pipelines.csv"
TEXTS = (".txt", ".out", ".log")
YAML = (".yaml", ".yml")
_LOOKED_AT = 64 * 1024

Role = Literal["producer", "consumer"]
ROLES: tuple[Role, ...] = ("producer", "consumer")
SHARED_FOLDERS = ("producer", "producers", "consumer", "consumers", "client", "clients")
"""Folders whose clients are used with any topic."""


@dataclass(frozen=True)
class Files:
    """The files of a folder, at any depth. ``outputs`` are certainly from a tool, ``texts`` should be."""

    outputs: tuple[Path, ...]
    texts: tuple[Path, ...]
    properties: tuple[Path, ...]
    pipelines: Path | None
    deployments: tuple[Path, ...]
    parquet: tuple[Path, ...]

    @property
    def besides_deployments(self) -> str | None:
        """The files, in words, that lie beside deployment files and are not read with them; None without such files."""
        others = replace(self, deployments=(), texts=())
        return others.counted() if others.outputs or others.properties or others.pipelines else None

    def counted(self) -> str:
        """Return the numbers of files by kind, in words."""
        kinds = (
            ("deployment file", self.deployments),
            ("tool output", self.outputs),
            ("other text", tuple(text for text in self.texts if text not in self.outputs)),
            (".properties file", self.properties),
            (PIPELINES, (self.pipelines,) if self.pipelines is not None else ()),
        )
        found = [f"{len(files)} {kind}{'s' if len(files) > 1 else ''}" for kind, files in kinds if files]
        return ", ".join(found) or "nothing"


def look_into(folder: Path) -> Files:
    """Find all relevant files by kind, in the order of names. Hidden files and folders are skipped."""
    found: dict[str, list[Path]] = {"text": [], ".properties": [], "yaml": [], ".parquet": [], "output": []}
    pipelines = None
    for file in sorted(_walk(folder)):
        suffix = file.suffix.lower()
        if file == folder / PIPELINES:
            pipelines = file
        elif suffix in YAML:
            found["yaml"].append(file)
        elif suffix in found:
            found[suffix].append(file)
        elif suffix in TEXTS or not suffix:
            if suffix:
                found["text"].append(file)
            if _is_output(file):
                found["output"].append(file)
    return Files(
        outputs=tuple(found["output"]),
        texts=tuple(found["text"]),
        properties=tuple(found[".properties"]),
        pipelines=pipelines,
        deployments=tuple(found["yaml"]),
        parquet=tuple(found[".parquet"]),
    )


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(place, name) for name in names if not name.startswith("."))


def _is_output(file: Path) -> bool:
    """Tell whether any line near the beginning looks like a tool's output. An unreadable file is none."""
    try:
        with file.open("rb") as stream:
            content = stream.read(_LOOKED_AT) if file.is_file() else b""
    except OSError:
        return False
    utf16 = content[:2] in (
        b"\xff\xfe",
        b"\xfe\xff",
    )  # PowerShell writes UTF-16: recognised here, refused with advice later
    return any(map(is_from_a_tool, content.decode("utf-16" if utf16 else "utf-8", errors="replace").split("\n")))


def read_outputs(files: Files) -> Cluster:
    """Read all outputs and combine them. Raises DeploymentError for a file that is no output or incomplete."""
    return put_together([_read_output(file) for file in sorted({*files.outputs, *files.texts})])


def _read_output(file: Path) -> Output:
    return read_output(read_bytes(file, LARGEST_OF_A_FLEET), str(file))


def read_client(file: Path) -> GivenClient | DeploymentError:
    """Return a client's settings, or the error of its file, which the pipelines that name it report."""
    try:
        return GivenClient(read_settings(file), present=True)
    except DeploymentError as error:
        return error


@dataclass(frozen=True)
class Client:
    """A client's file name within the folder, its role, and its topic, if the folder names one."""

    name: str
    role: Role
    topic: str | None


def sort_clients(folder: Path, files: Iterable[Path], topics: Iterable[str]) -> list[Client]:
    """Return the role and topic of each property file, by its name and folder. Raises DeploymentError if neither gives
    a role.

    ``orders/producer.properties`` is the producer of the topic ``orders``, ``producers/billing.properties`` is a
    producer of any topic.
    """
    known = frozenset(topics)
    return [_client(folder, file, known) for file in files]


def _client(folder: Path, file: Path, topics: frozenset[str]) -> Client:
    name = file.relative_to(folder)
    topic = next((part for part in reversed(name.parent.parts) if part in topics), None)
    strange = [part for part in name.parent.parts if part not in topics and part not in SHARED_FOLDERS]
    if strange:
        message = (
            f"is in a folder {strange[0]}, which is neither the name of a topic here nor one of "
            f"{', '.join(SHARED_FOLDERS)}; move the file, or name its topic in {PIPELINES}"
        )
        raise DeploymentError(message, file=str(file))
    folders = [part for part in reversed(name.parent.parts) if part not in topics]
    return Client(str(name), _role([name.stem, *folders], file), topic)


def _role(names: Iterable[str], file: Path) -> Role:
    """Return the role in the file's name, or in the nearest folder's."""
    for part in names:
        said = [role for role in ROLES if role in part.lower()]
        if len(said) == 1:
            return said[0]
        if said:
            break
    message = (
        "is neither a known producer nor a known consumer: put one of these words into its name, move the file into a "
        f"folder producers or consumers, list it in {PIPELINES}, or remove it from this folder"
    )
    raise DeploymentError(message, file=str(file))
