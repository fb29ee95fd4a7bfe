"""Audits that are interrupted, killed, or lose a process: what was found is kept, and the tables are the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.spark.folder import EXPLORED
from proofka.checker.spark.sources import find_source
from tests.checker.spark.auditing import audit, rows
from tests.checker.test_cli import ROOT

SYSTEMS = 12
MATRIX = """\
base:
  kafka: "4.0"
  topic: {replicas: 2}
  producer: {enable.idempotence: false}
  consumer: {group.id: orders, enable.auto.commit: false}
  assume: {faults: {total: 1}}
  bounds: {records: 1}
values:
  producer.acks: [1, all]
  topic.min.insync.replicas: [1, 2]
  producer.retries: [0, ~]
  consumer.commit: [before, after]
exclude:
  - {producer.acks: 1, producer.retries: 0}
"""
LONGEST = 300
"""Seconds that a test waits for anything at most."""


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("killed") / "review.yaml"
    path.write_text(MATRIX)
    return path


@pytest.fixture(scope="module")
def undisturbed(spark: Any, matrix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed")
    assert audit(spark, find_source(matrix, {}), out).systems == SYSTEMS
    return out


def tables(spark: Any, out: Path) -> dict[str, list[dict[str, Any]]]:
    """Return all columns but the duration."""
    found = {table: rows(spark, out, table) for table in ("verdicts", "traces", "rejected", "runs")}
    for row in found["runs"]:
        row.pop("seconds")
        row.pop("compile_seconds")
    found["runs"].sort(key=lambda row: row["signature"])
    return found


def explored(out: Path) -> dict[str, tuple[int, int]]:
    """Return the explored systems, each with values that change if its file is written again."""
    folder = out / EXPLORED
    if not folder.exists():
        return {}
    return {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in folder.glob("[!.]*.parquet")}


def wait_for(what: Callable[[], bool]) -> None:
    """Wait until something is so."""
    until = time.monotonic() + LONGEST
    while not what():
        assert time.monotonic() < until, "it does not come to that"
        time.sleep(0.02)


def descendants(process: int) -> Iterator[int]:
    """Yield the processes that a process started, and those that these started."""
    for folder in Path("/proc").iterdir():
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == process:
            yield int(folder.name)
            yield from descendants(int(folder.name))


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ended_while_exploring(matrix: Path, out: Path, ending: signal.Signals) -> tuple[int, str]:
    """Audit in processes of their own, and end them after two more systems. Returns the status and what was said."""
    enough = len(explored(out)) + 2
    command = [sys.executable, "-m", "proofka", "audit", str(matrix), "--out", str(out), "--master", "local[1]"]
    run = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        wait_for(lambda: len(explored(out)) >= enough or run.poll() is not None)
        started = list(descendants(run.pid))
    finally:
        os.killpg(run.pid, ending)
    _, said = run.communicate(timeout=LONGEST)
    assert len(started) >= 3, "the JVM, the daemon and a worker"
    wait_for(lambda: not any(map(is_running, started)))
    assert enough <= len(explored(out)) < SYSTEMS
    return run.returncode, said


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_an_interrupt_and_a_kill(spark: Any, matrix: Path, undisturbed: Path, tmp_path: Path) -> None:
    """On one core; what is left is explored on two. No process survives, and no system is explored again."""
    out = tmp_path / "out"
    status, said = ended_while_exploring(matrix, out, signal.SIGINT)
    interrupted = explored(out)
    assert status == 3
    told = re.fullmatch(
        rf"interrupted: (\d+) of {SYSTEMS} systems are explored; the same command continues.*", said.splitlines()[-1]
    )
    assert told is not None, said
    assert "stopping; what is explored is kept\n" in said
    assert 2 <= int(told[1]) <= len(interrupted)

    status, said = ended_while_exploring(matrix, out, signal.SIGKILL)
    killed = explored(out)
    assert status == -signal.SIGKILL
    assert interrupted.items() <= killed.items()

    assert audit(spark, find_source(matrix, {}), out).explored == SYSTEMS - len(killed)
    assert killed.items() <= explored(out).items()
    assert explored(out).keys() == explored(undisturbed).keys()
    assert tables(spark, out) == tables(spark, undisturbed)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_workers_that_die(spark: Any, matrix: Path, undisturbed: Path, tmp_path: Path) -> None:
    """Every Python process that explores, in the middle of it: their systems are explored again, in new ones."""
    out = tmp_path / "out"
    killed: list[int] = []

    def kill_workers() -> None:
        wait_for(lambda: len(explored(out)) >= 2)
        daemons = [one for one in descendants(jvm) if any(True for _ in descendants(one))]
        killed.extend(worker for daemon in daemons for worker in descendants(daemon))
        for worker in killed:
            os.kill(worker, signal.SIGKILL)

    jvm = spark.sparkContext._gateway.proc.pid
    killer = threading.Thread(target=kill_workers)
    killer.start()
    counts = audit(spark, find_source(matrix, {}), out)
    killer.join()
    assert killed
    assert counts.explored == SYSTEMS
    tracker = spark.sparkContext.statusTracker()
    stages = [info for number in range(1000) if (info := tracker.getStageInfo(number)) is not None]
    assert sum(stage.numFailedTasks for stage in stages) > 0, "they were in the middle of something"
    assert tables(spark, out) == tables(spark, undisturbed)
