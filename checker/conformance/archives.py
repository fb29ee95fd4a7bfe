"""Recordings in files, folders and archives.

An archive (.tar.xz) has a deployment as a user writes it (NAME.yaml), and then recordings of its runs (JSON files).
The recordings leave the deployment out, so the model of a later version reads the deployment anew, and checks the same
events. They are small together because xz finds what the recordings have in common.
"""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from proofka.checker.conformance.arguments import MOST_RECORDS
from proofka.checker.conformance.errors import BadRecording, ConformanceError
from proofka.checker.conformance.events import Recording, events_to_json, from_json
from proofka.checker.conformance.lab import Asked
from proofka.model.deployment import read_deployment
from proofka.model.deployment.deployment import Deployment
from proofka.model.input.input_error import InputError

SUFFIX = ".tar.xz"
"""The end of an archive's name."""

MOST_BYTES = 4 << 20
"""The largest number of bytes of a member of an archive; a recording of a run has some 10 000."""

TIME_DIGITS = 6
"""The number of decimals of a time (seconds) in an archive. The clock of the recorder tells about as many."""

RECORDS = "records"
"""The name of the number of records of each producer, in what a recording tells about its run."""

_JSON, _YAML = ".json", ".yaml"


def recordings_in(path: Path) -> Iterator[tuple[str, Recording]]:
    """Yield the recordings in a file, in an archive, or in the files and archives of a folder, each with a name.

    Files of a folder that are neither JSON files nor archives are passed over. Raise :class:`BadRecording` for what
    cannot be read, and what ``from_json`` and ``read_deployment`` raise.
    """
    if path.is_dir():
        for one in sorted(path.iterdir()):
            if one.name.endswith((_JSON, SUFFIX)):
                yield from recordings_in(one)
    elif path.name.endswith(SUFFIX):
        yield from _of_archive(path)
    elif path.exists() and not path.is_file():
        raise BadRecording(f"{path}: is no file; name a file, an archive or a folder of recordings")
    else:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise BadRecording(f"{path}: cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise BadRecording(f"{path}: is no text in UTF-8, and so no recording of a run") from error
        yield path.name, from_json(text, name=str(path))


def _of_archive(path: Path) -> Iterator[tuple[str, Recording]]:
    deployment: Deployment | None = None
    for name, content in _members(path):
        if name.endswith(_YAML):
            deployment = _read(path, name, content)
        elif deployment is None:
            raise BadRecording(f"{path}: {name} comes before the deployment: put NAME.yaml first")
        else:
            yield name, _of_member(f"{path}: {name}", content, deployment)


def _of_member(place: str, content: bytes, deployment: Deployment) -> Recording:
    try:
        found = from_json(content.decode("utf-8"), deployment)
        if (records := found.about[RECORDS]) not in range(1, MOST_RECORDS + 1):
            raise ValueError(f"{RECORDS}: {records!r} is no number from 1 to {MOST_RECORDS}")
        asked = Asked(deployment, (), records=int(records))
    except ConformanceError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise BadRecording(f"{place}: is no readable recording: {error!r}; record the run again") from error
    return replace(found, deployment=asked.modelled)


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive, one after the other. Raise :class:`BadRecording`."""
    try:
        with lzma.open(path) as whole, tarfile.open(fileobj=whole, mode="r|") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is None or not member.name.endswith((_JSON, _YAML)):
                    raise BadRecording(f"{path}: {member.name} is neither a deployment (.yaml) nor a recording (.json)")
                if member.size > MOST_BYTES:
                    raise BadRecording(
                        f"{path}: {member.name} has {member.size} bytes; a member has {MOST_BYTES} at most"
                    )
                yield member.name, file.read()
            while whole.read(MOST_BYTES):  # a cut between two members shows only at the end of the file
                pass
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        raise BadRecording(f"{path}: cannot be read: {error}; use an archive that tar -xJf can read") from error


def _read(archive: Path, name: str, content: bytes) -> Deployment:
    """Return the deployment in an archive. Raise :class:`BadRecording` with the problem that its reader names."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / Path(name).name
        file.write_bytes(content)
        try:
            return read_deployment(file)
        except InputError as error:
            raise BadRecording(str(error).replace(str(file), f"{archive}: {name}")) from error


def write_archive(path: Path, deployment: Path, recordings: Mapping[str, Recording]) -> None:
    """Write recordings, by the names of their files, and the file of their deployment into an archive.

    The same recordings give the same bytes.
    """
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        _add(archive, deployment.name, deployment.read_bytes())
        for name in sorted(recordings, key=_place):
            _add(archive, name, events_to_json(_from_its_start(recordings[name])).encode("utf-8"))
    path.write_bytes(lzma.compress(whole.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def _place(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Return the key that sorts the numbers in names by their values."""
    parts = name.removesuffix(_JSON).split("-")
    return tuple((part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts)


def _from_its_start(recording: Recording) -> Recording:
    """Return the recording with its times counted from its first event."""
    first = min((event.opens for event in recording.events), default=0.0)
    events = tuple(
        replace(event, opens=_since(first, event.opens), closes=_since(first, event.closes))
        for event in recording.events
    )
    return replace(recording, events=events)


def _since(first: float, time: float) -> float:
    return round(time - first, TIME_DIGITS)
