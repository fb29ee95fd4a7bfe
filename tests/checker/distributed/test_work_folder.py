"""The folder of a distributed search belongs to one question and version of the program, and to one run at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from proofka.checker.checkpoint import Checkpoint, CheckpointError
from proofka.checker.distributed import work_folder
from proofka.checker.distributed.plan import Report
from proofka.checker.distributed.spread import SpreadStates
from proofka.checker.distributed.work_folder import PROGRESS, RUN, ExplorationFolder, WorkFolder
from tests.checker.small_disk import in_a_child
from tests.checker.test_cli import ROOT

OPENS = """
import sys, pathlib
from proofka.checker.checkpoint import CheckpointError
from proofka.checker.distributed.work_folder import WorkFolder
try:
    folder = WorkFolder(pathlib.Path(sys.argv[1]), "the question")
except CheckpointError as error:
    print(error)
else:
    print("opened", flush=True)
    sys.stdin.read()
"""


def another_run(folder: Path) -> subprocess.Popen[str]:
    """Run a process that opens the folder and keeps it until its input ends."""
    command = [sys.executable, "-c", OPENS, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def refused(open_it: Callable[[], object], folder: Path, *parts: str) -> None:
    with pytest.raises(CheckpointError) as told:
        open_it()
    message = str(told.value)
    assert str(folder) in message
    assert "\n" not in message
    assert all(part in message for part in parts), message


def test_the_same_question_again(tmp_path: Path) -> None:
    for _ in range(2):
        work = WorkFolder(tmp_path / "new" / "work", "the question")
        assert (tmp_path / "new" / "work" / RUN).exists()
        work.close()


def test_another_question_or_version(tmp_path: Path) -> None:
    WorkFolder(tmp_path, "the question").close()
    refused(lambda: WorkFolder(tmp_path, "another"), tmp_path, "is the checkpoint of another question")
    with patch.object(work_folder, "code_fingerprint", lambda: "other"):
        refused(lambda: WorkFolder(tmp_path, "the question"), tmp_path, "another question", "name another folder")
    WorkFolder(tmp_path, "the question").close()


def test_folder_with_other_content_is_refused_and_unchanged(tmp_path: Path) -> None:
    """Nothing of it is touched. An embedded run's snapshots are something else."""
    (tmp_path / "thesis.tex").write_text("precious")
    refused(lambda: WorkFolder(tmp_path, "the question"), tmp_path, "is not empty and holds no checkpoint")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
    Checkpoint(tmp_path / "snapshots", "the question")
    refused(lambda: WorkFolder(tmp_path / "snapshots", "the question"), tmp_path / "snapshots", "holds no checkpoint")
    WorkFolder(tmp_path / "work", "the question").close()
    refused(lambda: Checkpoint(tmp_path / "work", "the question"), tmp_path / "work", "holds no checkpoint")


@pytest.mark.slow
def test_one_run_at_a_time(tmp_path: Path) -> None:
    """A second one is refused while the first one lives; when it is killed, the folder is free."""
    first = another_run(tmp_path)
    assert first.stdout is not None
    assert first.stdout.readline() == "opened\n"
    second = another_run(tmp_path)
    said, _ = second.communicate()
    assert said == f"{tmp_path}: another run is using it; wait for it, or name another folder\n"
    first.kill()
    first.wait()
    third = another_run(tmp_path)
    assert third.communicate()[0] == "opened\n"
    WorkFolder(tmp_path, "the question").close()


def test_folder_of_a_run_killed_at_its_beginning_can_be_used(tmp_path: Path) -> None:
    """The unfinished file does not make the folder another's."""

    def begin() -> int:
        with patch.object(os, "fsync", lambda _: os.kill(os.getpid(), signal.SIGKILL)):
            WorkFolder(tmp_path, "the question")
        return 0

    for _ in range(2):
        assert in_a_child(begin) == -signal.SIGKILL
        assert not (tmp_path / RUN).exists()
    assert len(list(tmp_path.iterdir())) > 1
    WorkFolder(tmp_path, "the question").close()


def some_states(complete: bool) -> SpreadStates:
    report = Report((1, 0), 0, 5, 100, 5, 1, 6, (0, 3), 4, (1, 2, 2), (2, 2), ((0, 0), (0, -1)), (), 0.5, 7, True)
    other = Report((1, 0), 1, 0, 100, 0, 0, 0, (0, 0), None, (), (), ((0, -1), (2, 4)), (), 0.5, 7)
    return SpreadStates((1, 0), complete, 3, (report, other))


def test_folder_reads_its_notes_and_kept_states_again(tmp_path: Path) -> None:
    folder = ExplorationFolder(tmp_path)
    assert (folder.progress(), folder.kept((1, 0)), folder.settings("asked")) == (None, None, None)
    folder.begin("asked", {"partitions": 3})
    folder.note(7, {(1, 0): some_states(False)})
    folder.keep(some_states(True))
    again = ExplorationFolder(tmp_path)
    assert again.progress() == (7, [some_states(False)])
    assert again.kept((1, 0)) == some_states(True)
    assert again.kept((0, 1)) is None
    assert again.settings("asked") == {"partitions": 3, "asked": "asked"}


def test_files_of_another_question_are_removed(tmp_path: Path) -> None:
    """The number of an exploration may be that of another one the next time."""
    folder = ExplorationFolder(tmp_path / "1")
    folder.begin("something", {})
    folder.keep(some_states(True))
    assert folder.settings("something else") is None
    assert folder.kept((1, 0)) is None


def test_handing_over_that_was_not_finished_counts_for_nothing(tmp_path: Path) -> None:
    folder = ExplorationFolder(tmp_path / "1")
    folder.begin("asked", {})
    with folder.handing_over():
        folder.keep(some_states(True))
    assert folder.settings("asked") is not None
    with pytest.raises(OSError, match="full"), folder.handing_over():
        raise OSError("full")
    assert folder.settings("asked") is None
    assert folder.kept((1, 0)) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\x00", b"[" * 100_000])
def test_damaged_documents_are_named(tmp_path: Path, content: bytes) -> None:
    WorkFolder(tmp_path, "the question").close()
    folder = ExplorationFolder(tmp_path)
    folder.note(7, {(1, 0): some_states(False)})
    folder.keep(some_states(True))
    folder.settings({"partitions": 3})
    readers: dict[str, Callable[[], object]] = {
        RUN: lambda: WorkFolder(tmp_path, "the question"),
        PROGRESS: folder.progress,
        "settings.json": lambda: folder.settings({}),
        "found/1-0.json": lambda: folder.kept((1, 0)),
    }
    for name, read in readers.items():
        (tmp_path / name).write_bytes(content)
        refused(read, tmp_path / name, "is damaged; delete the folder to start again")


def test_messages_of_the_last_superstep_are_kept(tmp_path: Path) -> None:
    folder = ExplorationFolder(tmp_path)
    folder.forget_messages(9)
    for superstep in (3, 9, 10, 11):
        (tmp_path / "messages" / str(superstep) / "all").mkdir(parents=True)
        (tmp_path / "messages" / str(superstep) / "all" / "0.arrow").touch()
    folder.forget_messages(10)
    assert {path.name for path in (tmp_path / "messages").iterdir()} == {"10", "11"}
