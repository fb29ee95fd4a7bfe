"""Timed verdicts: decide which violations found without clocks are possible in time, and search for others.

A violation found without clocks is a candidate. If times exist for its steps, the candidate is a violation. If not, its
fault set and all larger fault sets are explored again for this property alone. Monitors leave out runs that are
impossible in time. Monitors are added until times exist for every remaining violation. Fault sets without a part that
violates the property without clocks need no timed re-exploration, because clocks only exclude runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from proofka.checker.budget import PartMeter
from proofka.checker.combinations import Combination, layer
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import AnyExploration, OnProgress, Question, Violation
from proofka.checker.questions import VIOLATED, Prepared, each_alone, with_history
from proofka.checker.timing import limits
from proofka.checker.timing.backward_reachability import Backwards
from proofka.checker.timing.beside import not_violated
from proofka.checker.timing.constraints import RunningClocks
from proofka.checker.timing.fault_sets import Faults, faults_of, is_part, named, smallest
from proofka.checker.timing.network import Contradiction
from proofka.checker.timing.refinement import Lemma, Timing, differences_in
from proofka.checker.timing.tables import TooManyFlags
from proofka.checker.timing.timed_kernel import TimedKernel
from proofka.checker.timing.timely import Timely, in_order
from proofka.model.language import Action, State, TransitionSystem
from proofka.properties.property import Property
from proofka.properties.verdict import CutSet

Steps = tuple[Sequence[Action], Sequence[State] | None]
"""Actions of the whole model, and the states found along these actions, in the kept variables, if any."""

RunOf = Callable[[AnyExploration, Violation], Steps]
"""A function that returns the run of the whole model that leads to a violation."""

Reporter = Callable[[AnyExploration, int], OnProgress | None]
"""A function that returns the progress callback, by exploration and number of faults."""


class InTime:
    """The violations of a property in time.

    ``system`` is the part that the property sees, and ``question`` the question about it.

    A part seen by more properties has more states, and a common timed re-exploration ends later. ``beside``: earlier
    properties that see the same part; their timed re-explorations observe this property as well, so a violated property
    does not repeat them. ``before``: all earlier properties; their lemmas are tried first.
    """

    def __init__(
        self,
        timing: Timing,
        name: str,
        system: TransitionSystem,
        question: Question,
        threads: int,
        kernel: TimedKernel | None = None,
        beside: Sequence[InTime] = (),
        before: Sequence[InTime] = (),
        backwards: Backwards | None = None,
    ) -> None:
        self.timing = timing.that_matters_to(system)
        self.name = name
        self.system = system
        self.question = question
        self.threads = threads
        self.kernel = timing.kernel(system, [question]) if kernel is None else kernel
        self._beside = beside
        self._before = before
        self._backwards = Backwards() if backwards is None else backwards
        self._layers = 0
        self._is_narrow = False
        self._spent_in_vain = 0
        self._judged: set[Combination] = set()
        self._peeked: set[Combination] = set()
        self._timely: list[Timely] = []
        self._untimely: list[Faults] = []
        self._cleared: set[CutSet] = set()
        self._clean: set[tuple[str, CutSet]] = set()
        self._relies_on_others = False
        self._spent = 0
        self.stopped: str | None = None
        """The reason why the timed re-exploration ended early, if any."""
        self.decided = 0
        """Every fault set with fewer faults than this number was decided; larger fault sets can be open."""
        self._decided_with: tuple[Lemma, ...] = ()
        self.looks = 0
        self.again: EmbeddedExploration | None = None
        self._left: list[Faults] = []
        self._observed: set[str] = set()
        self.lemmas: list[Lemma] = []
        self._clocks: RunningClocks | None = None

    def under(self, timing: Timing, name: str, value: int) -> InTime:
        """Return the same question with the times of ``timing``, in which ``name`` has ``value`` ms, with the lemmas
        learnt here.
        """
        other = InTime(
            timing,
            self.name,
            timing.put_into(self.system),
            self.question,
            self.threads,
            self.kernel,
            backwards=self._backwards,
        )
        other.lemmas = timing.lemmas_with(self.lemmas, name, value)
        return other

    def conclude(self) -> None:
        """End the timed re-exploration: its results are kept, and its states are released."""
        if self.again is None:
            return
        self._left = self._not_excluded(self.again)
        self._observed = self.again.observed()
        self._end(self.again)
        self.again = None

    def _not_excluded(self, exploration: EmbeddedExploration) -> list[Faults]:
        """Return the fault sets that still violate the property, whatever the lemmas exclude."""
        return [faults_of(exploration, one) for one in exploration.violations[self.name]]

    def _end(self, exploration: EmbeddedExploration) -> None:
        """Count the states of a timed re-exploration, and release their memory."""
        self._spent += exploration.states
        self.kernel.count(exploration.states)
        assert isinstance(exploration.meter, PartMeter)
        exploration.meter.release()

    def goes_on(self) -> bool:
        """Tell whether more faults can give new results in time, although they do not without clocks."""
        return self.stopped is None and self.again is not None and not self.again.exhausted()

    def keep(self, found: AnyExploration, layers: int, run_of: RunOf, reporter: Reporter = lambda _, __: None) -> None:
        """Judge the violations of an exploration without clocks, and explore again the impossible ones.

        ``layers``: one more than the number of faults; ``found`` does not always need all of these layers.
        """
        untimely = []
        for violation in found.cut_sets(self.name):
            if self._is_violated_by_part(faults_of(found, violation)) or violation.combination in self._judged:
                continue
            if self._is_out_of_time(found, violation):
                self._untimely.append(faults_of(found, violation))
            elif not self._judge(found, violation, run_of):
                untimely.append(violation)
        for other in self._beside:
            self._learn_from(other)
        left = any(not self._is_violated_by_part(faults) for faults in self._untimely)
        if left and self.stopped is None:
            # A pass rests on own lemmas, so a property without a violation inherits only where it begins.
            inherits = (self.again is None or bool(self._timely)) and self._inherit()
            self._relies_on_others = bool(self._timely)
            open_ones = [one for one in untimely if self._needs_a_second_look(faults_of(found, one))]
            self._refine(found, open_ones, layers, reporter, inherits=inherits)
            if inherits and (self.stopped is not None or not self._timely):
                self._begin_again()
                every = [one for one in found.cut_sets(self.name) if faults_of(found, one) in self._untimely]
                self._refine(found, every, layers, reporter)
        for violation in found.violations[self.name]:
            if self._is_violated_by_part(faults_of(found, violation)):
                found.take_back(violation)
        if self.stopped is None and not self.undecided and self.name not in found.undecided:
            self.decided, self._decided_with = layers, tuple(self.lemmas)

    def keep_first(self, found: AnyExploration, run_of: RunOf) -> bool:
        """Judge the first violation found, before its layer is complete; tell whether it is possible in time.

        An impossible violation is judged again with the others of its layer.
        """
        if self._timely or self.question.goal is not None:
            return False
        for violation in found.cut_sets(self.name):
            if violation.combination in self._judged | self._peeked:
                continue
            self._peeked.add(violation.combination)
            if self._is_timely(faults_of(found, violation), run_of(found, violation)):
                self._judged.add(violation.combination)
                return True
        return False

    def _is_out_of_time(self, exploration: AnyExploration, violation: Violation) -> bool:
        """Tell whether to stop before judging a violation, which then stays undecided."""
        ended = exploration.meter.out_of_time_for_clocks(sum(violation.combination), is_violated=bool(self._timely))
        self.stopped = self.stopped or ended
        return ended is not None

    def _judge(self, found: AnyExploration, violation: Violation, run_of: RunOf) -> bool:
        """Tell whether a violation is possible in time.

        If part of its faults had an impossible violation, similar violations are tried as well, unless another property
        has shown that all of them are impossible.
        """
        faults = faults_of(found, violation)
        self._judged.add(violation.combination)
        more = any(is_part(part, faults) for part in self._untimely) and not self._is_excluded_by_others(faults)
        if self._has_times(found, violation, run_of, limits.ALIKE if more else 1):
            return True
        found.set_aside(violation)
        self._untimely.append(faults)
        return False

    def _has_times(self, exploration: AnyExploration, violation: Violation, run_of: RunOf, most: int) -> bool:
        """Tell whether times exist for a violation, or for a similar one, trying at most ``most`` runs.

        A similar run that the part's clocks exclude is not computed by Z3.
        """
        faults = faults_of(exploration, violation)
        return any(
            self._is_timely(faults, run_of(exploration, one), is_shortest=one.depth == violation.depth)
            for one in islice(_one_and_alike(exploration, violation), most)
            if one == violation or not self._is_excluded(exploration, one)
        )

    def _is_excluded(self, exploration: AnyExploration, violation: Violation) -> bool:
        """Tell whether the clocks that an exploration's system sees exclude the run to a violation."""
        if exploration.canonical is not None:
            return False
        actions = [exploration.system.actions[label] for label in exploration.path(violation)]
        states = exploration.states_along(violation)
        return self.timing.is_excluded(self._clocks_in(exploration), actions, states)

    def _is_timely(self, faults: Faults, run: Steps, *, is_shortest: bool = True) -> bool:
        """Tell whether times exist for a run; if so, keep the run."""
        outcome = self.timing.schedule(run[0])
        if isinstance(outcome, Contradiction):
            return False
        self._timely.append(Timely(faults, *run, outcome, is_shortest))
        return True

    def _inherit(self) -> bool:
        """Begin with the lemmas of other properties whose clocks this property's part sees; tell whether there are
        any.
        """
        known = [lemma for other in self._before for lemma in other.lemmas]
        own = len(self.lemmas)
        for lemma in self.timing.that_speak_of(self.system, known):
            if lemma.adds_to(self.lemmas):
                self.lemmas.append(lemma)
        return len(self.lemmas) > own

    def _begin_again(self) -> None:
        """Discard all lemmas and learn again, because a pass must rest on the lemmas of this property alone."""
        if self.again is not None:
            self._end(self.again)
        self.again, self.stopped, self.lemmas = None, None, []
        self._relies_on_others = False
        self._cleared.clear()
        self._clean.clear()
        self._spent_in_vain = self._spent

    def _learn_from(self, other: InTime) -> None:
        """Take violations from the timed re-exploration of another property.

        All shorter runs are known not to violate this property.
        """
        if other.again is None or other.again.wanted.tables:
            return
        for violation in other.again.first_observed(VIOLATED + self.name):
            faults = faults_of(other.again, violation)
            if any(is_part(part, faults) for part in self._untimely) and not self._is_violated_by_part(faults):
                self._is_timely(faults, self._own_run(other.again, violation))

    def _refine(
        self,
        found: AnyExploration,
        untimely: Sequence[Violation],
        layers: int,
        reporter: Reporter,
        *,
        inherits: bool = False,
    ) -> None:
        """Explore again until no impossible violation is found, first without the violations in ``untimely``.

        ``inherits``: lemmas of other properties were added, which the last exploration lacks.
        """
        further = self._further_lemmas(found, untimely)
        for _ in range(limits.MOST_REFINEMENTS):
            if self.stopped is not None:
                return
            self.lemmas += further
            if inherits or further or self.again is None or (self.again.wanted.tables and layers > self._layers):
                inherits = False
                try:
                    self.again = self._exploration(found, layers)
                except TooManyFlags:
                    self.stopped = "lemmas"
                    return
            self._explore_to(self.again, layers, reporter)
            if self.stopped == limits.NARROW:
                self.stopped, self._is_narrow = None, True
                self.again = self._exploration(found, layers)
                self._explore_to(self.again, layers, reporter)
            further = self._further_lemmas(self.again, self.again.cut_sets(self.name))
            self._clear(self.again)
            if self.stopped is not None or not further:
                return
        self.stopped = "lemmas"

    def _clear(self, exploration: EmbeddedExploration) -> None:
        """Record fault sets without a violation, also in their parts; more lemmas cannot add a violation."""
        self._clean |= set(not_violated(exploration))
        for combination, shard in exploration.shards.items():
            if shard.complete and exploration.open_questions(combination):
                self._cleared.add(exploration.named(combination))

    def _explore_to(self, exploration: EmbeddedExploration, layers: int, reporter: Reporter) -> None:
        while len(exploration.layers) < layers:
            report = exploration.explore_layer(reporter(exploration, len(exploration.layers)))
            if report.stopped is not None:
                self.stopped = report.stopped
                return

    def _exploration(self, like: AnyExploration, layers: int) -> EmbeddedExploration:
        """Return an exploration with the lemmas as monitors, of the fault sets that need timed re-exploration.

        If the exploration becomes large, it starts again, restricted to states from which the property can still be
        violated with fewer faults than ``layers``, if these states can be computed.
        """
        old = self.again
        if old is not None:
            self._end(old)
        self.looks += 1
        self._layers = layers
        backward = self._backwards.of(like, self.kernel, self.threads) if self.question.goal is None else None
        fault_sets = [] if backward is None else self._largest_to_look_at(like.at_most)
        most = limits.most_states(like, self._spent - self._spent_in_vain, is_violated=bool(self._timely))
        reason, expected = "timed re-exploration", like.states * limits.EXPECTED_SHARE
        is_narrow = backward is not None and (self._is_narrow or backward.has_marked(fault_sets))
        if backward is not None and not is_narrow:
            needs_fault = all(named(faults) for faults in self._untimely)
            most = limits.states_before_narrow(backward.states_of(fault_sets), needs_fault=needs_fault)
            reason, expected = limits.NARROW, most
        own = self.kernel.slice_for(self.system, self.question, expected=0 if is_narrow else expected)
        exploration = EmbeddedExploration(
            own.system,
            self.question,
            like.at_most,
            PartMeter(like.meter, most, reason),
            self.threads,
            infer=False,
            monitors=self.timing.monitors(own.system, self.lemmas, self.kernel.places),
            part=own.part,
            only=self._is_one_to_look_at,
            covers=self.question.goal is None,
        )
        if backward is not None and is_narrow:
            exploration.wanted = backward.wanted(self.name, fault_sets, exploration.layout, exploration.kinds)
        return exploration

    def _largest_to_look_at(self, at_most: Faults) -> list[Faults]:
        """Return the fault sets that need timed re-exploration and are part of no other such fault set."""
        present = {action.fault for action in self.system.actions}
        kinds = [kind for kind, most in at_most.items() if kind in present and most]
        needed = [
            faults
            for size in range(self._layers)
            for counts in layer(size, [at_most[kind] for kind in kinds])
            if self._needs_a_second_look(faults := dict(zip(kinds, counts, strict=True)))
        ]
        return [one for one in needed if not any(is_part(one, other) and one != other for other in needed)]

    def _is_one_to_look_at(self, exploration: AnyExploration, combination: Combination) -> bool:
        return self._needs_a_second_look(dict(zip(exploration.kinds, combination, strict=True)))

    def _needs_a_second_look(self, faults: Faults) -> bool:
        return (
            any(is_part(part, faults) for part in self._untimely)
            and not self._is_violated_by_part(faults)
            and named(faults) not in self._cleared
            and not (self._relies_on_others and self._is_excluded_by_others(faults))
        )

    def _is_excluded_by_others(self, faults: Faults) -> bool:
        """Tell whether the timed re-exploration of another property shows that no run with these faults violates this
        one.
        """
        return any((self.name, named(faults)) in other._clean for other in self._beside)

    def _is_violated_by_part(self, faults: Faults) -> bool:
        """Tell whether some of these faults are known to violate the property in time."""
        return any(is_part(one.combination, faults) for one in self._timely)

    @property
    def states(self) -> int:
        """Number of states of all timed re-explorations of the property."""
        return self._spent + (0 if self.again is None else self.again.states)

    def observed(self) -> set[str]:
        """Return the observations that held in some state of the timed re-exploration."""
        return self._observed if self.again is None else self.again.observed()

    @property
    def timely(self) -> list[Timely]:
        """The smallest fault sets that violate the property in time, smallest first, one run each."""
        return in_order(smallest(self._timely, lambda one: one.combination))

    @property
    def undecided(self) -> list[CutSet]:
        """The fault sets that are undecided in time."""
        if self.stopped is not None:
            left = [faults for faults in self._untimely if sum(faults.values()) >= self.decided]
        elif self.again is not None:
            left = self._not_excluded(self.again)
        else:
            left = self._left
        left = [faults for faults in left if not self._is_violated_by_part(faults)]
        return sorted({named(faults) for faults in smallest(left, lambda faults: faults)})

    @property
    def rests_on(self) -> tuple[Lemma, ...]:
        """The lemmas that the verdict rests on, for the decided faults."""
        return tuple(self.lemmas) if self.stopped is None else self._decided_with

    def _further_lemmas(self, exploration: AnyExploration, violations: Sequence[Violation]) -> list[Lemma]:
        """Return new lemmas that exclude some of these violations."""
        clocks = self._clocks_in(exploration)
        found: list[Lemma] = []
        for violation in smallest(violations, partial(faults_of, exploration)):
            faults = faults_of(exploration, violation)
            if self._is_violated_by_part(faults):
                continue
            if self._is_out_of_time(exploration, violation):
                break
            reasons = self._reasons(exploration, violation, clocks, [*self.lemmas, *found])
            found += reasons
            # A run that the part's clocks exclude needs no test with all clocks, which distinguish similar runs.
            if not reasons and exploration is self.again:
                self._has_times(exploration, violation, self._own_run, limits.ALIKE)
        return found

    def _clocks_in(self, exploration: AnyExploration) -> RunningClocks:
        """Return the clocks that an exploration's system sees, with their cached conditions in its states."""
        if exploration is not self.again:
            return self.timing.clocks_in(exploration.system)
        if self._clocks is None:
            self._clocks = self.timing.clocks_in(self.system)
        return self._clocks

    def _own_run(self, exploration: AnyExploration, violation: Violation) -> Steps:
        actions = [exploration.system.actions[label] for label in exploration.path(violation)]
        return self.timing.of_the_whole(actions, exploration.states_along(violation))

    def _reasons(
        self, exploration: AnyExploration, violation: Violation, clocks: RunningClocks, known: Sequence[Lemma]
    ) -> list[Lemma]:
        """Return the lemmas that exclude this violation and similar ones."""
        found: list[Lemma] = []
        in_vain = 0
        for candidate in _one_and_alike(exploration, violation):
            if in_vain == limits.ENOUGH or (candidate != violation and not found):
                break
            in_vain += 1
            actions = [exploration.system.actions[label] for label in exploration.path(candidate)]
            states = exploration.states_along(candidate)
            for lemma in self.timing.lemmas(clocks, actions, states, differences_in([*known, *found])):
                if lemma.adds_to([*known, *found]):
                    found.append(lemma)
                    in_vain = 0
        return found


def each_in_time(
    prepared: Prepared,
    timing: Timing,
    properties: Sequence[Property],
    threads: int,
    without_clocks: AnyExploration | None = None,
) -> dict[str, InTime]:
    """Return an :class:`InTime` for each of these properties, by name; none of them is decided yet.

    ``without_clocks``: the exploration whose violations will be judged, if it keeps the states of the properties' own
    system unchanged.
    """
    asked = each_alone(prepared, properties)
    begin = None if without_clocks is None else without_clocks.layout
    shared = timing.kernel(with_history(prepared, properties), [one.question for one in asked.values()], begin)
    backwards = Backwards(without_clocks)
    found: dict[str, InTime] = {}
    for name, one in asked.items():
        beside = [known for other, known in found.items() if VIOLATED + name in asked[other].question.observations]
        before = tuple(found.values())
        kernel = shared if shared.fits else None
        found[name] = InTime(timing, name, one.system, one.question, threads, kernel, beside, before, backwards)
    return found


def _one_and_alike(exploration: AnyExploration, violation: Violation) -> Iterator[Violation]:
    yield violation
    yield from (one for one in exploration.alike(violation, limits.CANDIDATES) if one != violation)
