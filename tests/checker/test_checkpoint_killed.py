"""Runs that were killed or interrupted at any moment go on from their snapshots as if nothing had been."""

from __future__ import annotations

import errno
import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import pytest

from tests.checker.checkpointed import (
    AT_EVERY_LEVEL,
    ONE_BY_ONE,
    QUICK,
    Again,
    command,
    figures,
    saved_states,
    signalled,
    some_maze,
    verdicts,
)
from tests.checker.test_cli import proofka
from tests.checker.test_threads import check_equal

LARGER = ("published", "kip-320", "--log-size", "3", "--records", "3", "--epochs", "2", "--json")


# Killed


class Killed(BaseException):
    """SIGKILL, after which no file is written."""


@dataclass
class Disk:
    """A folder up to a kill: every file written counts twice, once when half of it is there and once when all is."""

    folder: Path
    moment: int
    passed: int = 0
    left: dict[str, bytes] | None = None
    """The content of the folder when the process was killed."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        sizes: dict[Path, int] = {}
        sync = os.fsync

        def sync_unless_killed(number: int) -> None:
            if self.left is not None:
                raise Killed
            file = Path(f"/proc/self/fd/{number}").readlink()
            size = os.fstat(number).st_size
            before = sizes.get(file, size - 1)  # of an earlier run's file at least the last byte is new
            sizes[file] = size if file.suffix != ".new" else 0
            self.passed += 1
            if self.passed == self.moment:
                os.ftruncate(number, before + (size - before) // 2)
                self.kill()
            sync(number)
            self.passed += 1
            if self.passed == self.moment:
                self.kill()

        with patch.object(os, "fsync", sync_unless_killed):
            yield

    def kill(self) -> NoReturn:
        """Keep the folder as it is now."""
        self.left = {file.name: file.read_bytes() for file in self.folder.iterdir()}
        raise Killed


def killed(again: Again, folder: Path, moment: int, **options: Any) -> Disk:
    """Run until a moment of writing; what is still written after it is undone."""
    disk = Disk(folder, moment)
    with disk.writing(), suppress(Killed):
        again(folder, **options)
    if disk.left is not None:
        for file in folder.iterdir():
            file.unlink()
        for name, content in disk.left.items():
            (folder / name).write_bytes(content)
    return disk


@ONE_BY_ONE
@pytest.mark.parametrize(("total", "moments"), [(0, 4), pytest.param(2, 20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("goal", [False, True])
def test_killed_at_any_moment_of_writing(tmp_path: Path, goal: bool, total: int, moments: int) -> None:
    """Between any two writes and in the middle of each: what the last manifest says is whole, and the run goes on."""
    again = some_maze(1, goal=goal, total=total)
    whole = again(None)
    disk = killed(again, tmp_path / "all", 10**6)
    assert disk.passed > 60
    chance = random.Random(3)
    for moment in chance.sample(range(20, disk.passed + 1), moments):
        folder = tmp_path / str(moment)
        assert killed(again, folder, moment).passed == moment
        assert saved_states(folder) > 0
        assert killed(again, folder, chance.randint(1, 40)).passed > 0
        check_equal(whole, again(folder))


@ONE_BY_ONE
def test_killed_again_and_again(tmp_path: Path) -> None:
    again = some_maze(0, total=0)
    killed(again, tmp_path, 9)
    for moment in range(6, 15):
        killed(again, tmp_path, moment)
    check_equal(again(None), again(tmp_path))


@ONE_BY_ONE
@pytest.mark.parametrize("moment", range(1, 10))
def test_killed_before_or_during_the_first_snapshot(tmp_path: Path, moment: int) -> None:
    """A run that is killed that early starts anew; its own unfinished files do not make the folder another's."""
    again = some_maze(0, total=0)
    killed(again, tmp_path, moment)
    check_equal(again(None), again(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "moments"),
    [
        pytest.param(QUICK, (1, 12), marks=pytest.mark.slow),
        pytest.param(LARGER, (1, 5, 12, 20), marks=pytest.mark.slow),
    ],
    ids=["quick", "larger"],
)
def test_a_killed_process_is_resumed(tmp_path: Path, arguments: tuple[str, ...], moments: tuple[int, ...]) -> None:
    """The same figures whenever it was killed, on another number of threads."""
    plain = proofka(*arguments)
    assert plain.exit_code == 0
    for moment in moments:
        kept = ("--checkpoint", str(tmp_path / str(moment)), *AT_EVERY_LEVEL)
        assert signalled(signal.SIGKILL, moment, *arguments, *kept).returncode == -signal.SIGKILL
        before = saved_states(tmp_path / str(moment))
        assert 0 < before < figures(plain.stdout)["distinct"]
        resumed = proofka(*arguments, *kept, "--threads", 1 + moment % 2)
        assert resumed.exit_code == 0
        assert figures(resumed.stdout) == figures(plain.stdout)


