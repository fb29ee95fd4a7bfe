"""A real Spark session carries the distributed search: the same as in memory, whatever becomes of its workers."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from proofka.checker.budget import Budget
from proofka.checker.check import check
from proofka.checker.distributed.plan import Failure, Plan, Report, Task
from proofka.checker.distributed.running import DistributedError, ShouldStop
from proofka.checker.published import explore_whole
from proofka.checker.spark.engine import AutoEngine, DistributedEngine
from proofka.checker.spark.running import SparkRunner
from proofka.model.faults import Fault
from proofka.model.published.protocols import protocol
from proofka.properties.superstep import Superstep
from proofka.properties.whole_space import WholeSpace
from tests.checker.asking import SMALL, example, run
from tests.checker.certificates.accepting import certified
from tests.checker.distributed.both import assert_same, embedded
from tests.checker.distributed.dying import counted
from tests.checker.distributed.stopping import Asked, some_resets
from tests.checker.distributed.test_engines import TIGHT, told, whole
from tests.checker.processes import kill, wait_until, workers
from tests.deployments import changed


def on(spark: Any, folder: Path, noted: list[Superstep], partitions: int | None = None) -> DistributedEngine:
    return DistributedEngine(SparkRunner(spark.sparkContext), folder / "work", noted.append, partitions)


@pytest.mark.slow
def test_a_published_protocol(spark: Any, tmp_path: Path) -> None:
    """States, levels, transitions, where invariants fail; in at most a third as many supersteps as there are levels."""
    noted: list[Superstep] = []
    found = whole("kip-320", on(spark, tmp_path, noted))
    assert found == whole("kip-320")
    assert 0 < len(noted) * 3 <= len(found.levels) - 1
    assert sum(superstep.entered for superstep in noted) == found.distinct


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acks-1", "commit-before-processing"])
def test_checks_of_examples(spark: Any, tmp_path: Path, name: str) -> None:
    """Verdicts, cut sets, lengths of traces, counts."""
    deployment, noted = replace(example(name, total=1), bounds=SMALL), list[Superstep]()
    found = check(deployment, engine=on(spark, tmp_path, noted))
    assert noted
    assert told(found) == told(check(deployment))


@pytest.mark.slow
def test_a_certificate(spark: Any, tmp_path: Path) -> None:
    """The executors sort and pack the states, and the checker accepts the file."""
    asked = changed(example("acks-1", (Fault.KILL, Fault.POWER_LOSS)), bounds=SMALL, replicas=2)
    written = certified(run(asked, ["recoverability"], engine=on(spark, tmp_path, [])), tmp_path / "a.cert")
    assert written.certified == ("recoverability",)


@pytest.mark.slow
def test_search_that_outgrows_the_memory_is_handed_to_spark(spark: Any, tmp_path: Path) -> None:
    noted: list[Superstep] = []
    assert whole("kip-320", AutoEngine(lambda: on(spark, tmp_path, noted)), TIGHT) == whole("kip-320")
    assert noted


# Workers that die


@dataclass
class Sabotaged:
    """The executors, whose tasks are done by another function; it is told a folder, which all of them reach."""

    runner: SparkRunner
    do: Callable[..., Any]
    folder: Path

    @property
    def parallelism(self) -> int:
        return self.runner.parallelism

    def run(self, do: Callable[..., Any], plan: Plan, tasks: Sequence[Any], should_stop: ShouldStop) -> list[Any]:
        return self.runner.run(partial(self.do, do, self.folder), plan, tasks, should_stop)


def killed_once(do: Callable[..., Any], folder: Path, plan: Plan, task: Any) -> Any:
    """Kill the process of every third task in the middle of its first attempt, and of every fourth task at the end."""
    deaths = len(list(folder.iterdir()))
    if deaths < 12 and (task.superstep + task.partition) % 3 == 0:
        try:
            (folder / f"{task.superstep}-{task.partition}").touch(exist_ok=False)
        except FileExistsError:
            return do(plan, task)
        counted(do, plan, task, 150 + 100 * deaths, lambda: os.kill(os.getpid(), signal.SIGKILL))
        os.kill(os.getpid(), signal.SIGKILL)
    return do(plan, task)


@pytest.fixture(scope="module")
def asked() -> Asked:
    return some_resets()


@pytest.mark.slow
def test_workers_that_die_in_the_middle(spark: Any, tmp_path: Path, asked: Asked) -> None:
    """Workers die in the middle of a task, or at its end, after the commit: other workers repeat the tasks, and no
    state is lost."""
    deaths = tmp_path / "deaths"
    deaths.mkdir()
    runner = Sabotaged(SparkRunner(spark.sparkContext), killed_once, deaths)
    found = asked.explore(tmp_path / "states", runner)
    assert_same(found, embedded(asked.system, asked.question, asked.at_most, asked.total))
    assert len(list(deaths.iterdir())) > 4


def figures(found: WholeSpace) -> tuple[object, ...]:
    return found.distinct, found.transitions, found.levels, found.invariants


@pytest.mark.slow
def test_workers_that_are_killed(spark: Any, tmp_path: Path) -> None:
    """All of them at once, from outside, wherever they are in a superstep that takes seconds."""
    published = protocol("kip-320", replicas=3, log_size=3, records=3, epochs=1)
    expected = explore_whole(published.system, published.violated, Budget())
    noted: list[Superstep] = []
    killed: list[int] = []

    def kill_workers() -> None:
        wait_until(lambda: len(noted) == 2 and bool(list(tmp_path.rglob("outbox"))), "a superstep is under way")
        killed.extend(workers(os.getpid()))
        kill(killed)

    killer = threading.Thread(target=kill_workers)
    killer.start()
    found = explore_whole(published.system, published.violated, Budget(), on(spark, tmp_path, noted))
    killer.join()
    assert killed
    assert (found.distinct, found.transitions, found.levels) == (
        expected.distinct,
        expected.transitions,
        expected.levels,
    )
    assert found.invariants == expected.invariants


def fails_always(do: Callable[..., Any], folder: Path, plan: Plan, task: Any) -> Any:
    (folder / f"{os.getpid()}-{len(list(folder.iterdir()))}").touch()
    raise ZeroDivisionError("of all things")


@pytest.mark.slow
def test_tasks_that_fail_every_time(spark: Any, tmp_path: Path, asked: Asked) -> None:
    """Spark abandons such tasks after some attempts, in one line with the error."""
    attempts = tmp_path / "attempts"
    attempts.mkdir()
    with pytest.raises(DistributedError, match=r"^Spark gave up: \S*ZeroDivisionError: of all things$"):
        asked.explore(tmp_path / "states", Sabotaged(SparkRunner(spark.sparkContext), fails_always, attempts))
    assert len(list(attempts.iterdir())) >= 2
    assert_same(
        asked.explore(tmp_path / "states", SparkRunner(spark.sparkContext)),
        embedded(asked.system, asked.question, asked.at_most, asked.total),
    )


def is_refused(do: Callable[..., Any], folder: Path, plan: Plan, task: Task) -> list[Report] | Failure:
    (folder / f"{task.superstep}-{task.partition}").touch(exist_ok=False)
    return Failure(task.partition, error="it cannot be done")


@pytest.mark.slow
def test_lasting_error_ends_the_search_without_new_attempts(spark: Any, tmp_path: Path, asked: Asked) -> None:
    attempts = tmp_path / "attempts"
    attempts.mkdir()
    with pytest.raises(DistributedError, match=r"^it cannot be done$"):
        asked.explore(tmp_path / "states", Sabotaged(SparkRunner(spark.sparkContext), is_refused, attempts))
    assert len(list(attempts.iterdir())) > 1


# Interrupted


@dataclass
class Stopping:
    """The executors; after some jobs somebody asks to stop while the next is done."""

    runner: SparkRunner
    left: int
    folder: Path
    seen: list[str] = field(default_factory=list)

    @property
    def parallelism(self) -> int:
        return self.runner.parallelism

    def run(self, do: Callable[..., Any], plan: Plan, tasks: Sequence[Any], should_stop: ShouldStop) -> list[Any]:
        self.left -= 1
        if self.left:
            return self.runner.run(do, plan, tasks, should_stop)
        began = self.folder / "began"
        return self.runner.run(partial(takes_long, do, self.folder), plan, tasks, began.exists)


def takes_long(do: Callable[..., Any], folder: Path, plan: Plan, task: Any) -> Any:
    (folder / "began").touch()
    signal.pause()


@pytest.mark.parametrize("jobs", [pytest.param(2, marks=pytest.mark.slow), pytest.param(9, marks=pytest.mark.slow)])
def test_interrupted(spark: Any, tmp_path: Path, asked: Asked, jobs: int) -> None:
    """A job that would never end is given up; the session can be used further, and the search gone on with."""
    found = asked.explore(tmp_path / "states", Stopping(SparkRunner(spark.sparkContext), jobs, tmp_path))
    assert found.layers[-1].stopped == "interrupted"
    assert_same(
        asked.explore(tmp_path / "states", SparkRunner(spark.sparkContext)),
        embedded(asked.system, asked.question, asked.at_most, asked.total),
    )
