"""What an exploration takes: bytes a state, also just after a table has grown, and the whole process under --memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import z3
from numpy.typing import NDArray

from checker.budget import Budget, Meter
from checker.embedded import EmbeddedExploration
from checker.exploration import Question
from checker.kernel import table
from checker.kernel.table import PARTITIONS
from checker.shard import Growth, Shard
from model.language import TransitionSystem, Variable
from tests.checker.test_cli import ROOT
from tests.checker.test_exploration import NEVER, action

MANY = 250_000
"""States from which on it is counted how many bytes one takes."""
TOLERANCE = 1.05
MEASURE = """
import resource, subprocess, sys
from pathlib import Path
run = subprocess.run(sys.argv[2:])
Path(sys.argv[1]).write_text(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(run.returncode)
"""
"""Its own process has one child only, so that what it reports is that child's."""


def counters(words: int, highest: int) -> TransitionSystem:
    """Three counters that go up one by one, in states of so many words."""
    variables = tuple(Variable(f"counter{i}", 0, highest, 0) for i in range(3))
    wide = tuple(Variable(f"wide{i}", 0, (1 << 60) - 1, i) for i in range(words - 1))
    ups = [action(f"up{i}", v.term < highest, {v: v.term + 1}) for i, v in enumerate(variables)]
    return TransitionSystem("counters", (*variables, *wide), tuple(ups))


def measured(words: int, highest: int, goal: bool, threads: int = 1) -> list[tuple[int, int]]:
    """States and bytes, whenever an exploration looks at them."""
    system = counters(words, highest)
    wanted = ("goal", system.variables[0].term >= z3.IntVal(0)) if goal else None
    found = EmbeddedExploration(
        system, Question({"never": NEVER}, wanted, {}), {}, Meter(Budget(), timed=False), threads
    )
    assert found.layout.words == words
    seen: list[tuple[int, int]] = []
    measure = Shard.measure

    def note(shard: Shard) -> int:
        size = measure(shard)
        seen.append((shard.count, size))
        return size

    with patch.object(Shard, "measure", note):
        found.explore_layer()
    assert seen[-1][0] == (highest + 1) ** 3
    return seen


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("words", "most"), [(1, 40), (2, 40)])
def test_bytes_a_state(words: int, most: int, threads: int) -> None:
    """At whatever number of states, of a million, one looks."""
    large = [(states, size) for states, size in measured(words, 99, False, threads) if states >= MANY]
    assert len(large) > 50
    assert max(size / states for states, size in large) <= most


@pytest.mark.parametrize(("words", "most"), [(1, 45), (2, 40)])
def test_bytes_a_state_with_a_goal(words: int, most: int) -> None:
    """Five bytes more for whether a state reaches the goal, and for one of its successors; two words still take 40."""
    large = [(states, size) for states, size in measured(words, 69, True) if states >= MANY]
    assert max(size / states for states, size in large) <= most


def sizes_around_growth(shard: Shard, part: int, most: int) -> Iterator[int]:
    """Each number of states at which a partition has just grown, by one more than it had room for."""
    while (room := int(shard.places[part, table.ROOM])) < most:
        shard.places[:, table.COUNT] = room
        shard.reserve(np.arange(PARTITIONS) == part)
        shard.places[:, table.COUNT] = room + 1
        assert shard.places[part, table.ROOM] > room
        yield room + 1


@pytest.mark.parametrize("has_goal", [False, True])
@pytest.mark.parametrize(("words", "most"), [(1, 40), (2, 40), (4, 67)])
def test_just_after_growing(words: int, most: int, has_goal: bool) -> None:
    """The worst moments: one state more than there was room for, in a partition that may be any of sixteen."""
    shard = Shard((0,), words, 1, has_goal=has_goal)
    grown = 0
    for count in sizes_around_growth(shard, 3, 1_000_000):
        if count >= MANY // PARTITIONS:
            grown += 1
            assert shard.measure() / shard.count <= most + 6 * (has_goal and words != 2), count
    assert grown > 3


def test_growing_takes_steps_in_proportion() -> None:
    """Neither so large that much is empty, nor so small that a table is moved over and over."""
    shard = Shard((0,), 2, 1, has_goal=False)
    rooms, moved, slots = [], 0, 0
    for count in sizes_around_growth(shard, 0, 1_000_000):
        rooms.append(count)
        if shard.places[0, table.SLOTS] != slots:
            slots = int(shard.places[0, table.SLOTS])
            moved += slots
    assert len(rooms) < 200
    assert moved < 4 * slots, "what was moved in all, in slots, is a few times the last table"
    assert rooms[-1] <= int(slots * Growth.of(2, False).most_load)


