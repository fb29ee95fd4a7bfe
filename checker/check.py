"""Check one deployment: build its model, explore the model, and return a verdict for each property."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from proofka.checker.budget import ALWAYS_COVERED, ANSWERED_TO, Budget, Meter
from proofka.checker.combinations import Combination
from proofka.checker.conclusion import Conclusion
from proofka.checker.deepening import (
    Depth,
    adopted,
    answered,
    decides,
    deeper_groups,
    number_for_snapshots,
    unexplored,
    worth_deepening,
)
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.engine import EMBEDDED, Asked, Engine, explore_layer
from proofka.checker.exploration import AnyExploration, Violation
from proofka.checker.fixed_point import Closure, close
from proofka.checker.identity import verdict_id
from proofka.checker.progress import OnProgress, reporter_of
from proofka.checker.questions import LIMIT, Group, Prepared, fingerprints, group, prepare
from proofka.checker.reduced import Reduced, reduce_group
from proofka.checker.reductions.choice import USED_UNLESS_TOLD_OTHERWISE, Reduction
from proofka.checker.solver import Replayer
from proofka.checker.timing.loop import InTime, Steps, each_in_time
from proofka.checker.timing.refinement import Timing
from proofka.checker.versions import versions
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault
from proofka.model.pipeline import VERSION, build
from proofka.properties.catalogue import properties_of
from proofka.properties.property import Property
from proofka.properties.verdict import (
    CutSet,
    EngineRun,
    Result,
    Trace,
    Verdict,
)

OnVerdict = Callable[[Verdict], None]
"""A function that receives each property's verdict when first known, and again when a deeper exploration changes it."""


def check(
    deployment: Deployment,
    *,
    budget: Budget | None = None,
    on_progress: OnProgress | None = None,
    engine: Engine = EMBEDDED,
    reductions: frozenset[Reduction] = USED_UNLESS_TOLD_OTHERWISE,
) -> Result:
    """Explore ``deployment`` with ``engine`` within ``budget``, and return a verdict for each property.

    Raise :class:`checker.traces.ReplayMismatch` if kernel and solver disagree, because then no verdict is sound. Raise
    :class:`checker.checkpoint.CheckpointError` if the engine's folder belongs to another question.
    """
    return explore(deployment, budget or Budget(), on_progress, engine, reductions).result()


