"""The tables of claims: every claim once, each with its meaning, and none with an answer."""

from __future__ import annotations

import re

import pytest

from proofka.model.deployment import KNOWN_PROPERTIES
from proofka.model.deployment.defaults import choices_of, existence_of, history_of
from proofka.model.deployment.record_reader import read_record
from proofka.properties.claims.all_claims import INCIDENTS, TABLES, UnknownClaimError, claims, find_claims, incidents
from proofka.properties.claims.claim import About, Case, Claim, Decision, History, Outcome, SettingClaim

EVERY = [f"C{number:03}" for number in range(1, 132)]


def test_every_claim_is_there_once() -> None:
    assert [claim.id for claim in claims()] == EVERY


@pytest.mark.parametrize("claim", [*claims(), *incidents()], ids=lambda claim: claim.id)
def test_a_claim_names_its_decision_or_the_reason_against_one(claim: Claim) -> None:
    assert claim.says.endswith(".")
    assert [bool(claim.cases), claim.setting is not None, bool(claim.missing)].count(True) == 1


@pytest.mark.parametrize(
    "claim", [claim for claim in (*claims(), *incidents()) if claim.cases], ids=lambda claim: claim.id
)
def test_cases_are_deployments(claim: Claim) -> None:
    for case in claim.cases:
        assert case.property in KNOWN_PROPERTIES
        asked = read_record({**case.asked, "require": [case.property]}, name=claim.id, file="claims", line=1)
        assert asked.require == (case.property,)


def test_no_two_cases_of_a_claim_are_the_same() -> None:
    for claim in claims():
        asked = [(case.property, sorted(case.asked.items(), key=str)) for case in claim.cases]
        assert all(one not in asked[:number] for number, one in enumerate(asked)), claim.id


def test_tables_hold_no_answers() -> None:
    for table in (*TABLES.glob("*.yaml"), INCIDENTS):
        text = table.read_text(encoding="utf-8").replace("forward-unconfirmed", "")  # a value of a setting
        assert not any(f"{outcome}" in text for outcome in (Outcome.CONFIRMED, Outcome.REFUTED, "violated"))


def test_claims_are_found_by_id() -> None:
    assert [claim.id for claim in find_claims(["c005", "I016", "C005"])] == ["C005", "I016"]


def test_an_unknown_id_is_told_with_the_nearest_ids_and_the_range_of_each_table() -> None:
    ranges = "there are claims C001 to C131, findings F01 to F02, incidents I001 to I079"
    with pytest.raises(UnknownClaimError) as told:
        find_claims(["c0005"])
    near = re.fullmatch(f"c0005: no such claim; nearest are (.+); {ranges}", str(told.value))
    assert near is not None
    named = near[1].split(", ")
    assert "C005" in named
    assert named == sorted(named)
    with pytest.raises(UnknownClaimError) as told:
        find_claims(["nothing"])
    assert str(told.value) == f"nothing: no such claim; {ranges}"


def test_a_default_is_answered_from_the_table() -> None:
    claim = Claim("C0", "It is 1.", setting=SettingClaim("producer", "acks", About.DEFAULT, "1"))
    assert history_of("producer", "acks") == [("0.10.0", "3.0", "1"), ("3.0", None, "all")]
    assert Decision(claim, (), (History("0.10.0", None, "1"),)).outcome is Outcome.SETTING


def test_values_and_existence_of_a_setting_follow_the_release() -> None:
    since_4 = "latest, earliest, none, by_duration:DURATION"
    until_4 = ("0.10.0", "4.0", "latest, earliest, none")
    assert choices_of("consumer", "auto.offset.reset") == [until_4, ("4.0", None, since_4)]
    assert existence_of("broker", "zookeeper.connect") == [("0.10.0", "4.0", None)]


def test_case_that_was_not_explored_is_undecided() -> None:
    assert Decision(Claim("C0", "So.", cases=(Case("no-skip", True, "", {}),))).outcome is Outcome.UNDECIDED
