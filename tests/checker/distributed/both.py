"""The same question put to the embedded and to the distributed engine, and what of the answers has to be the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import z3

from proofka.checker.budget import Budget, Meter
from proofka.checker.distributed import exploration
from proofka.checker.distributed.control_plane import ControlPlane
from proofka.checker.distributed.exploration import DistributedExploration
from proofka.checker.distributed.running import OneByOne
from proofka.checker.distributed.spread import summed
from proofka.checker.distributed.work_folder import ExplorationFolder
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import AnyExploration, Question
from proofka.checker.kernel.layout import Layout
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem, Variable
from tests.checker.test_exploration import LOST, SLOW, action, check_runs, found_cut_sets


def distributed(
    folder: Path,
    system: TransitionSystem,
    question: Question,
    at_most: Mapping[Fault, int],
    total: int,
    budget: Budget | None = None,
    **more: Any,
) -> DistributedExploration:
    """Explore in partitions, in this process."""
    meter = Meter(budget or Budget(), timed=False)
    chosen = {"runner": OneByOne(), "folder": ExplorationFolder(folder), **more}
    found = DistributedExploration(system, question, at_most, meter, **chosen)
    for _ in range(total + 1):
        found.explore_layer()
    return found


def embedded(
    system: TransitionSystem, question: Question, at_most: Mapping[Fault, int], total: int, **more: Any
) -> EmbeddedExploration:
    """Explore in memory."""
    found = EmbeddedExploration(system, question, at_most, Meter(Budget(), timed=False), **more)
    for _ in range(total + 1):
        found.explore_layer()
    return found


def summary(found: AnyExploration) -> dict[str, Any]:
    """Return all results that must not depend on the engine."""
    shards = found.shards
    return {
        "levels": {combination: summed([shards[combination].level_sizes()]) for combination in sorted(shards)},
        "transitions": {combination: shards[combination].transition_count for combination in sorted(shards)},
        "cut sets": found_cut_sets(found),
        "observed": found.observed(),
        "undecided": found.undecided,
        "layers": [(layer.size, layer.explored, layer.of, layer.stopped) for layer in found.layers],
        "exhausted": found.exhausted(),
        "states": found.states,
        "depth": found.depth,
    }


def assert_same(one: AnyExploration, other: AnyExploration) -> None:
    """Assert that both explorations found the same, and that the runs of both are runs."""
    assert summary(one) == summary(other)
    check_runs(one)
    check_runs(other)


@contextmanager
def owned_by(*names: str) -> Iterator[None]:
    """Let these variables decide, within the block, which partition owns a state, and so which states are passed on."""

    def chosen(layout: Layout, *_: object) -> ControlPlane:
        mask = [0] * layout.words
        for field in (layout.fields[name] for name in names):
            mask[field.word] |= field.mask
        return ControlPlane(names, tuple(mask))

    with patch.object(exploration, "control_plane", chosen):
        yield


def resets(highest: int) -> TransitionSystem:
    """Build three counters that go up by one. One fault resets a counter and is remembered, so that the fault leads to
    new states. Another fault sets the counter to its highest value:

    Another one sets it to its highest value: what was far away is near then.
    """
    counters = tuple(Variable(f"counter{i}", 0, highest, 0) for i in range(3))
    faults = Variable("faults", 0, 3, 0)
    ups = [action(f"up{i}", v.term < highest, {v: v.term + 1}) for i, v in enumerate(counters)]
    again = action("again", counters[0].term > 0, {counters[0]: z3.IntVal(0), faults: faults.term + 1}, SLOW)
    leap = action("leap", faults.term < 3, {counters[1]: z3.IntVal(highest), faults: faults.term + 1}, LOST)
    return TransitionSystem("resets", (*counters, faults), (*ups, again, leap))
