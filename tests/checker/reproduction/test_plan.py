"""The plan of a replay: what it takes from a deployment and a trace, and its JSON form."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import proofka
from proofka.checker.cluster.sends import Send
from proofka.checker.reproduction import adjusting, expected
from proofka.checker.reproduction.errors import PlanError
from proofka.checker.reproduction.of_trace import plan_of
from proofka.checker.reproduction.plan import Plan, from_json, to_json
from proofka.checker.reproduction.run import PLANS
from proofka.properties.verdict import Trace

DEPLOYMENTS = {
    "acks-1": "producer: {acks: 1}\nconsumer: {group.id: orders, enable.auto.commit: false}\n",
    "handed-off": "producer: {acks: all}\nconsumer: {group.id: g, enable.auto.commit: true, processing: handed-off}\n",
}
"""Producers and consumers of small deployments, by name."""


@lru_cache
def plan(name: str, of_property: str, fault: str) -> Plan:
    """Return the plan of the first trace of a property with one fault of a kind."""
    text = f"""
kafka: "4.0"
topic: {{replicas: 2, min.insync.replicas: 2}}
{DEPLOYMENTS[name]}
assume: {{faults: {{total: 1, {fault}: 1}}}}
bounds: {{records: 1}}
"""
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.yaml"
        file.write_text(text, encoding="utf-8")
        deployment = proofka.read(file)
    verdicts = proofka.check(deployment, faults=1, require=[of_property]).verdicts
    verdict = next(one for one in verdicts if one.property == of_property)
    trace = next(one for one in verdict.traces if one.faults)
    return plan_of(deployment, trace, [(of_property, trace.failure)])


def test_a_plan_has_the_settings_as_given_and_the_logs_after_each_step() -> None:
    made = plan("acks-1", "no-acked-loss", "kill")
    assert made.kafka == "4.0"
    assert made.producer.settings == {"acks": "1"}
    assert made.topic_settings == {"min.insync.replicas": "2"}
    assert made.consumer.settings["group.id"] == "orders"
    assert (made.acks, made.idempotent, made.transactional) == ("1", False, False)
    assert [step.action for step in made.steps][:5] == ["send", "transmit", "append", "acknowledge", "kill"]
    assert made.steps[2].logs == {1: ("record 1 @1",), 2: ()}
    assert made.sends == (Send(1),)


def test_a_plan_survives_json() -> None:
    made = plan("acks-1", "no-acked-loss", "kill")
    assert from_json(to_json(made)) == made
    with pytest.raises(PlanError, match="the plan was changed"):
        from_json(to_json(made).replace('"broker": 1', '"broker": 7'))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 0}', '{"format": 1}', '{"format": 3}'])
def test_a_text_that_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(PlanError):
        from_json(text)


def test_a_plan_without_a_property_is_refused_because_nothing_that_fails_could_be_missing() -> None:
    made = replace(plan("acks-1", "no-acked-loss", "kill"), failures=())
    with pytest.raises(PlanError, match="names no property"):
        from_json(to_json(made))


def test_the_topic_is_assigned_so_that_elections_go_as_in_the_trace() -> None:
    moved = plan("acks-1", "no-acked-loss", "leader-move")
    chosen = expected.leader_of(moved.steps[0].state)
    assert chosen not in (None, 1)
    assert expected.first_leaders(moved)[:2] == (1, chosen)


def test_the_state_in_words_is_read() -> None:
    made = plan("acks-1", "no-acked-loss", "kill")
    last = made.steps[-1].state
    assert not expected.is_up(last, 1)
    assert expected.is_up(last, 2)
    assert expected.isr_of(last) == (2,)
    assert expected.epoch_of(last) == expected.epoch_of(made.start) + 1


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("record 1 @1", ("record 1", 1)),
        ("record 2 (send 2) @3", ("record 2 (send 2)", 3)),
        ("commit of transaction 1 @2", ("commit", 2)),
        ("abort of transaction 2 @1", ("abort", 1)),
    ],
)
def test_an_entry_of_a_log_is_read(words: str, entry: tuple[str, int]) -> None:
    assert expected.entries_of((words,)) == (entry,)


def test_an_auto_commit_is_awaited_only_where_the_trace_has_one() -> None:
    skips = plan("handed-off", "no-skip", "consumer-crash")
    assert adjusting.AUTO_COMMITS in adjusting.situations_of(skips)
    loses = plan("acks-1", "no-acked-loss", "kill")
    assert adjusting.AUTO_COMMITS not in adjusting.situations_of(loses)


def test_settings_change_by_actions_and_situations_that_there_are() -> None:
    with adjusting.TABLE.open(encoding="utf-8", newline="") as table:
        named = {name for row in csv.DictReader(table) for name in row["when"].removeprefix("no:").split()}
    assert named - adjusting.SITUATIONS <= set(PLANS)
    assert set(PLANS) >= adjusting.TELLING


@pytest.mark.parametrize(
    ("kafka", "broker", "mode"),
    [("2.8", "{}", "zookeeper"), ("3.9", "{}", "kraft"), ("3.9", "{zookeeper.connect: z}", "zookeeper")],
)
def test_the_brokers_of_a_plan_have_the_mode_of_the_model(kafka: str, broker: str, mode: str, tmp_path: Path) -> None:
    file = tmp_path / "deployment.yaml"
    file.write_text(
        f"kafka: '{kafka}'\ntopic: {{replicas: 1}}\nbroker: {broker}\nproducer: {{acks: 1}}\n"
        "consumer: {group.id: g}\nbounds: {records: 1}\n"
    )
    deployment = proofka.read(file)
    trace = Trace(faults=(), steps=(), failure="")
    assert plan_of(deployment, trace, []).mode == mode
