"""Rules in CEL: the meaning of the part that is read, what is refused, and the answers of another reader of CEL."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.policies.cel import DEEPEST, read_cel
from proofka.checker.policies.errors import (
    AbsentSettingError,
    OutsideSubsetError,
    PolicyError,
    RuleSyntaxError,
    UnknownSettingError,
)
from proofka.checker.policies.expression import Read, is_true

VALUES = {
    "producer.acks": "all",
    "topic.min.insync.replicas": "2",
    "topic.replication.factor": "3",
    "topic.unclean.leader.election.enable": "false",
}


def holds(text: str) -> bool:
    return is_true(read_cel(text, "rule"), lambda read: VALUES.get(read.name))


@pytest.mark.parametrize(
    "text",
    [
        'topic["min.insync.replicas"] >= 2 && producer["acks"] == "all"',
        "topic.min.insync.replicas == 2",
        'config["acks"] in ["all", "1"]',
        "spec.replicationFactor == 3",
        'int(string(spec.configs["min.insync.replicas"])) == spec.replicationFactor - 1',
        'object.spec.replicas >= 3 && object.spec.config["min.insync.replicas"] >= 2',
        'resource.kind == "KafkaTopic" && resource.spec.replicas > 2',
        '!has(topic.retention.ms) || topic["retention.ms"] > 1',
        '"min.insync.replicas" in spec.configs && !("retention.ms" in spec.configs)',
        'has(topic.retention.ms) ? topic["retention.ms"] > 1 : spec.replicationFactor > 2',
        '!topic["unclean.leader.election.enable"]',
        'topic["unclean.leader.election.enable"] == false || false',
        "3 == spec.replicationFactor  // a comment\n && true",
        "producer['acks'] == '1' && false || true",
        "1 == 1 && 1 != true",
        "spec.replicationFactor in [1, 3]",
        "-1 < spec.replicationFactor",
    ],
)
def test_rule_holds(text: str) -> None:
    assert holds(text)


@pytest.mark.parametrize(
    ("text", "kind", "column"),
    [
        ('metadata.name.startsWith("a")', OutsideSubsetError, 15),
        ('metadata.name == "a"', OutsideSubsetError, 1),
        ("size(spec.configs) > 1", OutsideSubsetError, 1),
        ("spec.replicationFactor * 2 > 3", OutsideSubsetError, 24),
        ("spec.replicationFactor >= '2'", OutsideSubsetError, 27),
        ("has(object.spec.config)", OutsideSubsetError, 5),
        ("spec.?replicationFactor == 3", OutsideSubsetError, 6),
        ("spec.configs[0] == 3", OutsideSubsetError, 14),
        ("spec.replicationFactor == null", OutsideSubsetError, 27),
        ("(spec.replicationFactor < 2) == true", OutsideSubsetError, 25),
        ("int(spec.replicationFactor)", OutsideSubsetError, 1),
        ("spec.replicationFactor in spec.partitions", OutsideSubsetError, 27),
        ("spec.configs['no.such.setting'] == 1", UnknownSettingError, 1),
        ("spec.replicationFactor = 3", RuleSyntaxError, 24),
        ("spec.replicationFactor == 3 &&", RuleSyntaxError, 31),
        ("spec.replicationFactor == 3.0", RuleSyntaxError, 27),
        (f"{'(' * DEEPEST}true", RuleSyntaxError, DEEPEST + 1),
    ],
)
def test_rest_of_the_language_is_refused_with_its_place(text: str, kind: type[PolicyError], column: int) -> None:
    with pytest.raises(kind) as error:
        read_cel(text, "topic.cel")
    assert (error.value.line, error.value.column) == (1, column)
    assert str(error.value).startswith(f"topic.cel:1:{column}: ")


def test_absent_setting_has_no_value() -> None:
    with pytest.raises(AbsentSettingError):
        holds('topic["retention.ms"] > 1')


NUMBERS = ('topic["min.insync.replicas"]', "spec.replicationFactor", 'topic["retention.ms"]')
TERMS = st.one_of(
    st.sampled_from(NUMBERS),
    st.integers(-3, 4).map(str),
    st.builds("{} {} {}".format, st.sampled_from(NUMBERS), st.sampled_from("+-"), st.integers(0, 3).map(str)),
)
LEAVES = st.one_of(
    st.builds("{} {} {}".format, st.sampled_from(NUMBERS), st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), TERMS),
    st.builds("{} in [{}]".format, st.sampled_from(NUMBERS), st.lists(st.integers(-1, 4).map(str)).map(", ".join)),
    st.builds("'retention.ms' in {}".format, st.sampled_from(["topic", "spec.configs"])),
    st.builds('producer["acks"] {} "{}"'.format, st.sampled_from(["==", "!="]), st.sampled_from(["0", "1", "all"])),
    st.builds('producer["acks"] in [{}]'.format, st.sampled_from(["", '"all"', '"0", "1"'])),
    st.sampled_from(["true", "false", 'topic["unclean.leader.election.enable"]']),
)
TEXTS = st.recursive(
    LEAVES,
    lambda parts: st.one_of(
        st.builds("!({})".format, parts),
        st.builds("({}) && {}".format, parts, parts),
        st.builds("{} || {}".format, parts, parts),
        st.builds("({} ? {} : {})".format, LEAVES, LEAVES, LEAVES),
    ),
    max_leaves=5,
)


def document(values: dict[str, Any]) -> dict[str, Any]:
    """Return the documents that a rule in CEL reads, with these values."""
    topic = {key: value for key, value in values.items() if key != "acks" and value is not None}
    return {
        "topic": topic,
        "producer": {"acks": values["acks"]},
        "spec": {"replicationFactor": values["replication.factor"], "configs": topic},
    }


@settings(max_examples=400, deadline=None)
@given(
    TEXTS,
    st.fixed_dictionaries(
        {
            "acks": st.sampled_from(["0", "1", "all"]),
            "min.insync.replicas": st.integers(1, 3),
            "replication.factor": st.integers(1, 3),
            "unclean.leader.election.enable": st.booleans(),
            "retention.ms": st.one_of(st.none(), st.integers(-1, 3)),
        }
    ),
)
def test_answers_are_those_of_another_reader_of_cel(text: str, values: dict[str, Any]) -> None:
    """An error of one side is compared as far as CEL's order of evaluation allows: this reader refuses more."""
    celpy = pytest.importorskip("celpy", reason="pip install cel-python")
    environment = celpy.Environment()
    program = environment.program(environment.compile(text))
    context = {name: celpy.json_to_cel(value) for name, value in document(values).items()}
    shown = {
        ("producer" if key == "acks" else "topic") + f".{key}": str(value).lower()
        for key, value in values.items()
        if value is not None
    }

    def value(read: Read) -> str | None:
        return shown.get(read.name)

    try:
        mine: bool | None = is_true(read_cel(text, ""), value)
    except PolicyError:
        mine = None
    try:
        other: bool | None = bool(program.evaluate(context))
    except (celpy.CELEvalError, TypeError, IndexError):  # the last two are its answer to errors within ? :
        other = None
    assert mine is None or mine == other, (text, values)
