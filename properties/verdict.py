"""Verdicts and traces as plain values, for reports and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from proofka.properties.modelling_assumption import ModellingAssumption

if TYPE_CHECKING:
    from proofka.properties.certified import Certificate
    from proofka.properties.reproduced import Outcome
    from proofka.properties.stability import AtSize

CutSet = tuple[tuple[str, int], ...]
"""A fault set, as pairs (kind, count) sorted by kind. The empty tuple is the empty fault set."""


class Status(StrEnum):
    """The status of a verdict (design, section 6)."""

    VIOLATED = "violated"
    HOLDS = "holds"
    VACUOUS = "vacuous"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Shown:
    """A part of the state in words: ``what`` ("broker 2's log"), its ``owner`` (or ``""``), and its ``value``.

    ``entries``: the entries by offset, if the part is a log.
    """

    what: str
    owner: str
    value: str
    entries: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Change:
    """A change by one step in words: ``what`` ("broker 2's log"), ``before`` and ``after``.

    ``entries``: the entries by offset after the step, if the part is a log.
    """

    what: str
    before: str
    after: str
    entries: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Step:
    """One step of a trace. ``fault`` is the fault kind's name, or None for an ordinary step.

    ``lane`` is the lane of the step in reports: producer, brokers, controller or consumer. ``at`` is the time of the
    step in ms since the start, or None if times were not computed.
    """

    actor: str
    lane: str
    action: str
    arguments: Mapping[str, int]
    text: str
    fault: str | None
    changes: tuple[Change, ...]
    at: int | None = None


@dataclass(frozen=True)
class Trace:
    """A run from the initial state to a state that violates the property.

    ``failure`` names the part of the property that failed and the record ("record 1 was acknowledged, but is not in the
    log of broker 2, which leads"). ``start``: the initial state, from which the changes of the steps give every state
    (:func:`states_of`); empty in results of earlier versions.
    """

    faults: CutSet
    steps: tuple[Step, ...]
    failure: str
    start: tuple[Shown, ...] = ()


def states_of(trace: Trace) -> Iterator[tuple[Shown, ...]]:
    """Yield the state at the start of a trace and after each step, in words."""
    shown = {one.what: one for one in trace.start}
    yield tuple(shown.values())
    for step in trace.steps:
        for change in step.changes:
            before = shown.get(change.what, Shown(change.what, "", change.before))
            shown[change.what] = replace(before, value=change.after, entries=change.entries)
        yield tuple(shown.values())


@dataclass(frozen=True)
class TimingLemma:
    """The reason why durations exclude a pattern of events.

    ``needed``: the durations that the pattern takes at least, with their starts. ``allowed``: the durations that the
    pattern takes at most, one after the other. ``inequality`` states with the names of settings that the former sum is
    larger than the latter.
    """

    needed: tuple[str, ...]
    allowed: tuple[str, ...]
    inequality: str


@dataclass(frozen=True)
class Coverage:
    """The explored bounds of a property.

    ``complete_to``: every combination of at most this number of faults was explored, and for each violation with these
    faults it is decided whether the durations allow it. ``total``: the requested number of faults (None: until the
    time limit). ``combinations`` of the ``combinations_of_next`` combinations of one more fault were explored as well.
    ``kinds``: the kinds of fault, with the largest count of each. ``bounds``: the value of each size by name.
    ``bounds_reached``: names of sizes that stopped some behaviour (such as a full log); larger sizes would explore
    more. ``stopped``: the reason for an early end (time, states, memory, interrupted), or None. ``any_number``: kinds
    of fault of which every number was covered, because the search reached a fixed point.
    """

    complete_to: int
    total: int | None
    combinations: int
    combinations_of_next: int
    kinds: tuple[tuple[str, int], ...]
    bounds: Mapping[str, int]
    bounds_reached: tuple[str, ...]
    stopped: str | None
    any_number: tuple[str, ...] = ()


@dataclass(frozen=True)
class KnownDefect:
    """A known defect that the model does not have and that could violate a property which holds (docs/defects.md).

    ``id``: the tracker's number with the product's prefix. ``product``: whose defect, in words. ``fix``: the releases
    with the fix, in words. ``source``: where the register read of the defect.
    """

    id: str
    product: str
    sentence: str
    fix: str
    source: str


@dataclass(frozen=True)
class Verdict:
    """The verdict on one property of one deployment.

    ``cut_sets``: the smallest fault sets that violate the property, smallest first (empty unless violated).
    ``traces``: one trace for each smallest fault set, in the same order. ``states``: number of distinct states that
    were explored for the property. ``id``: stable identity of the question (model version, system, property, bounds,
    assumptions). ``lemmas``: the timing lemmas that exclude the violations by runs without clocks; empty if the
    property holds for all durations. ``known_defects``: known defects of these releases that could violate the
    property; empty unless the property holds. ``assumptions``: the modelling assumptions behind a pass, by kind; the
    notes end with the same texts. Empty in results of earlier versions.
    """

    property: str
    statement: str
    guarantee: str
    status: Status
    required: bool
    cut_sets: tuple[CutSet, ...]
    traces: tuple[Trace, ...]
    witness: str
    witness_reached: bool
    states: int
    coverage: Coverage
    id: str
    notes: tuple[str, ...] = field(default=())
    lemmas: tuple[TimingLemma, ...] = field(default=())
    known_defects: tuple[KnownDefect, ...] = field(default=())
    assumptions: tuple[ModellingAssumption, ...] = field(default=())


def differ_in_size(one: Verdict, other: Verdict) -> bool:
    """Tell whether a size that both verdicts have differs. A size of one verdict (producer epochs) does not count."""
    sizes, others = one.coverage.bounds, other.coverage.bounds
    return any(sizes[name] != others[name] for name in sizes.keys() & others.keys())


@dataclass(frozen=True)
class Sensitivity:
    """Another value of an assumption that would change a verdict: ``property`` becomes ``status`` with ``cut_sets``.

    An unknown status means that the effect of the value is undecided.
    """

    assumption: str
    value: str
    property: str
    status: Status
    cut_sets: tuple[CutSet, ...]


@dataclass(frozen=True)
class Threshold:
    """The smallest value in ms of a duration with which a property holds, all other durations unchanged.

    ``now`` is the value of the deployment. The property holds with ``holds_at`` and is violated with ``violated_at``;
    the two values are neighbours if the exact threshold is known. ``because``: the inequality that decides the
    threshold, with ``holds_at``.
    """

    property: str
    setting: str
    now: int
    holds_at: int
    violated_at: int
    because: str


@dataclass(frozen=True)
class EngineRun:
    """Costs and counts of the exploration.

    ``layers``: distinct states by number of faults. ``seconds``: wall time. ``looks_again``: number of timed
    re-explorations. ``states_again``: states of timed re-explorations, which no other count includes.
    """

    engine: str
    states: int
    transitions: int
    depth: int
    layers: tuple[int, ...]
    seconds: float
    compile_seconds: float
    bytes_per_state: int
    looks_again: int = 0
    states_again: int = 0


@dataclass(frozen=True)
class Progress:
    """Progress of a running exploration: ``rate`` in states per second, ``memory`` in bytes.

    ``in_time``: the property of a timed re-exploration, or None.
    """

    layer: int
    combination: CutSet
    states: int
    rate: float
    memory: int
    in_time: str | None = None


@dataclass(frozen=True)
class Prevention:
    """A change with which these faults, and fewer faults, do not violate the property: ``producer.acks=all``.

    ``decided`` is false if no time was left to decide this. ``settings``: the effective settings that the change sets
    to another value (``application.commit``). ``brings``: other settings that clients and brokers derive from the
    change, as in ``producer.enable.idempotence=true (rule P12)``.
    """

    property: str
    cut_set: CutSet
    change: str
    decided: bool = True
    settings: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()


class NoVerdict(LookupError):
    """A property on which a result has no verdict."""


@dataclass(frozen=True)
class Result:
    """The result of one check, in the order of a report.

    ``preventions`` is None if no search for preventing changes took place. ``others_tried``: True if every other value
    of the assumptions was tried and all thresholds were searched, so ``sensitivities`` and ``thresholds`` are complete;
    None in results of earlier versions, which do not have this field. ``stability``: the verdicts at other sizes; None
    if they were not asked for. ``reproductions``: the outcomes of replays of its traces on real clusters, at most one
    for each trace and release. ``certificate``: the certificate of its verdicts, if one was written.
    """

    verdicts: tuple[Verdict, ...]
    engine: EngineRun
    sensitivities: tuple[Sensitivity, ...]
    versions: Mapping[str, str]
    thresholds: tuple[Threshold, ...] = ()
    preventions: tuple[Prevention, ...] | None = None
    others_tried: bool | None = False
    stability: tuple[AtSize, ...] | None = None
    reproductions: tuple[Outcome, ...] = ()
    certificate: Certificate | None = None

    def verdict_on(self, name: str) -> Verdict:
        """Return the verdict on a property. Raises NoVerdict, with the properties that have one."""
        for verdict in self.verdicts:
            if verdict.property == name:
                return verdict
        known = ", ".join(verdict.property for verdict in self.verdicts)
        raise NoVerdict(f"the result has no verdict on {name!r}; it has verdicts on {known}")

    def holds(self, name: str) -> bool:
        """Tell whether a property holds within its bounds; a vacuous or undecided property does not.

        ``verdict_on(name).known_defects`` names defects of these releases that the model lacks. Raises NoVerdict.
        """
        return self.verdict_on(name).status is Status.HOLDS

    def _repr_html_(self) -> str:
        """Return the verdicts as an HTML table, which notebooks show."""
        from proofka.properties.verdict_table import html_table

        return html_table(self)
