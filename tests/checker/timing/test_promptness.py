"""Steps are shown when they happen, not after others that happened to be found before them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from proofka.checker.questions import prepare
from proofka.checker.solver import Replayer
from proofka.checker.timing.promptness import promptly
from proofka.checker.timing.refinement import Timing
from proofka.checker.timing.schedule import Schedule
from proofka.checker.traces import replay
from proofka.model.deployment import read_deployment
from proofka.model.language import Action
from proofka.model.pipeline import build

EXAMPLE = Path(__file__).parents[3] / "examples" / "time" / "short-delivery-timeout.yaml"

KILL = ("kill", {"broker": 1})
SEND = ("send", {"batch": 0})
FENCE = ("fence", {"broker": 1})
LEARN = ("apply_metadata", {"broker": 2})
GIVE_UP = ("give_up", {"batch": 0})


@pytest.mark.parametrize(
    ("found", "prompt"),
    [
        # Nothing holds back what delivery.timeout.ms ends after five seconds but that the fencing was found first.
        ((KILL, SEND, FENCE, GIVE_UP, LEARN), (KILL, SEND, GIVE_UP, FENCE, LEARN)),
        # What has its time already stays where it is, and so does what needs the step before it.
        ((KILL, SEND, GIVE_UP, FENCE, LEARN), (KILL, SEND, GIVE_UP, FENCE, LEARN)),
        ((KILL, FENCE, LEARN), (KILL, FENCE, LEARN)),
    ],
)
def test_no_step_waits_for_one_that_it_does_not_need(
    found: Sequence[tuple[str, dict[str, int]]], prompt: Sequence[tuple[str, dict[str, int]]]
) -> None:
    model = build(read_deployment(EXAMPLE))
    system, replayer = model.system, Replayer(model.system)
    timing = Timing(prepare(model), replayer)

    def run(steps: Sequence[tuple[str, dict[str, int]]]) -> list[Action]:
        actions = [system.action(name, arguments) for name, arguments in steps]
        assert all(actions)
        return [action for action in actions if action is not None]

    times = timing.schedule(run(found))
    assert isinstance(times, Schedule)
    order, best = promptly(system, replayer, timing, run(found), times)
    assert [action.key for action in order] == [action.key for action in run(prompt)]
    assert best == timing.schedule(run(prompt))
    assert replay(system, replayer, order)[-1] == replay(system, replayer, run(found))[-1]
