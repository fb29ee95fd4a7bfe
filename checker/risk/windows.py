"""Windows of a timed trace: the time that its run leaves between its faults."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proofka.checker.timing.constraints import Between
    from proofka.checker.timing.network import Edge
    from proofka.model.deployment.deployment import Deployment
    from proofka.properties.verdict import Result, Trace

Windows = dict[tuple[str, int], "Window"]
"""The window of each trace, by property and by the position of the trace in its verdict."""


@dataclass(frozen=True)
class Window:
    """The faults of a trace in their order, and the times in ms that its run allows.

    ``before_last``: for each fault, the least and the greatest time until the last fault; None: any time. ``after``:
    the time from the last fault to the violation in the trace. The times are those of this run: another run with the
    same faults can allow more.
    """

    order: tuple[str, ...]
    before_last: tuple[tuple[int, int | None], ...]
    after: int

    @property
    def span(self) -> tuple[int, int | None]:
        """The least and the greatest time from the first fault to the last."""
        return self.before_last[0] if self.before_last else (0, 0)


def windows_of(deployment: Deployment, result: Result, properties: Collection[str]) -> Windows:
    """Return the windows of all traces of these properties, from the clocks of the model.

    The model is built only for traces with several faults. Traces for any number of faults have no windows, because
    their model has other bounds. Raise :class:`checker.traces.ReplayMismatch` if a trace is no run of the model.
    """
    found: Windows = {}
    several: list[tuple[str, int, Trace]] = []
    for verdict in result.verdicts:
        for number, trace in enumerate(verdict.traces):
            if verdict.property not in properties or deployment.faults.any_number:
                continue
            if sum(count for _, count in trace.faults) > 1:
                several.append((verdict.property, number, trace))
            else:
                found[verdict.property, number] = window_of(trace, ())
    return {**found, **(_from_clocks(deployment, several) if several else {})}


def _from_clocks(deployment: Deployment, traces: Sequence[tuple[str, int, Trace]]) -> Windows:
    from proofka.checker.check import prepare_groups
    from proofka.checker.solver import Replayer
    from proofka.checker.timing.constraints import bounds_on
    from proofka.checker.traces import actions_of_steps, replay

    prepared, groups = prepare_groups(deployment)
    system = prepared.model.system
    replayer = Replayer(system)
    cones = {name: cone for group in groups for name, cone in group.cones.items()}
    found: Windows = {}
    for name, number, trace in traces:
        actions = actions_of_steps(system, trace.steps)
        states = replay(system, replayer, actions)
        found[name, number] = window_of(trace, bounds_on(system, cones[name], actions, states))
    return found


def window_of(trace: Trace, bounds: Sequence[Between]) -> Window:
    """Return the window of a trace from the bounds on the times of its run."""
    from proofka.checker.timing.network import edges_of

    steps = [number for number, step in enumerate(trace.steps, 1) if step.fault is not None]
    order = tuple(step.fault for step in trace.steps if step.fault is not None)
    if not steps:
        return Window((), (), 0)
    edges = edges_of(len(trace.steps), bounds)
    last = steps[-1]
    back = distances(len(trace.steps), edges, last)
    before_last = tuple((-back[step], distances(len(trace.steps), edges, step).get(last)) for step in steps)
    times = [step.at for step in trace.steps]
    end, at = times[-1], times[last - 1]
    return Window(order, before_last, 0 if end is None or at is None else end - at)


def distances(steps: int, edges: Sequence[Edge], start: int) -> Mapping[int, int]:
    """Return the greatest time in ms by which each step can come after the step ``start``.

    A step without a number can come any time later. A negative number is a least time before ``start``. The edges have
    no negative cycle, because times exist for the run.
    """
    found = {start: 0}
    for _ in range(steps + 1):
        changed = False
        for edge in edges:
            if edge.tail in found:
                least = found[edge.tail] + edge.weight
                if edge.head not in found or least < found[edge.head]:
                    found[edge.head] = least
                    changed = True
        if not changed:
            break
    return found
