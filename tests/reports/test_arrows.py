"""Arrows of random runs: the drawn requests in flight are those of the state, row by row."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from functools import cache

import pytest

from proofka.checker.traces import shown_of, steps_of
from proofka.model.language import Action, State
from proofka.model.state.pipeline import Fate, Pipeline
from proofka.properties.verdict import Trace
from proofka.reports.space_time import ABANDONED, REQUEST, Arrow, End, space_time
from tests.checker.plain_evaluator import holds, successor
from tests.model.scripted import Scenario, scenario

STEPS = 40
ENDS = ("acknowledge", "give_up", "refuse_send", "refuse_for_good", "discard_delayed")
"""Number of steps after which few records are left to send."""


@dataclass(frozen=True)
class Run:
    """A run as a trace, with the destinations of requests in flight after each step, by the model's variables."""

    trace: Trace
    on_the_way: tuple[Counter[str], ...]


@cache
def wandering(example: str, seed: int) -> Run:
    """Return a random run of an example that prefers steps of the producer and its network."""
    run = scenario(example)
    chance = random.Random(seed)
    actions: list[Action] = []
    states: list[State] = [run.state]
    for _ in range(STEPS):
        action = _next(run, chance)
        if action is None:
            break
        after = successor(action, run.state)
        assert after is not None
        run.state = after
        actions.append(action)
        states.append(after)
    system = run.model.system
    trace = Trace((), steps_of(system, actions, states), "nothing", shown_of(system, states[0]))
    return Run(trace, tuple(_on_the_way(run.pipeline, state) for state in states))


def _on_the_way(pipeline: Pipeline, state: State) -> Counter[str]:
    """Return the requests in flight that no broker has read, and those that the client has abandoned."""
    batches = pipeline.producer.batches
    sent = [state[batch.target.name] for batch in batches if state[batch.fate.name] == Fate.SENT]
    abandoned = [state[batch.delayed.name] for batch in batches if state[batch.delayed.name]]
    return Counter(f"broker {number}" for number in (*sent, *abandoned))


def _next(run: Scenario, chance: random.Random) -> Action | None:
    order = sorted(run.model.system.actions, key=lambda action: chance.random() * _haste(action))
    return next((action for action in order if holds(action.guard, run.state)), None)


def _haste(action: Action) -> float:
    """Return the priority of a step, lowest first: producer and network first, other faults seldom."""
    if action.name in ("transmit", "notice"):
        return 0.2
    if action.name in ENDS:
        return 10
    if action.lane == "producer" or "batch" in action.arguments:
        return 1 if action.fault is None else 3
    return 4 if action.fault is None else 30


def requests(trace: Trace) -> list[Arrow]:
    return [arrow for arrow in space_time(trace).arrows if arrow.what in (REQUEST, ABANDONED)]


RUNS = [
    (example, seed)
    for example in ("acks-0", "acks-1", "retries-in-flight-5", "idempotent", "idempotent-restart", "idempotent-resend")
    for seed in range(4)
]


@pytest.mark.parametrize(("example", "seed"), RUNS)
def test_arrows_are_on_the_way_where_the_state_says_so(example: str, seed: int) -> None:
    run = wandering(example, seed)
    lanes, drawn = space_time(run.trace).lanes, requests(run.trace)
    for row, expected in enumerate(run.on_the_way):
        assert Counter(lanes[one.to_lane] for one in drawn if one.row <= row < one.to_row) == expected, row


@pytest.mark.parametrize(("example", "seed"), RUNS)
def test_arrows_begin_at_a_transmission_and_end_at_an_action_of_a_broker(example: str, seed: int) -> None:
    trace = wandering(example, seed).trace
    lanes = space_time(trace).lanes
    for arrow in requests(trace):
        assert arrow.row < arrow.to_row
        assert trace.steps[arrow.row - 1].action == "transmit"
        assert lanes[arrow.lane] == "producer"
        if arrow.end is End.ARRIVES:
            assert trace.steps[arrow.to_row - 1].actor in (lanes[arrow.to_lane], "producer")


def test_runs_have_the_arrows_to_be_drawn() -> None:
    """The random runs contain such requests; without them the tests above would be weak."""
    seen = Counter((arrow.what, arrow.end) for one in RUNS for arrow in requests(wandering(*one).trace))
    assert min(seen[what, end] for what in (REQUEST, ABANDONED) for end in (End.ARRIVES, End.LOST)) >= 3, seen
