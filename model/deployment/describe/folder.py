"""The files of a folder that holds a cluster: outputs of Kafka's tools, client property files, a list of pipelines.

Files are told apart by what they are: ``*.properties`` are clients', ``pipelines.csv`` is the list, and texts
(``.txt``, ``.out``, ``.log``, or no ending) are outputs. Whatever else lies there is not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from model.deployment.describe.cluster import Cluster, put_together
from model.deployment.describe.lines import is_from_a_tool
from model.deployment.describe.output import Output, read_output
from model.deployment.errors import DeploymentError
from model.deployment.given import GivenClient
from model.deployment.properties_reader import read_settings
from model.deployment.source import LARGEST_OF_A_FLEET, read_bytes

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
    """What lies in a folder, at any depth. ``outputs`` are certainly of a tool, ``texts`` should be."""

    outputs: tuple[Path, ...]
    texts: tuple[Path, ...]
    properties: tuple[Path, ...]
    pipelines: Path | None
    deployments: tuple[Path, ...]
    parquet: tuple[Path, ...]

    @property
    def besides_deployments(self) -> str | None:
        """In words, what lies beside deployment files and is not read with them; None where nothing does."""
        others = replace(self, deployments=(), texts=())
        return others.counted() if others.outputs or others.properties or others.pipelines else None

    def counted(self) -> str:
        """In words, what was found."""
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
    """Every file that might matter, by kind, in the order of names. Hidden files and folders are passed over."""
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
    """Whether any line near the beginning looks like one of the tools'. A file that cannot be read is none."""
    try:
        with file.open("rb") as stream:
            content = stream.read(_LOOKED_AT) if file.is_file() else b""
    except OSError:
        return False
    utf16 = content[:2] in (
        b"\xff\xfe",
        b"\xfe\xff",
    )  # as PowerShell writes: recognised here, refused with advice later
    return any(map(is_from_a_tool, content.decode("utf-16" if utf16 else "utf-8", errors="replace").split("\n")))


def read_outputs(files: Files) -> Cluster:
    """Read every output and put them together. Raises DeploymentError for what is none, or not whole."""
    return put_together([_read_output(file) for file in sorted({*files.outputs, *files.texts})])


def _read_output(file: Path) -> Output:
    return read_output(read_bytes(file, LARGEST_OF_A_FLEET), str(file))


def read_client(file: Path) -> GivenClient | DeploymentError:
    """A client's settings, or why its file cannot be read: that is a matter of the pipelines that name it."""
    try:
        return GivenClient(read_settings(file), present=True)
    except DeploymentError as error:
        return error


@dataclass(frozen=True)
class Client:
    """A client's file by its name in the folder, the role it has, and the one topic that it is for, if it says so."""

    name: str
    role: Role
    topic: str | None


def sort_clients(folder: Path, files: Iterable[Path], topics: Iterable[str]) -> list[Client]:
    """What each property file is, by its name and the folder it is in. Raises DeploymentError where that says nothing.

    ``orders/producer.properties`` is the producer of the topic ``orders``, ``producers/billing.properties`` one of
    any topic.
    """
    known = frozenset(topics)
    return [_client(folder, file, known) for file in files]


def _client(folder: Path, file: Path, topics: frozenset[str]) -> Client:
    name = file.relative_to(folder)
    topic = next((part for part in reversed(name.parent.parts) if part in topics), None)
    strange = [part for part in name.parent.parts if part not in topics and part not in SHARED_FOLDERS]
    if strange:
        message = (
            f"lies in a folder {strange[0]}, which is neither the name of a topic here nor one of "
            f"{', '.join(SHARED_FOLDERS)}; move it, or say in {PIPELINES} which topic it goes with"
        )
        raise DeploymentError(message, file=str(file))
    folders = [part for part in reversed(name.parent.parts) if part not in topics]
    return Client(str(name), _role([name.stem, *folders], file), topic)


def _role(names: Iterable[str], file: Path) -> Role:
    """The role that the file's name says, else the nearest folder's."""
    for part in names:
        said = [role for role in ROLES if role in part.lower()]
        if len(said) == 1:
            return said[0]
        if said:
            break
    message = (
        "is not known to be a producer's or a consumer's: say one of these words in its name, put it into a folder "
        f"producers or consumers, say in {PIPELINES} what it is, or move it out of here"
    )
    raise DeploymentError(message, file=str(file))
