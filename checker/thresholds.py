"""Thresholds: from which value of a setting on a property holds, where that rests on how long things take.

Only clocks depend on a duration, so what was explored without them is explored once. Then values are tried: where the
property is violated, the next one is the least for which none of its traces has times any more; where it holds, the
greatest for which some reason why it does is gone. Every value that is reported was decided by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from checker.budget import Budget
from checker.check import Run, explore, prepare_groups
from checker.timing.loop import InTime
from checker.timing.network import Contradiction
from checker.timing.refinement import OtherSystem
from checker.timing.wording import in_words
from model.deployment.deployment import Deployment
from model.deployment.durations import NAMES
from model.deployment.times import Durations
from model.durations import Quantity
from model.pipeline import build
from properties.property import Property
from properties.verdict import Status, Threshold, Verdict

MOST_VALUES = 20
"""So many values of a setting are tried at most."""

LONGEST = 2**40
"""No longer value is tried, in ms: 34 years."""

SETTLED = (Status.VIOLATED, Status.HOLDS)
"""Verdicts that can turn on a value."""


def thresholds(run: Run, verdicts: Sequence[Verdict], budget: Budget, stop: threading.Event) -> Iterator[Threshold]:
    """For each required property whose verdict rests on time, what turns it. ``run``: what these verdicts came from.

    A setting is tried where something has to be waited for because of it; once ``stop`` is set no more are.
    """
    turning = {v.property for v in verdicts if v.required and v.status in SETTLED and (v.lemmas or v.traces)}
    if not turning or run.deployment.faults.any_number:
        return
    budget = replace(budget, stop=stop)
    if run.is_in_this_process:
        run.meter.renew(budget)
    else:
        run = explore(run.deployment, budget)
    for number, one in enumerate(run.groups):
        for prop in one.properties:
            if prop.name in turning and run.number_of(prop.name) == number:
                for setting in sorted(_candidates(run, prop)):
                    if stop.is_set():
                        return
                    found = _Search(run, number, prop, setting).threshold(stop)
                    if found is not None:
                        yield found


def _candidates(run: Run, prop: Property) -> set[str]:
    """The settings that may decide it: longer ones take every trace away, or hold up a reason why there is none."""
    in_time = run.in_time(prop.name)
    settings = {quantity.name for quantity in _settings(run.deployment.durations)}
    timely = in_time.timely
    if not timely:
        return settings & {name for lemma in in_time.lemmas for name in lemma.contradiction.needed}
    runs = [one.actions for one in timely]
    timing = in_time.timing
    waited_for = set.intersection(*(timing.needed_by(actions) for actions in runs))
    return {
        name
        for name in settings & waited_for
        if all(timing.contradiction_with(actions, name, LONGEST) for actions in runs)
    }


def _settings(durations: Durations) -> list[Quantity]:
    """The durations that a setting says; a range that is assumed is none, nor is what means never."""
    return [quantity for name in NAMES if (quantity := getattr(durations, name)).is_fixed]


@dataclass(frozen=True)
class _Decided:
    """What a value came to.

    ``next_value`` is to be tried next: the least one at which the traces of this one are gone, or the greatest at which
    one of its lemmas is. ``reasons``: why there is no time for what would violate it, with that value or with this one.
    """

    holds: bool
    next_value: int | None
    reasons: tuple[Contradiction, ...] = ()


class _Search:
    def __init__(self, run: Run, number: int, prop: Property, setting: str) -> None:
        self._run, self._number, self._prop, self._setting = run, number, prop, setting
        self._now = next(q.least for q in _settings(run.deployment.durations) if q.name == setting)
        self._last = run.in_time(prop.name)

    def threshold(self, stop: threading.Event) -> Threshold | None:
        """Where the verdict turns, as far as it was found; None where the setting does not turn it."""
        holds_at: int | None = None
        violated_at: int | None = None
        why_it_holds: tuple[Contradiction, ...] = ()
        why_traces_go: tuple[Contradiction, ...] = ()
        value: int | None = self._now
        for _ in range(MOST_VALUES):
            if value is None or stop.is_set():
                break
            decided = self._decide(value)
            if decided is None:
                # Somewhere between here and where it is known to be otherwise.
                other = violated_at or 0 if holds_at is not None else holds_at
                value = None if other is None or abs(other - value) < 2 else (value + other) // 2
                continue
            if decided.holds:
                holds_at, why_it_holds = value, decided.reasons
            else:
                why_traces_go = decided.reasons
                # One of its traces has times up to there.
                violated_at = value if decided.next_value is None else decided.next_value - 1
            if holds_at is not None and violated_at is not None and holds_at <= violated_at + 1:
                break
            value = decided.next_value
        if holds_at is None or violated_at is None:
            return None
        # Where a value leaves something out of the model, no lemma says why it holds.
        lemmas = in_words(why_it_holds) or in_words(why_traces_go)
        because = lemmas[0].inequality if lemmas else ""
        return Threshold(self._prop.name, self._setting, self._now, holds_at, violated_at, because)

    def _decide(self, value: int) -> _Decided | None:
        """Whether the property holds with this value; None where that is not known."""
        in_time = self._under(value)
        if in_time.stopped is not None or in_time.undecided:
            return None
        timely = in_time.timely
        if timely:
            runs = [one.actions for one in timely]
            timing = in_time.timing

            def excluded(other: int) -> list[Contradiction | None]:
                return [timing.contradiction_with(actions, self._setting, other) for actions in runs]

            gone_at = _least(lambda other: all(excluded(other)), value, LONGEST)
            reasons = () if gone_at is None else tuple(one for one in excluded(gone_at) if one is not None)
            return _Decided(False, gone_at, reasons)
        contradictions = [lemma.contradiction for lemma in in_time.lemmas]
        least = max((self._least_for(one, value) for one in contradictions), default=0)
        tight = tuple(one for one in contradictions if least and self._least_for(one, value) == least)
        return _Decided(True, least - 1 if least > 0 else None, tight)

    def _least_for(self, contradiction: Contradiction, value: int) -> int:
        """The least value for which these bounds contradict each other as well."""
        return _least(lambda other: contradiction.excludes_with(self._setting, other), 0, value) or 0

    def _under(self, value: int) -> InTime:
        """The question with this value."""
        if value == self._now:
            return self._run.in_time(self._prop.name)
        durations = self._run.deployment.durations
        changed = {
            name: replace(quantity, least=value, most=value)
            for name in NAMES
            if (quantity := getattr(durations, name)).name == self._setting
        }
        deployment = replace(self._run.deployment, durations=replace(durations, **changed))
        try:
            timing = self._run.timing.with_times_of(build(deployment))
            self._last = self._last.under(timing, self._setting, value)
        except OtherSystem:
            return self._explored_anew(deployment)
        self._run.keep_to_time(self._number, self._last)
        self._last.conclude()
        return self._last

    def _explored_anew(self, deployment: Deployment) -> InTime:
        """The question where the value decides of what the system consists."""
        prepared, groups = prepare_groups(deployment)
        wanted = next(one for one in groups if self._prop.name in {prop.name for prop in one.properties})
        run = Run(deployment, prepared, [wanted], self._run.budget)
        run.explore(None)
        return run.in_time(self._prop.name)


def _least(holds: Callable[[int], bool], low: int, high: int) -> int | None:
    """The least value from ``low`` to ``high`` for which it holds, if it does for the highest and all from there up."""
    if not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high
