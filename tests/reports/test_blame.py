"""The setting at which a violation is shown."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from proofka.model.deployment import read_properties
from proofka.model.deployment.assumptions import ASSUMPTIONS
from proofka.model.deployment.defaults import TABLES
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.faults import Fault
from proofka.properties.likely_settings import NO_FAULT, likely_settings
from proofka.properties.verdict import CutSet, Prevention, Status
from proofka.reports.blame import NOBODY_TO_BLAME, Blame, blame
from tests.reports import samples

CLEAN, ACKS = samples.SETTINGS[1:3]
FIRST_LINE = CLEAN.origin
"""The line of the sample's first setting from a file."""


def given(*settings: tuple[str, str, str]) -> tuple[Setting, ...]:
    """Return settings of a file, one for each line from line 2 on."""
    return tuple(
        Setting(scope, key, value, Origin("file", file="o.yaml", line=line))
        for line, (scope, key, value) in enumerate(settings, start=2)
    )


def key_of(name: str, faults: CutSet, *settings: tuple[str, str, str]) -> str | None:
    deployment = replace(samples.DEPLOYMENT, settings=given(*settings), ignored=())
    found = blame(deployment, samples.RESULT, samples.verdict(name, Status.VIOLATED, cut_sets=(faults,)))
    if found.setting is None:
        return None
    assert found.sentence.startswith(f"The violation may depend on {found.setting.key}={found.setting.value};")
    return found.setting.key


KILL: CutSet = (("kill", 1),)
CRASH: CutSet = (("consumer-crash", 1),)
ACKS_1 = ("producer", "acks", "1")
HANDED_OFF = ("application", "processing", "handed-off")


def test_the_first_of_the_table_is_to_blame_wherever_it_stands_in_the_file() -> None:
    one_replica = ("topic", "min.insync.replicas", "1")
    assert key_of("no-acked-loss", KILL, one_replica, ACKS_1) == "acks"
    assert key_of("no-acked-loss", KILL, one_replica) == "min.insync.replicas"


def test_a_safe_value_is_not_blamed() -> None:
    safe = (("producer", "acks", "all"), ("topic", "unclean.leader.election.enable", "false"))
    assert key_of("no-acked-loss", KILL, *safe, ("topic", "min.insync.replicas", "1")) == "min.insync.replicas"
    assert key_of("no-acked-loss", KILL, *safe) is None


def test_the_faults_of_the_shortest_trace_decide() -> None:
    """A loss by a crash of the consumer is not due to ``acks``, and a loss by a broker is not due to the commit."""
    assert key_of("no-loss", CRASH, ACKS_1, HANDED_OFF) == "processing"
    assert key_of("no-loss", KILL, ACKS_1, HANDED_OFF) == "acks"
    assert key_of("no-loss", CRASH, ACKS_1) is None
    assert key_of("no-loss", (), ACKS_1, HANDED_OFF) == "processing"


def test_retries_without_idempotence_reorder() -> None:
    idempotence = ("producer", "enable.idempotence", "false")
    in_flight = ("producer", "max.in.flight.requests.per.connection", "5")
    lost = (("lost-request", 1),)
    assert key_of("log-order", lost, in_flight, ACKS_1, idempotence) == "enable.idempotence"
    assert key_of("log-order", lost, in_flight, ACKS_1) == "acks"  # acks=1 disables idempotence
    assert key_of("log-order", lost, in_flight) == "max.in.flight.requests.per.connection"


def test_late_requests_of_transactions_are_the_release_s() -> None:
    late = (("delayed-request", 1),)
    assert key_of("no-hanging-transaction", late, ("broker", "release", "3.5")) == "release"
    assert key_of("no-hanging-transaction", late, ("broker", "release", "4.0")) is None


def test_a_crash_of_a_producer_without_transactions_is_not_the_release_s() -> None:
    """The release of the files is not to blame: every deployment has a release."""
    deployment = read_properties(kafka="3.7", assume={"replicas": "3"})
    settings = tuple(replace(one, origin=Origin("file", file="o.yaml", line=2)) for one in deployment.settings)
    for name in ("no-silent-loss", "no-loss", "exactly-once-effect"):
        for said in (given(("broker", "release", "3.7")), settings):
            one = replace(deployment, settings=tuple(one for one in said if one.key != "on_restart"))
            crash = samples.verdict(name, Status.VIOLATED, cut_sets=((("producer-crash", 1),),))
            assert blame(one, samples.RESULT, crash).setting is None


def test_line_without_a_setting_is_the_first_about_a_component() -> None:
    """The first line of the file can be a comment; line 2 has the first setting."""
    vacuous = samples.verdict("no-skip", Status.VACUOUS)
    deployment = replace(samples.DEPLOYMENT, settings=given(("topic", "replication.factor", "3")))
    found = blame(deployment, samples.RESULT, vacuous)
    assert found == Blame(Origin("file", file="o.yaml", line=2), None, (), "")
    group = ("consumer", "group.id", "g")
    deployment = replace(samples.DEPLOYMENT, settings=given(("topic", "replication.factor", "3"), group))
    assert blame(deployment, samples.RESULT, vacuous).place == Origin("file", file="o.yaml", line=3), "of the consumer"
    nowhere = replace(samples.DEPLOYMENT, settings=(), ignored=())
    assert blame(nowhere, samples.RESULT, samples.VIOLATED).place is None