class Run:
    """The explorations of one deployment, one for each group of properties, and their verdicts."""

    def __init__(
        self,
        deployment: Deployment,
        prepared: Prepared,
        groups: Sequence[Group],
        budget: Budget,
        engine: Engine = EMBEDDED,
        reductions: frozenset[Reduction] = USED_UNLESS_TOLD_OTHERWISE,
        begun: float | None = None,
        later: Sequence[Group] = (),
    ) -> None:
        started = time.monotonic()
        self._begun = started if begun is None else begun
        self._is_open_ended = deployment.faults.is_open_ended
        meter = Meter(budget, timed=self._is_open_ended)
        self.deployment = deployment
        self.budget = budget
        self.prepared = prepared
        self.groups = list(groups)
        self._later = tuple(later)
        self._all_groups = (*groups, *later)
        self.meter = meter
        self.threads = budget.threads
        self.closures: dict[str, Closure] = {}
        self._closing: list[AnyExploration] = []
        self.replayer = Replayer(prepared.model.system)
        self._engine = engine
        self._reductions = reductions
        self._explorer = engine.begin(lambda: self._identity(reductions), budget)
        self.timing = Timing(prepared, self.replayer)
        self.reduced: list[Reduced] = []
        self.explorations: list[AnyExploration] = []
        self._in_time: list[Mapping[str, InTime]] = []
        self._sizes: list[int] = []
        self._homes: dict[str, list[int]] = {}
        self._traces: dict[tuple[str, int], Trace] = {}
        for one in groups:
            self._add(one, reductions)
        self._answered = len(self.groups)
        self.compile_seconds = time.monotonic() - started

    def _add(self, one: Group, reductions: frozenset[Reduction], numbered: int | None = None) -> int:
        """Begin the exploration of a group, and return its number. ``numbered``: the number in snapshots."""
        number = len(self.explorations)
        reduced = reduce_group(self.prepared, one, reductions)
        at_most = {Fault(kind): most for kind, most in self.deployment.faults.at_most}
        infer = Reduction.COVERED_FAULTS in reductions
        asked = Asked(
            reduced.system,
            one.question,
            at_most,
            self.meter,
            infer=infer,
            canonical=reduced.canonical,
            number=numbered,
        )
        self.reduced.append(reduced)
        exploration = self._explorer.exploration(asked)
        self.explorations.append(exploration)
        plain = exploration if reduced.system is one.system else None
        self._in_time.append(each_in_time(self.prepared, self.timing, one.properties, self.threads, plain))
        self._sizes.append(0)
        for prop in one.properties:
            self._homes.setdefault(prop.name, []).append(number)
        return number

    def _identity(self, reductions: frozenset[Reduction]) -> str:
        """Return the identity of the question and its groups, for snapshots."""
        names = (" ".join(prop.name for prop in one.properties) for one in self._all_groups)
        return verdict_id([*self._ids.values(), *sorted(reductions), *names])

    @cached_property
    def _ids(self) -> dict[str, str]:
        return question_ids(self.deployment, self.prepared, self._all_groups)

    def explore(
        self, on_progress: OnProgress | None, on_verdict: OnVerdict | None = None, depth: Depth | None = None
    ) -> None:
        """Explore fault layers until the total, a limit or a fixed point is reached.

        Without a total, every property is first decided for few faults. Then larger fault sets are explored, as
        ``depth`` and the time allow.
        """
        depth = Depth() if depth is None else depth
        self.meter.start(self._begun)
        self._explore_layers(
            range(len(self.explorations)),
            on_progress,
            on_verdict,
            ends_when_violated=depth.only_first and not depth.goes_on,
        )
        if self._is_open_ended:
            self.meter.is_answered = not depth.all_properties
            self._explore_later(on_progress, on_verdict)
            self.meter.is_answered = True
            self._deepen(on_progress, on_verdict, depth)
        if self.deployment.faults.any_number:
            open_ones = [
                prop
                for one, exploration in zip(self.groups, self.explorations, strict=True)
                for prop in one.properties
                if not exploration.cut_sets(prop.name)
            ]

            def reporter(exploration: AnyExploration) -> Callable[[Combination], None] | None:
                return reporter_of(exploration, 0, on_progress)

            self.closures = close(self.deployment, open_ones, self.meter, self._explorer, self._closing, reporter)

    def _ranked_beyond_a_bound(self, number: int, exploration: AnyExploration) -> bool:
        """Tell whether the ranking of epochs allowed a run beyond the bound on epochs, which changes the question."""
        canonical = self.reduced[number].canonical
        limits = {LIMIT + "epochs", LIMIT + "producer_epochs"}
        return canonical is not None and bool(canonical.ranked) and bool(limits & exploration.observed())

    def _start_again_without_reductions(self, number: int) -> None:
        remark = "epochs were not ranked, because a run reached the bound on epochs"
        one = self.reduced[number].group
        self.reduced[number] = replace(reduce_group(self.prepared, one, frozenset()), remarks=(remark,))
        old = self.explorations[number]
        self.explorations[number] = self._explorer.exploration(
            Asked(one.system, one.question, old.at_most, self.meter, infer=old.infer, kept=False)
        )
        for in_time in self._in_time_of(number):
            in_time.decided = 0

    def _explore_layers(
        self,
        numbers: Sequence[int],
        on_progress: OnProgress | None,
        on_verdict: OnVerdict | None,
        *,
        ends_when_violated: bool = False,
    ) -> None:
        """Explore groups up to the total, or up to the faults that every check covers.

        ``ends_when_violated``: after the layer that violates the last property of these groups, no more is explored.
        """
        faults = self.deployment.faults
        total = ALWAYS_COVERED if faults.any_number else ANSWERED_TO if faults.total is None else faults.total
        for size in range(total + 1):
            said_more = [self._explore_layer(number, size, total, on_progress, on_verdict) for number in numbers]
            if not any(said_more) or (ends_when_violated and all(map(self._is_violated_throughout, numbers))):
                break
        for number in numbers:
            if self._ranked_beyond_a_bound(number, self.explorations[number]):
                self._start_again_without_reductions(number)
                self._explore_layers([number], on_progress, on_verdict)

    def _explore_later(self, on_progress: OnProgress | None, on_verdict: OnVerdict | None) -> None:
        """Decide the properties that were not chosen first, while time is left."""
        for one in self._later:
            if self.meter.out_of_time(ANSWERED_TO) is not None:
                return
            self.groups.append(one)
            self._explore_layers([self._add(one, self._reductions)], on_progress, on_verdict)
            self._answered += 1

    def _deepen(self, on_progress: OnProgress | None, on_verdict: OnVerdict | None, depth: Depth) -> None:
        """Explore larger fault sets for properties whose answer could change.

        Properties named by the user come first, then required ones, and among equals those with smaller systems.
        """
        names = worth_deepening(self.verdicts(), all_fault_sets=depth.all_fault_sets) - self._settled()
        names_of_all = tuple(self._ids)
        open_ones: list[int] = []
        order = (depth.first, self.deployment.require)
        for one in deeper_groups(self.prepared, self.groups[: self._answered], names, order):
            if self.meter.out_of_time(ANSWERED_TO + 1) is not None:
                return
            self.groups.append(one)
            # Ranks make room for more epochs than the bound of the question.
            reductions = self._reductions - {Reduction.RANKED_EPOCHS}
            open_ones.append(self._add(one, reductions, number_for_snapshots(one, names_of_all)))
            for size in range(ANSWERED_TO + 2):
                self._explore_layer(open_ones[-1], size, None, on_progress, on_verdict)
        size = ANSWERED_TO + 2
        while open_ones and self.meter.out_of_time(size) is None:
            if not depth.all_fault_sets:
                open_ones = [number for number in open_ones if not self._is_violated_throughout(number)]
            open_ones = [n for n in open_ones if self._explore_layer(n, size, None, on_progress, on_verdict)]
            size += 1

    def _is_violated_throughout(self, number: int) -> bool:
        return all(one.timely for one in self._in_time_of(number))

    def _settled(self) -> set[str]:
        """Return the properties whose answer no larger fault set can change."""
        return {
            prop.name
            for number, one in enumerate(self.groups)
            for prop in one.properties
            if self._is_settled(number, prop.name)
        }

    def _is_settled(self, number: int, name: str) -> bool:
        return self.explorations[number].exhausted() and not self._in_time[number][name].goes_on()

    def _explore_layer(
        self,
        number: int,
        size: int,
        total: int | None,
        on_progress: OnProgress | None,
        on_verdict: OnVerdict | None,
    ) -> bool:
        """Explore a group with ``size`` faults, also timed; tell whether more faults can give new results."""
        exploration, in_time = self.explorations[number], self._in_time_of(number)
        if exploration.layers and exploration.layers[-1].stopped:
            return False
        if not exploration.exhausted():
            report = self._and_early_verdicts(number, reporter_of(exploration, size, on_progress), on_verdict)
            self.explorations[number], _ = explore_layer(self._explorer, exploration, report)
        elif not any(one.goes_on() for one in in_time):
            # More faults give new results neither without clocks nor with clocks.
            return False
        if not self.explorations[number].layers[-1].stopped:
            self._sizes[number] = size + 1
        known = {one.name for one in in_time if one.timely}
        for one in in_time:
            self.keep_to_time(number, one, on_progress)
            if size == total and not self._is_open_ended:
                one.conclude()
            if on_verdict is not None and one.name not in known and (one.timely or size == total or total is None):
                on_verdict(self.verdict(one.name))
        return True

    def _and_early_verdicts(
        self, number: int, report: Callable[[Combination], None] | None, on_verdict: OnVerdict | None
    ) -> Callable[[Combination], None] | None:
        """Report progress, and report each property of a group as violated when its first violation is found."""
        if on_verdict is None or not self.reduced[number].keeps_runs:
            return report

        def report_more(combination: Combination) -> None:
            if report is not None:
                report(combination)
            for in_time in self._in_time_of(number):
                # A known property can have more fault sets than its deeper exploration has found so far.
                known = any(self._in_time[home][in_time.name].timely for home in self._homes[in_time.name])
                if not known and in_time.keep_first(self.explorations[number], partial(self._run_of_group, number)):
                    # Hashing the question would take longer than the part that is shown now.
                    on_verdict(self._conclusion(number).verdict(self._asked(number, in_time.name), ""))

        return report_more

    @property
    def is_in_this_process(self) -> bool:
        """Tell whether all results are in the memory of this process."""
        return all(isinstance(one, EmbeddedExploration) for one in self.explorations)

    def number_of(self, name: str) -> int:
        """Return the number of the group that decides a property: the deepest group that decided more."""
        base, *deeper = self._homes[name]
        decided = (number for number in deeper if decides(self._concluded(base, name), self._concluded(number, name)))
        return next(decided, base)

    def in_time(self, name: str) -> InTime:
        """Return the timing results of a property."""
        return self._in_time[self.number_of(name)][name]

    def _in_time_of(self, number: int) -> list[InTime]:
        """Return the timing results of each property of a group."""
        return list(self._in_time[number].values())

    def keep_to_time(self, number: int, in_time: InTime, on_progress: OnProgress | None = None) -> None:
        """Decide whether violations of a group's properties are possible in time, and search for others that are."""
        with self.meter.promising(lambda: in_time.name in self.deployment.require and not in_time.timely):
            in_time.keep(
                self.explorations[number],
                self._sizes[number],
                partial(self._run_of_group, number),
                lambda exploration, size: reporter_of(exploration, size, on_progress, in_time.name),
            )

    def cut_sets(self) -> dict[str, tuple[CutSet, ...] | None]:
        """Return the smallest fault sets that violate each property in time; None if none is known but possible."""
        found = {}
        for name in self._homes:
            number = self.number_of(name)
            found[name] = self._conclusion(number).cut_sets(self._asked(number, name))
        return found

    def result(self) -> Result:
        """Return the result of the check, without other values of assumptions and durations."""
        verdicts = self.verdicts()
        cost = replace(self.engine(), seconds=round(time.monotonic() - self._begun, 3))
        return Result(verdicts, cost, (), versions())

    def verdicts(self) -> tuple[Verdict, ...]:
        """Return a verdict for each property, in the order of the catalogue."""
        order = [prop.name for prop in properties_of(self.prepared.model.pipeline)]
        return tuple(self.verdict(name) for name in order if name in self._ids)

    def verdict(self, name: str) -> Verdict:
        """Return the verdict on a property, from all explorations of the property."""
        if name not in self._homes:
            prop = next(one for group in self._later for one in group.properties if one.name == name)
            return unexplored(self.deployment, prop, self._ids[name])
        base, *deeper = self._homes[name]
        verdict = self._concluded(base, name)
        for number in deeper:
            verdict = adopted(verdict, self._concluded(number, name))
        last = deeper[-1] if deeper else base
        is_settled = self._is_settled(last, name)
        why_not = self.meter.out_of_time(ANSWERED_TO + 1) or "time"
        return answered(verdict, why_not) if self._is_open_ended and not is_settled else verdict

    def _concluded(self, number: int, name: str) -> Verdict:
        return self._conclusion(number).verdict(self._asked(number, name), self._ids[name])

    def _asked(self, number: int, name: str) -> Property:
        return next(prop for prop in self.groups[number].properties if prop.name == name)

    def _conclusion(self, number: int) -> Conclusion:
        return Conclusion(
            self.deployment,
            self.prepared,
            self.replayer,
            self.reduced[number],
            self.explorations[number],
            self._in_time[number],
            self._sizes[number],
            self.closures,
            self._traces,
        )

    def _run_of_group(self, number: int, exploration: AnyExploration, violation: Violation) -> Steps:
        return self._run_of(exploration, self.reduced[number], violation)

    def _run_of(self, exploration: AnyExploration, reduced: Reduced, violation: Violation) -> Steps:
        """Return the whole model's actions that lead to a violation, and the states if they are the whole model's."""
        if not reduced.keeps_runs:
            exploration, violation = self._found_again(reduced, exploration, violation)
            reduced = reduce_group(self.prepared, reduced.group, frozenset())
        labels, packed = exploration.path(violation), exploration.states_along(violation)
        is_reduced = reduced.system is not reduced.group.system or reduced.canonical is not None
        if is_reduced:
            reduced.check_run(labels, packed)
        actions, states = self.timing.of_the_whole([exploration.system.actions[label] for label in labels], packed)
        return actions, None if is_reduced else states

    def _found_again(
        self, reduced: Reduced, exploration: AnyExploration, violation: Violation
    ) -> tuple[AnyExploration, Violation]:
        """Find the same violation in the system without reductions, where a shortest run is the model's shortest."""
        kinds = dict(zip(exploration.kinds, violation.combination, strict=True))
        plain = EmbeddedExploration(
            reduced.group.system, reduced.group.question, kinds, Meter(Budget(), timed=False), self.threads, infer=False
        )
        wanted = exploration.named(violation.combination)
        for _ in range(sum(violation.combination) + 1):
            plain.explore_layer()
            for smaller in plain.violations[violation.name]:
                if plain.named(smaller.combination) != wanted:
                    plain.set_aside(smaller)
        return plain, next(v for v in plain.cut_sets(violation.name) if plain.named(v.combination) == wanted)

    def engine(self) -> EngineRun:
        """Return the total cost of the explorations."""
        answering = self.explorations[: self._answered]
        deepest = max((len(exploration.layers) for exploration in answering), default=0)
        everything: list[AnyExploration] = [*self.explorations, *self._closing]
        return EngineRun(
            self._engine.name,
            sum(exploration.states for exploration in everything),
            sum(exploration.transitions for exploration in everything),
            max((exploration.depth for exploration in everything), default=0),
            tuple(sum(e.states_in_layer(size) for e in answering) for size in range(deepest)),
            round(self.meter.elapsed, 3),
            round(self.compile_seconds, 3),
            max((exploration.state_bytes for exploration in self.explorations), default=0),
            sum(one.looks for in_time in self._in_time for one in in_time.values()),
            sum(one.states for in_time in self._in_time for one in in_time.values()),
        )


