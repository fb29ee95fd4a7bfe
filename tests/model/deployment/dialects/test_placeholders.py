"""Placeholders: the signs of a shell between a name and its default."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.formats.yaml import documents_of
from proofka.model.deployment.dialects.nodes import text_under
from proofka.model.deployment.dialects.placeholders import fill
from proofka.model.deployment.dialects.spring import DIALECT
from tests.model.deployment.dialects.accounting import read_text, values


@pytest.mark.parametrize("text", ["${X:+2}", "${X+2}", "${X:?2}", "${X?2}"])
def test_alternative_or_error_in_a_placeholder_is_no_default(text: str) -> None:
    filled = fill(text, {})
    assert (filled.text, filled.missing) == (text, ("X",))


@pytest.mark.parametrize(
    ("text", "given", "result"),
    [
        ("${X:+2}", "1", "2"),
        ("${X:+2}", "", ""),
        ("${X+2}", "", "2"),
        ("${X:-2}", "", "2"),
        ("${X-2}", "", ""),
        ("${X:=2}", "", "2"),
        ("${X:=2}", "1", "1"),
        ("${X:?no X}", "1", "1"),
    ],
)
def test_a_value_that_is_given(text: str, given: str, result: str) -> None:
    assert fill(text, {"X": given}).text == result


def test_signs_after_a_default_are_part_of_it() -> None:
    assert fill("${X:-a+b?c=d}", {}).text == "a+b?c=d"


def test_spring_has_none_of_these_signs() -> None:
    found = read_text("spring.kafka.producer.acks=${ACKS:+1}\n", "application.properties", dialect=DIALECT.name)
    assert values(found, Role.PRODUCER)["acks"] == "+1"


@pytest.mark.parametrize(("merged", "acks"), [("[*a, *b]", "0"), ("[*b, *a]", "all"), ("*b", "all")])
def test_of_mappings_that_are_merged_the_first_counts(merged: str, acks: str) -> None:
    text = f"a: &a {{acks: '0'}}\nb: &b {{acks: all}}\nc:\n  <<: {merged}\n"
    (node,) = documents_of(text, "a.yml")
    assert text_under(node, "c", "acks") == acks


def test_own_keys_of_a_mapping_outrank_merged_keys() -> None:
    (node,) = documents_of("a: &a {acks: '0'}\nc:\n  acks: '1'\n  <<: *a\n", "a.yml")
    assert text_under(node, "c", "acks") == "1"
