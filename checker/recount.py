"""Explore the question of an earlier result again, and compare what both counted."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from checker.budget import Budget
from checker.check import Run, explore, prepare_groups
from checker.reductions.choice import Reduction, UnknownReduction, chosen
from checker.verify import TamperedDocument
from model.deployment import from_document
from model.deployment.deployment import Deployment
from properties.verdict import Verdict

Document = Mapping[str, Any]


def recount(document: Document, budget: Budget) -> tuple[str, ...]:
    """Explore again with the embedded engine, within the same bounds; what was compared, a line each.

    Of a result that was stopped by its time, or by another limit, all layers of faults that each property was explored
    in completely are explored again, and no more. Raises :class:`TamperedDocument` for the first count that differs.
    """
    deployment = from_document(document["deployment"])
    reductions = reductions_of(document)
    stopped = {verdict["bounds"]["stopped"] for verdict in document["verdicts"]} - {None}
    if not stopped:
        return _whole(document, deployment, budget, reductions)
    complete = min(verdict["bounds"]["faults_complete_to"] for verdict in document["verdicts"])
    why = ", ".join(sorted(stopped))
    if complete < 0:
        raise NothingCounted(f"not even the states without a fault were all explored ({why})")
    return _layers(document, deployment, budget, reductions, complete, why)


def reductions_of(document: Document) -> frozenset[Reduction]:
    """The reductions that the command of a result asked for. Raises TamperedDocument for one that there is not."""
    said: dict[str, list[str]] = {"--with": [], "--without": []}
    try:
        words = shlex.split(document["command"] or "")
        for option, value in pairwise(words):
            if option in said:
                said[option].append(value)
        return chosen(said["--with"], said["--without"])
    except (ValueError, UnknownReduction):
        raise TamperedDocument("its command cannot be read, and so not which reductions were used") from None


def _whole(
    document: Document, deployment: Deployment, budget: Budget, reductions: frozenset[Reduction]
) -> tuple[str, ...]:
    if deployment.faults.total is None and not deployment.faults.any_number and budget.seconds is None:
        # It ended because there was nothing left to explore, and will again: not because of the time that is standard.
        budget = replace(budget, seconds=math.inf)
    run = explore(deployment, budget, reductions=reductions)
    verdicts = {verdict.property: verdict for verdict in run.verdicts()}
    _not_stopped(verdicts)
    for said in document["verdicts"]:
        found = verdicts[said["property"]]
        facts: dict[str, tuple[Any, Any]] = {
            "status": (said["status"], str(found.status)),
            "fault sets": (said["cut_sets"], [dict(cut_set) for cut_set in found.cut_sets]),
            "states": (said["states"], found.states),
            "witness": (said["witness_reached"], found.witness_reached),
            "number of faults explored": (said["bounds"]["faults_complete_to"], found.coverage.complete_to),
            "bounds that were reached": (said["bounds"]["sizes_reached"], list(found.coverage.bounds_reached)),
        }
        _compare(facts, said["property"])
    engine = run.engine()
    told = document["engine"]
    totals = ("states", "transitions", "depth")
    _compare({name: (told[name], getattr(engine, name)) for name in totals}, "all together")
    _compare_layers(told["layers"], list(engine.layers))
    counted = f"{engine.states:,} states, {engine.transitions:,} transitions and {len(engine.layers)} layers of faults"
    return (f"counts: explored again, {counted} as before, and the same fault sets",)


def _layers(
    document: Document,
    deployment: Deployment,
    budget: Budget,
    reductions: frozenset[Reduction],
    complete: int,
    why: str,
) -> tuple[str, ...]:
    # The model stays that of the whole question: it may depend on how many faults there can be.
    prepared, groups = prepare_groups(deployment, cone=Reduction.CONE in reductions)
    fewer = replace(deployment, faults=deployment.faults.up_to(complete))
    run = Run(fewer, prepared, groups, budget, reductions=reductions)
    run.explore(None)
    verdicts = {verdict.property: verdict for verdict in run.verdicts()}
    _not_stopped(verdicts)
    undecided = []
    for said in document["verdicts"]:
        found = verdicts[said["property"]]
        if said["status"] == "unknown" or str(found.status) == "unknown" or found.notes != tuple(said["notes"]):
            undecided.append(said["property"])
            continue
        few = [one for one in said["cut_sets"] if sum(one.values()) <= complete]
        _compare({"fault sets": (few, [dict(cut_set) for cut_set in found.cut_sets])}, said["property"])
    _compare_layers(document["engine"]["layers"][: complete + 1], list(run.engine().layers[: complete + 1]))
    up_to = f"up to {complete} fault{'' if complete == 1 else 's'}"
    lines = [f"counts: explored again {up_to}, {sum(run.engine().layers[: complete + 1]):,} states as before"]
    lines.append(f"counts: not compared beyond that, where the exploration was stopped ({why})")
    if undecided:
        lines.append(f"fault sets: not compared of what was left open: {', '.join(undecided)}")
    return tuple(lines)


def _not_stopped(verdicts: Mapping[str, Verdict]) -> None:
    for verdict in verdicts.values():
        if verdict.coverage.stopped is not None:
            raise RecountStopped(verdict.coverage.stopped)


class NothingCounted(Exception):
    """The result was stopped before anything was explored that could be compared."""


class RecountStopped(Exception):
    """Exploring again was stopped before it was done, by what the message names."""


def _compare(facts: Mapping[str, tuple[Any, Any]], what: str) -> None:
    for name, (said, found) in facts.items():
        if said != found:
            raise TamperedDocument(f"{what}: {name}: said is {_short(said)}, and exploring again gives {_short(found)}")


def _compare_layers(said: list[int], found: list[int]) -> None:
    for faults, (one, other) in enumerate(zip(said, found, strict=False)):
        _compare({f"states with {faults} faults": (one, other)}, "all together")
    _compare({"layers of faults": (len(said), len(found))}, "all together")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
