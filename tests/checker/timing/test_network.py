"""Difference constraints: the earliest times there are, or a cycle that shows that there are none; Z3 agrees."""

from __future__ import annotations

from itertools import pairwise

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.timing import schedule as scheduling
from proofka.checker.timing.constraints import Between
from proofka.checker.timing.network import Contradiction, earliest_times, edges_of, minimal
from proofka.checker.timing.schedule import Schedule, TimingMismatch, schedule
from proofka.model.language import Clock

STEPS = 5
CLOCK = Clock("clock", {}, z3.BoolVal(True), "it started")


@st.composite
def bounds(draw: st.DrawFn) -> Between:
    earlier = draw(st.integers(0, STEPS - 1))
    later = draw(st.integers(earlier + 1, STEPS))
    least = draw(st.none() | st.integers(0, 12))
    most = draw(st.none() | st.integers(0, 12))
    return Between(earlier, later, least, most, CLOCK)


def between(earlier: int, later: int, least: int | None = None, most: int | None = None) -> Between:
    return Between(earlier, later, least, most, CLOCK)


@given(st.lists(bounds(), max_size=8))
@settings(max_examples=150, derandomize=True)
def test_earliest_times_equal_those_of_z3(constraints: list[Between]) -> None:
    at = [z3.Int(f"t{step}") for step in range(STEPS + 1)]
    solver = z3.Optimize()
    solver.add(at[0] == 0, *(at[step] <= at[step + 1] for step in range(STEPS)))
    for one in constraints:
        passed = at[one.later] - at[one.earlier]
        solver.add(*([passed >= one.least] if one.least is not None else []))
        solver.add(*([passed <= one.most] if one.most is not None else []))
    solver.minimize(z3.Sum(at))
    found = earliest_times(STEPS, edges_of(STEPS, constraints))
    if isinstance(found, Contradiction):
        assert solver.check() == z3.unsat
        assert found.slack < 0
        around = pairwise([*found.edges, found.edges[0]])
        assert all(edge.head == following.tail for edge, following in around)
    else:
        assert solver.check() == z3.sat
        model = solver.model()
        assert found == [model.eval(time, model_completion=True).as_long() for time in at]


@given(st.lists(bounds(), min_size=4, max_size=10))
@settings(max_examples=100, derandomize=True)
def test_no_bound_of_a_minimal_contradiction_can_be_left_out(constraints: list[Between]) -> None:
    found = earliest_times(STEPS, edges_of(STEPS, constraints))
    if not isinstance(found, Contradiction):
        return
    edges = minimal(STEPS, found).edges
    assert all(any(edge is one for one in found.edges) for edge in edges if edge.because is not None)
    order = edges_of(STEPS, [])
    of_bounds = [edge for edge in edges if edge.because is not None]
    assert isinstance(earliest_times(STEPS, [*order, *of_bounds]), Contradiction)
    for left_out in of_bounds:
        others = [edge for edge in of_bounds if edge is not left_out]
        assert not isinstance(earliest_times(STEPS, [*order, *others]), Contradiction)


def test_a_detour_is_no_part_of_a_minimal_contradiction() -> None:
    """The third step comes too late for what the first started; that the second waited as well says no more."""
    constraints = [between(1, 4, most=14), between(2, 4, least=120), between(2, 3, most=5), between(1, 3, least=7)]
    found = earliest_times(STEPS, edges_of(STEPS, constraints))
    assert isinstance(found, Contradiction)
    bounds = [edge.because for edge in minimal(STEPS, found).edges if edge.because is not None]
    assert sorted(bounds, key=lambda one: one.earlier) == constraints[:2]


@given(st.lists(bounds(), max_size=6))
@settings(max_examples=60, derandomize=True)
def test_times_keep_to_every_bound(constraints: list[Between]) -> None:
    found = schedule(STEPS, constraints)
    if isinstance(found, Schedule):
        times = [0, *found.times]
        assert times == sorted(times)
        assert all(one.allows(times) for one in constraints)


@pytest.mark.parametrize(
    ("constraints", "times"),
    [
        ([], (0, 0)),
        ([between(0, 1, least=9_000)], (9_000, 9_000)),
        ([between(0, 1, least=8_600)], (9_000, 9_000)),  # a little later, and rounder
        ([between(0, 1, least=8_600, most=8_700)], (8_600, 8_600)),  # no time for that: hundreds
        ([between(0, 1, least=7_003)], (8_000, 8_000)),
        ([between(0, 1, least=101), between(1, 2, least=101)], (110, 220)),
    ],
)
def test_times_are_early_and_round(constraints: list[Between], times: tuple[int, ...]) -> None:
    assert schedule(2, constraints) == Schedule(times)


def test_a_wrong_graph_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disagreement between the graph and Z3 ends the check."""
    impossible = [between(0, 1, least=10), between(0, 2, most=5)]
    assert isinstance(schedule(2, impossible), Contradiction)
    monkeypatch.setattr(scheduling, "earliest_times", lambda steps, edges: [0, 0, 0])
    with pytest.raises(TimingMismatch, match="impossible"):
        schedule(2, impossible)
    with pytest.raises(TimingMismatch, match="does not accept"):
        schedule(2, [between(0, 1, least=10)])
