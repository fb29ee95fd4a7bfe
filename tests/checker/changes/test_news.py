"""News: which verdicts are worse beside what was known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.properties.news import Kind, Known, covers, known_of, news, news_of
from proofka.properties.verdict import CutSet, Status
from tests.reports import samples

KILL: CutSet = (("kill", 1),)
TWO: CutSet = (("kill", 2),)
BOTH: CutSet = (("consumer-crash", 1), ("kill", 1))
OTHER: CutSet = (("power-loss", 1),)


@pytest.mark.parametrize(
    ("before", "now", "kind", "new"),
    [
        (None, (KILL,), Kind.WORSE, (KILL,)),
        ((), (KILL,), Kind.WORSE, (KILL,)),
        ((KILL,), (KILL,), Kind.SAME, ()),
        ((TWO,), (KILL,), Kind.WORSE, (KILL,)),
        ((KILL,), (TWO,), Kind.BETTER, ()),
        ((KILL,), (BOTH,), Kind.BETTER, ()),
        ((KILL,), (KILL, OTHER), Kind.WORSE, (OTHER,)),
        ((KILL, OTHER), (KILL,), Kind.BETTER, ()),
        ((KILL,), ((),), Kind.WORSE, ((),)),
        (((),), (KILL,), Kind.BETTER, ()),
    ],
)
def test_fault_sets_are_worse_if_no_known_one_is_within_them(
    before: tuple[CutSet, ...] | None, now: tuple[CutSet, ...], kind: Kind, new: tuple[CutSet, ...]
) -> None:
    status = Status.VIOLATED if before else Status.HOLDS
    known = None if before is None else Known(status, before, "main")
    found = news(replace(samples.VIOLATED, cut_sets=now), known)
    assert (found.kind, found.cut_sets) == (kind, new)
    assert found.is_news == (kind is Kind.WORSE)


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        (Status.VIOLATED, Status.HOLDS, Kind.BETTER),
        (Status.VIOLATED, Status.VACUOUS, Kind.BETTER),
        (Status.VIOLATED, Status.UNKNOWN, Kind.UNDECIDED),
        (Status.HOLDS, Status.UNKNOWN, Kind.UNDECIDED),
        (Status.HOLDS, Status.VACUOUS, Kind.NO_EVIDENCE),
        (Status.HOLDS, Status.HOLDS, Kind.SAME),
        (Status.VACUOUS, Status.VACUOUS, Kind.SAME),
        (Status.VACUOUS, Status.HOLDS, Kind.SAME),
        (Status.UNKNOWN, Status.UNKNOWN, Kind.SAME),
        (None, Status.UNKNOWN, Kind.UNDECIDED),
        (None, Status.VACUOUS, Kind.NO_EVIDENCE),
        (None, Status.HOLDS, Kind.SAME),
    ],
)
def test_other_verdicts_are_news_if_less_is_shown(before: Status | None, now: Status, kind: Kind) -> None:
    known = None if before is None else Known(before, (KILL,) if before is Status.VIOLATED else (), "main")
    assert news(replace(samples.HOLDS, status=now), known).kind is kind


def test_undecided_verdicts_of_a_commit_are_not_known() -> None:
    result = replace(samples.RESULT, verdicts=(replace(samples.HOLDS, status=Status.UNKNOWN), samples.VIOLATED))
    names = [one.property for one in result.verdicts]
    assert list(known_of(result, "main", names)) == [samples.VIOLATED.property]


def test_one_place_that_knows_a_verdict_suffices() -> None:
    verdict = replace(samples.VIOLATED, cut_sets=(KILL,))
    result = replace(samples.RESULT, verdicts=(verdict,))
    commit = {verdict.property: Known(Status.HOLDS, (), "main")}
    baseline = {verdict.property: Known(Status.VIOLATED, (KILL,), "baseline")}
    assert [one.kind for one in news_of(result, [commit])] == [Kind.WORSE]
    assert [one.kind for one in news_of(result, [commit, baseline])] == [Kind.SAME]


def test_fault_set_covers_those_that_have_more_faults() -> None:
    assert covers(KILL, TWO)
    assert covers((), KILL)
    assert covers(KILL, BOTH)
    assert not covers(TWO, KILL)
    assert not covers(BOTH, TWO)
