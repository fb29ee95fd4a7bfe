"""Differences between clocks as monitors: flags composed with a system, which prune steps that no clock allows.

A flag that is set means that its difference holds; a flag that is not set means nothing. Every step preserves this
meaning, for any set of flags, so pruning is sound by construction. An action is prevented only if set flags, deadlines
and its needs contradict each other. Reference: S. Graf, H. Saidi, "Construction of abstract state graphs with PVS", CAV
1997.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import z3

from proofka.checker.cone import FreeVariables
from proofka.checker.timing.differences import NOW, Difference, excluded_by
from proofka.model.language import Action, Clock, ClockKey, Effect, Need, TransitionSystem, Variable, flag


@dataclass(frozen=True)
class Watched:
    """A clock whose condition is written over the variables of the present system; its deadline in ms, if any."""

    key: ClockKey
    runs: z3.BoolRef
    deadline: int | None


def watch(clocks: Iterable[Clock], conditions: Iterable[z3.BoolRef]) -> dict[ClockKey, Watched]:
    """Return the clocks, with these conditions instead of their own."""
    return {
        clock.key: Watched(clock.key, runs, None if clock.at_most is None else clock.at_most.at_most())
        for clock, runs in zip(clocks, conditions, strict=True)
    }


def compose(
    system: TransitionSystem,
    clocks: Mapping[ClockKey, Watched],
    differences: Iterable[Difference],
    simplify: Callable[[z3.BoolRef], z3.BoolRef] = z3.simplify,
) -> TransitionSystem:
    """Return the system with a flag for each difference; steps with a contradiction in time are pruned.

    ``simplify``: a function that returns an equivalent condition.
    """
    monitors = _Monitors(system, clocks, sorted(set(differences)), simplify)
    actions = tuple(monitors.watched(action) for action in system.actions)
    return replace(system, variables=(*system.variables, *monitors.flags), actions=actions)


class _Monitors:
    def __init__(
        self,
        system: TransitionSystem,
        clocks: Mapping[ClockKey, Watched],
        differences: Sequence[Difference],
        simplify: Callable[[z3.BoolRef], z3.BoolRef],
    ) -> None:
        self._system = system
        self._simplify = simplify
        self._clocks = clocks
        self._differences = differences
        self._free = FreeVariables()
        initial = [(variable.term, z3.IntVal(variable.initial)) for variable in system.variables]
        self._at_first = {
            key: bool(z3.is_true(z3.simplify(z3.substitute(clock.runs, *initial)))) for key, clock in clocks.items()
        }
        self._flag = {one: flag(f"time_{number}", self._holds_at_first(one)) for number, one in enumerate(differences)}

        self._pairs: dict[tuple[ClockKey, ClockKey], list[Difference]] = {}
        for one in differences:
            self._pairs.setdefault((one.earlier, one.later), []).append(one)

    @property
    def flags(self) -> tuple[Variable, ...]:
        return tuple(self._flag.values())

    def _holds_at_first(self, one: Difference) -> bool:
        return one.earlier != NOW and one.most >= 0 and self._at_first[one.earlier] and self._at_first[one.later]

    def watched(self, action: Action) -> Action:
        """Return the action with its effect on the flags, prevented if the flags contradict the action."""
        step = _Step(action, self._system.needs_of(action), self._clocks, self._free, self._simplify)
        effect = Effect()
        for one, variable in self._flag.items():
            if step.touches(one.earlier) or step.touches(one.later) or step.least:
                after = self._simplify(z3.And(z3.Or(*self._reasons(step, one)), step.still_run(one)))
                if not after.eq(variable.is_set):
                    effect[variable] = after
        conflicts = [z3.Not(conflict) for conflict in self._conflicts(step)]
        guard = self._simplify(z3.And(action.guard, *conflicts)) if conflicts else action.guard
        return replace(action, guard=guard, updates={**action.updates, **effect.updates})

    def _reasons(self, step: _Step, one: Difference) -> Iterator[z3.BoolRef]:
        """Yield the reasons for which the difference holds after the step: it held before, or clocks that start now
        imply it.
        """
        yield self._flag[one].is_set
        if one.most >= 0 and step.touches(one.earlier):
            # A clock that starts now does not start earlier than a running clock.
            yield z3.And(step.starts(one.earlier), step.runs_after(one.later))
        if step.touches(one.later):
            until_now = z3.Or(*self._at_most(step, one.earlier, one.most))
            yield z3.And(step.starts(one.later), step.runs_through(one.earlier), until_now)
        if (one.earlier == NOW and step.least) or step.touches(one.earlier):
            from_now = z3.BoolVal(True) if one.earlier == NOW else step.starts(one.earlier)
            yield z3.And(from_now, z3.Or(*(why for total, why in self._at_least(step, one.later) if total <= one.most)))
        for total, why in self._at_least(step, one.later) if step.least else ():
            for way in self._at_most(step, one.earlier, one.most - total):
                yield z3.And(why, way, step.runs_through(one.earlier))

    def _weakest(self, earlier: ClockKey, later: ClockKey, most: int) -> z3.BoolRef | None:
        """Return the weakest flag among those with a bound of at most ``most``; it is set whenever one of these is
        set.
        """
        fitting = [one for one in self._pairs.get((earlier, later), ()) if one.most <= most]
        return self._flag[max(fitting)].is_set if fitting else None

    def _at_most(self, step: _Step, earlier: ClockKey, most: int) -> Iterator[z3.BoolRef]:
        """Yield the reasons for which this step comes at most ``most`` ms after the start of ``earlier``: deadlines and
        flags.
        """
        if earlier == NOW:
            return
        for key, deadline in step.most:
            if key == earlier and deadline <= most:
                yield step.runs_before(earlier)
            flagged = self._weakest(earlier, key, most - deadline)
            if flagged is not None:
                yield flagged

    def _at_least(self, step: _Step, later: ClockKey) -> Iterator[tuple[int, z3.BoolRef]]:
        """Yield lower bounds on the time since the start of ``later``, as negative numbers, each with its reason."""
        for one in self._pairs.get((NOW, later), ()):
            yield one.most, self._flag[one].is_set
        for key, least in step.least:
            if key == later:
                yield -least, step.runs_before(key)
            for one in self._pairs.get((key, later), ()):
                yield one.most - least, self._flag[one].is_set

    def _conflicts(self, step: _Step) -> Iterator[z3.BoolRef]:
        """Yield the conditions that make the step impossible: a clock shows more than its deadline."""
        for key, deadline in step.most:
            for total, why in self._at_least(step, key):
                if total + deadline < 0:
                    yield z3.And(step.runs_before(key), why)
        for one in step.excluded:
            flagged = self._weakest(one.earlier, one.later, one.most)
            if one.earlier == one.later:
                yield step.runs_before(one.earlier)
            elif flagged is not None:
                yield flagged


class _Step:
    """The effect of an action on clocks, and its conditions on clocks.

    ``least``: the least values of clocks that the action needs. ``most``: the greatest values of running clocks when
    the action happens.
    """

    def __init__(
        self,
        action: Action,
        needs: Sequence[Need],
        clocks: Mapping[ClockKey, Watched],
        free: FreeVariables,
        simplify: Callable[[z3.BoolRef], z3.BoolRef],
    ) -> None:
        self.action = action
        self._simplify = simplify
        self._clocks = clocks
        watched = [need for need in needs if need.clock.key in clocks and need.until is None]
        self.excluded = excluded_by(needs, clocks)
        least = [(need.clock.key, need.at_least.at_least()) for need in watched if need.at_least is not None]
        self.least = [(key, value) for key, value in least if value]
        most = [(need.clock.key, need.at_most.at_most()) for need in watched if need.at_most is not None]
        deadlines = [(key, clock.deadline) for key, clock in clocks.items()]
        self.most = [(key, value) for key, value in (*deadlines, *most) if value is not None]
        self._updates = [(variable.term, value) for variable, value in action.updates.items()]
        updated = {variable.name for variable in action.updates}
        self._touched = {key for key, clock in clocks.items() if free.of(clock.runs) & updated}
        self._after: dict[ClockKey, z3.BoolRef] = {}

    def touches(self, key: ClockKey) -> bool:
        """Tell whether the action can start or stop the clock."""
        return key in self._touched

    def runs_before(self, key: ClockKey) -> z3.BoolRef:
        return z3.BoolVal(True) if key == NOW else self._clocks[key].runs

    def runs_after(self, key: ClockKey) -> z3.BoolRef:
        if key not in self._touched:
            return self.runs_before(key)
        if key not in self._after:
            self._after[key] = self._simplify(z3.substitute(self._clocks[key].runs, *self._updates))
        return self._after[key]

    def still_run(self, one: Difference) -> z3.BoolRef:
        """Return the condition that both clocks run after the step; for untouched clocks, a flag already implies
        this.
        """
        return z3.And(*(self.runs_after(key) for key in (one.earlier, one.later) if key in self._touched))

    def runs_through(self, key: ClockKey) -> z3.BoolRef:
        """Return the condition that the clock runs before and after the step, and so without interruption."""
        return z3.And(self.runs_before(key), self.runs_after(key))

    def starts(self, key: ClockKey) -> z3.BoolRef:
        """Return the condition that the step starts the clock."""
        if key not in self._touched:
            return z3.BoolVal(False)
        return z3.And(self.runs_after(key), z3.Not(self.runs_before(key)))
