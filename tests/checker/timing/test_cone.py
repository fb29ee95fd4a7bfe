"""Deadlines outside a property's cone of influence exclude no run of the cone."""

from __future__ import annotations

import z3

from proofka.checker.cone import FreeVariables, slice_to
from proofka.model.language import Action, Clock, Need, TransitionSystem, Variable
from tests.checker.test_exploration import action
from tests.checker.timing.random_systems import State, has_times, of

SEEN, UNSEEN = Variable("seen", 0, 1, 0), Variable("unseen", 0, 1, 0)
WAITS, BETWEEN_POLLS = 10, 4


def act(name: str, guard: z3.BoolRef, variable: Variable, value: int) -> Action:
    return action(name, guard, {variable: z3.IntVal(value)})


def system(counts: z3.BoolRef) -> TransitionSystem:
    """Build a system whose action needs ``counts`` for ten ms; another action, outside the cone, is due every four
    ms."""
    since = Clock("since", {}, counts, "it began")
    polls = act("poll", UNSEEN.term == 0, UNSEEN, 1), act("poll_again", UNSEEN.term == 1, UNSEEN, 0)
    most = of("between polls", 0, BETWEEN_POLLS)
    due = [Clock("due", {"poll": n}, poll.guard, "a poll", most, frozenset({poll.key})) for n, poll in enumerate(polls)]
    waits = Need(since, at_least=of("waits", WAITS, None))
    happens = act("happen", SEEN.term == 0, SEEN, 1)
    actions, needs = (happens, *polls), {happens.key: (waits,)}
    return TransitionSystem("two parts", (SEEN, UNSEEN), actions, clocks=(since, *due), needs=needs)


def clocks_seen(whole: TransitionSystem, root: z3.BoolRef) -> list[str]:
    return [clock.name for clock in slice_to(whole, [root], FreeVariables()).clocks]


def run_with(whole: TransitionSystem, polls: int) -> tuple[list[Action], list[State]]:
    """Return the run in which the action happens after ``polls`` polls."""
    happens, *poll = whole.actions
    taken = [poll[number % 2] for number in range(polls)]
    states: list[State] = [{"seen": 0, "unseen": number % 2} for number in range(polls + 1)]
    return [*taken, happens], [*states, {"seen": 1, "unseen": polls % 2}]


def test_deadlines_outside_the_cone_exclude_no_run_of_the_cone() -> None:
    """The whole has times for it, with polls in between; a run that shows none of them is one of the part."""
    whole = system(SEEN.term == 0)
    assert not has_times(whole, *run_with(whole, 0))
    assert has_times(whole, *run_with(whole, 2))
    assert clocks_seen(whole, SEEN.term == 1) == ["since"]


def test_deadline_is_in_the_cone_if_its_action_restarts_a_clock_of_the_cone() -> None:
    """Every second poll begins the ten milliseconds anew, and there is one every four."""
    whole = system(z3.And(SEEN.term == 0, UNSEEN.term == 0))
    assert not any(has_times(whole, *run_with(whole, polls)) for polls in (0, 2, 4, 6))
    assert clocks_seen(whole, SEEN.term == 1) == ["since", "due", "due"]


def test_deadline_of_an_action_in_the_cone_is_in_the_cone() -> None:
    assert clocks_seen(system(SEEN.term == 0), z3.And(SEEN.term == 1, UNSEEN.term == 1)) == ["since", "due", "due"]
    assert clocks_seen(system(SEEN.term == 0), UNSEEN.term == 1) == ["due", "due"]
