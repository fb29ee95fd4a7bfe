"""The origin in a row: up to the limits of its bits, and errors beyond them."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import z3

from proofka.checker.budget import Budget, Meter
from proofka.checker.distributed import exploration, handover
from proofka.checker.distributed.exploration import DistributedExploration
from proofka.checker.distributed.handover import hand_over
from proofka.checker.distributed.messages import write_messages
from proofka.checker.distributed.plan import Failure, Order, Report, Task
from proofka.checker.distributed.region import RegionError
from proofka.checker.distributed.running import DistributedError, OneByOne
from proofka.checker.distributed.spread import ROW_BITS
from proofka.checker.distributed.superstep import take_superstep
from proofka.checker.distributed.work_folder import ExplorationFolder
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question, Violation
from proofka.checker.kernel import closing
from proofka.checker.kernel.closing import (
    DEPTH_SHIFT,
    MOST_DEPTH,
    MOST_PARTITIONS,
    MOST_SOURCES,
    PARTITION_SHIFT,
    SOURCE_SHIFT,
)
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem, Variable
from tests.checker.distributed.both import assert_same, distributed, embedded, owned_by
from tests.checker.test_exploration import NEVER, action

DEEPEST = MOST_DEPTH - 2
QUESTION = Question({"never": NEVER}, None, {})


def placed(place: int, steps: int) -> TransitionSystem:
    """Build a system with a constant variable that decides the owner of each state, and a counter."""
    x, y = Variable("place", 0, 100_000, place), Variable("steps", 0, steps, 0)
    return TransitionSystem("placed", (x, y), (action("up", y.term < steps, {y: y.term + 1}),))


def begun(
    folder: Path, system: TransitionSystem, partitions: int | None, parallelism: int = 1
) -> DistributedExploration:
    with owned_by("place"):
        return DistributedExploration(
            system,
            QUESTION,
            {},
            Meter(Budget(), timed=False),
            runner=OneByOne(parallelism),
            folder=ExplorationFolder(folder),
            partitions=partitions,
        )


def owned_by_the_last(folder: Path, steps: int) -> DistributedExploration:
    """Let the last of the largest number of partitions own every state."""
    some = begun(folder / "some", placed(0, steps), MOST_PARTITIONS)
    mask = np.array(some.plan.mask, dtype=np.uint64)
    for place in range(100_000):
        state = some.layout.pack({"place": place, "steps": 0})
        if closing.owner_of_state(state, mask, MOST_PARTITIONS) == MOST_PARTITIONS - 1:
            return begun(folder / "last", placed(place, steps), MOST_PARTITIONS)
    raise AssertionError("no place is owned by the last partition")


def superstep(found: DistributedExploration, depth: int) -> list[Report] | Failure:
    """Send the initial state to the last partition, as if it were so deep, and let it search."""
    last = MOST_PARTITIONS - 1
    path = found.plan.messages(0, (), 0)
    path.parent.mkdir(parents=True)
    row = np.append(found.initial, np.uint64(depth << DEPTH_SHIFT)).reshape(1, -1)
    write_messages(path, row, [0] * MOST_PARTITIONS + [1])
    order = Order((), True, (), (), ((0, 1),), 0, None)
    return take_superstep(found.plan, Task(last, 1, (order,), None, None))


def test_fields_do_not_overlap() -> None:
    """All bits of a word are used, each once."""
    fields = [(MOST_DEPTH, DEPTH_SHIFT), (MOST_SOURCES, SOURCE_SHIFT), (MOST_PARTITIONS, PARTITION_SHIFT)]
    fields.append((1 << ROW_BITS, 0))
    masks = [(most - 1) << shift for most, shift in fields]
    assert sum(masks) == (1 << 64) - 1
    for one, mask in enumerate(masks):
        assert not any(mask & other for other in masks[:one])


def test_the_last_of_most_partitions(tmp_path: Path) -> None:
    """A trace leads back through rows that say they are the last partition's."""
    found = owned_by_the_last(tmp_path, 5)
    reports = superstep(found, 0)
    assert isinstance(reports, list)
    assert reports[0].levels == (1,) * 6
    reference = (MOST_PARTITIONS - 1) << ROW_BITS | 5
    run = list(found._backwards(Violation("never", (), reference, 5)))
    assert [found.layout.unpack(state)["steps"] for _, state in run] == [5, 4, 3, 2, 1, 0]
    assert {function for function, _ in run} == {"step"}


