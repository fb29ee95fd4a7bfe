"""Answers from verdicts: critical sets, ends of the interval, and reasons for which an end is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.risk.all_runs import Proof
from proofka.checker.risk.answering import GOAL, Question, remarks_of
from proofka.checker.risk.criticality import critical_of
from proofka.checker.risk.windows import Window
from proofka.model.deployment import read_properties
from proofka.model.deployment.explored import FaultBudget
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from proofka.properties.rates import CommonCause, FaultRate, Per, Rates
from proofka.properties.risk import Risk
from proofka.properties.verdict import Status, Verdict
from tests.reports.samples import COMPLETE, DEPLOYMENT, RESULT, verdict

KILL, LOSS, CRASH = (
    FaultRate("kill", 4.0, Per.BROKER, 600.0),
    FaultRate("power-loss", 0.2, Per.BROKER, 1800.0),
    FaultRate("consumer-crash", 24.0, Per.PIPELINE, 120.0),
)
RATES = Rates((KILL, LOSS, CRASH), ())
BOTH = (("kill", 1), ("power-loss", 1))
VIOLATED = verdict("no-skip", Status.VIOLATED, cut_sets=((("kill", 1),),), coverage=COMPLETE)


MANY = (("consumer-crash", 9), ("kill", 9), ("power-loss", 9))


def risk(
    found: Verdict,
    rates: Rates = RATES,
    windows: Sequence[Window] = (),
    *,
    proofs: Sequence[Proof] = (),
    faults: FaultBudget = DEPLOYMENT.faults,
) -> Risk:
    deployment = replace(DEPLOYMENT, faults=faults)
    known = {(found.property, number): window for number, window in enumerate(windows)}
    proven = {(found.property, number): proof for number, proof in enumerate(proofs)}
    (answer,) = Question(deployment, replace(RESULT, verdicts=(found,)), rates, known, proven).risks([found.property])
    return answer


def test_rates_of_brokers_are_multiplied_by_the_replicas() -> None:
    found = risk(VIOLATED)
    assert DEPLOYMENT.cluster.replicas == 3
    assert found.upper == pytest.approx(12.0, rel=1e-3)
    assert found.sets[0].a_year == pytest.approx(12.0)
    assert found.sources[0].name == "kill"
    assert found.sources[0].share > 0.99
    assert found.sources[0].one_more == pytest.approx(1.0, rel=1e-3)


def test_the_upper_end_counts_unexplored_fault_sets() -> None:
    few = risk(replace(VIOLATED, cut_sets=(), status=Status.HOLDS, coverage=replace(COMPLETE, complete_to=1)))
    more = risk(replace(VIOLATED, cut_sets=(), status=Status.HOLDS))
    assert few.upper is not None
    assert more.upper is not None
    assert few.upper > 5 * more.upper > 0
    assert few.beyond == few.upper


def test_a_kind_without_a_rate_is_named() -> None:
    found = risk(VIOLATED, Rates((KILL, CRASH), ()))
    assert found.upper is None
    assert found.rated == pytest.approx(12.0, rel=1e-3)
    assert found.no_upper == ("no rate for power-loss",)
    assert "no rate for power-loss" in found.why_lower


def test_a_set_with_a_kind_without_a_rate_has_no_number() -> None:
    found = risk(replace(VIOLATED, cut_sets=(BOTH,)), Rates((KILL, CRASH), ()))
    assert found.sets[0].a_year is None


def test_a_kind_that_never_happens_is_rated() -> None:
    found = risk(VIOLATED, Rates((KILL, replace(LOSS, a_year=0.0), CRASH), ()))
    assert found.no_upper == ()


def test_a_violation_without_faults_has_no_upper_end() -> None:
    found = risk(replace(VIOLATED, cut_sets=((),)))
    assert found.upper is None
    assert "without a fault" in found.no_upper[0]
    assert found.lower == 0


def test_a_property_that_was_not_explored_has_no_upper_end() -> None:
    found = risk(verdict("no-skip", Status.UNKNOWN, coverage=replace(COMPLETE, complete_to=-1, kinds=())))
    assert found.upper is None
    assert "were not decided" in found.no_upper[0]


@pytest.mark.parametrize(
    ("status", "has_upper"), [(Status.HOLDS, True), (Status.UNKNOWN, False), (Status.VIOLATED, False)]
)
def test_a_bound_can_hide_fault_sets_of_recoverability(status: Status, has_upper: bool) -> None:
    found = verdict(GOAL, status, coverage=replace(COMPLETE, bounds_reached=("log",)))
    assert (risk(found).upper is not None) == has_upper
    assert risk(replace(found, coverage=COMPLETE)).upper is not None


def test_recoverability_is_the_only_property_with_a_goal() -> None:
    pipeline = build(read_properties(kafka="4.0", assume={"replicas": "2"})).pipeline
    assert [prop.name for prop in properties_of(pipeline) if prop.goal is not None] == [GOAL]


def test_a_rated_kind_that_was_not_explored_counts() -> None:
    eviction = FaultRate("eviction", 5.0, Per.PIPELINE, 60.0)
    found = risk(replace(VIOLATED, cut_sets=(), status=Status.HOLDS), replace(RATES, faults=(*RATES.faults, eviction)))
    assert found.upper == pytest.approx(5.0, rel=1e-3)
    assert found.notes[0].startswith("eviction: with a rate and not explored")


def test_a_kind_on_which_the_property_does_not_depend_changes_nothing() -> None:
    rebalance = FaultRate("rebalance", 1000.0, Per.PIPELINE, 600.0)
    possible = FaultBudget(None, (*DEPLOYMENT.faults.at_most, ("rebalance", 9)))
    with_it = risk(VIOLATED, replace(RATES, faults=(*RATES.faults, rebalance)), faults=possible)
    assert with_it == risk(VIOLATED)


def test_a_kind_of_other_releases_changes_nothing() -> None:
    mixed = FaultRate("mixed-fetches", 1000.0, Per.BROKER, 600.0)
    assert not DEPLOYMENT.cluster.mixes_fetches
    assert risk(VIOLATED, replace(RATES, faults=(*RATES.faults, mixed))) == risk(VIOLATED)


def test_more_faults_of_a_kind_than_explored_are_critical() -> None:
    critical = critical_of(replace(VIOLATED, cut_sets=()), DEPLOYMENT, {"kill"})
    assert critical.limits == {"consumer-crash": 1, "kill": 3, "power-loss": 3}


def test_kinds_of_which_any_number_was_explored_are_not_counted() -> None:
    every = tuple(kind for kind, _ in COMPLETE.kinds)
    found = risk(replace(VIOLATED, cut_sets=(), status=Status.HOLDS, coverage=replace(COMPLETE, any_number=every)))
    assert (found.upper, found.complete_to) == (0.0, None)
    one = risk(replace(VIOLATED, cut_sets=(), status=Status.HOLDS, coverage=replace(COMPLETE, any_number=("kill",))))
    assert one.upper is not None
    assert 0 < one.upper < 24.0


def test_common_causes_raise_the_number() -> None:
    pair = replace(VIOLATED, cut_sets=((("power-loss", 2),),))
    rack = CommonCause("rack", (("power-loss", 2),), 0.1, 3600.0)
    alone, with_cause = risk(pair), risk(pair, replace(RATES, causes=(rack,)))
    assert alone.sets[0].a_year == pytest.approx(0.6 * 0.6 * 1800 / (365 * 86400), rel=1e-3)
    assert with_cause.sets[0].a_year == pytest.approx(0.1 + (alone.sets[0].a_year or 0), rel=1e-3)
    assert with_cause.sources[0].name == "rack"
    assert with_cause.sources[0].is_cause


def test_the_lower_end_needs_the_exposure_of_each_fault() -> None:
    exposed = Rates((replace(KILL, exposure=0.5), LOSS, CRASH), ())
    alone, both = Window(("kill",), ((0, 0),), 7000), Window(("kill", "power-loss"), ((0, 9000), (0, 0)), 7000)
    found = risk(VIOLATED, exposed, [alone])
    assert found.lower == pytest.approx(6.0, rel=1e-2)
    assert found.lower < 6.0
    assert found.upper is not None
    assert found.lower <= found.upper
    assert found.why_lower == ""
    pair = risk(replace(VIOLATED, cut_sets=(BOTH,)), exposed, [both])
    assert pair.lower == 0
    assert "exposure is not given for power-loss" in pair.why_lower


def test_the_lower_end_never_passes_the_upper_end() -> None:
    every = Rates(tuple(replace(one, exposure=1.0) for one in RATES.faults), ())
    window = Window(("kill", "power-loss"), ((0, None), (0, 0)), 0)
    found = risk(replace(VIOLATED, cut_sets=(BOTH,)), every, [window])
    assert found.upper is not None
    assert 0 < found.lower <= found.upper


def test_the_lower_end_is_0_where_an_unrated_fault_can_come_in_between() -> None:
    exposed = Rates((replace(KILL, exposure=1.0), CRASH), ())
    assert risk(VIOLATED, exposed, [Window(("kill",), ((0, 0),), 7000)]).lower == 0


def test_windows_that_are_longer_than_effects_are_told() -> None:
    pair = replace(VIOLATED, cut_sets=(BOTH,))
    short = risk(pair, windows=[Window(("kill", "power-loss"), ((0, 599_999), (0, 0)), 0)])
    long = risk(pair, windows=[Window(("kill", "power-loss"), ((0, 600_001), (0, 0)), 0)])
    without_end = risk(pair, windows=[Window(("kill", "power-loss"), ((0, None), (0, 0)), 0)])
    assert [one.sets[0].longer for one in (short, long, without_end)] == [(), ("kill",), ("kill",)]


def test_proven_windows_make_the_number_smaller() -> None:
    pair = replace(VIOLATED, cut_sets=(BOTH,), coverage=replace(COMPLETE, complete_to=4, kinds=MANY))
    without, within = risk(pair), risk(pair, proofs=[Proof(6_000, "a < b")])
    assert without.upper is not None
    assert within.upper is not None
    assert within.upper < 0.05 * without.upper
    assert (within.sets[0].proven, within.sets[0].because) == (6_000, "a < b")
    assert risk(pair, proofs=[Proof(None, "a limit")]).upper == without.upper


def test_windows_never_raise_the_number() -> None:
    """Larger sets that nobody explored count with a window, which can outweigh what the window saves."""
    often = Rates(tuple(replace(one, a_year=3000.0) for one in RATES.faults), ())
    pair = replace(VIOLATED, cut_sets=(BOTH,), coverage=replace(COMPLETE, complete_to=9, kinds=MANY))
    assert risk(pair, often, proofs=[Proof(1_790_000, "a < b")]).upper == risk(pair, often).upper


def test_remarks_name_the_common_causes_or_the_independence() -> None:
    rack = CommonCause("rack", (("kill", 2),), 0.1, 3600.0)
    assert "common causes (rack)" in remarks_of(DEPLOYMENT, replace(RATES, causes=(rack,)))[1]
    assert "no common cause is named" in remarks_of(DEPLOYMENT, RATES)[1]


def test_the_formulas_of_the_page_are_about_this_code() -> None:
    page = (Path(__file__).parents[3] / "docs" / "risk.md").read_text(encoding="utf-8")
    assert "checker/risk/diagram.py" in page
    for name in ("test_upper.py", "test_simulated.py", "test_chain.py"):
        assert name in page
        assert (Path(__file__).parent / name).exists()
