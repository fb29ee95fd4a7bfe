"""Explore the question of an earlier result again, and compare both results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from proofka.checker.budget import Budget
from proofka.checker.check import Run, prepare_groups
from proofka.checker.questions import Group, Prepared, group
from proofka.checker.reductions.choice import Reduction
from proofka.checker.statements import PASSES, assumptions_of_pass, reductions_of
from proofka.checker.tampered import compare
from proofka.checker.timing.network import Contradiction
from proofka.checker.verify import counted
from proofka.model.deployment import from_document
from proofka.model.deployment.deployment import Deployment
from proofka.properties.open_notes import NOT_FOR_ANY_NUMBER
from proofka.properties.verdict import EngineRun, Verdict

Document = Mapping[str, Any]

AGAIN = "exploring again"
LEFT_OPEN = (
    "it was not decided whether violations are possible in time",
    "from some state every continuation ends at a bound",
    NOT_FOR_ANY_NUMBER,
)
"""Beginnings of notes about questions that a stopped exploration left open."""


@dataclass(frozen=True)
class Recounted:
    """The comparisons, a line each. ``open``: claims of the result that the new exploration did not decide.

    ``cycles``: for each property whose verdict rests on timing lemmas again, the contradictions behind these.
    """

    lines: tuple[str, ...]
    open: tuple[str, ...] = ()
    cycles: Mapping[str, tuple[Contradiction, ...]] = field(default_factory=dict)


@dataclass
class _Again:
    """The arguments of the new exploration."""

    document: Document
    deployment: Deployment
    budget: Budget
    reductions: frozenset[Reduction]
    prepared: Prepared
    found: list[EngineRun] = field(default_factory=list)
    cycles: dict[str, tuple[Contradiction, ...]] = field(default_factory=dict)

    def run(self, deployment: Deployment, groups: Sequence[Group]) -> dict[str, Verdict]:
        """Return the verdicts on the properties of some groups. Raise RecountStopped."""
        run = Run(deployment, self.prepared, groups, self.budget, reductions=self.reductions)
        run.explore(None)
        verdicts = {verdict.property: verdict for verdict in run.verdicts()}
        for verdict in verdicts.values():
            if verdict.coverage.stopped is not None:
                raise RecountStopped(verdict.coverage.stopped)
            if verdict.lemmas:
                rests_on = run.in_time(verdict.property).rests_on
                self.cycles[verdict.property] = tuple(lemma.contradiction for lemma in rests_on)
        self.found.append(run.engine())
        return verdicts


@dataclass(frozen=True)
class _Part:
    """Properties that were explored together.

    ``stopped``: the limits that stopped the exploration. ``complete``: the number of faults that was covered
    completely.
    """

    group: Group
    stopped: frozenset[str]
    complete: int

    @property
    def names(self) -> list[str]:
        return [prop.name for prop in self.group.properties]


def recount(document: Document, budget: Budget) -> Recounted:
    """Explore a verified result again with the embedded engine, within the same bounds.

    Properties whose exploration was stopped by a limit are explored again with the faults covered completely, and no
    more. Raise :class:`TamperedDocument` for the first difference, :class:`NothingCounted` if nothing was covered, and
    :class:`RecountStopped`.
    """
    deployment = from_document(document["deployment"])
    reductions = reductions_of(document)
    # The model stays the model of the whole question, because the model can depend on the number of possible faults.
    prepared, groups = prepare_groups(deployment, cone=Reduction.CONE in reductions)
    again = _Again(document, deployment, budget, reductions, prepared)
    said = {verdict["property"]: verdict for verdict in document["verdicts"]}
    if deployment.faults.is_open_ended:
        return _recount_each(again, groups, said)
    parts = [_part(one, said) for one in groups]
    whole, stopped = [one for one in parts if not one.stopped], [one for one in parts if one.stopped]
    if not whole and all(one.complete < 0 for one in stopped):
        raise NothingCounted(f"not even the states without a fault were all explored ({_why(stopped)})")
    if whole:
        _compare_whole(again, whole, said)
    left_open: list[str] = []
    for faults in sorted({one.complete for one in stopped} - {-1}):
        left_open += _compare_fewer(again, [one for one in stopped if one.complete == faults], faults, said)
    return Recounted(tuple(_counted(again, whole, stopped)), tuple(left_open), again.cycles)


def _recount_each(again: _Again, groups: Sequence[Group], said: Mapping[str, Document]) -> Recounted:
    """Explore each property again alone, with all the faults covered in its own row.

    Without a total, each property was explored only until it was decided, and together with properties that depend on
    the user's choice. So its states are no count to compare.
    """
    parts = [_part(group(again.prepared, [prop])[0], said) for one in groups for prop in one.properties]
    covered = [one for one in parts if one.complete >= 0]
    if not covered:
        raise NothingCounted(f"not even the states without a fault were all explored ({_why(parts)})")
    left_open: list[str] = []
    lines: list[str] = []
    for faults in sorted({one.complete for one in covered}):
        these = [one for one in covered if one.complete == faults]
        left_open += _compare_fewer(again, these, faults, said)
        lines.append(
            f"verdicts: {_names(these)}: up to {counted(faults, 'fault')} explored again, with the same result"
        )
    if missing := [one for one in parts if one.complete < 0]:
        lines.append(f"verdicts: {_names(missing)}: nothing to compare, as nothing was explored")
    lines.append("counts: not compared, as the check named no total of faults")
    return Recounted(tuple(lines), tuple(left_open), again.cycles)


def _part(one: Group, said: Mapping[str, Document]) -> _Part:
    bounds = [said[prop.name]["bounds"] for prop in one.properties]
    stopped = frozenset(told["stopped"] for told in bounds) - {None}
    return _Part(one, stopped, min(told["faults_complete_to"] for told in bounds))


def _why(parts: Sequence[_Part]) -> str:
    return ", ".join(sorted(set().union(*(one.stopped for one in parts))))


def _compare_whole(again: _Again, parts: Sequence[_Part], said: Mapping[str, Document]) -> None:
    """Compare explorations that were not stopped; everything must be equal."""
    verdicts = again.run(again.deployment, [one.group for one in parts])
    for name, found in verdicts.items():
        told, bounds, coverage = said[name], said[name]["bounds"], found.coverage
        lemmas = [
            {"needed": list(lemma.needed), "allowed": list(lemma.allowed), "inequality": lemma.inequality}
            for lemma in found.lemmas
        ]
        facts: dict[str, tuple[Any, Any]] = {
            "status": (told["status"], str(found.status)),
            "fault sets": (told["cut_sets"], [dict(cut_set) for cut_set in found.cut_sets]),
            "states": (told["states"], found.states),
            "witness": (told["witness_reached"], found.witness_reached),
            "number of faults explored": (bounds["faults_complete_to"], coverage.complete_to),
            "combinations of one fault more": (
                (bounds["combinations_of_next_explored"], bounds["combinations_of_next"]),
                (coverage.combinations, coverage.combinations_of_next),
            ),
            "bounds that were reached": (bounds["sizes_reached"], list(coverage.bounds_reached)),
            "kinds of which any number is covered": (bounds["any_number"], list(coverage.any_number)),
            "notes": (told["notes"], list(found.notes)),
            "lemmas": (told["lemmas"], lemmas),
        }
        compare(facts, name, AGAIN)


def _compare_fewer(again: _Again, parts: Sequence[_Part], faults: int, said: Mapping[str, Document]) -> Iterator[str]:
    """Compare stopped explorations up to the covered faults, and yield each claim left open, a line each."""
    fewer = replace(again.deployment, faults=again.deployment.faults.up_to(faults))
    verdicts = again.run(fewer, [one.group for one in parts])
    for one in parts:
        for prop in one.group.properties:
            told, found = said[prop.name], verdicts[prop.name]
            few = [cut_set for cut_set in told["cut_sets"] if sum(cut_set.values()) <= faults]
            up_to = f"{AGAIN} with up to {counted(faults, 'fault')}"
            sets = [dict(cut_set) for cut_set in found.cut_sets]
            reached = sorted(set(found.coverage.bounds_reached) - set(told["bounds"]["sizes_reached"]))
            facts: dict[str, tuple[Any, Any]] = {}
            if not again.deployment.faults.any_number:
                # For any number of faults, these facts come from other states, seen during the search for a fixed
                # point.
                facts["bounds that were reached and are not named"] = ([], reached)
                facts["witness"] = (told["witness_reached"], found.witness_reached or told["witness_reached"])
            status = str(found.status)
            if told["status"] in PASSES and status == "violated":
                facts["status"] = (told["status"], status)
            if status != "unknown" and told["status"] != "unknown":
                facts["fault sets"] = (few, sets)
            compare(facts, prop.name, up_to)
            _compare_notes(again, fewer, one.group, told, found)
            if told["status"] != "unknown" and status == "unknown":
                yield f"{prop.name}: {told['status']}: {up_to} did not decide it"
            elif told["status"] in PASSES and status != told["status"]:
                yield f"{prop.name}: {told['status']}: {up_to} its witness is not reached"
            elif told["status"] in PASSES and told["bounds"]["any_number"]:
                yield f"{prop.name}: {told['status']}: any number of faults was not explored again"
            elif told["status"] == "unknown" and status == "violated":
                yield f"{prop.name}: unknown: {up_to} finds it violated"


def _compare_notes(again: _Again, fewer: Deployment, one: Group, told: Document, found: Verdict) -> None:
    """Compare notes, except modelling assumptions and notes about questions left open by a limit."""
    here = {"status": str(found.status), "lemmas": found.lemmas}
    assumed = assumptions_of_pass(again.deployment, again.prepared, one, found.property, told)
    granted_here = assumptions_of_pass(fewer, again.prepared, one, found.property, here)
    said = told["notes"][: len(told["notes"]) - len(assumed)]
    notes = list(found.notes[: len(found.notes) - len(granted_here)])
    if told["status"] not in PASSES:
        said = [note for note in said if not note.startswith(LEFT_OPEN)]
    compare({"notes": (said, [note for note in notes if not note.startswith(LEFT_OPEN)])}, found.property, AGAIN)


def _counted(again: _Again, whole: Sequence[_Part], stopped: Sequence[_Part]) -> Iterator[str]:
    """Compare the total counts as far as they are complete, and yield the comparisons, a line each."""
    told = again.document["engine"]
    layers = [sum(sizes) for sizes in zip_longest(*(run.layers for run in again.found), fillvalue=0)]
    if not stopped:
        (run,) = again.found
        names = ("states", "transitions", "depth", "looks_again", "states_again")
        compare({name: (told[name], getattr(run, name)) for name in names}, "all together", AGAIN)
        _compare_layers(told["layers"], layers)
        counts = f"{run.states:,} states, {run.transitions:,} transitions and {counted(len(layers), 'layer')} of faults"
        yield f"counts: explored again, {counts} as before, and the same verdicts"
        return
    least = min(one.complete for one in stopped)
    _compare_layers(told["layers"][: least + 1], layers[: least + 1])
    if whole:
        yield f"counts: {_names(whole)}: explored again, the same verdicts and counts"
    for faults in sorted({one.complete for one in stopped}):
        parts = [one for one in stopped if one.complete == faults]
        what = f"up to {counted(faults, 'fault')} explored again, with the same result"
        if faults < 0:
            what = "nothing to compare, as not even the states without a fault were all explored"
        yield f"counts: {_names(parts)}: {what}; beyond that it was stopped ({_why(parts)})"
    if least >= 0:
        yield f"counts: {sum(layers[: least + 1]):,} states with up to {counted(least, 'fault')} as before"


def _names(parts: Sequence[_Part]) -> str:
    return ", ".join(name for one in parts for name in one.names)


def _compare_layers(said: list[int], found: list[int]) -> None:
    for faults, (one, other) in enumerate(zip(said, found, strict=False)):
        compare({f"states with {counted(faults, 'fault')}": (one, other)}, "all together", AGAIN)
    compare({"layers of faults": (len(said), len(found))}, "all together", AGAIN)


class NothingCounted(Exception):
    """The result was stopped before anything comparable was explored."""


class RecountStopped(Exception):
    """The new exploration was stopped early; the message names the reason."""
