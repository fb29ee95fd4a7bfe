"""The decision on a rule from given outcomes: answers, counts, witnesses, and what is left undecided."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.policies.deciding import check_values, decide
from proofka.checker.policies.errors import AbsentSettingError, PolicyError
from proofka.checker.policies.exploring import Outcome, Question
from proofka.checker.policies.members import Audited, Member, Members
from proofka.checker.policies.policy import Rule
from proofka.checker.policies.seen import View
from proofka.checker.policies.words import read_words
from proofka.properties.judged_policy import Judgement, Needed, Sufficient
from proofka.properties.verdict import Status
from tests.checker.policies.decided import PROPERTY, audited_by, members_of


def is_safe(member: Member) -> bool:
    return member.chosen["producer.acks"] == "all" and member.chosen["topic.replicas"] != "1"


def by_safety(member: Member) -> Status:
    return Status.HOLDS if is_safe(member) else Status.VIOLATED


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    return members_of(tmp_path_factory.mktemp("matrix"))


def traced(question: Question) -> Outcome:
    """Answer in place of another exploration of the witness."""
    return Outcome(
        Status.VIOLATED, ((("kill", 1),),), (("kill", 1),), "lost", ("step of the witness",), question.digest
    )


def decided(text: str, audited: Audited, view: View = View.EFFECTIVE) -> Judgement:
    return decide(Rule("rule", text, read_words(text, "")), PROPERTY, audited, view, traced)


def test_combinations_that_a_client_refuses_are_no_deployments(members: Members) -> None:
    assert len(members.members) == 36
    assert sum(members.refused.values()) == 18
    assert all("matrix.yaml" in reason and members.matrix.file not in reason for reason in members.refused)


@pytest.mark.parametrize(
    ("text", "sufficient", "needed"),
    [
        ("acks == all and replicas >= 2", Sufficient.YES, Needed.YES),
        ("acks == all and replicas == 3", Sufficient.YES, Needed.NO),
        ("acks == all", Sufficient.NO, Needed.YES),
        ("replicas == 3", Sufficient.NO, Needed.NO),
        ("true", Sufficient.NO, Needed.FORBIDS_NONE),
        ("replicas > 5", Sufficient.ALLOWS_NONE, Needed.NO),
        ("partitions >= 3", Sufficient.UNKNOWN, Needed.NO),
        ("acks == all and replicas >= 2 and partitions >= 1", Sufficient.UNKNOWN, Needed.UNKNOWN),
        ("acks == all and partitions >= 1", Sufficient.NO, Needed.UNKNOWN),
    ],
)
def test_answers_to_a_rule(members: Members, text: str, sufficient: Sufficient, needed: Needed) -> None:
    found = decided(text, audited_by(members, by_safety))
    assert (found.sufficient, found.needed) == (sufficient, needed)
    assert (found.allowed_wrongly is not None) == (sufficient is Sufficient.NO)
    assert (found.forbidden_wrongly is not None) == (needed is Needed.NO)
    assert found.counts.all_allowed + found.counts.all_forbidden == len(members.members)


def test_witnesses_show_their_answers(members: Members) -> None:
    found = decided("replicas == 3", audited_by(members, by_safety))
    wrong, strict = found.allowed_wrongly, found.forbidden_wrongly
    assert wrong is not None
    assert strict is not None
    assert wrong.chosen["topic.replicas"] == "3" and wrong.chosen["producer.acks"] != "all"
    assert wrong.status is Status.VIOLATED
    assert strict.chosen["topic.replicas"] == "2" and strict.chosen["producer.acks"] == "all"
    assert strict.status is Status.HOLDS and not strict.steps


def test_trace_of_a_witness_is_of_its_own_deployment(members: Members) -> None:
    found = decided("acks == all", audited_by(members, by_safety))
    assert found.allowed_wrongly is not None
    assert found.allowed_wrongly.steps == ("step of the witness",)


@pytest.mark.parametrize("open_status", [Status.UNKNOWN, Status.VACUOUS])
def test_status_without_evidence_leaves_an_answer_unknown(members: Members, open_status: Status) -> None:
    def status(member: Member) -> Status:
        return open_status if member.chosen["topic.replicas"] == "2" else by_safety(member)

    audited = audited_by(members, status)
    assert decided("acks == all and replicas >= 2", audited).sufficient is Sufficient.UNKNOWN
    assert decided("acks == all and replicas == 3", audited).needed is Needed.UNKNOWN
    assert decided("replicas >= 2", audited).sufficient is Sufficient.NO


def test_effective_values_count_where_nobody_wrote_one(members: Members) -> None:
    audited = audited_by(members, by_safety)
    assert decided("min.insync.replicas == 1", audited).counts.all_allowed == 24
    assert decided("has(min.insync.replicas)", audited).counts.all_allowed == 36
    written = decided("has(topic.min.insync.replicas) and min.insync.replicas == 1", audited, View.WRITTEN)
    assert written.counts.all_allowed == 12


def test_written_value_counts_though_the_broker_caps_it(members: Members) -> None:
    """One replica with min.insync.replicas=2: brokers count 1, and the author wrote 2."""
    assert decided("replicas == 1 and min.insync.replicas == 2", audited_by(members, by_safety)).counts.all_allowed == 4


def test_idempotence_is_seen_as_the_client_uses_it(members: Members) -> None:
    found = decided("enable.idempotence == true", audited_by(members, by_safety))
    assert found.counts.all_allowed == 18


def test_setting_with_one_value_is_named_in_a_note(members: Members) -> None:
    (note,) = decided("unclean.leader.election.enable == false", audited_by(members, by_safety)).notes
    assert "topic.unclean.leader.election.enable is false in every deployment" in note


def test_rule_without_a_value_names_its_file(members: Members) -> None:
    rule = Rule("rule", "", read_words("min.insync.replicas > 1", ""))
    with pytest.raises(AbsentSettingError) as error:
        check_values(rule, members, View.WRITTEN, "team.yaml")
    assert str(error.value).startswith("team.yaml:1:1: compares topic.min.insync.replicas")


def test_condition_keeps_the_deployments_that_meet_it(members: Members) -> None:
    some = members.meeting(read_words("acks == all", ""))
    assert {member.chosen["producer.acks"] for member in some.members} == {"all"}
    assert len(some.members) == 18
    with pytest.raises(PolicyError):
        members.meeting(read_words("acks > 1", ""))


def test_known_defects_beside_a_pass_are_counted(members: Members) -> None:
    audited = audited_by(members, by_safety)
    assert decided("acks == all and replicas >= 2", audited).with_defects in range(1, 13)
    none = audited_by(members, lambda _: Status.VIOLATED)
    assert decided("true", none).with_defects == 0


def test_other_total_of_faults_is_applied(tmp_path: Path) -> None:
    from proofka.checker.policies.members import read_members

    file = members_of(tmp_path).matrix.file
    found = read_members(Path(file), "2").members[0].deployment
    assert found.faults.total == 2
    assert replace(found.faults, total=1) == members_of(tmp_path).members[0].deployment.faults