def test_more_partitions_than_rows_can_name(tmp_path: Path) -> None:
    """Refused where they are asked for; not taken by default, however large the cluster is."""
    with pytest.raises(ValueError, match=f"{MOST_PARTITIONS + 1} partitions; at most {MOST_PARTITIONS}"):
        begun(tmp_path / "many", placed(0, 1), MOST_PARTITIONS + 1)
    assert begun(tmp_path / "large", placed(0, 1), None, parallelism=100_000).plan.partitions == MOST_PARTITIONS
    assert begun(tmp_path / "small", placed(0, 1), None, parallelism=3).plan.partitions < 100


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_the_longest_path(tmp_path: Path, steps: int) -> None:
    found = owned_by_the_last(tmp_path, steps)
    outcome = superstep(found, DEEPEST - 1)
    if steps < 2:
        assert isinstance(outcome, list)
        assert outcome[0].levels == (0,) * (DEEPEST - 1) + (1,) * (steps + 1)
    else:
        assert isinstance(outcome, Failure)
        assert outcome.error == f"a path is longer than {DEEPEST:,} steps: name a smaller bound"


@pytest.mark.slow
def test_a_path_that_is_too_long_is_told(tmp_path: Path) -> None:
    with pytest.raises(DistributedError, match=f"^a path is longer than {DEEPEST:,} steps: name a smaller bound$"):
        distributed(tmp_path, placed(0, DEEPEST + 1), QUESTION, {}, 0, partitions=2)


@pytest.mark.parametrize("states", [95, 120])
def test_long_paths_are_handed_over_as_far_as_they_fit(tmp_path: Path, states: int) -> None:
    system = placed(0, 1000)
    begin = EmbeddedExploration(system, QUESTION, {}, Meter(Budget(states=states - 1), timed=False))
    assert begin.explore_layer().stopped == "states"
    assert begin.states >= states
    other = begun(tmp_path, system, 2)
    with patch.object(handover, "MOST_DEPTH", 100):
        if begin.depth <= 98:
            hand_over(begin, other)
            noted = other.folder.progress()
            assert noted is not None
            assert sum(states.count for states in noted[1]) == begin.states
        else:
            with pytest.raises(RegionError, match="a path is longer than"):
                hand_over(begin, other)


def test_as_many_kinds_of_steps_as_there_are(tmp_path: Path) -> None:
    """Each fault leads to a state of its own, so a trace that named another one would be none."""
    x, hit = Variable("x", 0, 1, 0), Variable("hit", 0, len(Fault), 0)
    faults = [
        action(f"fault {kind.value}", hit.term == 0, {hit: z3.IntVal(number)}, kind)
        for number, kind in enumerate(Fault, 1)
    ]
    system = TransitionSystem("all faults", (x, hit), tuple(faults))
    question = Question({f"hit {number}": hit.term == number for number in range(1, len(Fault) + 1)}, None, {})
    at_most = dict.fromkeys(Fault, 1)
    found = distributed(tmp_path / "all", system, question, at_most, 1, partitions=3, infer=False)
    assert_same(found, embedded(system, question, at_most, 1, infer=False))
    assert len(found.kinds) == len(Fault)
    with patch.object(exploration, "MOST_SOURCES", len(Fault)), pytest.raises(ValueError, match="kinds of steps"):
        distributed(tmp_path / "too many", system, question, at_most, 0)
