"""The order of a run in which no step waits for an unrelated step.

An exploration finds independent steps in any order. Without reordering, a step behind a slow unrelated step would be
shown late for no reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofka.checker.solver import Replayer
from proofka.checker.timing.refinement import Timing
from proofka.checker.timing.schedule import Schedule
from proofka.checker.traces import replay
from proofka.model.language import Action, State, TransitionSystem


def promptly(
    system: TransitionSystem, replayer: Replayer, timing: Timing, actions: Sequence[Action], found: Schedule
) -> tuple[list[Action], Schedule]:
    """Return the run and its times, with steps moved before unrelated steps if they can then come sooner.

    The run ends in the same state, after the same steps; neighbours are exchanged one pair at a time. Raise
    :class:`~checker.traces.ReplayMismatch` if the run is no run of the system.
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
    """Tell whether step ``step + 1`` happens together with its predecessor, some time after the step before that."""
    before = times.times[step - 2] if step > 1 else 0
    return times.times[step] == times.times[step - 1] > before


def _exchanged(replayer: Replayer, states: Sequence[State], actions: Sequence[Action], step: int) -> State | None:
    """Return the state between two neighbours in the other order, if that order leads to the same state."""
    between = replayer.step(states[step - 1], actions[step])
    after = None if between is None else replayer.step(between, actions[step - 1])
    return between if after is not None and after == states[step + 1] else None
