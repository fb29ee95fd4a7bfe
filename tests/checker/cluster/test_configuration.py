"""The settings of a node: given ones, and those that a cluster on one machine needs."""

from __future__ import annotations

import csv
import re

import javaproperties
import pytest

from proofka.checker.cluster.configuration import TABLE, TABLES, Changed, node_properties, properties_text
from proofka.checker.cluster.plan import KRAFT, ZOOKEEPER

NAMES = ("roles", "node", "data", "listeners", "advertised", "protocols", "voters", "session", "heartbeat", "internal")
NAMES += ("zookeeper", "control")
FACTS = {name: f"<{name}>" for name in NAMES}


def test_given_settings_stay_as_given() -> None:
    used, changed = node_properties({"min.insync.replicas": "2", "unknown": " x "}, FACTS, mode=KRAFT, is_broker=True)
    assert (used["min.insync.replicas"], used["unknown"]) == ("2", " x ")
    assert changed == ()


def test_settings_of_the_table_replace_given_ones_and_are_told() -> None:
    used, changed = node_properties(
        {"node.id": "7", "auto.leader.rebalance.enable": "true"}, FACTS, mode=KRAFT, is_broker=True
    )
    assert (used["node.id"], used["auto.leader.rebalance.enable"]) == ("<node>", "false")
    assert changed == (
        Changed("node.id", "7", "<node>", "The cluster numbers its nodes"),
        Changed("auto.leader.rebalance.enable", "true", "false", "Leaders change only when the run asks for a change"),
    )


def test_a_given_setting_with_the_value_of_the_table_is_not_told() -> None:
    assert node_properties({"auto.leader.rebalance.enable": " false"}, FACTS, mode=KRAFT, is_broker=True)[1] == ()


def test_a_pattern_of_the_table_takes_settings_away() -> None:
    given = {"ssl.keystore.location": "/keys", "listener.name.x.ssl.key": "k", "zookeeper.connect": "z:2181"}
    used, changed = node_properties(given, FACTS, mode=KRAFT, is_broker=True)
    assert not set(given).intersection(used)
    assert {(change.setting, change.used) for change in changed} == {(setting, None) for setting in given}


def test_a_controller_has_no_settings_of_brokers() -> None:
    used, changed = node_properties({"advertised.listeners": "X://h:1"}, FACTS, mode=KRAFT, is_broker=False)
    assert used["advertised.listeners"] == "X://h:1" and changed == ()
    assert "replica.fetch.wait.max.ms" not in used
    assert used["controller.quorum.voters"] == "<voters>"


@pytest.mark.parametrize("mode", [KRAFT, ZOOKEEPER])
def test_every_row_of_the_tables_has_a_reason_and_no_row_is_twice(mode: str) -> None:
    rows = []
    for table in (TABLE, TABLES[mode]):
        with table.open(encoding="utf-8", newline="") as file:
            rows += list(csv.DictReader(file))
    assert len({row["setting"] for row in rows}) == len(rows)
    for row in rows:
        assert row["role"] in {"all", "broker"}
        assert len(row["reason"].split()) > 3
        assert set(re.findall(r"{(\w+)}", row["value"])) <= set(FACTS)
        assert not ("*" in row["setting"] and row["value"])


@pytest.mark.parametrize("value", ["a=b:c", " leading", "back\\slash", "#!", "ümlaut €", "line\nbreak", "😀", ""])
def test_java_reads_the_same_values(value: str) -> None:
    settings = {"a key": value, f"{value}.key": "value"}
    assert javaproperties.loads(properties_text(settings)) == settings


def test_brokers_with_zookeeper_keep_the_protocol_that_is_given() -> None:
    given = {"inter.broker.protocol.version": "2.6", "zookeeper.connect": "z:2181", "zookeeper.ssl.client.enable": "1"}
    used, changed = node_properties(given, FACTS, mode=ZOOKEEPER, is_broker=True)
    assert (used["inter.broker.protocol.version"], used["zookeeper.connect"]) == ("2.6", "<zookeeper>")
    assert {change.setting for change in changed} == {"zookeeper.connect", "zookeeper.ssl.client.enable"}
    assert not {"process.roles", "node.id", "controller.quorum.voters"} & set(used)
