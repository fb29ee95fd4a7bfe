"""The claims that a finished check can certify, and for the other properties the reason against a claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from proofka.checker.budget import Meter
from proofka.checker.certificates.part import Claim, Part, Smallest
from proofka.checker.certificates.ranked import ranked_text
from proofka.checker.certificates.reading import SYSTEM
from proofka.checker.certificates.systems import limits_of, system_text, timed_text, unlimited_in
from proofka.checker.check import Run
from proofka.checker.exploration import AnyExploration
from proofka.checker.fixed_point import LEADER_EPOCH
from proofka.checker.questions import WITNESS, Prepared
from proofka.checker.reductions.ranking import NotRankable
from proofka.checker.timing.refinement import bounds_in, differences_in
from proofka.checker.timing.tables import TooManyFlags
from proofka.checker.timing.whole import explored_whole
from proofka.checker.traces import actions_of_steps
from proofka.model.language import Action
from proofka.properties.catalogue import properties_of
from proofka.properties.verdict import Status, Verdict

BEYOND_THE_SETS = "the violation needs more faults or leader epochs than the explored sets have"
"""The reason against a claim on a violation that only the search for any number of faults has found."""

RESTS_ON_TIMES = "the verdict rests on times"
"""The reason against a claim whose times this version cannot certify."""

NOT_WRITTEN = "the part of the system cannot be written with ranks in place of epochs"
"""The reason against a claim on states with ranks, if the text of the system does more than compare epochs."""

NOT_EXPLORED = "some fault sets were not explored to the end"
"""The reason against a claim that lacks a closed set."""


@dataclass(frozen=True)
class Claims:
    """The parts of a certificate, and by property the reasons against claims."""

    parts: tuple[Part, ...]
    left_out: Mapping[str, str]


def claims_of(run: Run) -> Claims:
    """Return what a finished check can certify. A verdict that rests on times is explored again with all its states."""
    whole = system_text(run.prepared)
    claims: dict[int, list[Claim]] = {}
    timed: list[Part] = []
    ranked: list[_Ranked] = []
    left_out: dict[str, str] = {}
    for verdict in run.verdicts():
        if verdict.coverage.any_number:
            ranked.append(_of_any_number(verdict, run))
            continue
        name, number = verdict.property, run.number_of(verdict.property)
        exploration = run.explorations[number]
        if (reason := _uncertified(verdict, exploration)) is not None:
            left_out[name] = reason
        elif name in run.closures and verdict.status is Status.VIOLATED:
            left_out[name] = BEYOND_THE_SETS
        elif not _is_free_of_times(verdict, exploration, run):
            part = _timed(verdict, exploration, run, f"system.{len(timed) + 1}.smt2")
            if part is None:
                left_out[name] = RESTS_ON_TIMES
            else:
                timed.append(part)
        elif exploration.canonical is not None:
            names = tuple(family.name for family in exploration.canonical.ranked)
            ranked.append(_Ranked(verdict, run.prepared, exploration, names))
        else:
            claims.setdefault(number, []).append(_claim_of(verdict, exploration, run))
    untimed = []
    for number, of_part in sorted(claims.items()):
        untimed.append(Part(run.explorations[number], SYSTEM, whole, tuple(of_part)))
    evident = []
    for part in (*untimed, *timed, *_with_ranks(ranked, run, len(timed), left_out)):
        kept = tuple(claim for claim in part.claims if part.is_evident(claim))
        left_out |= {claim.property: NOT_EXPLORED for claim in part.claims if claim not in kept}
        evident += [replace(part, claims=kept)] if kept else []
    return Claims(tuple(evident), left_out)


def _uncertified(verdict: Verdict, exploration: AnyExploration) -> str | None:
    """Return the reason for which no claim on a property can be written; None if a claim can be."""
    if verdict.status is Status.UNKNOWN:
        return "the property is not decided"
    is_symmetric = exploration.canonical is not None and exploration.canonical.permutations
    return "the states are stored up to symmetry" if is_symmetric else None


def _is_free_of_times(verdict: Verdict, exploration: AnyExploration, run: Run) -> bool:
    """Tell whether the runs without clocks violate the property with the same smallest fault sets."""
    name = verdict.property
    if verdict.lemmas or run.in_time(name).undecided or any(aside == name for aside, _ in exploration.aside):
        return False
    return {exploration.named(violation.combination) for violation in exploration.cut_sets(name)} == {*verdict.cut_sets}


def _timed(verdict: Verdict, exploration: AnyExploration, run: Run, system: str) -> Part | None:
    """Return the part of a verdict that rests on times; None if the lemmas do not suffice for a claim."""
    name = verdict.property
    in_time = run.in_time(name)
    lemmas = in_time.rests_on
    prop = next(one for one in properties_of(run.prepared.model.pipeline) if one.name == name)
    if prop.goal is not None or in_time.undecided:
        return None
    try:
        meter = Meter(replace(run.budget, seconds=None), timed=False)
        again = explored_whole(in_time, exploration, verdict.coverage.complete_to + 1, meter)
    except TooManyFlags:
        return None
    if {again.named(violation.combination) for violation in again.cut_sets(name)} != {*verdict.cut_sets}:
        return None
    bounds, differences = bounds_in(lemmas), differences_in(lemmas)
    text = timed_text(run.prepared, in_time.timing, prop, differences, bounds)
    return Part(again, system, text, (_claim_of(verdict, again, run),), lemmas)


@dataclass(frozen=True)
class _Ranked:
    """A verdict whose states have ranks in place of the epochs of ``families``. ``prepared``: the explored model."""

    verdict: Verdict
    prepared: Prepared
    exploration: AnyExploration
    families: tuple[str, ...]
    unlimited: tuple[str, ...] = ()


def _of_any_number(verdict: Verdict, run: Run) -> _Ranked:
    """Return a pass for any number of faults with its states."""
    found = run.closures[verdict.property].fixed_point
    assert found is not None, "a pass for any number of faults rests on a fixed point"
    unlimited = unlimited_in(run.deployment, limits_of(run.deployment, run.prepared))
    return _Ranked(verdict, found.prepared, found.exploration, (LEADER_EPOCH,), tuple(sorted(unlimited)))


def _with_ranks(ranked: Iterable[_Ranked], run: Run, taken: int, left_out: dict[str, str]) -> Iterator[Part]:
    """Yield the parts of states with ranks, and add the reasons against claims to ``left_out``.

    ``taken``: the number of systems that have names.
    """
    spaces: dict[int, list[_Ranked]] = {}
    for one in ranked:
        spaces.setdefault(id(one.exploration), []).append(one)
    for number, space in enumerate(spaces.values(), taken + 1):
        first, names = space[0], [one.verdict.property for one in space]
        try:
            text = ranked_text(first.prepared, first.exploration.layout.fields, names, first.families)
        except NotRankable:
            left_out |= dict.fromkeys(names, NOT_WRITTEN)
            continue
        claims = tuple(_claim_of(one.verdict, one.exploration, run) for one in space)
        yield Part(first.exploration, f"system.{number}.smt2", text, claims, unlimited=first.unlimited)


def _claim_of(verdict: Verdict, exploration: AnyExploration, run: Run) -> Claim:
    name, goal = verdict.property, exploration.question.goal
    is_goal = goal is not None and goal[0] == name
    system = run.prepared.model.system
    smallest = (Smallest(trace.faults, tuple(actions_of_steps(system, trace.steps))) for trace in verdict.traces)
    witness = _witness(exploration, name) if verdict.witness_reached else None
    return Claim(name, is_goal, verdict.id, verdict.coverage.complete_to, tuple(smallest), witness)


def _witness(exploration: AnyExploration, name: str) -> tuple[Action, ...] | None:
    """Return a run of few faults to the witness of a property, if the exploration found one."""
    first = exploration.first_observed(WITNESS + name)
    return tuple(exploration.system.actions[label] for label in exploration.path(first[0])) if first else None
