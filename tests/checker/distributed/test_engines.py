"""Whole checks by other engines, without Spark: in partitions, and in memory until that is used up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from proofka.checker.budget import Budget, Meter
from proofka.checker.check import check
from proofka.checker.checkpoint import CheckpointError
from proofka.checker.distributed import writing
from proofka.checker.distributed.exploration import DistributedExploration
from proofka.checker.distributed.running import OneByOne
from proofka.checker.distributed.work_folder import WorkFolder
from proofka.checker.distributed.writing import replacing
from proofka.checker.engine import EMBEDDED, Asked, Engine, explore_layer
from proofka.checker.exploration import Question
from proofka.checker.published import explore_whole
from proofka.checker.reductions.choice import Reduction
from proofka.checker.spark.engine import AutoEngine, DistributedEngine, Distributing
from proofka.model.deployment import read_deployment
from proofka.model.deployment.deployment import Deployment
from proofka.model.published.protocols import PROTOCOLS, protocol
from proofka.properties.superstep import Superstep, searches
from proofka.properties.verdict import Result
from proofka.properties.whole_space import WholeSpace
from tests.checker.asking import EXAMPLES, SMALL, example
from tests.checker.distributed.both import resets
from tests.checker.distributed.stopping import Killed
from tests.checker.test_any_number import two_brokers
from tests.checker.test_exploration import LOST, NEVER, SLOW, counters

TIGHT = Budget(memory=1 << 20)
"""An eighth of it is left for states."""


def partitioned(folder: Path, noted: list[Superstep], partitions: int = 3) -> DistributedEngine:
    return DistributedEngine(OneByOne(), folder / "work", noted.append, partitions=partitions)


def auto(folder: Path, noted: list[Superstep], partitions: int = 3) -> AutoEngine:
    return AutoEngine(lambda: partitioned(folder, noted, partitions))


def told(result: Result) -> list[Any]:
    """Return the parts of a result that do not depend on the engine.

    Who is asked for further runs to the same violation depends on who explores, and with it why each of them cannot
    happen in time; so does how far a second look that comes to its limit got: what it had found by then is left out.
    """
    verdicts = [
        replace(one, cut_sets=(), traces=(), notes=()) if one.coverage.stopped == "timed re-exploration" else one
        for one in result.verdicts
    ]
    return [
        replace(
            verdict,
            traces=tuple((trace.faults, len(trace.steps)) for trace in verdict.traces),  # type: ignore[misc]
            lemmas=bool(verdict.lemmas),  # type: ignore[arg-type]
        )
        for verdict in verdicts
    ] + [
        replace(
            result.engine, engine="", seconds=0.0, compile_seconds=0.0, bytes_per_state=0, looks_again=0, states_again=0
        )
    ]


def one_fault(folder: Path) -> Deployment:
    return replace(example("acks-1", total=1), bounds=SMALL)


def any_number(folder: Path) -> Deployment:
    """Check any number of faults, on ranked states, in explorations that a run does not keep."""
    return two_brokers(folder, "{kill: any}")


@pytest.mark.slow
@pytest.mark.parametrize("engine", [partitioned, auto])
@pytest.mark.parametrize("deployment", [one_fault, any_number])
def test_checks(tmp_path: Path, deployment: Callable[[Path], Deployment], engine: Callable[..., Engine]) -> None:
    """The same verdicts, cut sets, lengths of traces, counts and coverage."""
    asked, noted = deployment(tmp_path), list[Superstep]()
    found = check(asked, budget=TIGHT if engine is auto else Budget(), engine=engine(tmp_path, noted))
    assert noted
    assert told(found) == told(check(asked))
    assert found.engine.engine == ("auto" if engine is auto else "spark")


@pytest.mark.slow
def test_ranked_states(tmp_path: Path) -> None:
    """Of states with the same canonical form one is kept, whoever explores."""
    asked, noted = one_fault(tmp_path), list[Superstep]()
    reductions = frozenset({Reduction.RANKED_EPOCHS})
    found = check(asked, engine=partitioned(tmp_path, noted), reductions=reductions)
    assert noted
    assert told(found) == told(check(asked, reductions=reductions))


def whole(name: str, engine: Engine = EMBEDDED, budget: Budget | None = None) -> WholeSpace:
    published = protocol(name, replicas=3, log_size=2, records=2, epochs=1)
    found = explore_whole(published.system, published.violated, budget or Budget(), engine)
    return replace(found, seconds=0.0, compile_seconds=0.0, bytes_per_state=0.0, traces={})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kip-320", "truncate-to-hw"])
@pytest.mark.parametrize("engine", [partitioned, auto])
def test_published_protocols(tmp_path: Path, name: str, engine: Callable[..., Engine]) -> None:
    noted: list[Superstep] = []
    assert whole(name, engine(tmp_path, noted), TIGHT if engine is auto else None) == whole(name)
    assert noted


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_published_protocol(tmp_path: Path, name: str) -> None:
    noted: list[Superstep] = []
    assert whole(name, partitioned(tmp_path, noted)) == whole(name)
    assert_few(noted)


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_every_example(tmp_path: Path, file: Path) -> None:
    """One record and any one fault of the example's kinds: all its properties, goals and clocks; more is more of it."""
    asked, noted = read_deployment(file), list[Superstep]()
    asked = replace(asked, faults=asked.faults.up_to(1), bounds=SMALL)
    found = check(asked, engine=partitioned(tmp_path, noted))
    assert told(found) == told(check(asked))
    assert noted


