"""Commands on a real Spark session that are killed, interrupted, or run out of disk, and are run again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from proofka.checker.distributed.work_folder import PROGRESS, ExplorationFolder
from proofka.checker.spark.session import NoSpark, check_java
from tests.checker.checkpointed import figures
from tests.checker.processes import alive, descendants, kill, wait_until
from tests.checker.small_disk import enlarge, small_disk
from tests.checker.test_cli import ROOT, proofka

QUICK = ("published", "kip-320", "--json")
LARGER = (*QUICK, "--log-size", "3", "--records", "3", "--epochs", "2")
ALL_SUPERSTEPS = 4
"""The seconds that the larger question takes on two cores."""
ON_SPARK = ("--engine", "spark", "--master", "local[2]", "--stats")


@pytest.fixture(autouse=True)
def has_java() -> None:
    try:
        check_java()
    except NoSpark as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def larger() -> dict[str, Any]:
    """Return the figures of the larger question."""
    return figures(proofka(*LARGER).stdout)


def said(told: str) -> list[str]:
    """Return the lines on standard error except those of --stats about the cache."""
    return [line for line in told.splitlines() if not line.startswith(("proof of domain safety ", "machine code "))]


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command line as a shell would, in a process group of its own, and end the whole group afterwards."""
    runs: list[subprocess.Popen[str]] = []

    def start(*arguments: str | Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "proofka", *(str(argument) for argument in arguments)]
        runs.append(
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
            )
        )
        return runs[-1]

    yield start
    for run in runs:
        if run.poll() is None:
            left = [*descendants(run.pid), run.pid]
            kill(left)
            run.wait()


def whole(run: subprocess.Popen[str]) -> tuple[dict[str, Any], int]:
    """Return the numbers of a complete run, and its number of supersteps."""
    printed, told = run.communicate()
    assert run.returncode == 0, told
    return figures(printed), int(re.search(r"(\d+) supersteps? for", " ".join(told.split()))[1])  # type: ignore[index]


def has_noted(folder: Path, superstep: int) -> Callable[[], bool]:
    """Tell whether the run has noted a superstep."""
    exploration = folder / "exploration-0"

    def noted() -> bool:
        progress = ExplorationFolder(exploration).progress() if (exploration / PROGRESS).exists() else None
        return progress is not None and progress[0] >= superstep

    return noted


@pytest.mark.slow
@pytest.mark.parametrize("superstep", [1, 2, 3])
def test_a_killed_driver_is_resumed(
    tmp_path: Path, larger: dict[str, Any], started: Callable[..., subprocess.Popen[str]], superstep: int
) -> None:
    """The kill ends Spark and its workers, too. The next run repeats no complete superstep, and finds the same."""
    command = (*LARGER, *ON_SPARK, "--checkpoint", tmp_path / "states")
    run = started(*command)
    wait_until(has_noted(tmp_path / "states", superstep), f"superstep {superstep} is whole")
    others = descendants(run.pid)
    assert any("java" in command for command in others.values())
    assert any("pyspark.daemon" in command for command in others.values())
    run.kill()
    assert run.wait() == -signal.SIGKILL
    wait_until(lambda: not alive(others), "Spark and its workers end")
    found, supersteps = whole(started(*command))
    assert found == larger
    assert 0 < supersteps <= ALL_SUPERSTEPS - superstep


@pytest.mark.slow
def test_a_killed_check_is_resumed(
    tmp_path: Path, deployment: Path, started: Callable[..., subprocess.Popen[str]]
) -> None:
    """In the middle of a check of several layers, with a goal."""
    assert proofka("check", deployment, "--no-sensitivity", "--json", tmp_path / "plain.json").exit_code == 1
    folder = tmp_path / "states"
    command = ("check", deployment, "--no-sensitivity", *ON_SPARK, "--checkpoint", folder, "--json")
    run = started(*command, tmp_path / "none.json")
    found = folder / "exploration-0" / "found"
    wait_until(lambda: len(list(found.glob("*.json"))) >= 2, "some combinations are whole")
    others = descendants(run.pid)
    run.kill()
    run.wait()
    wait_until(lambda: not alive(others), "Spark and its workers end")
    assert not (tmp_path / "none.json").exists()
    again = started(*command, tmp_path / "resumed.json")
    again.communicate()
    assert again.returncode == 1
    assert verdicts(tmp_path / "resumed.json") == verdicts(tmp_path / "plain.json")


def verdicts(file: Path) -> list[tuple[Any, ...]]:
    """Return the parts of a result that must not depend on the engine."""
    document = json.loads(file.read_text())
    return [
        (v["property"], v["status"], v["cut_sets"], v["states"], v["bounds"], [len(t["steps"]) for t in v["traces"]])
        for v in document["verdicts"]
    ]


