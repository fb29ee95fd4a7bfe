"""Check one deployment: build its model, explore it, and say of each property what was found."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version

from checker.budget import ALWAYS_COVERED, Budget, Meter
from checker.closure import Closure, close
from checker.combinations import Combination
from checker.conclusion import Conclusion
from checker.embedded import EmbeddedExploration
from checker.engine import EMBEDDED, Asked, Engine, explore_layer
from checker.exploration import AnyExploration, Violation
from checker.identity import verdict_id
from checker.questions import LIMIT, Group, Prepared, fingerprints, group, prepare
from checker.reduced import Reduced, reduce_group
from checker.reductions.choice import USED_UNLESS_TOLD_OTHERWISE, Reduction
from checker.solver import Replayer
from checker.timing.loop import InTime, Steps, each_in_time
from checker.timing.refinement import Timing
from model.deployment.deployment import Deployment
from model.faults import Fault
from model.pipeline import VERSION, build
from properties.catalogue import properties_of
from properties.verdict import (
    CutSet,
    EngineRun,
    Progress,
    Result,
    Verdict,
)

OnProgress = Callable[[Progress], None]


def check(
    deployment: Deployment,
    *,
    budget: Budget | None = None,
    on_progress: OnProgress | None = None,
    engine: Engine = EMBEDDED,
    reductions: frozenset[Reduction] = USED_UNLESS_TOLD_OTHERWISE,
) -> Result:
    """Have ``engine`` explore ``deployment`` within ``budget`` and return a verdict for each property.

    Raises :class:`checker.traces.ReplayMismatch` if kernel and solver disagree: then nothing may be claimed; and
    :class:`checker.checkpoint.CheckpointError` if the engine's folder holds something else.
    """
    return explore(deployment, budget or Budget(), on_progress, engine, reductions).result()


class Run:
    """The explorations of one deployment, one per group of properties, and what they say."""

    def __init__(
        self,
        deployment: Deployment,
        prepared: Prepared,
        groups: Sequence[Group],
        budget: Budget,
        engine: Engine = EMBEDDED,
        reductions: frozenset[Reduction] = USED_UNLESS_TOLD_OTHERWISE,
        begun: float | None = None,
    ) -> None:
        started = time.monotonic()
        self._begun = started if begun is None else begun
        meter = Meter(budget, timed=deployment.faults.total is None and not deployment.faults.any_number)
        self.deployment = deployment
        self.budget = budget
        self.prepared = prepared
        self.groups = groups
        self.meter = meter
        self.threads = budget.threads
        self.closures: dict[str, Closure] = {}
        self._closing: list[AnyExploration] = []
        self._replayer = Replayer(prepared.model.system)
        at_most = {Fault(kind): most for kind, most in deployment.faults.at_most}
        self._engine = engine
        self._explorer = engine.begin(lambda: verdict_id([*self._ids.values(), *sorted(reductions)]), budget)
        self.reduced = [reduce_group(prepared, one, reductions) for one in groups]
        infer = Reduction.COVERED_FAULTS in reductions
        self.explorations = [
            self._explorer.exploration(
                Asked(one.system, one.group.question, at_most, meter, infer=infer, canonical=one.canonical)
            )
            for one in self.reduced
        ]
        self.timing = Timing(prepared, self._replayer)
        self._in_time = {
            name: in_time
            for one in groups
            for name, in_time in each_in_time(prepared, self.timing, one.properties, self.threads).items()
        }
        self._sizes = [0] * len(groups)
        self.compile_seconds = time.monotonic() - started

    @cached_property
    def _ids(self) -> dict[str, str]:
        return question_ids(self.deployment, self.prepared, self.groups)

    def explore(self, on_progress: OnProgress | None) -> None:
        """Raise the number of faults, layer by layer, until the total, the budget or the space is used up."""
        self.meter.start()
        self._explore_layers(range(len(self.explorations)), on_progress)
        for number, exploration in enumerate(self.explorations):
            if self._ranked_beyond_a_bound(number, exploration):
                self._start_again_without_reductions(number)
                self._explore_layers([number], on_progress)
        if self.deployment.faults.any_number:
            open_ones = [
                prop
                for one, exploration in zip(self.groups, self.explorations, strict=True)
                for prop in one.properties
                if not exploration.cut_sets(prop.name)
            ]

            def reporter(exploration: AnyExploration) -> Callable[[Combination], None] | None:
                return _reporter(exploration, 0, on_progress)

            self.closures = close(self.deployment, open_ones, self.meter, self._explorer, self._closing, reporter)

    def _ranked_beyond_a_bound(self, number: int, exploration: AnyExploration) -> bool:
        """Ranks made room where the bound on epochs would have stopped a behaviour: not what was asked."""
        canonical = self.reduced[number].canonical
        limits = {LIMIT + "epochs", LIMIT + "producer_epochs"}
        return canonical is not None and bool(canonical.ranked) and bool(limits & exploration.observed())

    def _start_again_without_reductions(self, number: int) -> None:
        remark = "epochs were not ranked, because a run came to the bound on them"
        one = self.reduced[number].group
        self.reduced[number] = replace(reduce_group(self.prepared, one, frozenset()), remarks=(remark,))
        old = self.explorations[number]
        self.explorations[number] = self._explorer.exploration(
            Asked(one.system, one.question, old.at_most, self.meter, infer=old.infer, kept=False)
        )

    def _explore_layers(self, numbers: Sequence[int], on_progress: OnProgress | None) -> None:
        faults = self.deployment.faults
        total = ALWAYS_COVERED if faults.any_number else faults.total
        size = 0
        while total is None or size <= total:
            progressed = False
            for number in numbers:
                exploration = self.explorations[number]
                if exploration.layers and exploration.layers[-1].stopped:
                    continue
                if not exploration.exhausted():
                    report = _reporter(exploration, size, on_progress)
                    self.explorations[number], _ = explore_layer(self._explorer, exploration, report)
                elif not any(one.goes_on() for one in self._in_time_of(number)):
                    # Without clocks no more faults say anything new, and in time they do not either.
                    continue
                if not self.explorations[number].layers[-1].stopped:
                    self._sizes[number] = size + 1
                for one in self._in_time_of(number):
                    self.keep_to_time(number, one, on_progress)
                if size == total:
                    for one in self._in_time_of(number):
                        one.conclude()
                progressed = True
            if not progressed:
                return
            size += 1

    @property
    def is_in_this_process(self) -> bool:
        """Whether everything that was found is in the memory of this process."""
        return all(isinstance(one, EmbeddedExploration) for one in self.explorations)

    def in_time(self, name: str) -> InTime:
        """What is known of a property in time."""
        return self._in_time[name]

    def _in_time_of(self, number: int) -> list[InTime]:
        """What is known in time of each property of a group."""
        return [self._in_time[prop.name] for prop in self.groups[number].properties]

    def keep_to_time(self, number: int, in_time: InTime, on_progress: OnProgress | None = None) -> None:
        """Ask of what violates properties of a group whether it can happen in time, and of what else can."""

        def run_of(exploration: AnyExploration, violation: Violation) -> Steps:
            return self._run_of(exploration, self.reduced[number], violation)

        in_time.keep(
            self.explorations[number],
            self._sizes[number],
            run_of,
            lambda exploration, size: _reporter(exploration, size, on_progress, in_time.name),
        )

    def cut_sets(self) -> dict[str, tuple[CutSet, ...] | None]:
        """The smallest sets of faults that violate each property in time; None where nothing did, and it is unknown."""
        return {
            prop.name: self._conclusion(number).cut_sets(prop)
            for number, one in enumerate(self.groups)
            for prop in one.properties
        }

    def result(self) -> Result:
        """All that a check says but what other values of assumptions and durations would change."""
        verdicts = self.verdicts()
        cost = replace(self.engine(), seconds=round(time.monotonic() - self._begun, 3))
        return Result(verdicts, cost, (), _versions())

    def verdicts(self) -> tuple[Verdict, ...]:
        """A verdict per property, in the order of the catalogue."""
        found = {
            prop.name: self._conclusion(number).verdict(prop, self._ids[prop.name])
            for number, one in enumerate(self.groups)
            for prop in one.properties
        }
        order = [prop.name for prop in properties_of(self.prepared.model.pipeline)]
        return tuple(found[name] for name in order if name in found)

    def _conclusion(self, number: int) -> Conclusion:
        return Conclusion(
            self.deployment,
            self.prepared,
            self._replayer,
            self.reduced[number],
            self.explorations[number],
            self._in_time,
            self._sizes[number],
            self.closures,
        )

    def _run_of(self, exploration: AnyExploration, reduced: Reduced, violation: Violation) -> Steps:
        """The actions of the whole model that lead to a violation; the states, if they are those of the whole model."""
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
        """The same violation in the system that was not reduced, where a shortest run is the shortest there is."""
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
        """What the explorations cost together."""
        deepest = max((len(exploration.layers) for exploration in self.explorations), default=0)
        everything: list[AnyExploration] = [*self.explorations, *self._closing]
        return EngineRun(
            self._engine.name,
            sum(exploration.states for exploration in everything),
            sum(exploration.transitions for exploration in everything),
            max((exploration.depth for exploration in everything), default=0),
            tuple(sum(e.states_in_layer(size) for e in self.explorations) for size in range(deepest)),
            round(self.meter.elapsed, 3),
            round(self.compile_seconds, 3),
            max((exploration.layout.words * 8 for exploration in self.explorations), default=0),
            sum(one.looks for one in self._in_time.values()),
            sum(one.states for one in self._in_time.values()),
        )


def verdict_on(name: str, deployment: Deployment, budget: Budget) -> Verdict:
    """The verdict on one property, asked alone. Raises what :func:`check` does, and KeyError for one not asked for."""
    model = build(deployment)
    prepared = prepare(model)
    asked = {prop.name: prop for prop in properties_of(model.pipeline)}[name]
    run = Run(deployment, prepared, group(prepared, [asked]), budget)
    run.explore(None)
    (verdict,) = run.verdicts()
    return verdict


def prepare_groups(deployment: Deployment, *, cone: bool = True) -> tuple[Prepared, tuple[Group, ...]]:
    """Build the model of a deployment, make it ready, and group the properties (see :func:`group`)."""
    model = build(deployment)
    prepared = prepare(model)
    return prepared, group(prepared, properties_of(model.pipeline), cone=cone)


def question_ids(deployment: Deployment, prepared: Prepared, groups: Sequence[Group]) -> dict[str, str]:
    """Property -> the stable id of the question whether ``deployment`` has it."""
    asked = [VERSION, repr(deployment.faults), repr(deployment.bounds)]
    return {name: verdict_id([*asked, name, print_]) for name, print_ in fingerprints(prepared, groups).items()}


def explore(
    deployment: Deployment,
    budget: Budget,
    on_progress: OnProgress | None = None,
    engine: Engine = EMBEDDED,
    reductions: frozenset[Reduction] = USED_UNLESS_TOLD_OTHERWISE,
) -> Run:
    """Build the model of a deployment and explore it within a budget."""
    begun = time.monotonic()
    groups = prepare_groups(deployment, cone=Reduction.CONE in reductions)
    run = Run(deployment, *groups, budget, engine, reductions, begun)
    run.explore(on_progress)
    return run


def _reporter(
    exploration: AnyExploration, size: int, on_progress: OnProgress | None, in_time: str | None = None
) -> Callable[[Combination], None] | None:
    if on_progress is None:
        return None
    started, states = time.monotonic(), exploration.meter.states

    def report(combination: Combination) -> None:
        meter = exploration.meter
        rate = (meter.states - states) / max(time.monotonic() - started, 1e-3)
        on_progress(Progress(size, exploration.named(combination), meter.states, rate, meter.memory, in_time))

    return report


def _versions() -> dict[str, str]:
    """The versions a verdict depends on."""
    versions = {"model": VERSION}
    for package in ("proofka", "z3-solver", "llvmlite", "numba", "numpy"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions
