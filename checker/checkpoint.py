"""Snapshots of a running exploration in a folder, from which a killed run continues.

States and parents are only ever appended. A snapshot appends the new rows and then replaces the manifest, which gives
the valid length of each file. A run killed at any moment finds the last whole manifest; bytes appended after that
manifest are cut off. Checksums over all valid bytes detect damage.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from proofka.checker.combinations import Combination
from proofka.checker.kernel.components import Components
from proofka.checker.kernel.visited import PARTITIONS
from proofka.checker.shard import Segment, Shard
from proofka.model.input.input_error import InputError

MANIFEST, LOCK = "manifest.json", "lock"
FORMAT = 3
DEFAULT_INTERVAL = 20.0
"""Default seconds between snapshots, and so the largest loss of a killed run."""


class CheckpointError(InputError):
    """A checkpoint cannot be used. The message names the reason and the remedy."""


@dataclass
class _File:
    """One array on disk: its number of valid bytes, and their checksum."""

    path: Path
    size: int = 0
    checksum: int = 0

    def append(self, arrays: Iterable[NDArray[Any]]) -> _File:
        """Write arrays behind the valid bytes; return the file with the new length."""
        size, checksum = self.size, self.checksum
        with self.path.open("r+b" if self.path.exists() else "w+b") as file:
            file.truncate(size)
            file.seek(size)
            for data in arrays:
                content = np.ascontiguousarray(data).data.cast("B") if data.size else b""
                file.write(content)
                size += len(content)
                checksum = zlib.crc32(content, checksum)
            file.flush()
            os.fsync(file.fileno())
        return _File(self.path, size, checksum)

    def read_into(self, arrays: Iterable[NDArray[Any]]) -> None:
        """Fill arrays with the valid bytes.

        Raise :class:`CheckpointError` if the bytes differ from what was written.
        """
        if not self.size:
            return
        size, checksum = 0, 0
        try:
            with self.path.open("rb") as file:
                for data in arrays:
                    if data.size:
                        content = data.data.cast("B")
                        size += file.readinto(content)
                        checksum = zlib.crc32(content, checksum)
        except OSError as error:
            raise CheckpointError(f"{self.path}: {(error.strerror or str(error)).lower()}") from None
        if size != self.size or checksum != self.checksum:
            raise CheckpointError(f"{self.path}: is damaged; delete the folder to start again")


@dataclass
class _Saved:
    """The saved part of one shard: its rows by partition, in one file for all partitions' states and one for
    parents.
    """

    counts: NDArray[np.int64]
    states: _File
    parents: _File
    chunks: list[list[int]]
    about: dict[str, Any] = field(default_factory=dict)

    def save(self, shard: Shard) -> None:
        """Append new rows, partition by partition, and record all other values."""
        counts = shard.counts
        if (counts > self.counts).any():
            new = [shard.rows(part, int(self.counts[part])) for part in range(PARTITIONS)]
            states = self.states.append(states for states, _ in new)
            parents = self.parents.append(parents for _, parents in new)
            chunk = [int(more) for more in counts - self.counts]
            self.states, self.parents, self.chunks, self.counts = states, parents, [*self.chunks, chunk], counts
        self.about = {
            "complete": shard.complete,
            "closed": shard.closed,
            "depth_done": shard.depth_done,
            "segments": [[s.depth, s.source, s.starts.tolist()] for s in shard.segments],
            "transitions": int(shard.transitions[0]),
            "seen_in": shard.seen_in.tolist(),
            "first_seen": shard.first_seen.tolist(),
            "held": shard.held.tolist(),
        }

    def restore(self, shard: Shard) -> None:
        """Fill an empty shard with the saved rows."""
        rows = shard.allocate(self.counts)
        done = np.zeros(PARTITIONS, dtype=np.int64)
        pieces = []
        for chunk in self.chunks:
            for part, size in enumerate(chunk):
                states, parents = rows[part]
                piece = slice(done[part], done[part] + size)
                pieces.append((states[piece], parents[piece]))
                done[part] += size
        self.states.read_into(states for states, _ in pieces)
        self.parents.read_into(parents for _, parents in pieces)
        shard.enter_allocated(self.counts)
        shard.complete = self.about["complete"]
        shard.closed = self.about["closed"]
        shard.depth_done = self.about["depth_done"]
        shard.segments = [Segment(d, s, np.array(starts, dtype=np.int64)) for d, s, starts in self.about["segments"]]
        shard.transitions[0] = self.about["transitions"]
        shard.seen_in[:] = self.about["seen_in"]
        shard.first_seen[:] = np.array(self.about["first_seen"], dtype=np.int64).reshape(shard.first_seen.shape)
        shard.held[:] = np.array(self.about["held"], dtype=np.int64).reshape(shard.held.shape)

    def document(self) -> dict[str, Any]:
        """Return the manifest's entry for the shard."""
        files = {
            name: [file.size, file.checksum] for name, file in (("states", self.states), ("parents", self.parents))
        }
        return {**self.about, "chunks": self.chunks, "files": files}


