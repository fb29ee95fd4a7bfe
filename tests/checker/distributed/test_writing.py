"""Files that are there whole or not at all, and documents that are what was written or none."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from unittest.mock import patch

import pytest

from proofka.checker.distributed.writing import read_json, replacing, write_json
from tests.checker.small_disk import in_a_child


def killed(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("moment", ["open", "half", "written", "synced"])
def test_killed_while_writing(tmp_path: Path, moment: str) -> None:
    """Until the very end the old file is there; the next writer does not mind what is left."""
    path = tmp_path / "file"
    path.write_text("old")

    def write() -> int:
        synchronise = os.fsync
        with replacing(path) as new, new.open("w") as file:
            if moment == "open":
                killed()
            file.write("ne")
            file.flush()
            if moment == "half":
                killed()
            file.write("w")
            file.flush()
            if moment == "synced":
                synchronise(file.fileno())
            killed()
        return 0

    assert in_a_child(write) == -signal.SIGKILL
    assert path.read_text() == "old"
    with replacing(path) as new:
        new.write_text("new")
    assert path.read_text() == "new"


def test_file_keeps_its_content_until_the_new_content_is_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def write() -> int:
        with patch.object(os, "fsync", killed):
            write_json(path, {"a": 1})
        return 0

    assert in_a_child(write) == -signal.SIGKILL
    assert path.read_text() == "old"


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for before in ([], ["file"]):
        with pytest.raises(ZeroDivisionError), replacing(path) as new:
            new.write_text("half")
            raise ZeroDivisionError
        assert [file.name for file in tmp_path.iterdir()] == before
        path.write_text("old")
    assert path.read_text() == "old"


def test_documents(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    assert read_json(path) is None
    documents: list[object] = [{"a": [1, 2.5, None, "ü"], "b": {}}, [], 3, None]
    for document in documents:
        write_json(path, document)
        assert read_json(path) == document


def test_flipped_bits(tmp_path: Path) -> None:
    """A digit that became another is as wrong as a bracket that is gone."""
    path, chance = tmp_path / "file.json", random.Random(1)
    write_json(path, {"superstep": 12, "levels": [1, 20, 300]})
    content = path.read_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=f"^{path}: is damaged$"):
            read_json(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b"null", b"1", b"\xff\xfe\x00", b"[" * 100_000, b'{"checksum": 1, "content": []}'],
)
def test_damaged_document_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is damaged"):
        read_json(path)
