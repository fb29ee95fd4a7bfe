"""Thresholds: the value of a setting from which a property holds, if the property depends on timing.

Only clocks depend on a duration, so the exploration without clocks is done once. Then values are tried. If the property
is violated, the next value is the least for which no trace has possible times. If the property holds, the next value is
the greatest for which some reason of the pass is gone. Every reported value was decided by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from proofka.checker.budget import Budget
from proofka.checker.check import Run, explore, prepare_groups
from proofka.checker.reductions.always import always_reduced
from proofka.checker.timing.contradictions import in_words
from proofka.checker.timing.loop import InTime
from proofka.checker.timing.network import Contradiction
from proofka.checker.timing.refinement import OtherSystem
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.durations import NAMES
from proofka.model.deployment.times import Durations
from proofka.model.durations import Quantity
from proofka.model.pipeline import build
from proofka.properties.property import Property
from proofka.properties.verdict import Status, Threshold, Verdict

MOST_VALUES = 20
"""Largest number of values that are tried for a setting."""

LONGEST = 2**40
"""Largest value that is tried, in ms: 34 years."""

SETTLED = (Status.VIOLATED, Status.HOLDS)
"""Verdicts that a value can change."""


def thresholds(run: Run, verdicts: Sequence[Verdict], budget: Budget, stop: threading.Event) -> Iterator[Threshold]:
    """Yield, for each required property whose verdict depends on timing, the settings that change the verdict.

    ``run`` is the source of the verdicts. A setting is tried if something must wait because of it. Once ``stop`` is
    set, no further settings are tried.
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
    """Return the settings that can change the verdict: larger values exclude every trace, or a timing lemma depends on
    them.
    """
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
    """Return the durations that a setting determines, without assumed ranges and without the value "never"."""
    return [quantity for name in NAMES if (quantity := getattr(durations, name)).is_fixed]


@dataclass(frozen=True)
class _Decided:
    """The result for one value.

    ``next_value``: the value to try next, either the least for which the traces of this value are impossible, or the
    greatest for which one of its lemmas fails. ``reasons``: the contradictions that exclude violations, with this value
    or with ``next_value``.
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
        """Return the value at which the verdict changes, as far as found; None if the setting does not change the
        verdict.
        """
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
                # The next value lies between this value and a value with the other verdict.
                other = violated_at or 0 if holds_at is not None else holds_at
                value = None if other is None or abs(other - value) < 2 else (value + other) // 2
                continue
            if decided.holds:
                holds_at, why_it_holds = value, decided.reasons
            else:
                why_traces_go = decided.reasons
                # One of its traces stays possible up to this value.
                violated_at = value if decided.next_value is None else decided.next_value - 1
            if holds_at is not None and violated_at is not None and holds_at <= violated_at + 1:
                break
            value = decided.next_value
        if holds_at is None or violated_at is None:
            return None
        # If a value removes something from the model, no lemma explains the pass.
        lemmas = in_words(why_it_holds) or in_words(why_traces_go)
        because = lemmas[0].inequality if lemmas else ""
        return Threshold(self._prop.name, self._setting, self._now, holds_at, violated_at, because)

    def _decide(self, value: int) -> _Decided | None:
        """Return whether the property holds with this value; None if unknown."""
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
        """Return the least value for which these bounds contradict each other as well."""
        return _least(lambda other: contradiction.excludes_with(self._setting, other), 0, value) or 0

    def _under(self, value: int) -> InTime:
        """Return the timing results of the question with this value."""
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
            timing = self._run.timing.with_times_of(always_reduced(build(deployment)))
            self._last = self._last.under(timing, self._setting, value)
        except OtherSystem:
            return self._explored_anew(deployment)
        self._run.keep_to_time(self._number, self._last)
        self._last.conclude()
        return self._last

    def _explored_anew(self, deployment: Deployment) -> InTime:
        """Return the timing results for a value that changes the system itself."""
        prepared, groups = prepare_groups(deployment)
        wanted = next(one for one in groups if self._prop.name in {prop.name for prop in one.properties})
        run = Run(deployment, prepared, [wanted], self._run.budget)
        run.explore(None)
        return run.in_time(self._prop.name)


def _least(holds: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the least value from ``low`` to ``high`` for which ``holds`` is True; None if it is False for ``high``.

    ``holds`` must be monotone: True for a value implies True for all larger values.
    """
    if not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high
