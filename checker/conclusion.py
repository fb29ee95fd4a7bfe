"""Verdicts on the properties of a group, from the exploration of the group and from the timing results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from proofka.checker.budget import ANSWERED_TO
from proofka.checker.exploration import AnyExploration
from proofka.checker.fixed_point import Closure
from proofka.checker.modelling_assumptions import assumptions_behind
from proofka.checker.questions import LIMIT, WITNESS, Prepared
from proofka.checker.reduced import Reduced
from proofka.checker.solver import Replayer
from proofka.checker.timing.contradictions import in_words
from proofka.checker.timing.loop import InTime
from proofka.checker.timing.promptness import promptly
from proofka.checker.timing.timely import Timely
from proofka.checker.traces import build_trace
from proofka.model.deployment.deployment import Deployment
from proofka.properties.known_defects.beside import known_defects
from proofka.properties.known_defects.unread import unread_releases
from proofka.properties.modelling_assumption import ModellingAssumption, by_kind
from proofka.properties.open_durations import open_durations
from proofka.properties.open_notes import not_for_any_number
from proofka.properties.property import Property
from proofka.properties.verdict import Coverage, CutSet, Status, Trace, Verdict

PASSES = (Status.HOLDS, Status.VACUOUS)
"""Statuses of a pass: no violation was found. Only these can rest on timing lemmas."""


@dataclass(frozen=True)
class _Finding:
    """The result for one property; the rest of its verdict comes from the question."""

    status: Status
    cut_sets: tuple[CutSet, ...]
    traces: tuple[Trace, ...]
    witnessed: bool
    states: int
    coverage: Coverage
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Conclusion:
    """The verdicts on a group of properties of ``deployment``, from its ``exploration`` and each property ``in_time``.

    ``sizes``: fault sets with fewer faults than this number are covered, also in time. ``closures``: results for any
    number of faults, for some of the properties. ``traces``: traces that were built before, by property and run.
    """

    deployment: Deployment
    prepared: Prepared
    replayer: Replayer
    reduced: Reduced
    exploration: AnyExploration
    in_time: Mapping[str, InTime]
    sizes: int
    closures: Mapping[str, Closure]
    traces: dict[tuple[str, int], Trace]

    def verdict(self, prop: Property, question_id: str) -> Verdict:
        """Return the verdict on a property of the group. Build and replay its traces; raise ReplayMismatch."""
        closed = None if self.exploration.cut_sets(prop.name) else self.closures.get(prop.name)
        found = self._explored(prop) if closed is None else self._closed(prop, closed)
        rests_on = self.in_time[prop.name].rests_on if found.status in PASSES else ()
        lemmas = in_words(lemma.contradiction for lemma in rests_on)
        assumed = tuple(self._assumptions_behind(prop, in_time=bool(lemmas))) if found.status in PASSES else ()
        holds = found.status is Status.HOLDS
        unread = unread_releases(self.deployment) if holds else ()
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
            question_id,
            (*open_durations(self.deployment, found.traces), *found.notes, *unread, *(one.text for one in assumed)),
            lemmas,
            known_defects(self.deployment, prop.name) if holds else (),
            by_kind(assumed),
        )

    def cut_sets(self, prop: Property) -> tuple[CutSet, ...] | None:
        """Return the smallest fault sets that violate a property in time; None if none is known and some could
        exist.
        """
        timely = tuple(run.faults for run in self.in_time[prop.name].timely)
        return timely if timely or self._left_open(prop) is None else None

    def _assumptions_behind(self, prop: Property, *, in_time: bool) -> Iterator[ModellingAssumption]:
        seen = {variable.name for variable in self.reduced.group.cones[prop.name].variables}
        position = self.prepared.model.pipeline.consumer.position.name
        return assumptions_behind(self.deployment, prop.name, reads=position in seen, in_time=in_time)

    def _explored(self, prop: Property) -> _Finding:
        """Return the finding on a property from exploring the fault combinations one by one."""
        exploration, in_time, coverage = self.exploration, self.in_time[prop.name], self._coverage()
        traces = tuple(self._trace(prop, timely) for timely in in_time.timely)
        undecided, stopped = in_time.undecided, in_time.stopped
        witnessed = WITNESS + prop.name in exploration.observed() | in_time.observed()
        if stopped is not None:
            coverage = _decided_part(coverage, in_time.decided - 1, stopped)
        elif undecided:
            coverage = _decided_part(coverage, min(sum(count for _, count in one) for one in undecided) - 1, None)
        left_open = self._left_open(prop)
        notes: tuple[str, ...] = ()
        if left_open is not None and self._was_answered(in_time):
            coverage = _decided_part(coverage, in_time.decided - 1, None)
            if stopped is None:
                notes = tuple(f"with more than {coverage.complete_to} faults: {why}" for why in left_open)
            left_open = None
        if traces:
            status = Status.VIOLATED
            notes = left_open if undecided and left_open is not None else notes
        elif left_open is not None:
            status, notes = Status.UNKNOWN, left_open
        else:
            status = Status.HOLDS if witnessed else Status.VACUOUS
        cut_sets = tuple(trace.faults for trace in traces)
        remarks = (*notes, *_not_shortest(in_time.timely), *self.reduced.remarks)
        return _Finding(status, cut_sets, traces, witnessed, exploration.states, coverage, remarks)

    def _left_open(self, prop: Property) -> tuple[str, ...] | None:
        """Return the reasons why a property is open, as notes; None if the property is decided."""
        in_time, coverage = self.in_time[prop.name], self._coverage()
        if in_time.undecided:
            sets = "; with ".join(map(faults_in_words, in_time.undecided))
            return (f"it was not decided whether violations are possible in time with {sets}",)
        if in_time.stopped is not None:
            return ()
        if self.deployment.faults.any_number:
            return (not_for_any_number("violations with few faults are impossible in time", None),)
        if prop.name in self.exploration.undecided:
            bounds = ", ".join(coverage.bounds_reached)
            return (f"from some state every continuation ends at a bound ({bounds}): enlarge this bound",)
        return None if self._is_covered(coverage) else ()

    def _was_answered(self, in_time: InTime) -> bool:
        """Tell whether enough was decided before larger fault sets met a limit or a bound, so that only these are
        open.
        """
        if not self.deployment.faults.is_open_ended or in_time.decided <= ANSWERED_TO:
            return False
        return self._is_covered(self._coverage()) and all(
            sum(run.combination.values()) < in_time.decided for run in in_time.timely
        )

    def _closed(self, prop: Property, closed: Closure) -> _Finding:
        """Return the finding on a property for any number of faults; few faults do not violate the property."""
        exploration, explored = self.exploration, self._coverage()
        coverage = explored
        if closed.trace is not None:
            status = Status.VIOLATED
            notes: tuple[str, ...] = ()
            if sum(count for _, count in closed.trace.faults) > explored.complete_to + 1:
                notes = (
                    f"no {explored.complete_to} faults suffice; a smaller fault set than the one shown is possible",
                )
        elif closed.unknown is not None:
            status = Status.UNKNOWN
            is_decided = prop.name not in exploration.undecided
            notes = (not_for_any_number(closed.unknown, explored.complete_to if is_decided else None),)
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
        """Return a shortest run, replayed by Z3 on the whole model; the run of a reduced system is replayed there
        first.
        """
        key = prop.name, id(timely)
        if key not in self.traces:
            self.traces[key] = self._built(prop, timely)
        return self.traces[key]

    def _built(self, prop: Property, timely: Timely) -> Trace:
        system, replayer = self.prepared.model.system, self.replayer
        timing = self.in_time[prop.name].timing
        actions = list(timely.actions)
        trace = build_trace(system, replayer, prop, actions, timely.states, times=timely.schedule.times)
        order, times = promptly(system, replayer, timing, actions, timely.schedule)
        return trace if order == actions else build_trace(system, replayer, prop, order, None, times=times.times)

    def _coverage(self) -> Coverage:
        exploration = self.exploration
        whole = 0
        while whole < len(exploration.layers) and exploration.layers[whole].complete:
            whole += 1
        following = exploration.layers[whole] if whole < len(exploration.layers) else None
        if exploration.exhausted():
            whole = max(whole, self.sizes)
        reached = (name.removeprefix(LIMIT) for name in exploration.observed() if name.startswith(LIMIT))
        stopped = next((layer.stopped for layer in exploration.layers if layer.stopped), None)
        return Coverage(
            whole - 1,
            self.deployment.faults.total,
            following.explored if following else 0,
            following.of if following else 0,
            tuple((kind.value, most) for kind, most in zip(exploration.kinds, exploration.most, strict=True)),
            self.deployment.sizes,
            tuple(sorted(reached)),
            stopped,
        )

    def _is_covered(self, coverage: Coverage) -> bool:
        """Tell whether enough was explored for a pass: the requested total, or every single fault."""
        total = self.deployment.faults.total
        wanted = ANSWERED_TO if total is None else total
        return coverage.complete_to >= wanted or self.exploration.exhausted()


def _not_shortest(found: Iterable[Timely]) -> Iterator[str]:
    """Yield a note that names the traces that are possibly not the shortest, if any."""
    longer = "; with ".join(faults_in_words(one.faults) for one in found if not one.is_shortest)
    if longer:
        yield f"the trace is possibly not the shortest with {longer}: some shorter runs were not checked in time"


def _decided_part(coverage: Coverage, below: int, stopped: str | None) -> Coverage:
    """Limit the coverage to at most ``below`` faults, up to which every violation was decided in time."""
    coverage = replace(coverage, stopped=coverage.stopped or stopped)
    if below >= coverage.complete_to:
        return coverage
    return replace(coverage, complete_to=below, combinations=0, combinations_of_next=0)


def faults_in_words(faults: Iterable[tuple[str, int]]) -> str:
    """Return text such as ``1 kill, 2 slow-follower``, or ``no fault``."""
    return ", ".join(f"{count} {kind}" for kind, count in faults) or "no fault"
