"""Runs that were killed, stopped or interrupted at any moment go on from their snapshots as if nothing had been."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import tracemalloc
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from checker import cli, exploration
from checker.budget import Budget, Meter
from checker.checkpoint import LOCK, MANIFEST, Checkpoint, CheckpointError
from checker.exploration import Exploration, Question
from checker.kernel import backward
from checker.kernel.native import optimise
from checker.kernel.table import PARTITIONS
from checker.shard import Shard
from model.faults import Fault
from model.language import TransitionSystem, Variable
from tests.checker.naive import Naive
from tests.checker.test_cli import ROOT, fails_in_one_line, proofka
from tests.checker.test_exploration import (
    KINDS,
    LOST,
    MOVE,
    NEVER,
    SLOW,
    action,
    counters,
    found_cut_sets,
    random_question,
    random_system,
)
from tests.checker.test_threads import check_equal, maze

MAZE_FAULTS: Mapping[Fault, int] = {SLOW: 1, LOST: 1, MOVE: 1}
ONE_BY_ONE = pytest.mark.usefixtures("one_by_one")


@pytest.fixture
def one_by_one() -> Iterator[None]:
    """Each combination is explored alone, so that there are snapshots in the middle of it."""
    with patch.object(exploration, "LARGE", 0):
        yield


def asked(
    folder: Path | None,
    system: TransitionSystem,
    question: Question,
    at_most: Mapping[Fault, int],
    total: int,
    *,
    budget: Budget | None = None,
    threads: int = 1,
    interval: float = 0,
) -> Exploration:
    """Explore up to ``total`` faults, with a snapshot wherever there may be one."""
    kept = None if folder is None else Checkpoint(folder, "the question", interval)
    meter = Meter(budget or Budget(), timed=False)
    found = Exploration(system, question, at_most, meter, threads, checkpoint=kept)
    for _ in range(total + 1):
        if found.layers and found.layers[-1].stopped:
            break
        found.explore_layer()
    return found


Again = Callable[..., Exploration]
HALF = 3700
"""States that a maze's exploration does not come to an end with."""


def some_maze(seed: int, *, goal: bool = True, total: int = 2) -> Again:
    """A question that takes a thousand states without faults and five thousand with two, to be explored repeatedly."""
    system, question = maze(random.Random(seed), goal=goal)
    return lambda folder, **options: asked(folder, system, question, MAZE_FAULTS, total, **options)


def saved_states(folder: Path) -> int:
    """How many states the last whole snapshot holds."""
    shards = json.loads((folder / MANIFEST).read_text())["content"]["shards"]
    return sum(sum(sum(chunk) for chunk in shard["chunks"]) for shard in shards.values())


# Stopped by a budget


