"""The number of states of an exported system, as the embedded engine and a naive explorer find it."""

from __future__ import annotations

import z3

from proofka.checker.budget import Budget, Meter
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question
from proofka.checker.export.exported import Exported
from tests.checker.naive import Naive

NEVER = z3.BoolVal(False)


def engine_states(exported: Exported) -> int:
    """Count the distinct states by the embedded engine in a single shard, with a question that stays open."""
    meter = Meter(Budget(), timed=False)
    exploration = EmbeddedExploration(exported.system, Question({"never": NEVER}, None, {}), {}, meter)
    report = exploration.explore_layer()
    assert report.complete
    return exploration.states


def naive_states(exported: Exported) -> int:
    """Count the distinct states, by definition."""
    return len(Naive(exported.system, (), (), 0).states)
