"""Objections to a decision: a pass that leaves out a fault, and a condition that is checked in one direction only.

A pass is evidence for the faults that were asked, and for no others. Each kind of fault that bears on a property has to
be asked, or excluded with a reason in the table of claims. ``tables/kinds.csv`` has the group of each kind (an empty
group: no claim is asked with the kind, with the reason), and ``tables/bearing.csv`` the groups that bear on each
property. An exclusion names a kind, a group, :data:`RELEASES` or :data:`EVERYTHING`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from proofka.properties.claims.claim import Answer, Case, Claim
from proofka.properties.claims.conditions import FAULTS, RELEASE, is_checked_both_ways
from proofka.properties.verdict import Status

EVERYTHING = "everything"
"""The exclusion of all that is not asked."""
RELEASES = "releases"
"""The exclusion of the releases of Kafka that :data:`EARLIER` stands for."""
EARLIER = ("3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9")
"""The releases with KRaft whose controller does not know how a broker stopped (semantics 6.4)."""
OF_BROKERS = frozenset({"processes", "machines", "disks", "followers", "network"})
"""The groups of faults whose effect depends on the release of the brokers."""

TABLES = Path(__file__).with_name("tables")


def objections_to(claim: Claim, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return what the answers to a claim leave out, a sentence for each.

    Findings and incidents name their faults, and compare deployments with equal faults.
    """
    if claim.kind != "claims" or not all(answer.is_decided for answer in answers):
        return ()
    return tuple(_objections(answers))


def unasked(case: Case) -> tuple[str, ...]:
    """Return the kinds of fault that bear on the property, and that the case neither asks nor excludes."""
    return tuple(kind for kind in _left_out(case) if _reason(case, kind) is None)


def excluded(case: Case) -> Mapping[str, tuple[str, ...]]:
    """Return the kinds of fault that bear on the property and that the case excludes, by the reason."""
    found: dict[str, tuple[str, ...]] = {}
    for kind in _left_out(case):
        if reason := _reason(case, kind):
            found[reason] = (*found.get(reason, ()), kind)
    return found


def _left_out(case: Case) -> Iterator[str]:
    asked, bears = asked_kinds(case), bearing()[case.property]
    return (kind for kind, group in groups_of_kinds().items() if group in bears and kind not in asked)


def _reason(case: Case, kind: str) -> str | None:
    named = (kind, groups_of_kinds()[kind], EVERYTHING)
    return next((case.excludes[name] for name in named if name in case.excludes), None)


def asked_kinds(case: Case) -> frozenset[str]:
    """Return the kinds of fault that the case asks."""
    budget = case.asked[FAULTS]
    assert isinstance(budget, Mapping)
    return frozenset(kind for kind, count in budget.items() if kind != "total" and count)


def _objections(answers: Sequence[Answer]) -> Iterator[str]:
    for number, answer in enumerate(answers, start=1):
        if answer.verdict.status is not Status.HOLDS:
            continue
        if missing := unasked(answer.case):
            yield f"case {number} is not asked with {', '.join(missing)}, and nothing says why"
        if _depends_on_release(answer.case) and not _has_earlier(answer.case, [one.case for one in answers]):
            yield f"case {number} is not asked of Kafka {EARLIER[0]} to {EARLIER[-1]}, and nothing says why"
    right = [answer for answer in answers if answer.agrees]
    if len(right) == len(answers):
        return
    for number, answer in enumerate(answers, start=1):
        if answer in right and answer.case.holds and not is_checked_both_ways(answer, answers):
            yield f"case {number} holds under a condition, and no violated case differs from it in the condition alone"


def _depends_on_release(case: Case) -> bool:
    groups = {groups_of_kinds()[kind] for kind in asked_kinds(case)}
    return bool(groups & OF_BROKERS) and not {RELEASES, EVERYTHING} & case.excludes.keys()


def _has_earlier(case: Case, cases: Sequence[Case]) -> bool:
    """Tell whether the case, or the same case of another release, is about a release of :data:`EARLIER`."""

    def without_release(one: Case) -> tuple[object, ...]:
        return one.property, one.holds, {key: value for key, value in one.asked.items() if key != RELEASE}

    same = [one for one in cases if without_release(one) == without_release(case)]
    return any(one.asked[RELEASE] in EARLIER for one in same)


@cache
def groups_of_kinds() -> Mapping[str, str]:
    """Return the group of each kind of fault; an empty group for a kind that no claim is asked with."""
    return {row["kind"]: row["group"] for row in _rows("kinds.csv")}


@cache
def bearing() -> Mapping[str, frozenset[str]]:
    """Return the groups of faults that bear on each property."""
    return {row["property"]: frozenset(row["groups"].split()) for row in _rows("bearing.csv")}


def _rows(name: str) -> list[dict[str, str]]:
    with (TABLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
