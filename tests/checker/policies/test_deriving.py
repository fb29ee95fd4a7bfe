"""The derived rule: allows nothing without the property, is the weakest of its form, has one meaning in each form."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.policies.derived_forms import FormDiffersError, forms_of
from proofka.checker.policies.deriving import Derived, conditions_on, derive
from proofka.checker.policies.expression import AllOf, AnyOf, Compare, Expression, Literal, Order, Read, is_true
from proofka.checker.policies.members import Member, Members
from proofka.checker.policies.reading import read_policy
from proofka.checker.policies.seen import Seen
from proofka.checker.policies.topic_conditions import TopicConditions, are_sound, topic_conditions
from proofka.properties.verdict import Status
from tests.checker.policies.decided import PROPERTY, audited_by, members_of


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    return members_of(tmp_path_factory.mktemp("matrix"))


def allowed(expression: Expression, members: Members) -> set[int]:
    return {one.number for one in members.members if is_true(expression, Seen(one.deployment).value)}


def derived(members: Members, safe: set[int], clauses: int = 3) -> Derived | None:
    audited = audited_by(members, lambda one: Status.HOLDS if one.number in safe else Status.VIOLATED)
    return derive(audited, PROPERTY, most_clauses=clauses)


def having(members: Members, **values: str) -> set[int]:
    keys = {"replicas": "topic.replicas", "acks": "producer.acks", "isr": "topic.min.insync.replicas"}
    return {
        one.number for one in members.members if all(one.chosen[keys[key]] == value for key, value in values.items())
    }


def test_rule_of_a_conjunction_is_found(members: Members) -> None:
    safe = having(members, acks="all", replicas="2") | having(members, acks="all", replicas="3")
    found = derived(members, safe)
    assert found is not None
    assert allowed(found.expression, members) == safe
    assert found.covered == found.having == 12 and found.is_weakest
    (clause,) = found.clauses
    assert len(clause.conditions) == 2


def test_rule_of_alternatives_has_a_clause_for_each(members: Members) -> None:
    safe = having(members, acks="all", replicas="3") | having(members, acks="0", isr="2")
    found = derived(members, safe)
    assert found is not None
    assert allowed(found.expression, members) == safe
    assert len(found.clauses) == 2
    one = derived(members, safe, clauses=1)
    assert one is not None
    assert allowed(one.expression, members) == having(members, acks="all", replicas="3")
    assert (one.covered, one.having) == (6, 9)


def test_rule_allows_no_undecided_deployment(members: Members) -> None:
    def status(member: Member) -> Status:
        return Status.UNKNOWN if member.chosen["topic.replicas"] == "2" else Status.HOLDS

    found = derive(audited_by(members, status), PROPERTY, most_clauses=3)
    assert found is not None
    assert allowed(found.expression, members) == having(members, replicas="1") | having(members, replicas="3")


def test_matrix_without_the_property_has_no_rule(members: Members) -> None:
    assert derived(members, set()) is None


def test_matrix_with_the_property_throughout_allows_everything(members: Members) -> None:
    found = derived(members, {one.number for one in members.members})
    assert found is not None
    assert found.expression == AllOf(())


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_derived_rule_of_a_clause_is_the_weakest(data: st.DataObject, members: Members) -> None:
    """Every single condition of two settings is compared with the rule of one clause."""
    safe = data.draw(st.sets(st.sampled_from([one.number for one in members.members])))
    audited = audited_by(members, lambda one: Status.HOLDS if one.number in safe else Status.VIOLATED)
    found = derive(audited, PROPERTY, most_clauses=1)
    best = 0 if found is None else len(allowed(found.expression, members))
    if found is not None:
        assert allowed(found.expression, members) <= safe
    every = [condition for read in members.varied[:3] for condition, _ in conditions_on(read, values_of(read, members))]
    sets = [allowed(condition, members) for condition in every]
    for one, other in product(sets, sets):
        some = one & other
        assert not some or not some <= safe or len(some) <= best


def values_of(read: Read, members: Members) -> list[str]:
    found = dict.fromkeys(Seen(one.deployment).value(read) for one in members.members)
    return [value for value in found if value is not None]


def test_conditions_on_numbers_have_an_order_and_those_on_texts_have_none() -> None:
    acks = Read("producer", "acks")
    assert orders(Read("topic", "replication.factor"), ["1", "2", "3"]) == {Order.AT_LEAST, Order.AT_MOST, Order.EQUAL}
    assert orders(acks, ["0", "all"]) == {Order.EQUAL}
    assert not list(conditions_on(acks, ["all"]))


def orders(read: Read, values: list[str]) -> set[Order]:
    return {one.order for one, _ in conditions_on(read, values) if isinstance(one, Compare)}


def test_forms_are_read_back(members: Members, tmp_path: Path) -> None:
    safe = having(members, acks="all", replicas="3") | having(members, acks="0", isr="2")
    audited = audited_by(members, lambda one: Status.HOLDS if one.number in safe else Status.VIOLATED)
    found = derive(audited, PROPERTY, most_clauses=3)
    assert found is not None
    forms = forms_of(found, topic_conditions(found, audited, PROPERTY, 3), audited, PROPERTY)
    file = tmp_path / "policy.yaml"
    file.write_text(forms.as_yaml(PROPERTY, "a'matrix.yaml"), encoding="utf-8")
    policy = read_policy(file)
    assert policy.property == PROPERTY and policy.matrix == tmp_path / "a'matrix.yaml"
    assert allowed(policy.rules[0].allows, members) == safe
    assert all(assumed for _, assumed in forms.conditions)


def test_form_that_allows_too_much_is_an_error(members: Members) -> None:
    safe = having(members, acks="all", replicas="3")
    audited = audited_by(members, lambda one: Status.HOLDS if one.number in safe else Status.VIOLATED)
    found = derive(audited, PROPERTY, most_clauses=3)
    assert found is not None
    (clause,) = found.clauses
    wrong = replace(found, clauses=(replace(clause, conditions=clause.conditions[:1]),))
    with pytest.raises(FormDiffersError):
        forms_of(wrong, (), audited, PROPERTY)
    with pytest.raises(FormDiffersError):
        forms_of(found, (TopicConditions(AllOf(()), AllOf(())),), audited, PROPERTY)


def test_topic_policy_guarantees_a_property_of_topics_alone(members: Members) -> None:
    safe = having(members, isr="2")
    audited = audited_by(members, lambda one: Status.HOLDS if one.number in safe else Status.VIOLATED)
    found = derive(audited, PROPERTY, most_clauses=3)
    assert found is not None
    (conditions,) = topic_conditions(found, audited, PROPERTY, 3)
    assert conditions.is_guarantee
    assert are_sound([conditions], audited, PROPERTY)
    assert not are_sound([replace(conditions, conditions=AnyOf((conditions.conditions, AllOf(()))))], audited, PROPERTY)


def test_topic_policy_asks_for_a_setting_that_a_request_can_leave_out(members: Members) -> None:
    """Brokers fill in a missing setting, and the policy does not see their value."""
    safe = having(members, isr="1") | {
        one.number for one in members.members if one.chosen["topic.min.insync.replicas"] is None
    }
    audited = audited_by(members, lambda one: Status.HOLDS if one.number in safe else Status.VIOLATED)
    found = derive(audited, PROPERTY, most_clauses=3)
    assert found is not None
    conditions = topic_conditions(found, audited, PROPERTY, 3)
    assert "has(min.insync.replicas)" in forms_of(found, conditions, audited, PROPERTY).conditions[0][0]


def test_clause_of_topics_and_clients_is_split_into_conditions_and_assumption(members: Members) -> None:
    safe = having(members, acks="all", replicas="3")
    audited = audited_by(members, lambda one: Status.HOLDS if one.number in safe else Status.VIOLATED)
    found = derive(audited, PROPERTY, most_clauses=3)
    assert found is not None
    (one,) = topic_conditions(found, audited, PROPERTY, 3)
    factor, acks = Read("topic", "replication.factor"), Read("producer", "acks")
    assert one.conditions == AllOf((Compare(Order.AT_LEAST, factor, Literal(3)),))
    assert one.assumption == AllOf((Compare(Order.EQUAL, acks, Literal("all")),))
    assert not one.is_guarantee
