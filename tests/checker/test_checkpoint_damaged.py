"""Snapshots that are damaged or another's are refused in one line, and so are folders that cannot hold any."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from proofka.checker import cli, embedded
from proofka.checker.budget import Budget
from proofka.checker.check import Run
from proofka.checker.checkpoint import LOCK, MANIFEST, Checkpoint, CheckpointError
from proofka.checker.engine import EmbeddedEngine
from proofka.checker.questions import group, prepare
from proofka.model.faults import Fault
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from tests.checker.asking import SMALL, example
from tests.checker.checkpointed import DEPLOYMENT, ONE_BY_ONE, QUICK, Again, some_maze
from tests.checker.test_cli import fails_in_one_line, proofka
from tests.checker.test_threads import check_equal
from tests.deployments import changed

HALF = 3700
"""States that a maze's exploration does not come to an end with."""


@pytest.fixture(scope="module")
def half_done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the snapshots of a run that was stopped in the middle: complete combinations, and an incomplete
    combination."""
    folder = tmp_path_factory.mktemp("half-done")
    with patch.object(embedded, "LARGE", 0):
        assert some_maze(0)(folder, budget=Budget(states=HALF)).layers[-1].stopped == "states"
    (folder / LOCK).unlink()
    kept = {file.suffix for file in folder.iterdir()}
    assert kept == {".states", ".parents", ".json"}
    assert len(list(folder.glob("*.states"))) >= 3
    assert all(file.stat().st_size > 50 for file in folder.iterdir())
    return folder


@pytest.fixture
def copy(half_done: Path, tmp_path: Path) -> Path:
    """Return a copy of the snapshots, for a test to damage."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for file in half_done.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.name not in (MANIFEST, LOCK))


def refused(again: Again, folder: Path, *parts: str) -> None:
    """Assert that the snapshots are refused in one line that names the folder."""
    with pytest.raises(CheckpointError) as told:
        again(folder)
    message = str(told.value)
    assert str(folder) in message
    assert "\n" not in message
    assert all(part in message for part in parts), message


@pytest.mark.slow
@ONE_BY_ONE
def test_flipped_bytes(copy: Path) -> None:
    """One bit, anywhere in any file."""
    again, chance = some_maze(0), random.Random(2)
    for file in files(copy):
        content = file.read_bytes()
        for place in (0, len(content) - 1, chance.randrange(len(content))):
            flipped = bytearray(content)
            flipped[place] ^= 1 << chance.randrange(8)
            file.write_bytes(flipped)
            refused(again, copy, file.name, "is damaged; delete the folder")
        file.write_bytes(content)
    check_equal(again(None), again(copy))


@pytest.mark.slow
@ONE_BY_ONE
def test_files_cut_short_emptied_or_gone(copy: Path) -> None:
    again, chance = some_maze(0), random.Random(2)
    for file in files(copy):
        content = file.read_bytes()
        for size in (0, chance.randrange(len(content)), len(content) - 1):
            file.write_bytes(content[:size])
            refused(again, copy, file.name, "is damaged")
        file.unlink()
        refused(again, copy, file.name)
        file.mkdir()
        refused(again, copy, file.name)
        file.rmdir()
        file.write_bytes(content)
    check_equal(again(None), again(copy))


@ONE_BY_ONE
def test_files_that_were_exchanged(copy: Path) -> None:
    first, second = files(copy)[:2]
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    refused(some_maze(0), copy, "is damaged")


@ONE_BY_ONE
def test_resumption_cuts_off_data_after_the_snapshot(copy: Path) -> None:
    """A torn append does no harm, nor does a manifest that was not finished."""
    again = some_maze(0)
    for number, file in enumerate(files(copy)):
        with file.open("ab") as opened:
            opened.write(bytes(range(256)) * (1 + 400 * number))
    (copy / f"{MANIFEST}.new").write_text('{"checksum"')
    assert again(copy, budget=Budget(states=HALF + 100)).layers[-1].stopped == "states"
    for _ in range(2):
        check_equal(again(None), again(copy))


@pytest.mark.slow
def test_flipped_bytes_in_the_manifest(copy: Path) -> None:
    manifest, again = copy / MANIFEST, some_maze(0)
    content = manifest.read_bytes()
    for place in range(0, len(content), 11):
        flipped = bytearray(content)
        flipped[place] ^= 1
        manifest.write_bytes(flipped)
        with pytest.raises(CheckpointError, match="is damaged"):
            Checkpoint(copy, "the question")
    manifest.write_bytes(content)
    check_equal(again(None), again(copy))


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b"null", b"1", b"\xff\xfe\x00", b"[" * 100_000, b'{"checksum": 1, "content": []}'],
    ids=["empty", "cut", "list", "object", "null", "number", "binary", "deep", "no content"],
)
def test_a_manifest_that_is_none(copy: Path, content: bytes) -> None:
    (copy / MANIFEST).write_bytes(content)
    with pytest.raises(CheckpointError, match=r"manifest\.json: is damaged; delete the folder"):
        Checkpoint(copy, "the question")


