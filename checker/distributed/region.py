"""A set of states in files: rows that are only appended, and an open-addressing table of their places.

Both files are memory-mapped, so opening a region costs nothing, and a superstep touches only the needed pages. Rows
written after the last commit, by a failed attempt, are dropped when the region is opened again. The table is marked
while it is written, and built again from the rows if the mark remained. :mod:`checker.kernel.closing` describes a row.
"""

from __future__ import annotations

import mmap
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofka.checker.kernel import closing, table
from proofka.checker.kernel.closing import KNOWN, REGION_COLUMNS, REPLACED, REPLACED_COUNT, REPLACED_ROOM
from proofka.checker.kernel.layout import Words
from proofka.checker.kernel.table import COUNT, ROOM, SLOTS, STATES, TABLE
from proofka.model.input.input_error import InputError

MOST_LOAD = 0.62
"""Largest fill of a table. Emptier tables are searched faster, and take more room."""
TABLES_GROW_BY = 1.7
ROWS_GROW_BY = 1.5
LEAST_ROWS, LEAST_SLOTS, LEAST_REPLACED = 512, 1024, 512
MOST_ROWS = (1 << 32) - 2
"""Largest number of rows. A table's entry has 32 bits for a row."""
ROWS_FILE, REPLACED_FILE, TABLE_FILE, OPEN_TABLE = "rows", "replaced", "table", "table.open"
VERIFIED_FILE = "verified"
"""Name of the file with the last run that compared the files with their checksums."""
CHECKSUM_CHUNK = 1 << 24


class RegionError(InputError):
    """A region's files do not hold the committed data, or the region has more states than its row numbers allow."""


@dataclass(frozen=True)
class Extent:
    """The committed part of a region's files: rows, replacements, and a checksum of each."""

    rows: int = 0
    replaced: int = 0
    rows_checksum: int = 0
    replaced_checksum: int = 0


