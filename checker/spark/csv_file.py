"""Inventories in CSV: one header, and the records below it, each with the line on which it begins."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.record_reader import check_keys

CORRUPT = "_corrupt_record"
"""The only key of an unreadable record; its value is the reason."""

LONGEST_HEADER = 1 << 20
LONGEST_CELL = (1 << 31) - 1
"""Largest length of a cell. Python's default limit is too short for the labels of a fleet."""


def check_header(path: Path) -> None:
    """Raise DeploymentError for a header with which no row could be read."""
    with path.open("rb") as file:
        start = file.read(LONGEST_HEADER)
    try:
        if b"\0" in start:
            raise DeploymentError("is no text in UTF-8, as a table must be")
        line, names = next(_lines(start), (1, []))
        if len(names) == 1 and any(separator in names[0] for separator in ";\t|"):
            raise DeploymentError("has a header without a comma: cells are separated by commas", line=line)
        _check_each_once(names, line)
    except DeploymentError as error:
        error.file = str(path)
        raise
    check_keys(dict.fromkeys(filter(None, names), "1"), file=str(path), line=line)


def _check_each_once(names: list[str], line: int) -> None:
    twice = next((name for name in sorted(set(names)) if names.count(name) > 1), None)
    if twice is not None:
        raise DeploymentError(f"has the column {twice} twice", line=line)


def _lines(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each non-empty record, with the line on which it begins. Raise DeploymentError."""
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(content.decode("utf-8-sig", errors="replace"), newline=""))
    is_header = True
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise DeploymentError(f"is no CSV from here on: {error}", line=line) from None
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield line, [cell.strip() for cell in cells] if is_header else cells
            is_header = False


def csv_records(content: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the records below the header, each with the line on which it begins; an empty cell is a missing key.

    An unreadable record has the single key ``CORRUPT`` with the reason.
    """
    lines = _lines(content)
    try:
        line, header = next(lines, (1, []))
        _check_each_once(header, line)
        for line, cells in lines:
            if len(cells) != len(header):
                yield line, {CORRUPT: f"has {len(cells)} cells, and the header {len(header)}"}
            else:
                yield line, {name: cell for name, cell in zip(header, cells, strict=True) if cell.strip()}
    except DeploymentError as error:
        yield error.line or 1, {CORRUPT: error.message}
