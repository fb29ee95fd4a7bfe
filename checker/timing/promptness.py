"""The order of a run in which no step waits for another that it has nothing to do with.

An exploration finds steps that do not depend on each other in any order, and a step that comes after one that takes
its time would be shown late for no reason of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from checker.solver import Replayer
from checker.timing.refinement import Timing
from checker.timing.schedule import Schedule
from checker.traces import replay
from model.language import Action, State, TransitionSystem


def promptly(
    system: TransitionSystem, replayer: Replayer, timing: Timing, actions: Sequence[Action], found: Schedule
) -> tuple[list[Action], Schedule]:
    """The run and its times, with steps moved ahead of those that they do not depend on where they can come sooner.

    It ends in the same state, after the same steps; neighbours are exchanged one pair at a time. Raises
    :class:`~checker.traces.ReplayMismatch` if the run is none of the system.
    """
    order, best = list(actions), found
    states: list[State] = list(replay(system, replayer, order))
    step = 1
    while step < len(order):
        earlier = _exchanged(replayer, states, order, step) if _waits(best, step) else None
        if earlier is not None:
            run = [*order[: step - 1], order[step], order[step - 1], *order[step + 1 :]]
            times = timing.schedule(run)
            if isinstance(times, Schedule) and sum(times.times) < sum(best.times):
                order, best, states[step] = run, times, earlier
                step = max(1, step - 1)
                continue
        step += 1
    return order, best


def _waits(times: Schedule, step: int) -> bool:
    """Step ``step + 1`` happens when the one before it does, which is some time after the one before that."""
    before = times.times[step - 2] if step > 1 else 0
    return times.times[step] == times.times[step - 1] > before


def _exchanged(replayer: Replayer, states: Sequence[State], actions: Sequence[Action], step: int) -> State | None:
    """The state between two neighbours in the other order, if that leads to the same state."""
    between = replayer.step(states[step - 1], actions[step])
    after = None if between is None else replayer.step(between, actions[step - 1])
    return between if after is not None and after == states[step + 1] else None