class _Mapped:
    """The allocated part of a file, mapped into memory.

    The file is open only while it is being mapped, because there can be many.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._map: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self.size = 0
        self._attach(0)

    def _attach(self, size: int) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if size:
                os.posix_fallocate(descriptor, 0, size)
            self.size = os.fstat(descriptor).st_size
            if self.size:
                self._map = np.frombuffer(mmap.mmap(descriptor, self.size), dtype=np.uint8)
        finally:
            os.close(descriptor)

    @property
    def address(self) -> int:
        return int(self._map.ctypes.data)

    @property
    def bytes(self) -> NDArray[np.uint8]:
        return self._map

    def grow(self, size: int) -> None:
        """Make the file larger.

        Raise OSError if there is no room; writing to a map without room would end the process.
        """
        if size > self.size:
            self._attach(size)

    def close(self) -> None:
        self._map = np.empty(0, dtype=np.uint8)


class Region:
    """Rows and their table in a folder; ``place`` gives the compiled loops their addresses in memory.

    The region is opened at ``extent``; a region that does not grow is only read. When a ``run`` opens the region for
    the first time, the files are compared with their checksums, and the table is built again. Raise
    :class:`RegionError` if the files differ, and OSError if there is no room.
    """

    def __init__(
        self, folder: Path, words: int, extent: Extent = Extent(), *, run: str | None = None, grows: bool = True
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.words = words
        self.extent = extent
        self.place = np.zeros(REGION_COLUMNS, dtype=np.int64)
        self._rows = _Mapped(folder / ROWS_FILE)
        self._replaced = _Mapped(folder / REPLACED_FILE)
        verified = run is not None and _is_new_to(folder, run)
        self._check_extent(verified)
        self.place[COUNT] = self.place[KNOWN] = extent.rows
        self.place[REPLACED_COUNT] = extent.replaced
        if run is not None and verified:
            (folder / TABLE_FILE).unlink(missing_ok=True)
            (folder / VERIFIED_FILE).write_text(run, encoding="utf-8")
        whole = (folder / TABLE_FILE).exists()
        self._is_marked = grows or not whole
        if whole and grows:
            (folder / TABLE_FILE).rename(folder / OPEN_TABLE)
        elif not whole:
            (folder / OPEN_TABLE).unlink(missing_ok=True)
        self._table = _Mapped(folder / (OPEN_TABLE if self._is_marked else TABLE_FILE))
        self._tell_place()
        if not whole:
            self._make_table(max(LEAST_SLOTS, int(extent.rows / MOST_LOAD) + 1))
            closing.fill_table(self.place, words)
        if grows:
            self.reserve(1)

    @property
    def row_bytes(self) -> int:
        return (self.words + 1) * 8

    @property
    def count(self) -> int:
        """Number of rows, including replaced rows."""
        return int(self.place[COUNT])

    @property
    def states(self) -> int:
        """Number of different states."""
        return int(self.place[COUNT] - self.place[REPLACED_COUNT])

    @property
    def size(self) -> int:
        """Bytes of the files."""
        return self._rows.size + self._replaced.size + self._table.size

    def _check_extent(self, verified: bool) -> None:
        extent = self.extent
        rows, replaced = extent.rows * self.row_bytes, extent.replaced * 8
        if self._rows.size < rows or self._replaced.size < replaced:
            raise RegionError(f"{self.folder}: shorter than what was committed")
        if verified and (
            _checksum(self._rows.bytes[:rows], 0) != extent.rows_checksum
            or _checksum(self._replaced.bytes[:replaced], 0) != extent.replaced_checksum
        ):
            raise RegionError(f"{self.folder}: does not hold what was committed")

    def _tell_place(self) -> None:
        place = self.place
        place[STATES], place[TABLE], place[REPLACED] = self._rows.address, self._table.address, self._replaced.address
        place[SLOTS] = self._table.size // 8
        place[ROOM] = min(self._rows.size // self.row_bytes, int(place[SLOTS] * MOST_LOAD))
        place[REPLACED_ROOM] = self._replaced.size // 8

    def _make_table(self, slots: int) -> None:
        """Replace the table by a new, empty table."""
        new = self.folder / f"{OPEN_TABLE}.new"
        new.unlink(missing_ok=True)
        larger = _Mapped(new)
        try:
            larger.grow(slots * 8)
        except OSError:
            new.unlink()
            raise
        if self._table.size:
            table.move_entries(self.place[TABLE], self.place[SLOTS], larger.address, slots)
        self._table.close()
        new.rename(self.folder / OPEN_TABLE)
        self._table = larger
        self._tell_place()

    def reserve(self, more: int) -> None:
        """Make room for ``more`` further rows. Raise OSError, and RegionError if the rows cannot be numbered."""
        wanted = self.count + more
        if wanted > MOST_ROWS:
            raise RegionError(f"more than {MOST_ROWS:,} rows in one partition: take more partitions")
        rows = self._rows.size // self.row_bytes
        if wanted > rows:
            self._rows.grow(max(wanted, LEAST_ROWS, int(rows * ROWS_GROW_BY)) * self.row_bytes)
        replaced = self._replaced.size // 8
        if int(self.place[REPLACED_COUNT]) + more > replaced:
            self._replaced.grow(max(int(self.place[REPLACED_COUNT]) + more, LEAST_REPLACED, replaced * 2) * 8)
        slots = int(self.place[SLOTS])
        if wanted > int(slots * MOST_LOAD):
            self._make_table(max(int(wanted / MOST_LOAD) + 1, LEAST_SLOTS, int(slots * TABLES_GROW_BY)))
        self._tell_place()

    def adopt(self, count: int) -> None:
        """Take the first ``count`` rows, written from outside and all different, as the content of the region."""
        self.place[COUNT] = count
        closing.fill_table(self.place, self.words)

    def rows(self) -> NDArray[np.uint64]:
        """Return all rows, also the replaced ones: packed states with their origins."""
        return self._rows.bytes[: self.count * self.row_bytes].view(np.uint64).reshape(-1, self.words + 1)

    def replaced(self) -> NDArray[np.uint64]:
        """Return the replacements as written: the new row's number above the old row's number."""
        return self._replaced.bytes[: int(self.place[REPLACED_COUNT]) * 8].view(np.uint64)

    def dead(self) -> NDArray[np.uint8]:
        """Return a byte for each row: 1 if the row was replaced. The array is empty if no row was replaced."""
        if not self.place[REPLACED_COUNT]:
            return np.empty(0, dtype=np.uint8)
        marks = np.zeros(self.count, dtype=np.uint8)
        marks[(self.replaced() & np.uint64(table.LOW_HALF)).astype(np.int64)] = 1
        return marks

    def commit(self) -> Extent:
        """Commit the present content; later rows will be dropped. The table is whole from here on."""
        extent, rows, replaced = self.extent, self.count, int(self.place[REPLACED_COUNT])
        self.extent = Extent(
            rows,
            replaced,
            _checksum(self._rows.bytes[extent.rows * self.row_bytes : rows * self.row_bytes], extent.rows_checksum),
            _checksum(self._replaced.bytes[extent.replaced * 8 : replaced * 8], extent.replaced_checksum),
        )
        return self.extent

    def close(self, *, committed: bool) -> None:
        """Release the files. A table whose rows were not committed stays marked."""
        for mapped in (self._rows, self._replaced, self._table):
            mapped.close()
        if committed and self._is_marked:
            (self.folder / OPEN_TABLE).rename(self.folder / TABLE_FILE)


@contextmanager
def opened_region(
    folder: Path, words: int, extent: Extent, *, run: str | None = None, grows: bool = True
) -> Iterator[Region]:
    """Yield a region, and close it at the end, committed unless an exception occurred."""
    region = Region(folder, words, extent, run=run, grows=grows)
    committed = False
    try:
        yield region
        committed = True
    finally:
        region.close(committed=committed)


@contextmanager
def scratch_region(folder: Path, words: int) -> Iterator[Region]:
    """Yield an empty region, and remove it at the end."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with opened_region(folder, words, Extent()) as region:
            yield region
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_row(folder: Path, words: int, number: int) -> tuple[Words, int]:
    """Return a row's packed state and its origin. Raise :class:`RegionError` if the row does not exist."""
    size = (words + 1) * 8
    with (folder / ROWS_FILE).open("rb") as file:
        file.seek(number * size)
        found = np.frombuffer(file.read(size), dtype=np.uint64)
    if len(found) != words + 1:
        raise RegionError(f"{folder}: has no row {number}")
    return found[:-1].copy(), int(found[-1])


def _is_new_to(folder: Path, run: str) -> bool:
    """Tell whether a run opens a region for the first time."""
    file = folder / VERIFIED_FILE
    return not file.exists() or file.read_bytes() != run.encode()


def _checksum(content: NDArray[Any], before: int) -> int:
    for begin in range(0, len(content), CHECKSUM_CHUNK):
        before = zlib.crc32(content[begin : begin + CHECKSUM_CHUNK].data, before)
    return before
