"""The published protocols, explored whole: every figure of the reference, on one thread and on two."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from proofka.checker import cli
from proofka.checker.budget import Budget
from proofka.checker.published import explore_whole
from proofka.model.published.protocols import protocol
from tests.model.published.table import LEVELS, LEVELS_CONSTANTS, ROWS, Row


def name_of(row: Row) -> str:
    return "-".join([row.protocol, *(str(value) for value in row.constants.values())])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_counts(row: Row, threads: int) -> None:
    explored = protocol(row.protocol, **row.constants)
    space = explore_whole(explored.system, explored.violated, Budget(threads=threads))
    assert space.stopped is None
    assert (space.distinct, len(space.levels)) == (row.states, row.levels)
    assert sum(space.levels) == space.distinct
    found = {name: count.violating for name, count in space.invariants.items()}
    assert found == row.violating
    lengths = {name: count.trace_length for name, count in space.invariants.items()}
    assert lengths == {**row.traces, "TypeOk": None}
    assert all(len(steps) == lengths[name] - 1 for name, steps in space.traces.items())


@pytest.mark.parametrize("name", LEVELS)
def test_levels(name: str) -> None:
    explored = protocol(name, **LEVELS_CONSTANTS)
    space = explore_whole(explored.system, explored.violated, Budget())
    assert list(space.levels) == list(LEVELS[name])


@pytest.mark.slow
def test_more_than_a_million_states() -> None:
    """The size that the design's prototype was measured on."""
    explored = protocol("kip-320", replicas=3, log_size=3, records=3, epochs=2)
    spaces = [explore_whole(explored.system, explored.violated, Budget(threads=threads)) for threads in (1, 2)]
    assert [space.distinct for space in spaces] == [4_093_531] * 2
    assert [space.transitions for space in spaces] == [11_444_787] * 2
    assert spaces[0].levels == spaces[1].levels
    assert spaces[0].bytes_per_state <= 40


def published(*arguments: str) -> tuple[int, str]:
    run = CliRunner().invoke(cli.app, ["published", *arguments])
    return run.exit_code, run.output


def test_command() -> None:
    status, output = published("kip-320", "--replicas", "2", "--epochs", "2", "--json")
    figures = json.loads(output)
    assert status == 0
    assert figures["distinct"] == 5973
    assert figures["invariants"]["LeaderInIsr"] == {"violating": 957, "trace_length": 1}
    assert figures["invariants"]["WeakIsr"] == {"violating": 0, "trace_length": None}
    assert {"transitions", "levels", "seconds", "compile_seconds", "bytes_per_state"} <= figures.keys()


def test_shortest_traces_are_told() -> None:
    status, output = published("kip-101", "--replicas", "2", "--epochs", "2")
    assert status == 0
    assert "9,045 distinct states" in output
    assert "WeakIsr is violated after 11 steps:" in output


def test_a_budget_that_runs_out_names_the_covered_part() -> None:
    status, output = published("kip-320", "--states", "1000")
    assert status == 3
    assert "unknown: stopped" in output
    assert "complete: all levels up to" in " ".join(output.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kip-3"], "kip-320"),
        (["kip-320", "--replicas", "0"], "at least 1"),
        (["kip-320", "--engine", "x"], "embedded"),
    ],
)
def test_wrong_input_is_one_line(arguments: list[str], said: str) -> None:
    status, output = published(*arguments)
    assert status == 2
    assert said in output
    assert len(output.splitlines()) == 1