@dataclass
class _SavedHalves:
    """The saved part of one dictionary of an exploration: its first ``count`` halves."""

    file: _File
    count: int = 0

    def save(self, components: Components, place: int) -> None:
        """Append the new halves."""
        count = components.counts[place]
        if count > self.count:
            self.file = self.file.append([components.halves(place, self.count, count)])
            self.count = count

    def restore(self, components: Components, place: int) -> None:
        """Fill an empty dictionary with the saved halves."""
        self.file.read_into([components.halves(place, 0, self.count)])
        components.use_halves(place, self.count)

    def document(self) -> list[int]:
        """Return the manifest's entry for the dictionary."""
        return [self.count, self.file.size, self.file.checksum]


class Checkpoint:
    """Snapshots of one run in ``folder``, for the question ``identity``, at most every ``interval`` seconds.

    Raise :class:`CheckpointError` if the folder holds snapshots of another question, or damaged snapshots.
    """

    def __init__(self, folder: Path, identity: str, interval: float = DEFAULT_INTERVAL) -> None:
        self.folder = folder
        self.identity = f"{identity} {code_fingerprint()}"
        self.interval = interval
        self._saved: dict[str, _Saved] = {}
        self._halves: dict[str, _SavedHalves] = {}
        self._last = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        manifest = folder / MANIFEST
        if not manifest.exists() and {file.name for file in folder.iterdir()} - {f"{MANIFEST}.new", LOCK}:
            raise CheckpointError(f"{folder}: is not empty and holds no checkpoint; name another folder")
        self._lock = lock_folder(folder)
        if manifest.exists():
            self._open(manifest)
        else:
            self._write_manifest()

    def _open(self, manifest: Path) -> None:
        try:
            document = json.loads(manifest.read_text(encoding="utf-8"))
            content = document["content"]
            if document["checksum"] != _checksum(content):
                raise ValueError
            if content["format"] != FORMAT or content["identity"] != self.identity:
                raise CheckpointError(f"{self.folder}: is the checkpoint of another question; name another folder")
            for key, about in content["shards"].items():
                self._saved[key] = self._from_document(key, about)
            for key, (count, *file) in content["components"].items():
                self._halves[key] = _SavedHalves(_File(self.folder / key, *file), count)
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise CheckpointError(f"{manifest}: is damaged; delete the folder to start again") from error

    def _from_document(self, key: str, about: dict[str, Any]) -> _Saved:
        files = about.pop("files")
        states, parents = (_File(self.folder / f"{key}.{name}", *files[name]) for name in ("states", "parents"))
        chunks = about.pop("chunks")
        counts = np.array(chunks, dtype=np.int64).reshape(-1, PARTITIONS).sum(axis=0)
        return _Saved(counts, states, parents, chunks, about)

    @property
    def due(self) -> bool:
        """Tell whether the interval since the last snapshot is over."""
        return time.monotonic() - self._last >= self.interval

    def restore(self, number: int, shard: Shard) -> bool:
        """Fill an empty shard of exploration ``number`` with its last snapshot, if one exists."""
        saved = self._saved.get(_key(number, shard.combination))
        if saved is not None:
            saved.restore(shard)
        return saved is not None

    def restore_components(self, number: int, components: Components) -> None:
        """Fill the empty dictionaries of exploration ``number`` with their last snapshot, if one exists."""
        for place in range(len(components.counts)):
            saved = self._halves.get(_key_of_halves(number, place))
            if saved is not None:
                saved.restore(components, place)

    def save(self, number: int, components: Components, shards: list[Shard]) -> None:
        """Write a snapshot of these shards of exploration ``number``; shards that were already complete stay unchanged.

        Dictionaries are written after the states whose words refer to them.
        """
        for shard in shards:
            key = _key(number, shard.combination)
            saved = self._saved.get(key)
            if saved is None:
                states, parents = (_File(self.folder / f"{key}.{name}") for name in ("states", "parents"))
                saved = self._saved[key] = _Saved(np.zeros(PARTITIONS, dtype=np.int64), states, parents, [])
            if not saved.about.get("complete"):
                saved.save(shard)
        for place in range(len(components.counts)):
            key = _key_of_halves(number, place)
            self._halves.setdefault(key, _SavedHalves(_File(self.folder / key))).save(components, place)
        self._write_manifest()
        self._last = time.monotonic()

    def _write_manifest(self) -> None:
        shards = {key: saved.document() for key, saved in self._saved.items()}
        halves = {key: saved.document() for key, saved in self._halves.items()}
        content = {"format": FORMAT, "identity": self.identity, "shards": shards, "components": halves}
        new = self.folder / f"{MANIFEST}.new"
        with new.open("w", encoding="utf-8") as file:
            json.dump({"checksum": _checksum(content), "content": content}, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.folder / MANIFEST)


def lock_folder(folder: Path) -> TextIO:
    """Lock the folder against other runs while this process lives."""
    file = (folder / LOCK).open("w", encoding="utf-8")
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        file.close()
        raise CheckpointError(f"{folder}: another run is using it; wait for it, or name another folder") from None
    return file


def code_fingerprint() -> str:
    """Return a hash of the checker's source files. Snapshots of another version are not continued."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def _key(number: int, combination: Combination) -> str:
    return "-".join(["exploration", str(number), "faults", *(str(count) for count in combination)])


def _key_of_halves(number: int, place: int) -> str:
    return f"exploration-{number}-components-{place}"


def _checksum(content: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
