"""Work that is done once for a release of Kafka on a machine, and kept in the user's cache.

Kafka's own tool formats one data folder, and the data folders of all later nodes are copies with other ids. A node that
starts for practice leaves an archive of its loaded classes, with which every later node starts in half the time.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.cluster.configuration import properties_text
from proofka.checker.cluster.errors import CannotStart
from proofka.checker.cluster.java import java_command, java_home
from proofka.checker.cluster.node import Node, NodePorts
from proofka.checker.cluster.ports import Ports
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.wire import HOST

CLUSTER_ID = base64.urlsafe_b64encode(b"proofka cluster!").decode().rstrip("=")
"""The id that every throw-away cluster has."""
HEAP = "256m"
"""The largest heap of a node."""
_FORMAT_SECONDS, _START_SECONDS, _ARCHIVE_SECONDS = 120, 180, 180
_PRACTISING = 100
"""The number of the node that starts for practice."""
_META = "meta.properties"
_DIRECTORY_ID = re.compile(r"^directory\.id=.*$", re.MULTILINE)
_LOGGING = Path(__file__).parent / "logging"


@dataclass(frozen=True)
class Prepared:
    """A formatted data folder of a controller with the id 100, and an archive of classes."""

    formatted: Path
    archive: Path


def prepare(classpath: Sequence[Path], *, features: Mapping[str, int], cache: Path, supervisor: Supervisor) -> Prepared:
    """Return what is kept for these jars, this Java and these feature levels; make what is not there yet.

    Raises ``CannotStart`` with the words of Kafka.
    """
    folder = cache_of(classpath, cache)
    named = "-".join(f"{name}={level}" for name, level in sorted(features.items())) or "of-the-release"
    prepared = Prepared(formatted=folder / "formatted" / named, archive=folder / "classes.jsa")
    if not prepared.formatted.exists():
        _format(prepared, classpath, features=features, supervisor=supervisor)
    if not prepared.archive.exists():
        _practise(prepared, classpath, supervisor=supervisor)
    return prepared


def cache_of(classpath: Sequence[Path], cache: Path) -> Path:
    """Return the folder in the cache for what is made of these jars with this Java; the folder exists."""
    folder = cache / _identity(classpath)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def node_command(classpath: Sequence[Path], settings: Path, *, options: Sequence[str]) -> list[str]:
    """Return the command that starts a node with a file of settings."""
    return java_command(
        classpath,
        "kafka.Kafka",
        str(settings),
        heap=HEAP,
        properties=logging_properties(),
        options=("-Xshare:auto", *options),
    )


def copy_formatted(prepared: Prepared, data: Path, *, node: int, is_controller: bool) -> None:
    """Make the data folder of a node that never ran before."""
    if is_controller:
        shutil.copytree(prepared.formatted, data)
    data.mkdir(parents=True, exist_ok=True)
    meta = (prepared.formatted / _META).read_text(encoding="utf-8")
    meta = re.sub(r"^node\.id=.*$", f"node.id={node}", meta, flags=re.MULTILINE)
    directory = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    (data / _META).write_text(_DIRECTORY_ID.sub(f"directory.id={directory}", meta), encoding="utf-8")


def logging_properties() -> dict[str, str]:
    """Return the properties of Java that make a program write its log to its standard output."""
    return {
        "log4j.configuration": (_LOGGING / "log4j.properties").as_uri(),
        "log4j2.configurationFile": (_LOGGING / "log4j2.properties").as_uri(),
    }


def _identity(classpath: Sequence[Path]) -> str:
    files = [*classpath, (java_home() / "bin" / "java").resolve()]
    stated = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(stated).encode()).hexdigest()[:24]


def _format(
    prepared: Prepared, classpath: Sequence[Path], *, features: Mapping[str, int], supervisor: Supervisor
) -> None:
    folder = supervisor.folder / f"format-{uuid.uuid4().hex}"
    folder.mkdir()
    settings = folder / "server.properties"
    ports = NodePorts(client=1, replica=None, harness=None, controller=2)
    settings.write_text(properties_text(_settings(folder, ports=ports)), encoding="ascii")
    asked = [word for name, level in sorted(features.items()) for word in ("--feature", f"{name}={level}")]
    arguments = ("format", "-t", CLUSTER_ID, "-c", str(settings), *asked)
    command = java_command(
        classpath, "kafka.tools.StorageTool", *arguments, heap="128m", properties=logging_properties(), options=()
    )
    log = folder / "format.log"
    status = supervisor.start("the format of a data folder", command, log=log).wait(_FORMAT_SECONDS)
    if status != 0:
        raise CannotStart(f"Kafka cannot format a data folder:\n{log.read_text(errors='replace')[-2000:]}")
    _keep(folder / "data", prepared.formatted)


def _practise(prepared: Prepared, classpath: Sequence[Path], *, supervisor: Supervisor) -> None:
    """Start a node and stop it, so that it writes the archive of its classes."""
    folder = supervisor.folder / f"practice-{uuid.uuid4().hex}"
    folder.mkdir()
    ports = Ports()
    own = NodePorts(client=ports.take(), replica=None, harness=None, controller=ports.take())

    def node(number: int, folder: Path, settings: Path, options: Sequence[str]) -> Node:
        command = node_command(classpath, settings, options=options)
        made = Node(number, folder=folder, ports=own, command=command, supervisor=supervisor)
        copy_formatted(prepared, made.data, node=number, is_controller=True)
        return made

    archive_of_practice(_settings(folder, ports=own), folder, prepared.archive, node=node)
    ports.close()


def archive_of_practice(
    settings: Mapping[str, str],
    folder: Path,
    archive: Path,
    *,
    node: Callable[[int, Path, Path, Sequence[str]], Node],
) -> None:
    """Start a node with these settings and stop it; keep the archive of the classes that it loaded.

    ``folder``: the node's own. ``node``: makes the node, of its number, its folder, the file with its settings, and
    further options of Java. Raises ``CannotStart``.
    """
    path = folder / "server.properties"
    path.write_text(properties_text(settings), encoding="ascii")
    written = folder / "classes.jsa"
    practising = node(_PRACTISING, folder, path, (f"-XX:ArchiveClassesAtExit={written}",))
    practising.start()
    practising.wait_started(seconds=_START_SECONDS)
    practising.stop(seconds=_ARCHIVE_SECONDS)
    if not written.exists():
        raise CannotStart(f"Java wrote no archive of classes; the log says why:\n{practising.log_text()[-2000:]}")
    _keep(written, archive)


def _settings(folder: Path, *, ports: NodePorts) -> dict[str, str]:
    return {
        "process.roles": "broker,controller",
        "node.id": str(_PRACTISING),
        "log.dirs": str(folder / "data"),
        "listeners": f"CLIENT://{HOST}:{ports.client},CONTROLLER://{HOST}:{ports.controller}",
        "advertised.listeners": f"CLIENT://{HOST}:{ports.client}",
        "inter.broker.listener.name": "CLIENT",
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"{_PRACTISING}@{HOST}:{ports.controller}",
    }


def _keep(made: Path, kept: Path) -> None:
    """Move a file or folder into the cache in one step; what another process has put there first stays."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    beside = kept.with_name(f"{kept.name}.{os.getpid()}")
    shutil.move(str(made), beside)
    try:
        beside.rename(kept)
    except OSError:
        if not kept.exists():
            raise
        shutil.rmtree(beside)
