"""A condition is checked both ways only by a violated case that differs from the passing case in nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from proofka.model.deployment.record_reader import read_record
from proofka.properties.claims.all_claims import claims
from proofka.properties.claims.claim import Answer, Case, Claim
from proofka.properties.claims.conditions import (
    FAULTS,
    PROPERTY,
    differences,
    is_checked_both_ways,
    settings_that_differ,
)
from proofka.properties.verdict import CutSet, Status
from tests.reports.samples import verdict

BUDGET = {"total": 2, "kill": 1, "slow-follower": 2}


def case(prop: str = "no-acked-loss", faults: Mapping[str, int] = BUDGET, **settings: object) -> Case:
    asked = {"kafka": "4.0", "producer.acks": "all", FAULTS: faults}
    return Case(prop, True, "so", {**asked, **{key.replace("_", "."): value for key, value in settings.items()}})


def answered(one: Case, *cut_sets: CutSet) -> Answer:
    deployment = read_record({**one.asked, "require": [one.property]}, name="c", file="claims", line=1)
    status = Status.VIOLATED if cut_sets else Status.HOLDS
    return Answer(one, deployment, verdict(one.property, status, cut_sets=cut_sets))


PASSING = answered(case())


def test_a_setting_alone_makes_the_difference() -> None:
    violated = answered(case(producer_acks=1), (("kill", 1),))
    assert differences(PASSING, violated) == {"producer.acks"}
    assert is_checked_both_ways(PASSING, [PASSING, violated])


@pytest.mark.parametrize("faults", [(("power-loss", 1),), (("kill", 2),), (("kill", 1), ("slow-follower", 2))])
def test_a_fault_alone_makes_the_difference_by_kind_by_number_and_by_total(faults: CutSet) -> None:
    violated = answered(case(faults={"total": 3, "kill": 2, "power-loss": 1, "slow-follower": 2}), faults)
    assert differences(PASSING, violated) == {FAULTS}
    assert is_checked_both_ways(PASSING, [violated])


def test_a_setting_and_a_fault_together_show_nothing() -> None:
    violated = answered(case(faults={"total": 1, "power-loss": 1}, producer_acks=1), (("power-loss", 1),))
    assert differences(PASSING, violated) == {"producer.acks", FAULTS}
    assert not is_checked_both_ways(PASSING, [violated])


def test_two_settings_together_show_nothing() -> None:
    violated = answered(case(producer_acks=1, topic_replicas=2), (("kill", 1),))
    assert not is_checked_both_ways(PASSING, [violated])


def test_a_size_is_a_difference_too() -> None:
    violated = answered(case(faults={"total": 1, "power-loss": 1}, bounds_records=1), (("power-loss", 1),))
    assert differences(PASSING, violated) == {FAULTS, "bounds.records"}


def test_a_condition_can_say_which_property_counts() -> None:
    violated = answered(case("no-failed-send"), (("kill", 1),))
    assert settings_that_differ(PASSING.case, violated.case) == {PROPERTY}
    assert is_checked_both_ways(PASSING, [violated])


def test_the_opposite_can_be_asked_of_another_release() -> None:
    violated = answered(case(kafka="3.9", producer_acks=1), (("kill", 1),))
    assert is_checked_both_ways(PASSING, [violated])


def test_a_case_that_holds_shows_nothing() -> None:
    assert not is_checked_both_ways(PASSING, [PASSING, answered(case(producer_acks=1))])


@pytest.mark.parametrize("claim", [one for one in claims() if len(one.cases) > 1], ids=lambda one: one.id)
def test_each_conditional_pass_of_the_tables_has_a_case_that_differs_in_one_setting_or_in_faults(claim: Claim) -> None:
    """The fault sets that decide are known only after an exploration; the settings are known before."""
    for one in claim.cases:
        if one.condition and one.holds:
            others = [settings_that_differ(one, other) - {"kafka"} for other in claim.cases if other is not one]
            assert any(len(each) <= 1 for each in others), one.condition
