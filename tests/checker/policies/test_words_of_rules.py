"""Rules in words: the reader's meaning, its errors with places, and the way back from a condition to words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofka.checker.policies.cel import read_cel
from proofka.checker.policies.errors import (
    AbsentSettingError,
    AmbiguousSettingError,
    NotComparableError,
    PolicyError,
    RuleSyntaxError,
    UnknownSettingError,
)
from proofka.checker.policies.expression import (
    AllOf,
    Among,
    AnyOf,
    Compare,
    Expression,
    Has,
    Literal,
    Not,
    Order,
    Read,
    Sum,
    is_true,
    reads_of,
)
from proofka.checker.policies.words import DEEPEST, read_words
from proofka.checker.policies.writing import in_cel, in_words

SETTINGS = {
    "producer.acks": "all",
    "topic.min.insync.replicas": "2",
    "topic.replication.factor": "3",
    "topic.unclean.leader.election.enable": "false",
    "consumer.isolation.level": "read_committed",
}


def value(read: Read) -> str | None:
    return SETTINGS.get(read.name)


def holds(text: str) -> bool:
    return is_true(read_words(text, "rule"), value)


@pytest.mark.parametrize(
    "text",
    [
        "acks == all and min.insync.replicas >= 2",
        "acks == -1",
        "acks in [1, -1]",
        "acks not in [0, 1]",
        "not acks == 1",
        "acks != 0 and (acks == 1 or acks == all)",
        "min.insync.replicas < replicas",
        "min.insync.replicas == replicas - 1",
        "replicas >= min.insync.replicas + 1",
        "3 <= replicas",
        "unclean.leader.election.enable == false",
        "topic.unclean.leader.election.enable != true",
        "has(acks) and not has(retention.ms)",
        "isolation.level == 'read_committed'",
        "true",
        "not false",
        "false or true  # a comment",
    ],
)
def test_rule_holds(text: str) -> None:
    assert holds(text)
    assert not holds(f"not ({text.partition('#')[0]})")


def test_conjunctions_bind_closer_than_disjunctions() -> None:
    assert read_words("not true and false or true", "") == AnyOf((AllOf((Not(AllOf(())), AnyOf(()))), AllOf(())))


@pytest.mark.parametrize(
    ("text", "kind", "line", "column"),
    [
        ("acks = all", RuleSyntaxError, 1, 6),
        ("acks == ", RuleSyntaxError, 1, 9),
        ("acks == all min.insync.replicas >= 2", RuleSyntaxError, 1, 13),
        ("(acks == all", RuleSyntaxError, 1, 13),
        ("acks == 'all", RuleSyntaxError, 1, 9),
        ("acks == all and\n  aks == 1", UnknownSettingError, 2, 3),
        ("acks == no.such.value", UnknownSettingError, 1, 9),
        ("1 == 1", RuleSyntaxError, 1, 1),
        ("request.timeout.ms > 1", AmbiguousSettingError, 1, 1),
        ("has(1)", RuleSyntaxError, 1, 5),
        ("acks == 'a\\u0041'", RuleSyntaxError, 1, 9),
        ("acks ~ all", RuleSyntaxError, 1, 6),
        (f"{'not ' * DEEPEST}true", RuleSyntaxError, 1, 4 * DEEPEST + 1),
    ],
)
def test_wrong_rule_is_refused_with_its_place(text: str, kind: type[PolicyError], line: int, column: int) -> None:
    with pytest.raises(kind) as error:
        read_words(text, "rules.yaml")
    assert (error.value.line, error.value.column) == (line, column)
    assert str(error.value).startswith(f"rules.yaml:{line}:{column}: ")
    assert str(error.value).endswith(f"({kind.code})")


def test_order_of_a_text_is_refused() -> None:
    with pytest.raises(NotComparableError, match=r"producer\.acks is all"):
        holds("acks >= 1")
    with pytest.raises(NotComparableError):
        holds("acks - 1 == 0")


def test_comparison_with_an_absent_setting_is_refused_unless_has_comes_first() -> None:
    with pytest.raises(AbsentSettingError, match=r"topic\.retention\.ms"):
        holds("retention.ms > 1")
    assert not holds("has(retention.ms) and retention.ms > 1")


def test_reads_of_a_rule_are_its_settings() -> None:
    rule = read_words("has(acks) and not (replicas - 1 in [1] or min.insync.replicas < replicas)", "")
    assert [read.name for read in reads_of(rule)] == [
        "producer.acks",
        "topic.replication.factor",
        "topic.min.insync.replicas",
        "topic.replication.factor",
    ]


READS = st.sampled_from(
    [Read("producer", "acks"), Read("topic", "min.insync.replicas"), Read("topic", "replication.factor")]
)
LITERALS = st.one_of(
    st.integers(-3, 5).filter(lambda number: number != -1).map(Literal),  # every reader reads acks == -1 as all
    st.booleans().map(Literal),
    st.sampled_from(["all", "read_committed", "true story", "in", "acks", 'a"b']).map(Literal),
)
NUMBERS = st.one_of(READS, st.integers(-3, 5).map(Literal))
SUMS = st.builds(Sum, READS, NUMBERS, st.sampled_from([1, -1]))
CONDITIONS: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(
        st.builds(Compare, st.sampled_from([Order.EQUAL, Order.DIFFERENT]), READS, LITERALS),
        st.builds(
            Compare, st.sampled_from(list(Order)), st.builds(Sum, READS, NUMBERS, st.sampled_from([1, -1])), READS
        ),
        st.builds(Among, READS, st.lists(LITERALS, min_size=1, max_size=3).map(tuple)),
        st.builds(Has, READS),
    ),
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.lists(parts, min_size=2, max_size=3).map(lambda found: AllOf(tuple(found))),
        st.lists(parts, min_size=2, max_size=3).map(lambda found: AnyOf(tuple(found))),
    ),
    max_leaves=6,
)


def outcome(expression: Expression, values: dict[str, str]) -> bool | str:
    try:
        return is_true(expression, lambda read: values.get(read.name))
    except PolicyError as error:
        return error.code


VALUES = st.fixed_dictionaries(
    {
        "producer.acks": st.sampled_from(["0", "1", "all"]),
        "topic.min.insync.replicas": st.sampled_from(["1", "2", "3"]),
        "topic.replication.factor": st.sampled_from(["1", "2", "3"]),
    }
)


@given(CONDITIONS, VALUES)
def test_written_rule_means_the_same_in_words_and_in_cel(expression: Expression, values: dict[str, str]) -> None:
    expected = outcome(expression, values)
    assert outcome(read_words(in_words(expression), ""), values) == expected
    assert outcome(read_cel(in_cel(expression), ""), values) == expected
