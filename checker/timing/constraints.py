"""What the clocks of a system demand of a run: bounds on the time between two of its steps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import z3

from checker.evaluation import Evaluator, Value
from model.language import Action, Clock, ClockKey, Duration, Need, State, TransitionSystem


@dataclass(frozen=True)
class Bound:
    """What the model says of one kind of clock, whichever broker or record it is of: what it shows at least or at most.

    ``until``: the kind of clock at whose start it says so, if not at a step. ``is_deadline``: it says so of all steps.
    """

    clock: str
    until: str | None
    duration: Duration
    is_least: bool
    is_deadline: bool = False


def bounds_of(need: Need) -> Iterator[Bound]:
    """The bounds that an action has to keep to because of a need."""
    until = None if need.until is None else need.until.name
    if need.at_least is not None:
        yield Bound(need.clock.name, until, need.at_least, True)
    if need.at_most is not None:
        yield Bound(need.clock.name, until, need.at_most, False)


def deadline_of(clock: Clock) -> Bound | None:
    """The bound that a clock's deadline is, if it has one."""
    return None if clock.at_most is None else Bound(clock.name, None, clock.at_most, False, True)


@dataclass(frozen=True)
class Between:
    """From step ``earlier`` to step ``later`` it takes ``least`` to ``most`` ms (None: no such bound).

    Steps are numbered from 1; 0 is the start. ``need`` is what step ``needed_at`` needs of the clock, or of what that
    showed at step ``later``; without it the bound is the clock's deadline.
    """

    earlier: int
    later: int
    least: int | None
    most: int | None
    clock: Clock
    need: Need | None = None
    needed_at: int | None = None

    def bound(self, *, is_least: bool) -> Bound:
        """What of the model says so."""
        if self.need is not None:
            return next(one for one in bounds_of(self.need) if one.is_least == is_least)
        deadline = deadline_of(self.clock)
        assert deadline is not None
        return deadline

    def with_value(self, name: str, value: int) -> Between:
        """The same bound where the setting of this name is so many ms."""

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
        """Whether these times (ms, by step) keep to it."""
        between = times[self.later] - times[self.earlier]
        return (self.least is None or between >= self.least) and (self.most is None or between <= self.most)


class RunningClocks:
    """Which clocks of a system run in which states. ``conditions``: a term for each, over the states' variables."""

    def __init__(self, clocks: Sequence[Clock], conditions: Sequence[z3.BoolRef]) -> None:
        self._clocks = clocks
        self._conditions = Evaluator(conditions)
        self._known: dict[tuple[tuple[str, int], ...], list[Value]] = {}

    @classmethod
    def of(cls, system: TransitionSystem) -> RunningClocks:
        """All clocks of a system, in its own states."""
        return cls(system.clocks, [clock.runs for clock in system.clocks])

    def _running(self, state: State) -> list[Value]:
        key = tuple(state.items())
        if key not in self._known:
            self._known[key] = self._conditions.values(state)
        return self._known[key]

    def running(self, state: State) -> frozenset[ClockKey]:
        """The clocks that run in a state, by name and arguments."""
        values = self._running(state)
        return frozenset(clock.key for clock, runs in zip(self._clocks, values, strict=True) if runs)

    def episodes(self, states: Sequence[State]) -> Iterator[tuple[Clock, int, int | None]]:
        """Each time a clock runs: the step that starts it and the step that ends it (None: it still runs)."""
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
    """The bounds that hold between the steps of a run. ``states``: the initial one first, one more than actions.

    A clock that runs in the initial state starts with it.
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
            for need in actions[step - 1].needs:
                if need.clock.key == clock.key:
                    least = None if need.at_least is None else need.at_least.at_least()
                    most = None if need.at_most is None else need.at_most.at_most()
                    end = step if need.until is None else _start_of(need.until, step, episodes)
                    if (least or most is not None) and end is not None:
                        found.append(Between(started, end, least or None, most, clock, need, step))
    return found


def within(bounds: Sequence[Between], clocks: Collection[ClockKey]) -> list[Between]:
    """The bounds that these clocks set."""
    return [one for one in bounds if one.clock.key in clocks]


def bounds_on(
    system: TransitionSystem, part: TransitionSystem, actions: Sequence[Action], states: Sequence[State]
) -> list[Between]:
    """What the clocks that matter to a part of a system demand of a run of the whole."""
    bounds = constraints_along(RunningClocks.of(system), actions, states)
    return within(bounds, {clock.key for clock in part.clocks})


def waited_for(bounds: Iterable[Bound]) -> set[str]:
    """The names of the quantities for which something has to wait because of these bounds."""
    durations = (bound.duration for bound in bounds if bound.is_least)
    return {quantity.name for duration in durations for factor, quantity in duration.parts if factor > 0}


def _start_of(clock: Clock, step: int, episodes: Sequence[tuple[Clock, int, int | None]]) -> int | None:
    """The step that started a clock that runs before this one."""
    starts = (
        begun
        for other, begun, ended in episodes
        if other.key == clock.key and begun < step and (ended is None or ended >= step)
    )
    return next(starts, None)
