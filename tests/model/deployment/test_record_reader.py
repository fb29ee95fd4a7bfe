"""Records of an inventory: the same deployment as the same words in YAML, and every mistake one line."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofka.model.deployment import Deployment, DeploymentError, read_deployment
from proofka.model.deployment.record_reader import labels_of, read_record
from tests.checker.test_cli import ROOT

NESTED: dict[str, Any] = {
    "kafka": "4.0",
    "topic": {"replicas": 3, "settings": {"min.insync.replicas": 2}},
    "producer": {"acks": "all", "settings": {"enable.idempotence": False}, "on_send_error": "resend"},
    "consumer": {"group.id": "orders", "enable.auto.commit": False, "commit": "before"},
    "assume": {"faults": {"total": 2, "kill": 1}},
    "bounds": {"records": 1},
    "require": ["no-skip", "no-acked-loss"],
}
FLAT: dict[str, Any] = {
    "kafka": "4.0",
    "topic.replicas": 3,
    "topic.min.insync.replicas": "2",
    "producer.acks": "all",
    "producer.settings.enable.idempotence": "false",
    "producer.on_send_error": "resend",
    "consumer.group.id": "orders",
    "consumer.enable.auto.commit": "FALSE",
    "consumer.commit": "before",
    "assume.faults.total": 2.0,
    "assume.faults.kill": 1,
    "bounds.records": 1,
    "require": "no-skip, no-acked-loss",
}


def read(record: Any, **more: Any) -> Deployment:
    return read_record(record, **{"name": "row", "file": "fleet.csv", "line": 7, **more})


def meaning(deployment: Deployment) -> Deployment:
    """Return the deployment without the places of its settings."""
    return replace(deployment, settings=(), ignored=(), notes=(), name="")


def test_nested_and_flat_records_equal_the_same_yaml(tmp_path: Path) -> None:
    file = tmp_path / "row.yaml"
    file.write_text(json.dumps(NESTED))
    by_yaml = read_deployment(file)
    assert meaning(read(NESTED)) == meaning(read(FLAT)) == meaning(by_yaml)
    assert read(FLAT).require == ("no-acked-loss", "no-skip")
    assert read(FLAT).faults.total == 2
    keys = [(setting.scope, setting.key, setting.value) for setting in by_yaml.settings]
    assert sorted((s.scope, s.key, s.value) for s in read(FLAT).settings) == sorted(keys)


@pytest.mark.parametrize("name", ["orders", "acks-1", "idempotent-restart"])
def test_examples_as_records(name: str) -> None:
    from ruamel.yaml import YAML

    path = ROOT / "examples" / f"{name}.yaml"
    assert meaning(read(YAML(typ="safe", pure=True).load(path))) == meaning(read_deployment(path))


def test_every_setting_names_its_row() -> None:
    origins = {setting.origin for setting in read(FLAT).settings if setting.origin.kind == "file"}
    assert {(origin.file, origin.line) for origin in origins} == {("fleet.csv", 7)}


@pytest.mark.parametrize("missing", [None, "", "  ", float("nan")])
def test_empty_cells_are_no_values(missing: object) -> None:
    """Empty cells: the default of the release, not an error and not the text of nothing."""
    with_gaps = {**FLAT, "broker.unclean.leader.election.enable": missing, "consumer": {"sink": missing}}
    assert read(with_gaps) == read(FLAT)
    assert read({**FLAT, "name": missing}).name == "row"


def test_names_and_options() -> None:
    assert read({**FLAT, "name": "orders"}).name == "orders"
    assert read(FLAT, overrides={"faults": "1"}).faults.total == 1


def test_labels_are_no_settings() -> None:
    """However they are called and written; those that hold a secret are not carried along."""
    labels = {
        "label.team": "payments",
        "label.cost centre": 7.0,
        "label.settings.acks": "0",
        "label.none": None,
        "label": {"critical": True},
    }
    assert read({**FLAT, **labels}) == read(FLAT)
    assert labels_of({**FLAT, **labels, "label.api.token": "hunter2"}) == {
        "label.team": "payments",
        "label.cost centre": "7",
        "label.settings.acks": "0",
        "label.critical": "true",
        "label.api.token": "(hidden)",
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kafka": None}, "has no release"),
        ({"prodcer.acks": "1"}, "fleet.csv:7: prodcer: unknown section"),
        ({"team": "a"}, "fleet.csv:7: team: unknown section; a label starts with label., as in"),
        ({"label": "a"}, "fleet.csv:7: label: must contain labels, as in label.team"),
        ({"label.team": ["a"]}, "fleet.csv:7: label.team: has a list"),
        ({"label.team": "a", "label": {"team": "b"}}, "label.team: is given twice"),
        ({"producer.akcs": "1"}, "akcs: unknown"),
        ({"producer": {"acks": "1"}}, "producer.acks: is given twice"),
        ({"producer.settings.acks": "1"}, "acks: is given twice"),
        ({"assume.faults": 2}, "assume.faults: "),
        ({"topic.replicas": b"3"}, "fleet.csv:7: replicas: has a bytes"),
        ({"topic.replicas": 2.5}, "fleet.csv:7: replication.factor: "),
        ({"topic.replicas": [3]}, "must be a single value"),
        ({"topic": {1: 2}}, "has a key that is not text"),
        ({"require": "no-loss no-such"}, "no-such"),
    ],
)
def test_mistakes_are_one_line(change: dict[str, object], words: str) -> None:
    with pytest.raises(DeploymentError) as caught:
        read({**FLAT, **change})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_deep_nesting_is_refused() -> None:
    record: object = 1
    for _ in range(50):
        record = {"topic": record}
    with pytest.raises(DeploymentError, match="nested deeper"):
        read(record)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=12,
    )
)
def test_any_record_is_read_or_refused(value: object) -> None:
    for record in ({"kafka": "4.0", "producer": value}, {"kafka": value}, {"label": value}, value):
        if isinstance(record, dict):
            with suppress(DeploymentError):
                read(record)
            assert all(isinstance(label, str) for label in labels_of(record).values())