@pytest.mark.slow
def test_a_killed_check_is_resumed(tmp_path: Path, deployment: Path) -> None:
    """The same verdicts, cut sets, traces and counts as without a kill, but for the timings."""
    ask = ("check", deployment, "--no-sensitivity", "--json")
    assert proofka(*ask, tmp_path / "plain.json").exit_code in (0, 1)
    plain = verdicts(tmp_path / "plain.json")
    assert plain["engine"]["states"] > 1000
    assert {verdict["status"] for verdict in plain["verdicts"]} >= {"holds", "violated"}
    folder = tmp_path / "snapshots"
    kept = ("--checkpoint", folder, *AT_EVERY_LEVEL)
    assert signalled(signal.SIGKILL, 4, *ask, tmp_path / "none.json", *kept).returncode == -signal.SIGKILL
    assert not (tmp_path / "none.json").exists()
    assert 0 < saved_states(folder) < plain["engine"]["states"]
    resumed = proofka(*ask, tmp_path / "resumed.json", *kept)
    assert resumed.exit_code in (0, 1), resumed.output
    assert verdicts(tmp_path / "resumed.json") == plain


@pytest.mark.slow
@pytest.mark.parametrize("moment", [1, 2, 3, 7])
def test_a_killed_check_of_an_example_is_resumed(tmp_path: Path, moment: int) -> None:
    ask = ("check", "examples/orders.yaml", "--faults", "2", "--no-sensitivity", "--json")
    plain = command(*ask, tmp_path / "plain.json")
    folder = tmp_path / "snapshots"
    kept = ("--checkpoint", folder, *AT_EVERY_LEVEL)
    assert signalled(signal.SIGKILL, moment, *ask, tmp_path / "none.json", *kept).returncode == -signal.SIGKILL
    resumed = command(*ask, tmp_path / "resumed.json", *kept)
    assert resumed.returncode == plain.returncode, resumed.stderr
    assert resumed.stdout.splitlines()[0] == plain.stdout.splitlines()[0]
    assert verdicts(tmp_path / "resumed.json") == verdicts(tmp_path / "plain.json")


# Interrupted


@pytest.mark.slow
def test_an_interrupted_check_says_so_and_is_resumed(tmp_path: Path, deployment: Path) -> None:
    """Ctrl-C: what was covered is printed, nothing is claimed beyond it, and the next run goes on from there."""
    folder = tmp_path / "snapshots"
    ask = ("check", deployment, "--no-sensitivity", "--json")
    kept = ("--checkpoint", folder, *AT_EVERY_LEVEL)
    cut = signalled(signal.SIGINT, 1, *ask, tmp_path / "cut.json", *kept)
    assert cut.returncode in (1, 3), cut.stderr
    goes_on = f"the same command with --checkpoint {folder} continues from this snapshot"
    assert cut.stderr.splitlines() == ["stopping; what is decided follows", goes_on]
    assert "stopped: the check was interrupted" in cut.stdout
    violated = {v["property"] for v in verdicts(tmp_path / "cut.json")["verdicts"] if v["status"] == "violated"}
    required = {"no-acked-loss", "replica-agreement"}
    assert (cut.returncode == 1) == bool(violated & required)
    assert proofka(*ask, tmp_path / "resumed.json", *kept).exit_code in (0, 1)
    proofka(*ask, tmp_path / "plain.json")
    assert verdicts(tmp_path / "resumed.json") == verdicts(tmp_path / "plain.json")


@pytest.mark.slow
def test_an_interrupted_published_run_is_resumed(tmp_path: Path) -> None:
    plain = figures(proofka(*QUICK).stdout)
    kept = ("--checkpoint", tmp_path, *AT_EVERY_LEVEL)
    cut = signalled(signal.SIGINT, 8, *QUICK, *kept)
    assert (cut.returncode, cut.stderr) == (3, "")
    assert figures(cut.stdout)["stopped"] == "interrupted"
    assert 0 < saved_states(tmp_path) <= figures(cut.stdout)["distinct"] < plain["distinct"]
    assert figures(proofka(*QUICK, *kept).stdout) == plain


@ONE_BY_ONE
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.ENOSPC, "No space left on device")])
@pytest.mark.parametrize("number", range(9, 13))
def test_interrupted_within_a_snapshot(tmp_path: Path, number: int, error: type[BaseException] | BaseException) -> None:
    """A second Ctrl-C, or a disk that is full for a moment, between a snapshot's files: the next one is whole again."""
    again = some_maze(0, total=0)
    sync, left = os.fsync, [number]

    def fail_once(file: int) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise error
        sync(file)

    with patch.object(os, "fsync", fail_once), suppress(OSError):
        again(tmp_path)
    assert left[0] <= 0
    check_equal(again(None), again(tmp_path))
