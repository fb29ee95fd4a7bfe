"""Verdicts and traces: what is said about a property, as plain values that reports print and JSON carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

CutSet = tuple[tuple[str, int], ...]
"""A multiset of faults, as (kind, count) sorted by kind. The empty tuple: no fault at all."""


class Status(StrEnum):
    """What was shown of a property (design, section 6)."""

    VIOLATED = "violated"
    HOLDS = "holds"
    VACUOUS = "vacuous"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Shown:
    """A part of the state in words: ``what`` ("broker 2's log"), whose it is (empty: nobody's), and its ``value``.

    ``entries``: the value one by one, by offset, where it is a log.
    """

    what: str
    owner: str
    value: str
    entries: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Change:
    """What one step changed, in words: ``what`` ("broker 2's log"), ``before`` and ``after``.

    ``entries``: what is there afterwards, one by one, where it is a log.
    """

    what: str
    before: str
    after: str
    entries: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Step:
    """One step of a trace. ``fault`` is the fault kind's name, or None for an ordinary step.

    ``lane`` is where a report draws it: producer, brokers, controller or consumer. ``at`` is when it happens, in ms
    since the start; None where nobody asked when.
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

    ``failure`` says which part of the property failed and for which record ("record 1 was acknowledged, but is not
    in the log of broker 2, which leads"). ``start``: the initial state; with what each step changes it is the state at
    any step (:func:`states_of`). Empty in results of earlier versions.
    """

    faults: CutSet
    steps: tuple[Step, ...]
    failure: str
    start: tuple[Shown, ...] = ()


def states_of(trace: Trace) -> Iterator[tuple[Shown, ...]]:
    """The state at the start of a trace and after each of its steps, in words."""
    shown = {one.what: one for one in trace.start}
    yield tuple(shown.values())
    for step in trace.steps:
        for change in step.changes:
            before = shown.get(change.what, Shown(change.what, "", change.before))
            shown[change.what] = replace(before, value=change.after, entries=change.entries)
        yield tuple(shown.values())


@dataclass(frozen=True)
class TimingLemma:
    """Why a pattern of events cannot happen in time.

    ``needed``: how long at least something takes in it, and since when; ``allowed``: how long at most, one after the
    other. ``inequality`` says in the settings' own names why the former is longer than the latter.
    """

    needed: tuple[str, ...]
    allowed: tuple[str, ...]
    inequality: str


@dataclass(frozen=True)
class Coverage:
    """What was explored for a property.

    ``complete_to``: every combination of at most so many faults was explored, and of what violates the property there
    it is known whether there is time for it; ``total``: the budget asked for (None = until time ran out);
    ``combinations`` of ``combinations_of_next`` combinations of one fault more were explored
    as well. ``kinds``: the fault kinds considered, with the largest count of each. ``bounds``: name -> value.
    ``bounds_reached``: names of those bounds that stopped some behaviour (a log that was full), so that a larger
    bound would explore more. ``stopped``: why exploration ended early (time, states, memory, interrupted), or None.
    ``any_number``: kinds of which every number was covered, because the state space closed under them.
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
    """What is known of one property of one deployment.

    ``cut_sets``: the smallest multisets of faults that violate it, smallest first (empty unless violated);
    ``traces``: one trace per cut set, in the same order. ``states``: distinct states explored for it.
    ``id``: stable identity of the question (model version, system, property, bounds, assumptions). ``lemmas``: why runs
    without clocks that would violate it cannot happen in time; empty where it holds whatever the timing.
    ``known_defects``: defects of these releases beside the model that could violate it; empty unless it holds.
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


def differ_in_size(one: Verdict, other: Verdict) -> bool:
    """Whether a bound that both have is another one. What only one has (producer epochs) is no other bound."""
    sizes, others = one.coverage.bounds, other.coverage.bounds
    return any(sizes[name] != others[name] for name in sizes.keys() & others.keys())


@dataclass(frozen=True)
class Sensitivity:
    """Another value of an assumption that would change a verdict: ``property`` becomes ``status`` with ``cut_sets``.

    A status that is unknown says that it was not decided whether it would.
    """

    assumption: str
    value: str
    property: str
    status: Status
    cut_sets: tuple[CutSet, ...]


@dataclass(frozen=True)
class Threshold:
    """From which value of a duration on a property holds, all others being as they are; in ms.

    ``now`` is its value; the property was found to hold with ``holds_at`` and to be violated with ``violated_at``,
    which are neighbours where the threshold is known exactly.
    ``because``: the inequality that decides it, with ``holds_at``.
    """

    property: str
    setting: str
    now: int
    holds_at: int
    violated_at: int
    because: str


@dataclass(frozen=True)
class EngineRun:
    """What the exploration cost and found: ``layers`` is distinct states per number of faults; ``seconds`` wall
    time; ``looks_again`` how many second looks were taken at what there is no time for, ``states_again`` their states,
    which count nowhere else."""

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
    """A live reading of a running exploration, for the progress line: rate in states a second, memory in bytes.

    ``in_time``: the property of which only what can happen in time is looked for, if it is that.
    """

    layer: int
    combination: CutSet
    states: int
    rate: float
    memory: int
    in_time: str | None = None


@dataclass(frozen=True)
class Prevention:
    """A change with which these faults, and fewer, do not violate the property: ``producer.acks=all``.

    ``decided`` is false where there was no time to find out whether they do. ``settings``: the effective settings that
    it gives another value to (``application.commit``). ``brings``: what clients and brokers make of others then, as in
    ``producer.enable.idempotence=true (rule P12)``.
    """

    property: str
    cut_set: CutSet
    change: str
    decided: bool = True
    settings: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """Everything one check says, in the order a report shows it. ``preventions`` is None where nobody looked.

    ``others_tried``: whether every other value of what is assumed was tried, and thresholds were looked for, so that
    ``sensitivities`` and ``thresholds`` have what there is to find; None in results of earlier versions, which say
    nothing of it.
    """

    verdicts: tuple[Verdict, ...]
    engine: EngineRun
    sensitivities: tuple[Sensitivity, ...]
    versions: Mapping[str, str]
    thresholds: tuple[Threshold, ...] = ()
    preventions: tuple[Prevention, ...] | None = None
    others_tried: bool | None = False
