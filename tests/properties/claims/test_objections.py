"""A pass that leaves out a fault confirms nothing, and a condition is checked in both directions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.checker.claims import answer, decide
from proofka.model.deployment import KNOWN_PROPERTIES
from proofka.model.faults import Fault
from proofka.properties.claims.all_claims import claims, find_claims
from proofka.properties.claims.claim import Case, Claim, Outcome
from proofka.properties.claims.objections import (
    EVERYTHING,
    RELEASES,
    bearing,
    excluded,
    groups_of_kinds,
    objections_to,
    unasked,
)

ASKED = {"kafka": "4.0", "assume.faults": {"total": 1, "kill": 1}}


def test_every_kind_of_fault_has_a_group_or_none() -> None:
    assert {str(kind) for kind in Fault} <= groups_of_kinds().keys()


def test_every_property_of_a_claim_has_its_groups() -> None:
    named = {case.property for claim in claims() for case in claim.cases}
    assert named <= bearing().keys() <= set(KNOWN_PROPERTIES)
    assert set().union(*bearing().values()) == set(groups_of_kinds().values()) - {""}


def test_exclusions_name_kinds_or_groups() -> None:
    known = {*groups_of_kinds(), *groups_of_kinds().values(), EVERYTHING, RELEASES} - {""}
    for claim in claims():
        for case in claim.cases:
            assert case.excludes.keys() <= known, claim.id
            assert all(case.excludes.values()), claim.id


def test_a_kind_is_asked_or_excluded() -> None:
    case = Case("no-acked-loss", True, "", ASKED)
    assert "power-loss" in unasked(case)
    assert "consumer-crash" not in unasked(case)
    assert "power-loss" not in unasked(replace(case, excludes={"machines": "so"}))
    assert unasked(replace(case, excludes={EVERYTHING: "so"})) == ()


def test_reason_for_an_excluded_kind_outranks_the_reasons_of_its_group_and_of_everything() -> None:
    reasons = {"disk-loss": "one", "disks": "two", EVERYTHING: "three"}
    told = excluded(Case("no-acked-loss", True, "", ASKED, reasons))
    assert told["one"] == ("disk-loss",)
    assert told["two"] == ("log-dir-failure",)
    assert "power-loss" in told["three"]
    assert "kill" not in told["three"]
    assert excluded(Case("no-acked-loss", True, "", ASKED)) == {}


@pytest.mark.slow
def test_a_pass_that_leaves_out_a_fault_confirms_nothing() -> None:
    (claim,) = find_claims(["C006"])
    case = replace(claim.cases[0], asked={**claim.cases[0].asked, "assume.faults": {"total": 1, "kill": 1}})
    with_reason = replace(claim, cases=(case,))
    without = replace(claim, cases=(replace(case, excludes={}),))
    assert decide(with_reason).outcome is Outcome.CONFIRMED
    refused = decide(without)
    assert refused.outcome is Outcome.UNDECIDED
    assert "power-loss" in refused.objections[0]
    assert "3.3 to 3.9" in refused.objections[1]


def test_a_condition_is_checked_both_ways() -> None:
    (claim,) = find_claims(["C006"])
    holds, violated, other = claim.cases
    other_way = replace(violated, holds=True)
    both_ways = [answer(holds), answer(other_way)]
    one_way = [answer(holds), answer(replace(other, holds=True))]
    asked = Claim("C0", "So.", cases=(holds, other_way))
    assert objections_to(asked, both_ways) == ()
    assert len(objections_to(asked, one_way)) == 1
