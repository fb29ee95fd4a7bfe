"""Rules in Rego: the meaning of the part that is read, and what is refused."""

from __future__ import annotations

import pytest

from proofka.checker.policies.errors import OutsideSubsetError, PolicyError, RuleSyntaxError
from proofka.checker.policies.expression import is_true
from proofka.checker.policies.rego import read_rego

VALUES = {
    "producer.acks": "all",
    "topic.min.insync.replicas": "2",
    "topic.replication.factor": "3",
    "topic.unclean.leader.election.enable": "false",
}


def allows(text: str, **changed: str | None) -> bool:
    values: dict[str, str | None] = {**VALUES, **{key.replace("_", "."): value for key, value in changed.items()}}
    return is_true(read_rego(text, "topic.rego"), lambda read: values.get(read.name))


ALLOW = """
package kafka.topics
import rego.v1

default allow := false
least := 2   # replicas in sync
config := input.spec.config

allow if {
  input.kind == "KafkaTopic"
  to_number(config["min.insync.replicas"]) >= least; input.spec.replicas > least
  not unclean
}

unclean if config["unclean.leader.election.enable"] == true
"""

DENY = """
package kafka
deny[msg] {
  input.review.object.spec.replicas < 3
  msg := sprintf("topic %s has %d replicas", [input.review.object.metadata.name, input.review.object.spec.replicas])
}
violation[{"msg": msg}] {
  not input.producer["acks"]
  msg = "acks must be written"
}
deny contains "weak" if input.producer.acks in {"0", "1"}
"""


def test_allow_holds_where_a_body_holds() -> None:
    assert allows(ALLOW)
    assert not allows(ALLOW, topic_replication_factor="2")
    assert not allows(ALLOW, topic_min_insync_replicas="1")
    assert not allows(ALLOW, topic_unclean_leader_election_enable="true")
    assert allows(ALLOW, topic_unclean_leader_election_enable=None)
    assert not allows(ALLOW, topic_min_insync_replicas=None)


def test_every_denying_rule_forbids() -> None:
    assert allows(DENY)
    assert not allows(DENY, topic_replication_factor="2")
    assert not allows(DENY, producer_acks="1")
    assert not allows(DENY, producer_acks=None)


def test_body_with_an_undefined_comparison_does_not_hold() -> None:
    deny = 'package a\ndeny contains msg if {\n input.spec.config["retention.ms"] < 5\n msg := "short"\n}'
    assert allows(deny)
    assert not allows(deny, topic_retention_ms="4")
    different = 'package a\ndeny contains "x" if input.spec.config["retention.ms"] != 5'
    assert allows(different)


def test_message_with_an_undefined_setting_keeps_its_rule_from_holding() -> None:
    deny = 'package a\ndeny contains msg if {\n input.spec.replicas < 5\n msg := input.spec.config["retention.ms"]\n}'
    assert allows(deny)
    assert not allows(deny, topic_retention_ms="4")


def test_name_of_an_undefined_setting_keeps_its_body_from_holding() -> None:
    deny = 'package a\ndeny if {\n kept := input.spec.config["retention.ms"]\n input.spec.replicas < 5\n}'
    assert allows(deny)
    assert not allows(deny, topic_retention_ms="4")


def test_several_bodies_of_allow_are_alternatives() -> None:
    two = "package a\nallow if input.spec.replicas == 1\nallow = true { input.spec.replicas == 3 }"
    assert allows(two)
    assert not allows(two, topic_replication_factor="2")


@pytest.mark.parametrize(
    ("text", "kind", "line", "column"),
    [
        ("package a\nallow if { some x in input.spec }", OutsideSubsetError, 2, 12),
        ("package a\nallow if { every x in input.spec { x } }", OutsideSubsetError, 2, 12),
        ("package a\nimport data.shared\nallow if true", OutsideSubsetError, 2, 1),
        ("package a\nallow if count(input.spec.replicas) > 2", OutsideSubsetError, 2, 10),
        ("package a\nallow if input.spec.foo == 1", OutsideSubsetError, 2, 10),
        ("package a\nallow if input.topics[_].replicas == 1", OutsideSubsetError, 2, 23),
        ("package a\ndefault allow := true", OutsideSubsetError, 2, 1),
        ("package a\nallow if allow", OutsideSubsetError, 2, 1),
        ("package a\nallow if a\na if b\nb if a", OutsideSubsetError, 3, 1),
        ("package a\nf(x) := x\nallow if f(1)", OutsideSubsetError, 2, 1),
        ('package a\nallow if not deny\ndeny contains "x" if true', OutsideSubsetError, 2, 14),
        ("package a\nallow := input.spec.replicas if true", OutsideSubsetError, 2, 1),
        ("package a\nallow if true\nelse := false", OutsideSubsetError, 3, 1),
        ("package a\nallow if input.spec.replicas == 1 with input.spec as 2", OutsideSubsetError, 2, 35),
        ("package a\nallow if input.spec.replicas * 2 == 4", OutsideSubsetError, 2, 30),
        ("package a\nallow if input.spec.replicas == null", OutsideSubsetError, 2, 33),
        ('package a\nallow contains "x" if true', OutsideSubsetError, 2, 1),
        ("package a\nallow if x == 1", OutsideSubsetError, 2, 10),
        ("package a\nmeans if true", RuleSyntaxError, 1, 1),
        ("package a\nallow if {\n}", RuleSyntaxError, 3, 2),
        ("package a\nallow if { true true }", RuleSyntaxError, 2, 17),
        ("package a\nallow if {\n true", RuleSyntaxError, 3, 6),
    ],
)
def test_rest_of_the_language_is_refused_with_its_place(
    text: str, kind: type[PolicyError], line: int, column: int
) -> None:
    with pytest.raises(kind) as error:
        read_rego(text, "topic.rego")
    assert (error.value.line, error.value.column) == (line, column), str(error.value)
