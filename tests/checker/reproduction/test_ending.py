"""The end of ``proofka reproduce``: nothing is left of a run, however the run ends, and two runs do not meet."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from proofka.checker.cluster.jars import default_folder
from proofka.checker.cluster.waiting import until
from tests.checker.processes import PATIENCE, alive, descendants, kill
from tests.checker.reproduction.small_results import result_of

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[3]
STARTING, WAITING = "start on this machine", "fences broker"
"""Words in the line of progress before the cluster starts, and before a step that waits for a timer of Kafka."""
LONGEST_DELAY = 8.0
"""Longest time between the first line of progress and a signal at a random moment, in seconds."""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return result_of(tmp_path_factory.mktemp("result"), replicas=2, fault="kill")


@contextmanager
def replaying(result: Path, folder: Path, *options: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run a replay whose files and processes are all below a folder, and end the rest of the replay."""
    folder.mkdir(exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-m", "proofka", "reproduce", str(result), "1", *options],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        try:
            yield run
        finally:
            run.kill()
            until(lambda: not with_files_in(folder), what="the end of all processes", seconds=PATIENCE)


def with_files_in(folder: Path) -> dict[int, str]:
    """Return the processes whose command line names a folder, or that work there."""
    found = {}
    for process, command in descendants(1).items():
        try:
            works_in = str(Path(f"/proc/{process}/cwd").readlink())
        except OSError:
            works_in = ""
        if (str(folder) in command or works_in.startswith(str(folder))) and alive([process]):
            found[process] = command
    return found


def told(run: subprocess.Popen[str], words: str) -> str:
    """Return the first line of progress with these words."""
    assert run.stderr is not None
    lines = []
    for line in run.stderr:
        lines.append(line)
        if re.search(words, line):
            return line
    raise AssertionError(f"no line with {words!r}: {''.join(lines)}")


def nothing_is_left(folder: Path, before: Mapping[int, str]) -> None:
    """Wait until the processes have ended and the folder is empty."""
    until(lambda: not alive(before) and not with_files_in(folder), what=f"the end of {before}", seconds=PATIENCE)
    until(lambda: not any(folder.iterdir()), what=f"the removal of what is in {folder}", seconds=PATIENCE)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("moment", ["starting", "waiting", "random"])
def test_nothing_is_left_of_a_replay_that_a_signal_ends(
    number: signal.Signals, moment: str, result: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "replay"
    with replaying(result, folder) as run:
        told(run, WAITING if moment == "waiting" else STARTING)
        if moment == "starting":
            until(lambda: len(with_files_in(folder)) > 2, what="the first nodes", seconds=PATIENCE)
        elif moment == "random":
            delay = random.uniform(0, LONGEST_DELAY)
            print(f"a signal after {delay:.2f} s")
            time.sleep(delay)  # the moment itself, and no wait for anything
        before = with_files_in(folder)
        assert before or moment == "random"
        os.kill(run.pid, number)
        output, errors = run.communicate(timeout=PATIENCE)
        nothing_is_left(folder, before)
    if number == signal.SIGKILL:
        assert run.returncode == -signal.SIGKILL
    else:
        assert run.returncode == 130
        assert errors.splitlines()[-1] == "interrupted"
        assert "Traceback" not in errors and not output


@pytest.mark.parametrize("moment", ["starting", "waiting"])
def test_nothing_is_left_of_a_replay_with_zookeeper_that_is_killed(moment: str, tmp_path: Path) -> None:
    folder = tmp_path / "replay"
    with replaying(result_of(tmp_path, replicas=2, fault="kill", kafka="2.8"), folder) as run:
        told(run, WAITING if moment == "waiting" else STARTING)
        until(lambda: len(with_files_in(folder)) > 2, what="the first nodes", seconds=PATIENCE)
        before = with_files_in(folder)
        assert moment == "starting" or any("zookeeper" in command for command in before.values())
        os.kill(run.pid, signal.SIGKILL)
        run.communicate(timeout=PATIENCE)
        nothing_is_left(folder, before)
    assert run.returncode == -signal.SIGKILL


def commands_of(run: subprocess.Popen[str]) -> dict[str, str]:
    """Return the commands that a kept cluster is reached by, by the name of the program; the first of each name."""
    assert run.stderr is not None
    found: dict[str, str] = {}
    for line in run.stderr:
        if line.startswith("Ctrl-C ends the cluster"):
            break
        if line.startswith("  "):
            command = line.strip().partition(", and then lines")[0]
            found.setdefault(command.split()[0], command)
    return found


def test_the_commands_of_a_kept_cluster_work_and_nothing_is_left_after_ctrl_c(result: Path, tmp_path: Path) -> None:
    folder = tmp_path / "replay"
    with replaying(result, folder, "--keep") as run:
        assert "topic proofka-1" in told(run, "The cluster runs")
        commands = commands_of(run)
        place = Path(commands.pop("cd").split()[1])

        def shown(name: str, more: str = "", given: str = "") -> str:
            command = f"{commands[f'tools/{name}.sh']} {more}"
            asked = subprocess.run(
                command, shell=True, cwd=place, input=given, capture_output=True, text=True, timeout=PATIENCE
            )
            assert asked.returncode == 0, asked.stderr
            return asked.stdout

        assert "Leader: 2" in shown("kafka-topics")
        assert "payload: record-1" in shown("kafka-dump-log")  # broker 1, which is down, has the record
        shown("kafka-console-producer", given="hello\n")
        sent = shown("producer", given='{"do":"prepare"}\n{"do":"send","record":9}\n{"do":"close"}\n')
        assert '"error":null' in sent and '"event":"closed"' in sent
        assert "proofka-1:0:2" in shown("kafka-get-offsets")
        read = shown("kafka-console-consumer", "--timeout-ms 20000")
        assert "hello" in read and "record-9" in read and "record-1\n" not in read
        before = with_files_in(folder)
        assert len(before) >= 2
        os.kill(run.pid, signal.SIGINT)
        output, _ = run.communicate(timeout=PATIENCE)
        nothing_is_left(folder, before)
    assert run.returncode == 0
    assert "reproduced" in output


def test_two_replays_at_once_with_one_empty_cache_do_not_meet(result: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (cache / "proofka").mkdir(parents=True)
    (cache / "proofka" / "jars").symlink_to(default_folder())
    folders = [tmp_path / name for name in ("first", "second")]
    with (
        replaying(result, folders[0], XDG_CACHE_HOME=str(cache)) as first,
        replaying(result, folders[1], XDG_CACHE_HOME=str(cache)) as second,
    ):
        ends = [run.communicate(timeout=5 * PATIENCE) for run in (first, second)]
        for run, (output, errors) in zip((first, second), ends, strict=True):
            assert run.returncode == 0, errors
            assert "reproduced" in output
    for folder in folders:
        assert not any(folder.iterdir())
    for kept in ("nodes", "programs"):
        assert not [path for path in (cache / "proofka" / kept).rglob("*") if path.name.startswith("unfinished")]


def test_a_controller_that_is_killed_from_outside_is_no_divergence_and_ends_a_replay_with_one_line(
    result: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "replay"
    with replaying(result, folder) as run:
        told(run, WAITING)
        controllers = {one for one, command in with_files_in(folder).items() if "node-100/" in command}
        assert len(controllers) == 1
        kill(controllers)
        output, errors = run.communicate(timeout=5 * PATIENCE)
        assert run.returncode == 2 and not output
        assert re.fullmatch(r"the node at port \d+ does not answer: .*\(K44\)\n", errors)
