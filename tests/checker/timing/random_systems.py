"""Small random systems in time, whose runs are short enough to be listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import z3
from hypothesis import strategies as st

from proofka.model.durations import Quantity
from proofka.model.faults import Fault
from proofka.model.language import Action, Clock, Duration, Need, TransitionSystem, Variable, flag

VALUES = 2
LONGEST = 4
"""Steps of a run: every action counts them."""

STEPS = Variable("steps", 0, LONGEST, 0)
PLACES = (Variable("x", 0, VALUES, 0), Variable("y", 0, VALUES, 0))
REMEMBERED = flag("remembered")
"""Only clocks read it."""


@dataclass(frozen=True)
class Timed:
    """A system and what violates it."""

    system: TransitionSystem
    violated: z3.BoolRef


def of(name: str, least: int, most: int | None) -> Duration:
    return Duration.of(Quantity(name, least, most), Fraction(1))


@st.composite
def conditions(draw: st.DrawFn) -> z3.BoolRef:
    """Draw the condition that one place has, or has not, a value."""
    place, value = draw(st.sampled_from(PLACES)), draw(st.integers(0, VALUES))
    return draw(st.sampled_from([place.term == value, place.term != value, place.term <= value]))


@st.composite
def clocks(draw: st.DrawFn, number: int) -> Clock:
    deadline = draw(st.none() | st.integers(1, 8))
    at_most = None if deadline is None else of(f"deadline {number}", 0, deadline)
    runs = draw(conditions())
    if draw(st.integers(0, 2)) == 0:
        runs = z3.And(runs, draw(st.sampled_from([REMEMBERED.is_set, z3.Not(REMEMBERED.is_set)])))
    return Clock("clock", {"number": number}, runs, f"clock {number} started", at_most)


@st.composite
def actions(draw: st.DrawFn, number: int, known: tuple[Clock, ...]) -> tuple[Action, tuple[Need, ...]]:
    """Draw an action and its needs."""
    place, value = draw(st.sampled_from(PLACES)), draw(st.integers(0, VALUES))
    needs = tuple(
        Need(clock, at_least=of(f"need {number}", draw(st.integers(1, 10)), None))
        if draw(st.integers(0, 2))
        else Need(clock, at_most=of(f"need {number}", 0, draw(st.integers(0, 8))))
        for clock in draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique_by=lambda clock: clock.key))
    )
    guard = z3.And(STEPS.term < LONGEST, draw(conditions()), place.term != value)
    clock, until = draw(st.permutations(known))[:2]
    if draw(st.integers(0, 2)) == 0 and "remembered" not in str(until.runs):
        least, most = draw(st.none() | st.integers(1, 8)), draw(st.none() | st.integers(0, 8))
        at_least = None if least is None else of(f"before {number}", least, None)
        at_most = None if most is None else of(f"before {number}", 0, most)
        needs = (*needs, Need(clock, at_least, at_most, until))
        guard = z3.And(guard, until.runs)
    updates: dict[Variable, z3.ArithRef] = {place: z3.IntVal(value), STEPS: STEPS.term + 1}
    if draw(st.integers(0, 2)) == 0:
        updates[REMEMBERED] = z3.IntVal(draw(st.integers(0, 1)))
    fault = Fault.KILL if number == 0 else None
    action = Action(
        "act",
        "somebody",
        lane="brokers",
        arguments={"number": number},
        guard=guard,
        updates=updates,
        sentence=lambda _, __: "acts",
        semantics="none",
        fault=fault,
    )
    return action, needs


@st.composite
def timed_systems(draw: st.DrawFn) -> Timed:
    """Draw a system of two or three clocks and three or four actions, of which the first is a fault."""
    known = tuple(draw(clocks(number)) for number in range(3))
    drawn = [draw(actions(number, known)) for number in range(draw(st.integers(4, 6)))]
    acts, needs = tuple(action for action, _ in drawn), {action.key: own for action, own in drawn}
    variables, history = (STEPS, *PLACES, REMEMBERED), (REMEMBERED,)
    system = TransitionSystem("random", variables, acts, clocks=known, needs=needs, history=history)
    goal = {place: draw(st.integers(1, VALUES)) for place in PLACES}
    return Timed(system, z3.And(*(place.term == value for place, value in goal.items())))


State = dict[str, int]


def evaluated(term: z3.ExprRef, state: State) -> z3.ExprRef:
    return z3.simplify(z3.substitute(term, *((z3.Int(name), z3.IntVal(value)) for name, value in state.items())))


def runs(system: TransitionSystem) -> Iterator[tuple[list[Action], list[State]]]:
    """Yield every run, by Z3's reading of the terms alone."""

    def further(taken: list[Action], states: list[State]) -> Iterator[tuple[list[Action], list[State]]]:
        yield taken, states
        for action in system.actions:
            if z3.is_true(evaluated(action.guard, states[-1])):
                after = {v.name: evaluated(value, states[-1]).as_long() for v, value in action.updates.items()}
                yield from further([*taken, action], [*states, {**states[-1], **after}])

    yield from further([], [dict(system.initial)])


def has_times(system: TransitionSystem, taken: list[Action], states: list[State]) -> bool:
    """Tell whether Z3 finds times for a run, from the definition of clocks alone."""
    at = [z3.Real(f"t{step}") for step in range(len(states))]
    solver = z3.Solver()
    solver.add(at[0] == 0, *(earlier <= later for earlier, later in pairwise(at)))
    for clock in system.clocks:
        running = [z3.is_true(evaluated(clock.runs, state)) for state in states]
        started: list[int | None] = []
        for step, runs_now in enumerate(running):
            before = started[-1] if step else None
            started.append(None if not runs_now else step if before is None else before)
        for step in range(1, len(states)):
            begin = started[step - 1]
            if begin is None:
                continue
            deadline = None if clock.at_most is None else clock.at_most.at_most()
            if deadline is not None:
                solver.add(at[step] - at[begin] <= deadline)
            for need in system.needs_of(taken[step - 1]):
                if need.clock.key != clock.key:
                    continue
                end = step if need.until is None else last_start(need.until, states, step)
                if need.at_least is not None:
                    solver.add(at[end] - at[begin] >= need.at_least.at_least())
                if need.at_most is not None:
                    solver.add(at[end] - at[begin] <= need.at_most.at_most())
    return bool(solver.check() == z3.sat)


def last_start(clock: Clock, states: list[State], step: int) -> int:
    """Return the state in which a clock that runs before a step was started."""
    start = step - 1
    while start > 0 and z3.is_true(evaluated(clock.runs, states[start - 1])):
        start -= 1
    return start
