"""Rules in Rego have the answers that rego-cpp, another interpreter of Rego, gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofka.checker.policies.expression import Read, is_true
from proofka.checker.policies.rego import read_rego

HEAD = "package kafka\nimport rego.v1\n"
NUMBERS = ('input.spec.config["min.insync.replicas"]', "input.spec.replicas", 'input.spec.config["retention.ms"]')
UNCLEAN = 'input.spec.config["unclean.leader.election.enable"]'
ACKS = 'input.producer["acks"]'
COMPARISONS = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
TERMS = st.one_of(st.sampled_from(NUMBERS), st.integers(-1, 4).map(str))
ATOMS = st.one_of(
    st.builds("{} {} {}".format, st.sampled_from(NUMBERS), COMPARISONS, TERMS),
    st.builds("to_number({}) {} {}".format, st.sampled_from(NUMBERS), COMPARISONS, st.integers(0, 3)),
    st.builds("{} {} {}".format, st.just(UNCLEAN), st.sampled_from(["==", "!="]), st.sampled_from(["true", "false"])),
    st.builds("{} {} {}".format, st.just(ACKS), st.sampled_from(["==", "!="]), st.sampled_from(['"0"', '"all"'])),
    st.builds("{} in {{{}}}".format, st.just(ACKS), st.sampled_from(['"all"', '"0", "1"'])),
    st.sampled_from([UNCLEAN, "helper", "true"]),
)
LINES = st.one_of(ATOMS, st.builds("not {}".format, ATOMS))
BODIES = st.lists(LINES, min_size=1, max_size=3)
VALUES = st.fixed_dictionaries(
    {
        "producer.acks": st.sampled_from([None, "0", "1", "all"]),
        "topic.min.insync.replicas": st.one_of(st.none(), st.integers(1, 3)),
        "topic.replication.factor": st.integers(1, 3),
        "topic.unclean.leader.election.enable": st.one_of(st.none(), st.booleans()),
        "topic.retention.ms": st.one_of(st.none(), st.integers(-1, 3)),
    }
)


def rule(head: str, body: list[str]) -> str:
    lines = "\n".join(f"  {line}" for line in body)
    return f"{head} if {{\n{lines}\n}}\n"


def input_of(values: dict[str, Any]) -> dict[str, Any]:
    """Return the document that rules read, with these values."""
    config = {
        key.removeprefix("topic."): value
        for key, value in values.items()
        if key not in ("producer.acks", "topic.replication.factor") and value is not None
    }
    acks = values["producer.acks"]
    return {
        "spec": {"replicas": values["topic.replication.factor"], "config": config},
        "producer": {} if acks is None else {"acks": acks},
    }


def allowed_here(text: str, values: dict[str, Any]) -> bool:
    shown = {key: str(value).lower() for key, value in values.items() if value is not None}

    def value(read: Read) -> str | None:
        return shown.get(read.name)

    return is_true(read_rego(text, "topic.rego"), value)


def answered_elsewhere(text: str, query: str, values: dict[str, Any]) -> Any:
    """Return the value of a query; None if the query is undefined."""
    regopy = pytest.importorskip("regopy", reason="SKIPPED: pip install regopy")
    interpreter = regopy.Interpreter()
    interpreter.add_module("topic.rego", text)
    interpreter.set_input(input_of(values))
    found = str(interpreter.query(query))
    return None if found == "undefined" else json.loads(found)["expressions"][0]


@settings(max_examples=150, deadline=None)
@given(st.lists(BODIES, min_size=1, max_size=2), BODIES, VALUES)
@example([["not helper"]], [UNCLEAN], {"producer.acks": None, "topic.replication.factor": 1})
def test_allow_has_the_value_that_another_interpreter_gives(
    bodies: list[list[str]], helper: list[str], values: dict[str, Any]
) -> None:
    body = [line.replace("helper", "true") for line in helper]
    text = f"{HEAD}default allow := false\n{''.join(rule('allow', one) for one in bodies)}{rule('helper', body)}"
    assert allowed_here(text, values) == (answered_elsewhere(text, "data.kafka.allow", values) is True), (text, values)


@settings(max_examples=150, deadline=None)
@given(st.lists(BODIES, min_size=1, max_size=2), BODIES, VALUES)
def test_deny_forbids_where_another_interpreter_gives_a_reason(
    bodies: list[list[str]], helper: list[str], values: dict[str, Any]
) -> None:
    body = [line.replace("helper", "true") for line in helper]
    denying = "".join(rule(f'deny contains "{number}"', one) for number, one in enumerate(bodies))
    text = f"{HEAD}{denying}{rule('helper', body)}"
    found = answered_elsewhere(text, "data.kafka.deny", values)
    assert allowed_here(text, values) == (not found), (text, values)
