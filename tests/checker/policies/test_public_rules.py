"""The rules in public use: their table, the page of their decisions, and decisions that are made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.policies.deciding import split
from proofka.checker.policies.exploring import Limits, explore, question_of
from proofka.checker.policies.members import read_members
from proofka.checker.policies.public import decide_public, matrix_file, public_rules, rule_of
from proofka.checker.policies.seen import View
from proofka.model.deployment.known_properties import known_properties
from proofka.properties.judged_policy import Needed, Sufficient
from proofka.properties.verdict import Status
from proofka.reports.policy_documents import from_json, to_json
from proofka.reports.policy_page import page
from scripts.write_policies import DECISIONS, PAGE

ROOT = Path(__file__).parents[3]
AGAIN = ("U34", "U35", "U36", "U37", "U38", "U39")
"""The rules about consumers, whose matrix is the quickest."""

SOME = (("U02", "two-faults", "acks == all"), ("U25", "lagging-followers", ""), ("U35", "consumer", ""))
"""Decisions with a witness that is checked again, by rule, matrix and condition."""


def test_table_has_at_least_25_rules_each_with_its_source() -> None:
    rules = public_rules()
    assert len(rules) >= 25
    assert [rule.id for rule in rules] == [f"U{number:02}" for number in range(1, len(rules) + 1)]
    for rule in rules:
        assert rule.source and rule.link.startswith("http") and rule.says.endswith((".", ")."))
        assert rule.property in known_properties() and rule.sees in tuple(View)
        assert all(matrix_file(name).exists() for name in rule.matrices)
        assert rule_of(rule).property == rule.property


def test_page_is_that_of_the_decisions() -> None:
    """A stale page: run python scripts/write_policies.py, which takes some minutes."""
    text = DECISIONS.read_text(encoding="utf-8")
    judged = from_json(text)
    assert to_json(judged) == text
    assert page(public_rules(), judged) == PAGE.read_text(encoding="utf-8")


def test_decisions_are_those_of_the_table() -> None:
    judged = from_json(DECISIONS.read_text(encoding="utf-8"))
    assert set(judged.judgements) == {(rule.id, *place) for rule in public_rules() for place in rule.variants()}
    rules = {rule.id: rule for rule in public_rules()}
    for (key, _, _), one in judged.judgements.items():
        rule = rules[key]
        assert (one.rule, one.property, one.text) == (rule.id, rule.property, rule.text)


def test_every_answer_has_its_evidence() -> None:
    judged = from_json(DECISIONS.read_text(encoding="utf-8"))
    for one in judged.judgements.values():
        assert (one.sufficient is Sufficient.NO) == (one.allowed_wrongly is not None)
        assert (one.needed is Needed.NO) == (one.forbidden_wrongly is not None)
        if one.allowed_wrongly is not None:
            assert one.allowed_wrongly.status is Status.VIOLATED
            assert one.allowed_wrongly.steps and one.allowed_wrongly.failure
            assert one.allowed_wrongly.faults == one.allowed_wrongly.cut_sets[0]
        if one.sufficient is Sufficient.YES:
            assert one.counts.all_allowed == one.counts.allowed[Status.HOLDS] > 0


@pytest.mark.parametrize("place", SOME)
def test_witness_is_found_again(place: tuple[str, str, str]) -> None:
    wrong = from_json(DECISIONS.read_text(encoding="utf-8")).judgements[place].allowed_wrongly
    rule = next(rule for rule in public_rules() if rule.id == place[0])
    members = read_members(matrix_file(place[1]))
    assert wrong is not None
    member = next(one for one in members.members if one.number == wrong.number)
    assert (member.chosen, member.deployment.name) == (wrong.chosen, wrong.name)
    allowed, _ = split(rule_of(rule), members, View(rule.sees))
    assert member in allowed
    found = explore(question_of(member.deployment, rule.property), Limits())
    assert found.status is Status.VIOLATED
    assert (found.cut_sets, found.faults) == (wrong.cut_sets, wrong.faults)
    assert (found.steps, found.failure) == (wrong.steps, wrong.failure)


@pytest.mark.slow
def test_decisions_of_the_consumers_rules_are_made_again() -> None:
    judged = from_json(DECISIONS.read_text(encoding="utf-8"))
    again = decide_public([rule for rule in public_rules() if rule.id in AGAIN], Limits())
    assert set(again.judgements) == {place for place in judged.judgements if place[0] in AGAIN}
    for place, one in again.judgements.items():
        assert one == judged.judgements[place]


@pytest.mark.slow
def test_decisions_of_the_producers_rules_are_made_again() -> None:
    judged = from_json(DECISIONS.read_text(encoding="utf-8"))
    of_producers = [rule for rule in public_rules() if rule.matrices == ("producer",)]
    for place, one in decide_public(of_producers, Limits()).judgements.items():
        assert one == judged.judgements[place]