def test_a_default_is_at_the_first_line_of_its_component() -> None:
    """The sample's min.insync.replicas is a default, its enable.idempotence was changed by a rule."""
    violated = samples.verdict("read-stability", Status.VIOLATED, cut_sets=(KILL,))
    default = "The violation may depend on min.insync.replicas=1, default of Kafka 4.0"
    said = f"{default}; --explain computes which settings matter."
    found = blame(samples.DEPLOYMENT, samples.RESULT, violated)
    assert found == Blame(FIRST_LINE, None, (), said), "no file speaks of the topic"
    line = Setting("topic", "retention.ms", "1", Origin("file", file="topic.properties", line=7))
    deployment = replace(samples.DEPLOYMENT, settings=(*samples.DEPLOYMENT.settings, line))
    assert blame(deployment, samples.RESULT, violated).place == Origin("file", file="topic.properties", line=7)


def test_the_others_are_settings_that_the_property_turns_on() -> None:
    clean = ("topic", "unclean.leader.election.enable", "false")
    deployment = replace(samples.DEPLOYMENT, settings=given(HANDED_OFF, clean, ACKS_1))
    found = blame(deployment, samples.RESULT, samples.VIOLATED)
    assert found.setting is not None
    assert (found.setting.key, [one.key for one in found.others]) == ("acks", [clean[1]])


# With --explain only the computed settings are printed.

BROUGHT = "producer.enable.idempotence=true (rule P12)"
ALL = Prevention("no-acked-loss", KILL, "producer.acks=all", settings=("producer.acks",), brings=(BROUGHT,))
TWO = Prevention("no-acked-loss", KILL, "topic.min.insync.replicas=2", settings=("topic.min.insync.replicas",))
AFTER = Prevention("no-acked-loss", KILL, "consumer.commit=after", settings=("application.commit",))
FIRST = samples.verdict("no-acked-loss", Status.VIOLATED, cut_sets=(KILL, (("power-loss", 1),)))


def computed(*preventions: Prevention, settings: tuple[Setting, ...] = samples.SETTINGS) -> Blame:
    deployment = replace(samples.DEPLOYMENT, settings=settings, ignored=())
    return blame(deployment, replace(samples.RESULT, preventions=preventions), FIRST)


def test_computed_settings_outrank_the_table() -> None:
    settings = given(ACKS_1, ("topic", "min.insync.replicas", "1"))
    found = computed(TWO, settings=settings)
    assert (found.place, found.setting, found.others) == (settings[1].origin, settings[1], ())
    assert found.sentence == (
        "Computed: with topic.min.insync.replicas=2, these faults do not violate the property "
        "(now min.insync.replicas=1)."
    )


def test_sentence_names_consequences_and_other_changes() -> None:
    settings = given(ACKS_1, ("topic", "min.insync.replicas", "1"))
    found = computed(ALL, TWO, settings=settings)
    assert (found.setting, found.others) == (settings[0], (settings[1],))
    assert found.sentence == (
        f"Computed: with producer.acks=all, which brings {BROUGHT}, these faults do not violate the property "
        "(now acks=1). The same holds for topic.min.insync.replicas=2."
    )


def test_a_value_that_stands_in_a_file_is_shown_before_one_that_does_not() -> None:
    """The sample's min.insync.replicas is a default; acks is in line 12."""
    found = computed(TWO, ALL)
    assert found.setting is not None
    assert (found.setting.key, found.place) == ("acks", Origin("file", file="orders.yaml", line=12))


def test_setting_that_is_in_no_file_is_explained_at_its_component() -> None:
    unclean = Setting("topic", "unclean.leader.election.enable", "true", Origin("file", file="topic.yaml", line=7))
    found = computed(TWO, settings=(*samples.SETTINGS, unclean))
    assert found.place == unclean.origin
    assert found.sentence.endswith("(topic.min.insync.replicas is not set in a file; it is 1, default of Kafka 4.0).")
    assert computed(TWO).place == FIRST_LINE, "no file speaks of the topic"
    group = Setting("consumer", "group.id", "g", Origin("file", file="orders.yaml", line=20))
    assert computed(AFTER, settings=(*samples.SETTINGS, group)).place == group.origin


def test_violation_without_a_known_change_is_shown_at_the_first_line_of_a_component() -> None:
    settings = given(("topic", "replication.factor", "3"), ACKS_1)
    found = computed(replace(ALL, property="no-skip"), settings=settings)
    assert found == Blame(settings[1].origin, None, (), NOBODY_TO_BLAME)


def test_violation_without_a_known_change_blames_no_setting() -> None:
    found = computed(replace(ALL, property="no-skip"), replace(TWO, cut_set=CRASH))
    assert found == Blame(ACKS.origin, None, (), NOBODY_TO_BLAME)


def test_undecided_properties_blame_no_setting() -> None:
    """A change with unknown settings blames no setting; the sentence names the change."""
    settings = given(ACKS_1)
    found = computed(replace(ALL, decided=False), settings=settings)
    assert found.setting is None
    assert found.sentence == f"{NOBODY_TO_BLAME} Not decided before the time limit: producer.acks=all."
    both = computed(TWO, replace(ALL, decided=False), settings=settings)
    assert both.setting is None
    assert both.sentence.startswith("Computed: with topic.min.insync.replicas=2, these")
    assert both.sentence.endswith(" Not decided before the time limit: producer.acks=all.")


@pytest.mark.parametrize("name", KNOWN_PROPERTIES)
def test_each_property_has_settings_to_blame(name: str) -> None:
    assert any(name in row.properties for row in likely_settings())


def test_the_table_names_existing_settings_only() -> None:
    keys = {line.split(",")[1] for line in (TABLES / "defaults.csv").read_text(encoding="utf-8").splitlines()}
    for row in likely_settings():
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