@ONE_BY_ONE
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("goal", [False, True])
def test_many_stops_change_nothing(tmp_path: Path, goal: bool, threads: int) -> None:
    """A run that is stopped and resumed over and over stores the same rows, and finds the same."""
    again = some_maze(threads, goal=goal, total=1)
    whole = again(None)
    chance, limit, before = random.Random(threads), 0, 0
    while limit < whole.states:
        limit += chance.randint(1, whole.states // 3)
        cut = again(tmp_path, budget=Budget(states=limit), threads=chance.randint(1, threads))
        if cut.states > limit:
            assert any(report.stopped == "states" for report in cut.layers)
        assert saved_states(tmp_path) >= before, "no snapshot is lost"
        before = saved_states(tmp_path)
    resumed = again(tmp_path, threads=threads)
    check_equal(whole, resumed)
    finished = again(tmp_path)
    check_equal(whole, finished)
    assert saved_states(tmp_path) == whole.states


@settings(max_examples=15, derandomize=True)
@given(st.randoms(use_true_random=False), st.lists(st.integers(1, 150), max_size=3), st.booleans())
def test_random_systems(chance: random.Random, limits: list[int], alone: bool) -> None:
    """Resumed wherever they were stopped, side by side or one by one: the definition's cut sets."""
    system = random_system(chance)
    question = random_question(chance, system, goal=True)
    at_most = dict.fromkeys(KINDS, 2)
    whole = asked(None, system, question, at_most, 3)
    large = 0 if alone else exploration.LARGE
    with tempfile.TemporaryDirectory() as folder, patch.object(exploration, "LARGE", large):
        for limit in [*sorted(limits), 10**6, 10**6]:
            last = asked(Path(folder), system, question, at_most, 3, budget=Budget(states=limit), threads=2)
    check_equal(whole, last)
    assert found_cut_sets(last) == Naive(system, last.kinds, last.most, 3).cut_sets(question)


@ONE_BY_ONE
def test_snapshots_are_used(tmp_path: Path) -> None:
    """What is resumed is not explored again: no transition is counted that a snapshot holds."""
    again = some_maze(0)
    whole = again(tmp_path)
    from checker.breadth_first import Search

    with patch.object(Search, "_expand", side_effect=AssertionError("explored again")):
        check_equal(whole, again(tmp_path))


def test_a_combination_without_states_of_its_own(tmp_path: Path) -> None:
    """There is nothing to write of it, and nothing to read."""
    question = Question({"never": NEVER}, None, {})
    for _ in range(3):
        found = asked(tmp_path, counters(6), question, {SLOW: 1}, 1)
        assert {combination: shard.count for combination, shard in found.shards.items()} == {(0,): 343, (1,): 0}


def test_snapshots_come_at_intervals(tmp_path: Path) -> None:
    """Nothing is due before its time; what is whole is saved at the end of a layer all the same."""
    written: list[int] = []
    write = Checkpoint._write_manifest

    def count(self: Checkpoint) -> None:
        written.append(len(self._saved))
        write(self)

    with patch.object(Checkpoint, "_write_manifest", count), patch.object(exploration, "LARGE", 0):
        question = Question({"never": NEVER}, None, {})
        asked(tmp_path / "rarely", counters(10), question, {}, 0, interval=3600)
        assert len([shards for shards in written if shards]) == 1
        asked(tmp_path / "often", counters(10), question, {}, 0)
        assert len(written) > 30


# Killed


class Killed(BaseException):
    """Stands for SIGKILL: from then on nothing is written."""


@dataclass
class Disk:
    """A folder up to a kill: every file written counts twice, once when half of it is there and once when all is."""

    folder: Path
    moment: int
    passed: int = 0
    left: dict[str, bytes] | None = None
    """What the folder held when the process was killed."""

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


KILLING = """
import os, signal, sys
from checker import checkpoint, cli

signum, left = int(sys.argv.pop(1)), int(sys.argv.pop(1))
write = checkpoint.Checkpoint._write_manifest

def write_and_signal(self):
    global left
    write(self)
    left -= bool(self._saved)
    if left == 0:
        os.kill(os.getpid(), signum)

checkpoint.Checkpoint._write_manifest = write_and_signal
cli.main()
"""


def signalled(signum: int, manifests: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """A run of the command line that gets a signal after so many snapshots."""
    command = [sys.executable, "-c", KILLING, str(int(signum)), str(manifests), *(str(part) for part in arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=300)


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "checker", *(str(part) for part in arguments)]
    return subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False, timeout=300)


FIGURES = ("distinct", "transitions", "levels", "invariants", "stopped")
QUICK = ("published", "truncate-to-hw", "--replicas", "3", "--log-size", "2", "--epochs", "1", "--json")
LARGER = ("published", "kip-320", "--log-size", "3", "--records", "3", "--epochs", "2", "--json")


def figures(printed: str) -> dict[str, Any]:
    found = json.loads(printed)
    return {name: found.get(name) for name in FIGURES}


@pytest.mark.parametrize(
    ("arguments", "moments"),
    [(QUICK, (1, 12)), pytest.param(LARGER, (1, 5, 12, 20), marks=pytest.mark.slow)],
    ids=["quick", "larger"],
)
def test_a_killed_process_is_resumed(tmp_path: Path, arguments: tuple[str, ...], moments: tuple[int, ...]) -> None:
    """The same figures whenever it was killed, on another number of threads."""
    plain = proofka(*arguments)
    assert plain.exit_code == 0
    for moment in moments:
        kept = ("--checkpoint", str(tmp_path / str(moment)), "--checkpoint-every", "0.001")
        assert signalled(signal.SIGKILL, moment, *arguments, *kept).returncode == -signal.SIGKILL
        before = saved_states(tmp_path / str(moment))
        assert 0 < before < figures(plain.stdout)["distinct"]
        resumed = proofka(*arguments, *kept, "--threads", 1 + moment % 2)
        assert resumed.exit_code == 0
        assert figures(resumed.stdout) == figures(plain.stdout)


DEPLOYMENT = """
kafka: "4.0"
topic: {replicas: 2, min.insync.replicas: 1}
producer: {acks: all, enable.idempotence: false, max.in.flight.requests.per.connection: 1}
consumer: {group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}
require: [no-acked-loss, replica-agreement]
assume: {faults: {total: 2, kill: 2, slow-follower: 2, lost-response: 2, power-loss: 1}}
bounds: {records: 1, log: 2, sends: 1}
"""


@pytest.fixture
def deployment(tmp_path: Path) -> Path:
    file = tmp_path / "orders.yaml"
    file.write_text(DEPLOYMENT, encoding="utf-8")
    return file


def verdicts(file: Path) -> dict[str, Any]:
    """A result without what differs from run to run."""
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    for name in ("seconds", "compile_seconds"):
        del document["engine"][name]
    del document["checksum"]
    return document


def test_a_killed_check_is_resumed(tmp_path: Path, deployment: Path) -> None:
    """The same verdicts, cut sets, traces and counts as without a kill, but for the timings."""
    ask = ("check", deployment, "--no-sensitivity", "--json")
    assert proofka(*ask, tmp_path / "plain.json").exit_code in (0, 1)
    plain = verdicts(tmp_path / "plain.json")
    assert plain["engine"]["states"] > 1000
    assert {verdict["status"] for verdict in plain["verdicts"]} >= {"holds", "violated"}
    folder = tmp_path / "snapshots"
    kept = ("--checkpoint", folder, "--checkpoint-every", "0.0001")
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
    kept = ("--checkpoint", folder, "--checkpoint-every", "0.01")
    assert signalled(signal.SIGKILL, moment, *ask, tmp_path / "none.json", *kept).returncode == -signal.SIGKILL
    resumed = command(*ask, tmp_path / "resumed.json", *kept)
    assert resumed.returncode == plain.returncode, resumed.stderr
    assert resumed.stdout.splitlines()[0] == plain.stdout.splitlines()[0]
    assert verdicts(tmp_path / "resumed.json") == verdicts(tmp_path / "plain.json")


# Interrupted


def test_an_interrupted_check_says_so_and_is_resumed(tmp_path: Path, deployment: Path) -> None:
    """Ctrl-C: what was covered is printed, nothing is claimed beyond it, and the next run goes on from there."""
    folder = tmp_path / "snapshots"
    ask = ("check", deployment, "--no-sensitivity", "--json")
    kept = ("--checkpoint", folder, "--checkpoint-every", "0.0001")
    cut = signalled(signal.SIGINT, 1, *ask, tmp_path / "cut.json", *kept)
    assert cut.returncode in (1, 3), cut.stderr
    assert cut.stderr == ""
    assert "stopped: it was interrupted" in cut.stdout
    violated = {v["property"] for v in verdicts(tmp_path / "cut.json")["verdicts"] if v["status"] == "violated"}
    required = {"no-acked-loss", "replica-agreement"}
    assert (cut.returncode == 1) == bool(violated & required)
    assert proofka(*ask, tmp_path / "resumed.json", *kept).exit_code in (0, 1)
    proofka(*ask, tmp_path / "plain.json")
    assert verdicts(tmp_path / "resumed.json") == verdicts(tmp_path / "plain.json")


def test_an_interrupted_published_run_is_resumed(tmp_path: Path) -> None:
    plain = figures(proofka(*QUICK).stdout)
    kept = ("--checkpoint", tmp_path, "--checkpoint-every", "0.0001")
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


# Damaged, or another's


@pytest.fixture(scope="module")
def half_done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshots of a run that was stopped in the middle: whole combinations, and one that is not."""
    folder = tmp_path_factory.mktemp("half-done")
    with patch.object(exploration, "LARGE", 0):
        assert some_maze(0)(folder, budget=Budget(states=HALF)).layers[-1].stopped == "states"
    (folder / LOCK).unlink()
    kept = {file.suffix for file in folder.iterdir()}
    assert kept == {".states", ".parents", ".json"}
    assert len(list(folder.glob("*.states"))) >= 3
    assert all(file.stat().st_size > 50 for file in folder.iterdir())
    return folder


@pytest.fixture
def copy(half_done: Path, tmp_path: Path) -> Path:
    """Snapshots to be damaged."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for file in half_done.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.name not in (MANIFEST, LOCK))


def refused(again: Again, folder: Path, *parts: str) -> None:
    """The snapshots are refused in one line that names the folder."""
    with pytest.raises(CheckpointError) as told:
        again(folder)
    message = str(told.value)
    assert str(folder) in message
    assert "\n" not in message
    assert all(part in message for part in parts), message


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
def test_what_was_appended_after_the_snapshot_is_cut_off(copy: Path) -> None:
    """A torn append does no harm, nor does a manifest that was not finished."""
    again = some_maze(0)
    for number, file in enumerate(files(copy)):
        with file.open("ab") as opened:
            opened.write(bytes(range(256)) * (1 + 400 * number))
    (copy / f"{MANIFEST}.new").write_text('{"checksum"')
    assert again(copy, budget=Budget(states=HALF + 100)).layers[-1].stopped == "states"
    for _ in range(2):
        check_equal(again(None), again(copy))


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


def test_a_folder_of_something_else(tmp_path: Path) -> None:
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
    """Folders that are none or cannot be one, and what is said of them."""
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


# What resuming needs


def test_machine_code_stays_while_it_runs(tmp_path: Path) -> None:
    """Better machine code may come at any moment of a resumption: what runs then must not be released."""
    system = counters(6)
    question = Question({"never": NEVER}, ("goal", system.variables[0].term >= z3.IntVal(0)), {})
    asked(tmp_path, system, question, {}, 0)
    meter = Meter(Budget(), timed=False)
    resumed = Exploration(system, question, {}, meter, checkpoint=Checkpoint(tmp_path, "the question"))
    alive = []
    mark_where = backward.mark_where

    def better_code_comes(*arguments: Any) -> None:
        before = weakref.ref(resumed.kernel.engine)
        resumed.kernel = optimise(resumed.kernel)
        alive.append(before() is not None)
        if alive[-1]:
            mark_where(*arguments)

    with patch.object(backward, "mark_where", better_code_comes):
        resumed.explore_layer()
    assert alive and all(alive)


def test_recovery_by_a_step_into_a_smaller_combination(tmp_path: Path) -> None:
    """What such steps marked is not in a snapshot, and the partition that the successor belongs to is empty here."""
    down = Variable("down", 0, 1, 0)
    fail = action("fail", down.term == 0, {down: z3.IntVal(1)}, SLOW)
    system = TransitionSystem("up again", (down,), (fail, action("recover", down.term == 1, {down: z3.IntVal(0)})))
    question = Question({}, ("recovers", down.term == 0), {})
    for _ in range(3):
        found = asked(tmp_path, system, question, {SLOW: 1}, 1)
        assert [shard.count for shard in found.shards.values()] == [1, 1]
        assert found_cut_sets(found) == {"recovers": {}}


def many_states(words: int, count: int) -> Shard:
    """A whole shard of states that are all different."""
    shard = Shard((0,), words, 1, has_goal=False)
    states = np.zeros((count, words), dtype=np.uint64)
    states[:, -1] = np.arange(count)
    counts = np.array([len(states[part::PARTITIONS]) for part in range(PARTITIONS)])
    for part, (mine, parents) in enumerate(shard.allocate(counts)):
        mine[:], parents[:] = states[part::PARTITIONS], 0
    shard.enter_allocated(counts)
    shard.begin_segment(0, 0)
    shard.segments[0].starts[:] = 0
    shard.complete = True
    return shard


def peak(work: Callable[[], object]) -> int:
    """How many bytes more than before something takes for a while."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_snapshots_take_little_memory(tmp_path: Path) -> None:
    """Neither writing nor reading one holds a copy of all states: the memory budget is kept meanwhile."""
    shard = many_states(2, 400_000)
    kept = Checkpoint(tmp_path, "the question")
    assert peak(lambda: kept.save(0, [shard])) < 0.25 * shard.measure()
    restored = Shard((0,), 2, 1, has_goal=False)
    again = Checkpoint(tmp_path, "the question")
    taken = peak(lambda: again.restore(0, restored))
    assert restored.count == shard.count
    assert taken < 1.25 * restored.measure()


def test_a_snapshot_holds_everything(tmp_path: Path) -> None:
    """Field by field, of a shard with more than one chunk of rows."""
    again = some_maze(2)
    with patch.object(exploration, "LARGE", 0):
        found = again(tmp_path)
    kept = Checkpoint(tmp_path, "the question")
    for combination, shard in found.shards.items():
        copy = Shard(combination, shard.words, shard.first_seen.shape[1], has_goal=True)
        assert kept.restore(0, copy)
        assert not kept.restore(1, Shard(combination, shard.words, shard.first_seen.shape[1], has_goal=True))
        for part in range(PARTITIONS):
            for ours, theirs in zip(copy.rows(part), shard.rows(part), strict=True):
                assert (ours == theirs).all()
        assert copy.level_sizes() == shard.level_sizes()
        assert (copy.complete, copy.depth_done, copy.seen) == (shard.complete, shard.depth_done, shard.seen)
        assert (copy.first_seen == shard.first_seen).all()
        assert copy.transitions[0] == shard.transitions[0]


def test_a_snapshot_by_more_threads(tmp_path: Path, deployment: Path) -> None:
    """Combinations side by side, each saved as soon as it is whole."""
    ask = ("check", deployment, "--no-sensitivity", "--quiet", "--json")
    kept = ("--checkpoint", tmp_path / "snapshots", "--checkpoint-every", "0.0001")
    proofka(*ask, tmp_path / "first.json", *kept, "--threads", 3)
    proofka(*ask, tmp_path / "second.json", *kept, "--threads", 3)
    first = verdicts(tmp_path / "first.json")
    assert verdicts(tmp_path / "second.json") == first
