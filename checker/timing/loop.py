"""Properties in time: of what violates them without clocks, what can happen, and what takes its place.

What is found without clocks is a candidate. If there are times for it, it is a violation. If not, its faults and all
larger sets of faults are explored again for such properties alone, with monitors that leave out what cannot happen in
time, and with more of them until there are times for every violation that is left. Sets of faults of which no part
violates the property without clocks need no second look: clocks only take runs away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

from checker.budget import PartMeter
from checker.combinations import Combination
from checker.embedded import EmbeddedExploration
from checker.exploration import AnyExploration, OnProgress, Question, Violation
from checker.kernel.native import Kernel
from checker.timing.constraints import RunningClocks
from checker.timing.network import Contradiction
from checker.timing.refinement import Lemma, Timing, differences_in
from checker.timing.schedule import Schedule
from checker.timing.tables import TooManyFlags
from checker.timing.wording import in_words
from model.faults import Fault
from model.language import Action, TransitionSystem
from properties.verdict import CutSet, TimingLemma

CANDIDATES = 30
"""So many runs to a violation that cannot happen in time are asked why."""

ALIKE = 10
"""So many runs are tried for a set of faults that violates a property without clocks, and so does a part of it."""

ENOUGH = 4
"""After so many in a row from which nothing new was learnt no more are asked."""

LEAST_SECOND_LOOK = 4_000_000
SECOND_LOOK_SHARE = 0.5
"""A second look at a group of properties may find so many states, or such a share of what was found without clocks, if
that is more and some property is not known to be violated; where somebody said how long it may take, that alone counts.
"""

OPTIMISE_SECOND_LOOK_AFTER = 500_000
"""States without clocks from which on better machine code is worth its two seconds: a second look is mostly smaller."""

MOST_REFINEMENTS = 100
"""So often a layer of faults is explored again at most."""

RunOf = Callable[[AnyExploration, Violation], Sequence[Action]]
"""The run of the whole model that leads to a violation."""

Reporter = Callable[[AnyExploration, int], OnProgress | None]
"""What is told of progress, by exploration and number of faults."""

Ask = Callable[[Sequence[str]], tuple[TransitionSystem, Question]]
"""The part of the system that some properties see, and the question about them."""

Faults = Mapping[Fault, int]

One = TypeVar("One")


@dataclass(frozen=True)
class Timely:
    """A violation that can happen in time: where it was found, and when each of its steps happens."""

    exploration: AnyExploration
    violation: Violation
    schedule: Schedule
    is_second_look: bool = False

    @property
    def faults(self) -> CutSet:
        """The faults of the run."""
        return self.exploration.named(self.violation.combination)


class InTime:
    """What violates the properties of a group in time. ``ask`` makes a system and a question of some of them."""

    def __init__(
        self, timing: Timing, names: Sequence[str], ask: Ask, threads: int, compiled: Kernel | None = None
    ) -> None:
        self.timing = timing
        self._names = tuple(names)
        self._ask = ask
        self._threads = threads
        self._compiled = compiled
        self._judged: dict[tuple[str, Combination], Timely | None] = {}
        self._untimely: dict[str, list[Faults]] = {}
        self._timing_of: dict[str, Timing] = {}
        self._stopped: str | None = None
        self._spent = 0
        self.looks = 0
        self.again: EmbeddedExploration | None = None
        self.lemmas: list[Lemma] = []

    def timing_of(self, name: str) -> Timing:
        """Time in the runs that violate one of the properties."""
        if name not in self._timing_of:
            self._timing_of[name] = self.timing.that_matters_to(self._ask([name])[0])
        return self._timing_of[name]

    def under(self, timing: Timing, name: str) -> InTime:
        """The same asked of one property alone, under other times."""
        system, question = self._ask([name])
        asked = timing.put_into(system), question
        alone = self._names == (name,)
        compiled = None if not alone else self._compiled if self.again is None else self.again.compiled
        return InTime(timing, [name], lambda _: asked, self._threads, compiled)

    def goes_on(self) -> bool:
        """Whether sets of more faults can say anything new in time, although they do not without clocks."""
        return self._stopped is None and self.again is not None and not self.again.exhausted()

    def keep(self, found: AnyExploration, layers: int, run_of: RunOf, reporter: Reporter = lambda _, __: None) -> None:
        """Judge what an exploration without clocks found so far, and explore again what there is no time for.

        ``layers``: of how many faults, and one more; ``found`` may have no need of all of them.
        """
        known = set(self._untimely)
        for name in self._names:
            for violation in found.violations[name]:
                if (name, violation.combination) not in self._judged:
                    self._judge(found, violation, run_of)
        if self._untimely and self._stopped is None:
            if known != set(self._untimely):
                self._forget()
            self._refine(found, layers, reporter)

    def _judge(self, found: AnyExploration, violation: Violation, run_of: RunOf) -> None:
        """Whether there is time for a violation; where there is none for fewer faults, or for another one like it."""
        name, faults = violation.name, _faults(found, violation)
        more = any(_contained(part, faults) for part in self._untimely.get(name, []))
        for candidate in islice(_one_and_alike(found, violation), ALIKE if more else 1):
            outcome = self.timing_of(name).schedule(run_of(found, candidate))
            if not isinstance(outcome, Contradiction):
                self._judged[name, violation.combination] = Timely(found, candidate, outcome)
                return
        self._judged[name, violation.combination] = None
        found.set_aside(violation)
        self._untimely.setdefault(name, []).append(faults)

    def _forget(self) -> None:
        """The second look is to be taken at more properties, and so at another part of the system."""
        if self.again is not None:
            self._release(self.again)
        self.again, self._compiled = None, None

    def _refine(self, found: AnyExploration, layers: int, reporter: Reporter) -> None:
        for _ in range(MOST_REFINEMENTS):
            exploration = self.again
            if exploration is None:
                further = self._further_lemmas(found)
            else:
                self._explore_to(exploration, layers, reporter)
                further = self._further_lemmas(exploration)
            if exploration is not None and not further:
                return
            self.lemmas += further
            try:
                self.again = self._exploration(found)
            except TooManyFlags:
                self._stopped = "lemmas"
                return
        assert self.again is not None
        self._explore_to(self.again, layers, reporter)

    def _explore_to(self, exploration: EmbeddedExploration, layers: int, reporter: Reporter) -> None:
        while len(exploration.layers) < layers:
            report = exploration.explore_layer(reporter(exploration, len(exploration.layers)))
            if report.stopped is not None:
                self._stopped = report.stopped
                return

    def _exploration(self, like: AnyExploration) -> EmbeddedExploration:
        """An exploration with the lemmas as monitors, of the sets of faults that need a second look."""
        old = self.again
        if old is not None:
            self._release(old)
        self.looks += 1
        system, question = self._ask([name for name in self._names if name in self._untimely])
        return EmbeddedExploration(
            system,
            question,
            like.at_most,
            PartMeter(like.meter, self._most_states(like), "second look"),
            self._threads,
            infer=False,
            optimised=like.states >= OPTIMISE_SECOND_LOOK_AFTER,
            monitors=self.timing.monitors(system, self.lemmas),
            compiled=self._compiled if old is None else old.compiled,
            only=self._needs_a_second_look,
        )

    def _release(self, exploration: EmbeddedExploration) -> None:
        self._spent += exploration.states
        assert isinstance(exploration.meter, PartMeter)
        exploration.meter.release()

    def _most_states(self, like: AnyExploration) -> int | None:
        if like.meter.seconds_were_given:
            return None
        violated = {name for (name, _), one in self._judged.items() if one is not None}
        share = int(like.states * SECOND_LOOK_SHARE) if set(self._untimely) - violated else 0
        return max(LEAST_SECOND_LOOK, share) - self._spent

    def _needs_a_second_look(self, exploration: AnyExploration, combination: Combination) -> bool:
        faults = dict(zip(exploration.kinds, combination, strict=True))
        return any(
            any(_contained(part, faults) for part in parts) and not self._is_violated_by_part(name, faults)
            for name, parts in self._untimely.items()
        )

    def _is_violated_by_part(self, name: str, faults: Faults) -> bool:
        """Some of these faults are known to violate the property in time."""
        timely = (one for (other, _), one in self._judged.items() if other == name and one is not None)
        return any(_contained(_faults(one.exploration, one.violation), faults) for one in timely)

    @property
    def states(self) -> int:
        """The states of the second look, each time that it was taken."""
        return self._spent + (0 if self.again is None else self.again.states)

    def observed(self) -> set[str]:
        """The observations that held in some state of the second look."""
        return set() if self.again is None else self.again.observed()

    def stopped(self, name: str) -> str | None:
        """Why a second look at this property was not taken to its end, if it was not."""
        return self._stopped if name in self._untimely else None

    def timely(self, name: str) -> list[Timely]:
        """The smallest sets of faults that violate the property in time, smallest first, a run for each."""
        candidates = [one for (other, _), one in self._judged.items() if other == name and one is not None]
        candidates += [one for _, one in self._second_look(name) if one is not None]
        smallest = _smallest(candidates, lambda one: _faults(one.exploration, one.violation))
        return sorted(smallest, key=lambda one: (sum(one.violation.combination), one.violation.depth, _order(one)))

    def _second_look(self, name: str) -> Iterable[tuple[Violation, Timely | None]]:
        """What the second look found, None for each violation of which it is not known whether there is time for it."""
        if self.again is None or name not in self.again.violations:
            return
        for violation in self.again.violations[name]:
            if not self._is_violated_by_part(name, _faults(self.again, violation)):
                outcome = self.timing_of(name).schedule(_own_run(self.again, violation))
                if isinstance(outcome, Contradiction):
                    yield violation, None
                else:
                    yield violation, Timely(self.again, violation, outcome, True)

    def undecided(self, name: str) -> list[CutSet]:
        """The sets of faults of which it is not known whether they violate the property in time."""
        if self.stopped(name) is not None:
            timely = [_faults(one.exploration, one.violation) for one in self.timely(name)]
            left = [faults for faults in self._untimely[name] if not any(_contained(one, faults) for one in timely)]
            smallest = _smallest(left, lambda faults: faults)
            return sorted(tuple(sorted((kind.value, count) for kind, count in faults.items())) for faults in smallest)
        if self.again is None:
            return []
        return [self.again.named(one.combination) for one, timely in self._second_look(name) if timely is None]

    def rests_on(self, name: str) -> tuple[TimingLemma, ...]:
        """The lemmas without which it was not shown that no more violates the property."""
        return in_words(lemma.contradiction for lemma in self.lemmas) if name in self._untimely else ()

    def _further_lemmas(self, exploration: AnyExploration) -> list[Lemma]:
        """Why some violations cannot happen in time, as far as it was not known."""
        clocks = self.timing.clocks_in(exploration.system)
        found: list[Lemma] = []
        for name in self._untimely:
            for violation in _smallest(exploration.violations[name], partial(_faults, exploration)):
                if self._is_violated_by_part(name, _faults(exploration, violation)):
                    continue
                if isinstance(self.timing_of(name).schedule(_own_run(exploration, violation)), Contradiction):
                    found += self._reasons(exploration, violation, clocks, [*self.lemmas, *found])
        return found

    def _reasons(
        self, exploration: AnyExploration, violation: Violation, clocks: RunningClocks, known: Sequence[Lemma]
    ) -> list[Lemma]:
        """What excludes this violation and others like it."""
        found: list[Lemma] = []
        in_vain = 0
        for candidate in _one_and_alike(exploration, violation):
            if in_vain == ENOUGH or (candidate != violation and not found):
                break
            in_vain += 1
            actions = [exploration.system.actions[label] for label in exploration.path(candidate)]
            states = exploration.states_along(candidate)
            for lemma in self.timing.lemmas(clocks, actions, states, differences_in([*known, *found])):
                if lemma.adds_to([*known, *found]):
                    found.append(lemma)
                    in_vain = 0
        return found


def _one_and_alike(exploration: AnyExploration, violation: Violation) -> Iterator[Violation]:
    yield violation
    yield from (one for one in exploration.alike(violation, CANDIDATES) if one != violation)


def _smallest(found: Sequence[One], faults_of: Callable[[One], Faults]) -> list[One]:
    """Those of which no part is another one."""
    faults = [faults_of(one) for one in found]
    return [
        one
        for one, mine in zip(found, faults, strict=True)
        if not any(_contained(other, mine) and other != mine for other in faults)
    ]


def _own_run(exploration: AnyExploration, violation: Violation) -> list[Action]:
    return [exploration.system.actions[label] for label in exploration.path(violation)]


def _faults(exploration: AnyExploration, violation: Violation) -> Faults:
    """The faults of a violation, by kind."""
    pairs = zip(exploration.kinds, violation.combination, strict=True)
    return Counter({kind: count for kind, count in pairs if count})


def _contained(part: Faults, whole: Faults) -> bool:
    return all(count <= whole.get(kind, 0) for kind, count in part.items())


def _order(one: Timely) -> tuple[int, ...]:
    return tuple(-count for count in one.violation.combination)