def verdict_on(name: str, deployment: Deployment, budget: Budget) -> Verdict:
    """Return the verdict on one property, explored alone. Raise errors as :func:`check`, and KeyError if unknown."""
    model = build(deployment)
    prepared = prepare(model)
    asked = {prop.name: prop for prop in properties_of(model.pipeline)}[name]
    run = Run(deployment, prepared, group(prepared, [asked]), budget)
    run.explore(None)
    (verdict,) = run.verdicts()
    return verdict


def prepare_groups(deployment: Deployment, *, cone: bool = True) -> tuple[Prepared, tuple[Group, ...]]:
    """Build and prepare the model of a deployment, and group the properties (see :func:`group`)."""
    model = build(deployment)
    prepared = prepare(model)
    return prepared, group(prepared, properties_of(model.pipeline), cone=cone)


def question_ids(deployment: Deployment, prepared: Prepared, groups: Sequence[Group]) -> dict[str, str]:
    """Return, for each property, the stable id of the question whether ``deployment`` has the property."""
    asked = [VERSION, repr(deployment.faults), repr(deployment.bounds)]
    return {name: verdict_id([*asked, name, print_]) for name, print_ in fingerprints(prepared, groups).items()}


def explore(
    deployment: Deployment,
    budget: Budget,
    on_progress: OnProgress | None = None,
    engine: Engine = EMBEDDED,
    reductions: frozenset[Reduction] = USED_UNLESS_TOLD_OTHERWISE,
    on_verdict: OnVerdict | None = None,
    depth: Depth | None = None,
) -> Run:
    """Build the model of a deployment and explore it within a budget (see :meth:`Run.explore`).

    Without a total of faults, the properties that ``depth`` names first are explored alone before the others. With
    ``depth.only_first`` these are all that is explored, whatever the total.
    """
    begun = time.monotonic()
    model = build(deployment)
    prepared = prepare(model)
    properties = properties_of(model.pipeline)
    depth = Depth() if depth is None else depth
    chosen = depth.first if depth.only_first or deployment.faults.total is None else ()
    first = [prop for prop in properties if prop.name in chosen] or properties
    later = [] if depth.only_first else [prop for prop in properties if prop not in first]
    cone = Reduction.CONE in reductions
    groups, more = group(prepared, first, cone=cone), group(prepared, later, cone=cone) if later else ()
    run = Run(deployment, prepared, groups, budget, engine, reductions, begun, more)
    run.explore(on_progress, on_verdict, depth)
    return run