def assert_few(supersteps: list[Superstep]) -> None:
    """Assert that there are at most a third as many supersteps as the depths of all searches together."""
    depths = [max(step.depth for step in search) for search in searches(supersteps)]
    assert 0 < len(supersteps) <= sum(depths) / 3


@pytest.mark.slow
def test_a_small_space_stays_in_memory(tmp_path: Path) -> None:
    """Nothing is begun elsewhere, not even a folder."""

    def other() -> DistributedEngine:
        raise AssertionError("it was handed over")

    assert whole("kip-320", AutoEngine(other)) == whole("kip-320")
    assert list(tmp_path.iterdir()) == []


# Killed and gone on with


def until_killed(moment: int) -> tuple[AbstractContextManager[object], list[int]]:
    """Prevent, within the context, the replacement of the file with this number, and count the replacements."""
    passed = [0]

    class Counted:
        def __init__(self, path: Path) -> None:
            passed[0] += 1
            if passed[0] == moment:
                raise Killed
            self._replacing = replacing(path)

        def __enter__(self) -> Path:
            return self._replacing.__enter__()

        def __exit__(self, *error: Any) -> bool | None:
            return self._replacing.__exit__(*error)

    return patch.object(writing, "replacing", Counted), passed


@pytest.mark.slow
@pytest.mark.parametrize("step", [7, 1])
def test_killed_while_handing_over(tmp_path: Path, step: int) -> None:
    """Some partitions were handed over, and not all: none of them counts. The next run hands over or goes on."""
    expected, noted = whole("kip-320"), list[Superstep]()
    context, passed = until_killed(-1)
    with context:
        assert whole("kip-320", auto(tmp_path / "whole", noted, 5), TIGHT) == expected
    assert passed[0] >= 20
    for moment in range(1, passed[0] + 1, step):
        folder = tmp_path / str(moment)
        context, _ = until_killed(moment)
        with context, pytest.raises(Killed):
            whole("kip-320", auto(folder, noted, 5), TIGHT)
        assert whole("kip-320", auto(folder, noted, 5), TIGHT) == expected
        assert whole("kip-320", partitioned(folder, noted, 5)) == expected


@pytest.mark.slow
def test_handed_over_at_another_moment_than_before(tmp_path: Path) -> None:
    """A run that is gone on with may have more memory, or less, than the one that was killed."""
    noted: list[Superstep] = []
    expected = check(one_fault(tmp_path))
    for memory in (1 << 22, 1 << 19, 1 << 20, 1 << 40):
        found = check(one_fault(tmp_path), budget=Budget(memory=memory), engine=auto(tmp_path, noted))
        assert told(found) == told(expected)


@pytest.mark.slow
def test_states_count_on_after_they_were_handed_over(tmp_path: Path) -> None:
    """A limit of states is one of all states, wherever they are."""
    found = whole("kip-320", auto(tmp_path, []), Budget(memory=1 << 20, states=25_000))
    assert found.stopped == "states"
    meter = Meter(Budget(memory=1 << 20), timed=False)
    explorer = auto(tmp_path / "other", []).begin(lambda: "the question", Budget())
    asked = Asked(resets(20), Question({"never": NEVER}, None, {}), {SLOW: 2, LOST: 1}, meter)
    exploration = explorer.exploration(asked)
    for _ in range(3):
        exploration, _ = explore_layer(explorer, exploration)
        assert meter.states == exploration.states
    assert isinstance(exploration, DistributedExploration)


@pytest.mark.slow
def test_a_folder_belongs_to_one_question(tmp_path: Path) -> None:
    whole("kip-320", partitioned(tmp_path, []))
    with pytest.raises(CheckpointError, match="is the checkpoint of another question"):
        whole("truncate-to-hw", partitioned(tmp_path, []))
    with pytest.raises(CheckpointError, match="is the checkpoint of another question"):
        whole("truncate-to-hw", auto(tmp_path, []), TIGHT)
    known = replace(auto(tmp_path, []), folder=tmp_path / "work")
    with pytest.raises(CheckpointError, match="is the checkpoint of another question"):
        whole("truncate-to-hw", known)
    assert whole("kip-320", known, TIGHT) == whole("kip-320")


def test_combinations_that_a_run_does_not_keep_are_explored_again(tmp_path: Path) -> None:
    """The number of an exploration depends on unkept explorations before it, and so differs from run to run."""
    meter, engine = Meter(Budget(), timed=False), partitioned(tmp_path, [])
    for system, kept in ((counters(3), False), (counters(4), False), (counters(4), True), (counters(4), True)):
        work = WorkFolder(engine.folder, "the question")
        maker = Distributing(engine, work, made=0 if not kept else 1)
        found = maker.exploration(Asked(system, Question({"never": NEVER}, None, {}), {}, meter, kept=kept))
        found.explore_layer()
        high = system.variables[0].high
        assert found.states == (high + 1) ** 3
        work.close()
