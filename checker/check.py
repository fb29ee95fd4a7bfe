"""Check one deployment: build its model, explore it, and say of each property what was found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version

from checker.budget import ALWAYS_COVERED, Budget, Meter
from checker.closure import Closure, close
from checker.combinations import Combination
from checker.embedded import EmbeddedExploration
from checker.engine import EMBEDDED, Asked, Engine, explore_layer
from checker.exploration import AnyExploration, Violation
from checker.granted import taken_for_granted
from checker.identity import verdict_id
from checker.questions import LIMIT, WITNESS, Group, Prepared, fingerprints, group, prepare
from checker.reduced import Reduced, reduce_group
from checker.reductions.choice import USED_UNLESS_TOLD_OTHERWISE, Reduction
from checker.solver import Replayer
from checker.timing.loop import InTime, Steps, Timely, each_in_time
from checker.timing.promptness import promptly
from checker.timing.refinement import Timing
from checker.traces import build_trace
from model.deployment.deployment import Deployment
from model.faults import Fault
from model.pipeline import VERSION, build
from properties.catalogue import properties_of
from properties.property import Property
from properties.verdict import (
    Coverage,
    CutSet,
    EngineRun,
    Progress,
    Result,
    Status,
    Trace,
    Verdict,
)

OnProgress = Callable[[Progress], None]

PASSES = (Status.HOLDS, Status.VACUOUS)
"""What may rest on time: that nothing was found that violates a property."""


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


@dataclass(frozen=True)
class _Finding:
    """What the explorations found of one property; the rest of its verdict stands in the question."""

    status: Status
    cut_sets: tuple[CutSet, ...]
    traces: tuple[Trace, ...]
    witnessed: bool
    states: int
    coverage: Coverage
    notes: tuple[str, ...]


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
        found: dict[str, tuple[CutSet, ...] | None] = {}
        for number, one in enumerate(self.groups):
            for prop in one.properties:
                timely = tuple(run.faults for run in self.in_time(prop.name).timely)
                found[prop.name] = timely if timely or self._left_open(prop, number) is None else None
        return found

    def result(self) -> Result:
        """All that a check says but what other values of assumptions and durations would change."""
        verdicts = self.verdicts()
        cost = replace(self.engine(), seconds=round(time.monotonic() - self._begun, 3))
        return Result(verdicts, cost, (), _versions())

    def verdicts(self) -> tuple[Verdict, ...]:
        """A verdict per property, in the order of the catalogue."""
        found = {
            prop.name: self._verdict(prop, number) for number, one in enumerate(self.groups) for prop in one.properties
        }
        order = [prop.name for prop in properties_of(self.prepared.model.pipeline)]
        return tuple(found[name] for name in order if name in found)

    def _verdict(self, prop: Property, number: int) -> Verdict:
        exploration = self.explorations[number]
        closed = self.closures.get(prop.name)
        if closed is None or exploration.cut_sets(prop.name):
            found = self._explored(prop, number)
        else:
            found = self._closed(number, closed)
        lemmas = self.in_time(prop.name).rests_on if found.status in PASSES else ()
        return Verdict(
            prop.name,
            prop.statement,
            prop.guarantee,
            found.status,
            prop.name in self.deployment.require,
            found.cut_sets,
            found.traces,
            prop.witness_words,
            found.witnessed,
            found.states,
            found.coverage,
            self._ids[prop.name],
            (*found.notes, *(self._taken_for_granted(prop, number, bool(lemmas)) if found.status in PASSES else ())),
            lemmas,
        )

    def _taken_for_granted(self, prop: Property, number: int, in_time: bool) -> Iterator[str]:
        seen = {variable.name for variable in self.groups[number].cones[prop.name].variables}
        position = self.prepared.model.pipeline.consumer.position.name
        return taken_for_granted(self.deployment, prop.name, reads=position in seen, in_time=in_time)

    def _explored(self, prop: Property, number: int) -> _Finding:
        """What exploring combinations of faults one by one says of a property."""
        exploration, reduced = self.explorations[number], self.reduced[number]
        in_time = self.in_time(prop.name)
        traces = tuple(self._trace(prop, timely) for timely in in_time.timely)
        undecided, stopped = in_time.undecided, in_time.stopped
        witnessed = WITNESS + prop.name in exploration.observed() | in_time.observed()
        coverage = self._coverage(number)
        if stopped is not None and undecided and coverage.stopped is None:
            coverage = replace(coverage, stopped=stopped)
        left_open = self._left_open(prop, number)
        notes: tuple[str, ...] = ()
        if traces:
            status = Status.VIOLATED
            notes = left_open if undecided and left_open is not None else ()
        elif left_open is not None:
            status, notes = Status.UNKNOWN, left_open
        else:
            status = Status.HOLDS if witnessed else Status.VACUOUS
        cut_sets = tuple(trace.faults for trace in traces)
        remarks = (*notes, *reduced.remarks)
        return _Finding(status, cut_sets, traces, witnessed, exploration.states, coverage, remarks)

    def _left_open(self, prop: Property, number: int) -> tuple[str, ...] | None:
        """Why it is not known whether anything violates the property, in notes; None where it is known."""
        exploration, in_time, coverage = self.explorations[number], self.in_time(prop.name), self._coverage(number)
        if in_time.undecided:
            sets = "; with ".join(map(faults_in_words, in_time.undecided))
            return (f"it was not decided whether there is time for what violates it with {sets}",)
        if in_time.stopped is not None:
            return ()
        if self.deployment.faults.any_number:
            return ("not decided for any number of faults: there is no time for what violates it with few",)
        if prop.name in exploration.undecided:
            bounds = ", ".join(coverage.bounds_reached)
            return (f"from some state every way on ends at a bound ({bounds}): enlarge it",)
        return None if self._covered(exploration, coverage) else ()

    def _closed(self, number: int, closed: Closure) -> _Finding:
        """What was found of a property that was asked for any number of faults, and that few faults do not violate."""
        exploration = self.explorations[number]
        explored = self._coverage(number)
        coverage = explored
        if closed.trace is not None:
            status = Status.VIOLATED
            notes: tuple[str, ...] = ()
            if sum(count for _, count in closed.trace.faults) > explored.complete_to + 1:
                notes = (f"no {explored.complete_to} faults suffice; a smaller set than this one might",)
        elif closed.unknown is not None:
            status = Status.UNKNOWN
            notes = (f"not decided for any number of faults: {closed.unknown}",)
            coverage = replace(explored, stopped=closed.stopped)
        else:
            status, notes = (Status.HOLDS if closed.witnessed else Status.VACUOUS), ()
            sizes = {name: size for name, size in explored.bounds.items() if name != "epochs"}
            faults = self.deployment.faults
            kinds = {kind.value for kind in exploration.kinds}
            any_number = tuple(kind for kind in faults.any_number if kind in kinds)
            limited = sum(most for kind, most in faults.at_most if kind in kinds and kind not in any_number)
            coverage = replace(
                explored,
                complete_to=max(explored.complete_to, limited),
                combinations=0,
                combinations_of_next=0,
                bounds=sizes,
                bounds_reached=closed.bounds_reached,
                stopped=None,
                any_number=any_number,
            )
        traces = () if closed.trace is None else (closed.trace,)
        cut_sets = tuple(trace.faults for trace in traces)
        return _Finding(
            status, cut_sets, traces, closed.witnessed, closed.states or exploration.states, coverage, notes
        )

    def _trace(self, prop: Property, timely: Timely) -> Trace:
        """A shortest run, replayed by Z3 on the whole model; that of a reduced system on that system first."""
        system, replayer = self.prepared.model.system, self._replayer
        timing = self.in_time(prop.name).timing
        actions = list(timely.actions)
        trace = build_trace(system, replayer, prop, actions, timely.states, times=timely.schedule.times)
        order, times = promptly(system, replayer, timing, actions, timely.schedule)
        return trace if order == actions else build_trace(system, replayer, prop, order, None, times=times.times)

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

    def _coverage(self, number: int) -> Coverage:
        exploration = self.explorations[number]
        whole = 0
        while whole < len(exploration.layers) and exploration.layers[whole].complete:
            whole += 1
        following = exploration.layers[whole] if whole < len(exploration.layers) else None
        if exploration.exhausted():
            whole = max(whole, self._sizes[number])
        bounds = self.deployment.bounds
        sizes = {"records": bounds.records, "log": bounds.log, "sends": bounds.sends, "epochs": bounds.epochs}
        if self.deployment.idempotence:
            sizes["producer_epochs"] = bounds.producer_epochs
        reached = (name.removeprefix(LIMIT) for name in exploration.observed() if name.startswith(LIMIT))
        stopped = next((layer.stopped for layer in exploration.layers if layer.stopped), None)
        return Coverage(
            whole - 1,
            self.deployment.faults.total,
            following.explored if following else 0,
            following.of if following else 0,
            tuple((kind.value, most) for kind, most in zip(exploration.kinds, exploration.most, strict=True)),
            sizes,
            tuple(sorted(reached)),
            stopped,
        )

    def _covered(self, exploration: AnyExploration, coverage: Coverage) -> bool:
        """Whether enough was explored to speak of a pass: the total asked for, or every pair of faults."""
        total = self.deployment.faults.total
        wanted = ALWAYS_COVERED if total is None else total
        return coverage.complete_to >= wanted or exploration.exhausted()

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


def faults_in_words(faults: Iterable[tuple[str, int]]) -> str:
    """``1 kill, 2 slow-follower``, or that there is none."""
    return ", ".join(f"{count} {kind}" for kind, count in faults) or "no fault"


def _versions() -> dict[str, str]:
    """The versions a verdict depends on."""
    versions = {"model": VERSION}
    for package in ("proofka", "z3-solver", "llvmlite", "numba", "numpy"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions
