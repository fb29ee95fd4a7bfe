"""The folder of an audit: its layout, and the checks that it belongs to this audit alone."""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from proofka.model.input.input_error import InputError

MARKER = "audit.json"
"""Name of the file that marks an audit's folder. A writer to the folder holds a lock on this file."""

MADE_BY = {"proofka": "audit", "format": 1}
"""Content of the marker file; the format is the format of the whole folder."""

EXPLORED, SIGNED, FIGURES = "explored", "signed", "figures"


class DamagedResult(InputError):
    """A file of the folder is no result of the system in its name."""


class FolderTaken(InputError):
    """The folder cannot be used for this audit; the message gives the reason."""


@dataclass(frozen=True)
class AuditFolder:
    """The folder in which an audit keeps its results.

    ``signed`` holds an empty file for each question, whose name consists of the question, its signature, and a checksum
    of both. A listing of the folder gives all signatures, and files with other names are ignored. ``explored`` holds a
    file for each system; the name of a file that is being written starts with a dot.
    """

    path: Path

    @property
    def explored(self) -> Path:
        """The folder of the results of the systems, one Parquet file each."""
        return self.path / EXPLORED

    @property
    def signed(self) -> Path:
        """The folder of the signatures of questions, in the names of empty files."""
        return self.path / SIGNED

    @property
    def figures(self) -> Path:
        """The folder for figures."""
        return self.path / FIGURES

    def signatures(self) -> dict[str, str]:
        """Return question -> signature, for all questions ever signed here."""
        signed = (name.split("-", 1) for name in names(self.signed) if "-" in name)
        told = {question: rest.rpartition("-") for question, rest in signed}
        return {one: signature for one, (signature, _, check) in told.items() if check == _checksum(one, signature)}

    def sign(self, question: str, signature: str) -> None:
        """Store the signature of a question."""
        (self.signed / f"{question}-{signature}-{_checksum(question, signature)}").touch()

    def files_of(self, signature: str, limits: object) -> tuple[Path, Path, Path]:
        """Return the files for the results of a system.

        The first is for a complete result, the second for a result within these limits. The third is for a failed
        attempt, which the next audit repeats.
        """
        endings = ("", f"-within-{limits}", "-failed")
        whole, limited, failed = (self.explored / f"{signature}{ending}.parquet" for ending in endings)
        return whole, limited, failed

    def found(self, signatures: Iterable[str], limits: object) -> dict[str, Path]:
        """Return signature -> file, for the systems that need no further exploration."""
        there = frozenset(names(self.explored))
        best = {one: [file for file in self.files_of(one, limits)[:2] if file.name in there] for one in signatures}
        return {one: files[0] for one, files in best.items() if files}

    @staticmethod
    def check(files: Mapping[str, Path]) -> None:
        """Read these files (signature -> file) completely. Raise :class:`DamagedResult`."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        for signature, file in files.items():
            try:
                found = pq.read_table(file, page_checksum_verification=True)["signature"].unique().to_pylist()
            except (OSError, pa.ArrowException, KeyError) as error:
                raise DamagedResult(f"{file}: is damaged; delete it, and it is explored again") from error
            if found != [signature]:
                raise DamagedResult(f"{file}: is the result of another system; delete it, and it is explored again")

    def failed(self, signatures: Iterable[str]) -> dict[str, Path]:
        """Return signature -> file, for the systems whose last attempt failed."""
        there = frozenset(names(self.explored))
        return {one: file for one in signatures if (file := self.files_of(one, "")[2]).name in there}


def _checksum(question: str, signature: str) -> str:
    return f"{zlib.crc32(f'{question} {signature}'.encode()):08x}"


def names(folder: Path) -> Iterator[str]:
    """Yield the names of the finished files of a folder."""
    with os.scandir(folder) as entries:
        yield from (entry.name for entry in entries if not entry.name.startswith("."))


@contextmanager
def claimed(path: Path) -> Iterator[AuditFolder]:
    """Yield the folder at ``path``, locked until the end of the block or of this process.

    Raise :class:`FolderTaken`.

    A missing folder is made. Unfinished files of earlier audits are removed.
    """
    marker = path / MARKER
    if path.exists() and not path.is_dir():
        raise FolderTaken(f"{path}: is no folder; --out takes one")
    if path.is_dir() and any(path.iterdir()) and not marker.is_file():
        raise FolderTaken(f"{path}: holds files that no audit wrote; --out takes a new or empty folder, or an audit's")
    is_new = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    with marker.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderTaken(f"{path}: another audit is writing into it; wait for it, or take another --out") from None
        file.seek(0)
        _check_marker(path, file.read(10_000))
        if not marker.stat().st_size:
            file.write(json.dumps(MADE_BY))
            file.flush()
        folder = AuditFolder(path)
        for work in (folder.explored, folder.signed):
            work.mkdir(exist_ok=True)
            for unfinished in work.glob(".*"):
                with suppress(FileNotFoundError):
                    unfinished.unlink()
        try:
            yield folder
        finally:
            if is_new and not any(path.glob("*/*")):
                _remove_empty(folder)


def _remove_empty(folder: AuditFolder) -> None:
    """Remove a folder that this audit made and left empty."""
    (folder.path / MARKER).unlink()
    for empty in (folder.explored, folder.signed, folder.path):
        empty.rmdir()


def _check_marker(path: Path, text: str) -> None:
    try:
        made_by = json.loads(text) if text else MADE_BY
    except ValueError:
        made_by = None
    if made_by != MADE_BY:
        whose = "another version's audit" if isinstance(made_by, dict) and "proofka" in made_by else "no audit's"
        raise FolderTaken(f"{path}: its {MARKER} is {whose}; --out takes a new or empty folder, or an audit's")