@pytest.mark.slow
def test_ctrl_c(tmp_path: Path, larger: dict[str, Any], started: Callable[..., subprocess.Popen[str]]) -> None:
    """The terminal sends it to the whole group; what was whole by then is told, and gone on with."""
    command = (*LARGER, *ON_SPARK, "--checkpoint", tmp_path / "states")
    run = started(*command)
    wait_until(has_noted(tmp_path / "states", 2), "superstep 2 is whole")
    others = descendants(run.pid)
    os.killpg(run.pid, signal.SIGINT)
    printed, told = run.communicate()
    assert run.returncode == 3, told
    cut = figures(printed)
    assert cut["stopped"] == "interrupted"
    assert 0 < cut["distinct"] < larger["distinct"]
    assert "Traceback" not in told
    assert cut["levels"][:-1] == larger["levels"][: len(cut["levels"]) - 1]
    wait_until(lambda: not alive(others), "Spark and its workers end")
    found, supersteps = whole(started(*command))
    assert found == larger
    assert supersteps <= ALL_SUPERSTEPS - 2


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path, larger: dict[str, Any], started: Callable[..., subprocess.Popen[str]]) -> None:
    """One line, whatever could not be written; nothing half-written counts, and with more room the run goes on."""
    with small_disk(tmp_path / "small", "3m") as disk:
        command = (*LARGER, *ON_SPARK, "--checkpoint", disk / "states")
        for size in ("3m", "20m", "60m"):
            enlarge(disk, size)
            run = started(*command)
            printed, told = run.communicate()
            assert (run.returncode, printed) == (2, "")
            assert told.endswith(("no space is left there\n", "no space left on device\n"))
            assert len(said(told)) == 1
        assert has_noted(disk / "states", 2)()
        enlarge(disk, "600m")
        found, supersteps = whole(started(*command))
        assert found == larger
        assert supersteps <= ALL_SUPERSTEPS - 2


@pytest.mark.slow
def test_spark_itself_is_killed(
    tmp_path: Path, larger: dict[str, Any], started: Callable[..., subprocess.Popen[str]]
) -> None:
    """One line; and the next run goes on."""
    command = (*LARGER, *ON_SPARK, "--checkpoint", tmp_path / "states")
    run = started(*command)
    wait_until(has_noted(tmp_path / "states", 2), "superstep 2 is whole")
    others = descendants(run.pid)
    kill([process for process, line in others.items() if "java" in line.split(" ")[0]])
    printed, told = run.communicate()
    assert (run.returncode, printed) == (2, ""), told
    assert [line.startswith("Spark gave up: ") for line in said(told)] == [True]
    wait_until(lambda: not alive(others), "the workers end")
    assert whole(started(*command))[0] == larger


@pytest.mark.slow
def test_a_small_memory_is_enough(tmp_path: Path, started: Callable[..., subprocess.Popen[str]]) -> None:
    """Begun in memory, ended by Spark: the same figures."""
    found, supersteps = whole(started(*QUICK, "--engine", "auto", "--memory", "2M", "--master", "local[2]", "--stats"))
    assert supersteps > 0
    assert found == figures(proofka(*QUICK).stdout)


@pytest.mark.slow
def test_a_small_memory_is_enough_for_a_check(tmp_path: Path, started: Callable[..., subprocess.Popen[str]]) -> None:
    """Except for second looks, which this process takes: what they would have said is unknown, and said to be."""
    ask = ("check", ROOT / "examples" / "acks-1.yaml", "--faults", "1", "--no-sensitivity", "--json")
    plain = proofka(*ask, tmp_path / "plain.json")
    on_spark = ("--engine", "auto", "--memory", "1M", "--master", "local[2]", "--stats")
    found = started(*ask, tmp_path / "auto.json", *on_spark)
    _, told = found.communicate()
    assert "supersteps for" in " ".join(told.split())
    whole, part = verdicts(tmp_path / "plain.json"), verdicts(tmp_path / "auto.json")
    ended = [bounds["stopped"] is not None for *_, bounds, _ in part]
    assert found.returncode == plain.exit_code == 1
    assert {bounds["stopped"] for *_, bounds, _ in part} == {None, "memory"}
    assert [one for one, early in zip(part, ended, strict=True) if not early] == [
        one for one, early in zip(whole, ended, strict=True) if not early
    ]
    for (_, status, cut_sets, *_), (_, _, sooner, *_), early in zip(whole, part, ended, strict=True):
        assert not early or (status == "violated" and set(map(repr, sooner)) <= set(map(repr, cut_sets)))
