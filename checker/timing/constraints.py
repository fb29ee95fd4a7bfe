"""Clock constraints on a run: bounds on the time between two of its steps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import z3

from proofka.checker.evaluation import Evaluator, Value
from proofka.model.language import Action, Clock, ClockKey, Duration, Need, Needs, State, TransitionSystem


@dataclass(frozen=True)
class Bound:
    """A bound of the model on one kind of clock, for every broker or record: the clock's least or greatest value.

    ``until``: the kind of clock at whose start the bound applies, if it does not apply at a step. ``is_deadline``: the
    bound applies to all steps.
    """

    clock: str
    until: str | None
    duration: Duration
    is_least: bool
    is_deadline: bool = False


def bounds_of(need: Need) -> Iterator[Bound]:
    """Yield the bounds on an action that follow from a need."""
    until = None if need.until is None else need.until.name
    if need.at_least is not None:
        yield Bound(need.clock.name, until, need.at_least, True)
    if need.at_most is not None:
        yield Bound(need.clock.name, until, need.at_most, False)


def deadline_of(clock: Clock) -> Bound | None:
    """Return the bound given by a clock's deadline, if the clock has a deadline."""
    return None if clock.at_most is None else Bound(clock.name, None, clock.at_most, False, True)


@dataclass(frozen=True)
class Between:
    """A time of ``least`` to ``most`` ms from step ``earlier`` to step ``later``; None: no bound.

    Steps are numbered from 1; 0 is the start. ``need`` is the condition of step ``needed_at`` on the clock, or on the
    value of the clock at step ``later``. Without ``need`` the bound is the clock's deadline.
    """

    earlier: int
    later: int
    least: int | None
    most: int | None
    clock: Clock
    need: Need | None = None
    needed_at: int | None = None

    def bound(self, *, is_least: bool) -> Bound:
        """Return the bound of the model behind this constraint."""
        if self.need is not None:
            return next(one for one in bounds_of(self.need) if one.is_least == is_least)
        deadline = deadline_of(self.clock)
        assert deadline is not None
        return deadline

    def with_value(self, name: str, value: int) -> Between:
        """Return the same constraint if the setting ``name`` has ``value`` ms."""

        def changed(duration: Duration | None) -> Duration | None:
            return None if duration is None else duration.with_value(name, value)

        clock, need = replace(self.clock, at_most=changed(self.clock.at_most)), self.need
        at_least, at_most = None, clock.at_most
        if need is not None:
            at_least, at_most = changed(need.at_least), changed(need.at_most)
            need = replace(need, at_least=at_least, at_most=at_most)
        least = None if self.least is None or at_least is None else at_least.at_least()
        most = None if self.most is None or at_most is None else at_most.at_most()
        return replace(self, least=least, most=most, clock=clock, need=need)

    def allows(self, times: Sequence[int]) -> bool:
        """Tell whether these times (ms, by step) satisfy the constraint."""
        between = times[self.later] - times[self.earlier]
        return (self.least is None or between >= self.least) and (self.most is None or between <= self.most)


class RunningClocks:
    """The running clocks of each state of a system, and what actions need of the clocks.

    ``conditions``: a term for each clock, over the states' variables.
    """

    def __init__(self, clocks: Sequence[Clock], conditions: Sequence[z3.BoolRef], needs: Needs) -> None:
        self.needs = needs
        self._clocks = clocks
        self._conditions = Evaluator(conditions)
        self._known: dict[tuple[tuple[str, int], ...], list[Value]] = {}

    @classmethod
    def of(cls, system: TransitionSystem) -> RunningClocks:
        """Return an object for all clocks of a system, in its own states."""
        return cls(system.clocks, [clock.runs for clock in system.clocks], system.needs)

    def _running(self, state: State) -> list[Value]:
        key = tuple(state.items())
        if key not in self._known:
            self._known[key] = self._conditions.values(state)
        return self._known[key]

    def running(self, state: State) -> frozenset[ClockKey]:
        """Return the clocks that run in a state, by name and arguments."""
        values = self._running(state)
        return frozenset(clock.key for clock, runs in zip(self._clocks, values, strict=True) if runs)

    def episodes(self, states: Sequence[State]) -> Iterator[tuple[Clock, int, int | None]]:
        """Yield each period in which a clock runs: the step that starts it, and the step that ends it (None: still
        running).
        """
        running = [self._running(state) for state in states]
        for number, clock in enumerate(self._clocks):
            started: int | None = None
            for step, values in enumerate(running):
                if values[number] and started is None:
                    started = step
                elif not values[number] and started is not None:
                    yield clock, started, step
                    started = None
            if started is not None:
                yield clock, started, None


def constraints_along(clocks: RunningClocks, actions: Sequence[Action], states: Sequence[State]) -> list[Between]:
    """Return the constraints between the steps of a run.

    ``states``: the initial state first, one more than actions.

    A clock that runs in the initial state starts there.
    """
    found = []
    last = len(actions)
    episodes = list(clocks.episodes(states))
    for clock, started, ended in episodes:
        until = last if ended is None else ended
        deadline = None if clock.at_most is None else clock.at_most.at_most()
        if deadline is not None:
            found.append(Between(started, until, None, deadline, clock))
        for step in range(started + 1, until + 1):
            for need in clocks.needs.get(actions[step - 1].key, ()):
                if need.clock.key == clock.key:
                    least = None if need.at_least is None else need.at_least.at_least()
                    most = None if need.at_most is None else need.at_most.at_most()
                    end = step if need.until is None else _start_of(need.until, step, episodes)
                    if (least or most is not None) and end is not None:
                        found.append(Between(started, end, least or None, most, clock, need, step))
    return found


def within(bounds: Sequence[Between], clocks: Collection[ClockKey]) -> list[Between]:
    """Return the constraints that these clocks set."""
    return [one for one in bounds if one.clock.key in clocks]


def bounds_on(
    system: TransitionSystem, part: TransitionSystem, actions: Sequence[Action], states: Sequence[State]
) -> list[Between]:
    """Return the constraints on a run of the whole system from the clocks that matter to a part of the system."""
    bounds = constraints_along(RunningClocks.of(system), actions, states)
    return within(bounds, {clock.key for clock in part.clocks})


def waited_for(bounds: Iterable[Bound]) -> set[str]:
    """Return the names of the quantities that cause waiting because of these bounds."""
    durations = (bound.duration for bound in bounds if bound.is_least)
    return {quantity.name for duration in durations for factor, quantity in duration.parts if factor > 0}


def _start_of(clock: Clock, step: int, episodes: Sequence[tuple[Clock, int, int | None]]) -> int | None:
    """Return the step that started a clock that runs before this step."""
    starts = (
        begun
        for other, begun, ended in episodes
        if other.key == clock.key and begun < step and (ended is None or ended >= step)
    )
    return next(starts, None)