def test_what_is_measured_is_what_is_taken() -> None:
    """The meter counts every table, and every row that was written; there is room for all of them."""
    system = counters(2, 30)
    meter = Meter(Budget(), timed=False)
    found = EmbeddedExploration(system, Question({"never": NEVER}, ("goal", NEVER), {}), {}, meter, 2)
    found.explore_layer()
    (shard,) = found.shards.values()
    rows: list[list[NDArray[Any]]] = [shard._states, shard._parents, shard._good, shard._leads_to]
    written = sum(one[:count].nbytes for many in rows for one, count in zip(many, shard.counts, strict=True))
    tables = sum(slots.nbytes for slots in shard._tables)
    assert meter.memory == shard.memory == shard.measure() == written + tables
    assert meter.states == shard.count == 31**3


def command(told: Path, *arguments: str) -> tuple[int, str, str, int]:
    """Exit status, output, complaints and the most memory that a run of the command line took."""
    run = [sys.executable, "-c", MEASURE, str(told), sys.executable, "-m", "checker", *arguments]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=False)
    return done.returncode, done.stdout, done.stderr, int(told.read_text())


LARGE = ("check", "examples/acks-all-min-isr-2.yaml", "--faults", "3", "--no-sensitivity", "--memory", "500M")


@pytest.mark.slow
@pytest.mark.parametrize("kept", [False, True], ids=["plain", "snapshots"])
def test_memory_is_kept_by_check(tmp_path: Path, kept: bool) -> None:
    """The process takes no more than it was told; what it did not get to is unknown, and it says how far it got."""
    more = ("--checkpoint", str(tmp_path / "snapshots"), "--checkpoint-every", "2") if kept else ()
    for _ in range(2 if kept else 1):
        status, output, complaints, peak = command(
            tmp_path / "peak", *LARGE, "--json", str(tmp_path / "result.json"), *more
        )
        assert peak <= TOLERANCE * (500 << 20)
        assert (status, complaints) == (3, "")
    document = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert document["engine"]["states"] > 1_000_000
    unknown = [verdict for verdict in document["verdicts"] if verdict["status"] == "unknown"]
    assert "no-acked-loss" in {verdict["property"] for verdict in unknown}
    for verdict in unknown:
        bounds = verdict["bounds"]
        assert bounds["stopped"] == "memory"
        assert bounds["faults_total"] == 3
        assert bounds["faults_complete_to"] < 3
        assert bounds["combinations_of_next_explored"] < bounds["combinations_of_next"]
    said = " ".join(output.split())
    assert "Undecided: the memory limit was reached before no-acked-loss could be decided." in said
    whole = unknown[0]["bounds"]["faults_complete_to"]
    assert "stopped: the memory limit was reached, at " in said
    assert f"in layer {whole + 1} (by number of faults), fully covered up to layer {whole}" in said


@pytest.mark.slow
@pytest.mark.parametrize("memory", [300, 700])
def test_memory_is_kept_by_published(tmp_path: Path, memory: int) -> None:
    """Also while snapshots are written and read: a run that goes on from one takes no more."""
    ask = ("published", "kip-320", "--log-size", "3", "--records", "3", "--epochs", "3", "--memory", f"{memory}M")
    kept = ("--checkpoint", str(tmp_path / "snapshots"), "--checkpoint-every")
    for more in ((), (*kept, "1"), (*kept, "1000")):
        status, output, complaints, peak = command(tmp_path / "peak", *ask, "--json", *more)
        assert peak <= TOLERANCE * (memory << 20), more
        assert (status, complaints) == (3, "")
        assert json.loads(output)["stopped"] == "memory"


@pytest.mark.slow
def test_memory_less_than_the_process_itself_takes(tmp_path: Path) -> None:
    """It ends soon with what it has, and says that it is not decided."""
    status, output, complaints, _ = command(tmp_path / "peak", *LARGE[:-1], "64M")
    assert (status, complaints) == (3, "")
    assert "the memory limit was reached" in " ".join(output.split())


def test_a_published_run_out_of_memory_says_how_far_it_got() -> None:
    from typer.testing import CliRunner

    from checker import cli

    ask = "published kip-320 --log-size 3 --records 3 --epochs 2 --memory 20M"
    run = CliRunner().invoke(cli.app, ask.split())
    said = " ".join(run.output.split())
    assert run.exit_code == 3
    assert "unknown: stopped" in said
    assert "memory" in said
    assert "fully covered up to level" in said


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="no way to know the machine's memory")
def test_budgets_are_at_most_the_machine() -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert machine // 4 < Budget().memory < machine
