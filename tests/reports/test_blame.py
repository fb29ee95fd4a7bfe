"""Which setting a violation is shown at."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from model.deployment.assumptions import ASSUMPTIONS
from model.deployment.defaults import TABLES
from model.deployment.required_properties import KNOWN_PROPERTIES
from model.deployment.setting import Origin, Setting
from model.faults import Fault
from properties.verdict import CutSet, Status
from reports.blame import NO_FAULT, _rows, blame
from tests.reports import samples


def given(*settings: tuple[str, str, str]) -> tuple[Setting, ...]:
    """Settings of a file, one a line from line 2 on."""
    return tuple(
        Setting(scope, key, value, Origin("file", file="o.yaml", line=line))
        for line, (scope, key, value) in enumerate(settings, start=2)
    )


def key_of(name: str, faults: CutSet, *settings: tuple[str, str, str]) -> str | None:
    deployment = replace(samples.DEPLOYMENT, settings=given(*settings), ignored=())
    found = blame(deployment, samples.verdict(name, Status.VIOLATED, cut_sets=(faults,)))
    return None if found.setting is None else found.setting.key


KILL: CutSet = (("kill", 1),)
CRASH: CutSet = (("consumer-crash", 1),)
ACKS_1 = ("producer", "acks", "1")
HANDED_OFF = ("application", "processing", "handed-off")


def test_the_first_of_the_table_is_to_blame_wherever_it_stands_in_the_file() -> None:
    one_replica = ("topic", "min.insync.replicas", "1")
    assert key_of("no-acked-loss", KILL, one_replica, ACKS_1) == "acks"
    assert key_of("no-acked-loss", KILL, one_replica) == "min.insync.replicas"


def test_who_set_a_safe_value_did_nothing_wrong() -> None:
    safe = (("producer", "acks", "all"), ("topic", "unclean.leader.election.enable", "false"))
    assert key_of("no-acked-loss", KILL, *safe, ("topic", "min.insync.replicas", "1")) == "min.insync.replicas"
    assert key_of("no-acked-loss", KILL, *safe) is None


def test_the_faults_of_the_shortest_trace_decide() -> None:
    """A record that a crash of the consumer loses is none that acks would have kept, and the other way round."""
    assert key_of("no-loss", CRASH, ACKS_1, HANDED_OFF) == "processing"
    assert key_of("no-loss", KILL, ACKS_1, HANDED_OFF) == "acks"
    assert key_of("no-loss", CRASH, ACKS_1) is None
    assert key_of("no-loss", (), ACKS_1, HANDED_OFF) == "processing"


def test_retries_without_idempotence_reorder() -> None:
    idempotence = ("producer", "enable.idempotence", "false")
    in_flight = ("producer", "max.in.flight.requests.per.connection", "5")
    lost = (("lost-request", 1),)
    assert key_of("log-order", lost, in_flight, ACKS_1, idempotence) == "enable.idempotence"
    assert key_of("log-order", lost, in_flight, ACKS_1) == "acks"  # which turns idempotence off
    assert key_of("log-order", lost, in_flight) == "max.in.flight.requests.per.connection"


def test_late_requests_of_transactions_are_the_release_s() -> None:
    late = (("delayed-request", 1),)
    assert key_of("no-hanging-transaction", late, ("broker", "release", "3.5")) == "release"
    assert key_of("no-hanging-transaction", late, ("broker", "release", "4.0")) is None


def test_without_a_setting_it_is_shown_where_the_files_begin() -> None:
    deployment = replace(samples.DEPLOYMENT, settings=given(("topic", "replication.factor", "3")))
    found = blame(deployment, samples.verdict("no-skip", Status.VACUOUS))
    assert (found.place, found.setting) == (Origin("file", file="o.yaml", line=1), None)
    nowhere = replace(samples.DEPLOYMENT, settings=(), ignored=())
    assert blame(nowhere, samples.VIOLATED).place is None


def test_a_default_is_at_no_line() -> None:
    """The sample's min.insync.replicas is a default, its enable.idempotence was changed by a rule."""
    found = blame(samples.DEPLOYMENT, samples.verdict("read-stability", Status.VIOLATED, cut_sets=(KILL,)))
    assert (found.setting, found.others) == (None, ())
    assert found.place == Origin("file", file="server.properties", line=1)


def test_the_others_are_what_the_property_turns_on() -> None:
    clean = ("topic", "unclean.leader.election.enable", "false")
    deployment = replace(samples.DEPLOYMENT, settings=given(HANDED_OFF, clean, ACKS_1))
    found = blame(deployment, samples.VIOLATED)
    assert found.setting is not None
    assert (found.setting.key, [one.key for one in found.others]) == ("acks", [clean[1]])


@pytest.mark.parametrize("name", KNOWN_PROPERTIES)
def test_each_property_has_settings_to_blame(name: str) -> None:
    assert any(name in row.properties for row in _rows())


def test_the_table_speaks_of_what_there_is() -> None:
    keys = {line.split(",")[1] for line in (TABLES / "defaults.csv").read_text(encoding="utf-8").splitlines()}
    for row in _rows():
        assert row.properties <= set(KNOWN_PROPERTIES)
        assert row.faults <= {*(fault.value for fault in Fault), NO_FAULT}
        known = row.key in ASSUMPTIONS if row.scope == "application" else row.key in keys
        assert known or (row.scope, row.key) in {
            ("broker", "release"),
            ("broker", "transaction.version"),
            ("topic", "replication.factor"),
        }
        re.compile(row.safe)
        if row.scope == "application" and row.safe:
            assert set(row.safe.split("|")) <= {*ASSUMPTIONS[row.key].values, "auto", "earlier"}