def test_a_manifest_that_is_a_folder(copy: Path) -> None:
    (copy / MANIFEST).unlink()
    (copy / MANIFEST).mkdir()
    with pytest.raises(CheckpointError, match="is damaged"):
        Checkpoint(copy, "the question")


def test_the_checkpoint_of_another_question(copy: Path) -> None:
    with pytest.raises(CheckpointError, match="is the checkpoint of another question; name another folder"):
        Checkpoint(copy, "another question")


def test_folder_with_other_content_is_refused_and_unchanged(tmp_path: Path) -> None:
    """Nothing of it is touched."""
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(CheckpointError, match="is not empty and holds no checkpoint; name another folder"):
        Checkpoint(tmp_path, "the question")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_other_questions_are_refused_by_the_command(tmp_path: Path) -> None:
    assert proofka(*QUICK, "--checkpoint", tmp_path).exit_code == 0
    small = ("published", "kip-320", "--replicas", "2", "--checkpoint", tmp_path)
    fails_in_one_line(proofka(*small), str(tmp_path), "is the checkpoint of another question")
    fails_in_one_line(proofka(*QUICK, "--epochs", 0, "--checkpoint", tmp_path), "another question")


def test_the_same_properties_in_other_groups_are_another_question(tmp_path: Path) -> None:
    """Snapshots number explorations, which see other parts of the system where other properties are named first."""
    deployment = changed(example("acks-1", (Fault.KILL,)), replicas=2, bounds=SMALL)
    prepared = prepare(build(deployment))
    first, *later = properties_of(prepared.model.pipeline)
    together = group(prepared, [first, *later])
    apart = group(prepared, [first]), group(prepared, later)
    names = [one.name for groups in (together, (*apart[0], *apart[1])) for part in groups for one in part.properties]
    assert names[: len(names) // 2] == names[len(names) // 2 :], "the order alone tells them apart"
    engine = EmbeddedEngine((tmp_path, 0.0))
    Run(deployment, prepared, apart[0], Budget(), engine, later=apart[1])
    Run(deployment, prepared, apart[0], Budget(), engine, later=apart[1])
    with pytest.raises(CheckpointError, match="another question"):
        Run(deployment, prepared, together, Budget(), engine)


@pytest.mark.slow
def test_other_deployments_are_refused_by_the_command(tmp_path: Path, deployment: Path) -> None:
    folder = tmp_path / "snapshots"
    ask = ("check", deployment, "--quiet", "--no-sensitivity", "--checkpoint", folder)
    assert proofka(*ask, "--faults", 0).exit_code in (0, 1, 4)
    fails_in_one_line(proofka(*ask, "--faults", 1), str(folder), "another question")
    deployment.write_text(DEPLOYMENT.replace("acks: all", "acks: 1"), encoding="utf-8")
    fails_in_one_line(proofka(*ask, "--faults", 0), str(folder), "another question")
    (folder / MANIFEST).write_text("{")
    fails_in_one_line(proofka(*ask, "--faults", 0), str(folder), "is damaged")


def unusable(tmp_path: Path) -> list[tuple[Path, str]]:
    """Return paths that cannot be a folder of snapshots, each with the message about it."""
    file, other = tmp_path / "file", tmp_path / "other"
    file.touch()
    other.mkdir()
    (other / "thesis.tex").touch()
    return [
        (file, "file exists"),
        (file / "within", "not a directory"),
        (other, "is not empty and holds no checkpoint"),
    ]


def test_unusable_folders(tmp_path: Path) -> None:
    small = ("published", "kip-320", "--replicas", "2")
    for folder, said in unusable(tmp_path):
        fails_in_one_line(proofka(*small, "--checkpoint", folder), str(folder), said)


@pytest.mark.slow
def test_unusable_folders_of_a_check(tmp_path: Path, deployment: Path) -> None:
    for folder, said in unusable(tmp_path):
        fails_in_one_line(proofka("check", deployment, "--faults", 0, "--checkpoint", folder), str(folder), said)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize("command", ["check", "published"])
def test_folders_that_cannot_be_written(tmp_path: Path, deployment: Path, command: str) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    arguments = ["check", deployment, "--faults", 0] if command == "check" else ["published", "kip-320"]
    for folder in (locked, locked / "within"):
        fails_in_one_line(proofka(*arguments, "--checkpoint", folder), str(folder), "permission denied")


@pytest.mark.parametrize("command", ["check", "published"])
def test_a_full_disk_is_one_line(tmp_path: Path, deployment: Path, command: str) -> None:
    """No verdict without the snapshots that were asked for, and no traceback."""
    arguments = ["check", deployment, "--faults", 0] if command == "check" else [*QUICK]
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch.object(os, "fsync", side_effect=full):
        run = CliRunner().invoke(cli.app, [*(str(a) for a in arguments), "--checkpoint", str(tmp_path / "snapshots")])
    fails_in_one_line(run, "no space left on device")


@pytest.mark.parametrize("wrong", ["-1", "0", "x", "nan", "inf"])
def test_intervals_that_are_none(wrong: str) -> None:
    fails_in_one_line(proofka("published", "kip-320", "--checkpoint-every", wrong), "--checkpoint-every")
