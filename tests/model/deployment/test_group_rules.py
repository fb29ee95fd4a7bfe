"""Groups: their protocol, their limits, and how a partition moves from one member to another."""

from __future__ import annotations

import pytest

from proofka.model.deployment.choices import Commit, Rebalances
from proofka.model.deployment.rebalancing import AT_ANY_TIME, IN_BACKGROUND, IN_ORDER, Rebalancing

PREVIEW = "group.coordinator.rebalance.protocols: 'classic,consumer'"
NEW = "group.protocol: consumer"
TO_KAFKA = "assume: {sink: kafka, faults: {rebalance: 1}}"
STICKY = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"


def deployment(kafka: str, consumer: str, *, version: str = "", broker: str = "", rest: str = "") -> str:
    said = f'version: "{version}", ' if version else ""
    settings = f"broker: {{settings: {{{broker}}}}}\n" if broker else ""
    return (
        f'kafka: "{kafka}"\nproducer: {{enable.idempotence: false}}\n{settings}'
        f"consumer: {{{said}settings: {{{consumer}}}}}\n{rest}"
    )


@pytest.mark.parametrize(
    ("kafka", "version", "consumer", "broker", "expected"),
    [
        ("4.0", "", "", "", IN_ORDER),
        ("4.0", "", NEW, "", Rebalancing(True, at_any_time=False, behind=False, sent_once=False)),
        (
            "4.2",
            "",
            f"{NEW}, enable.auto.commit: false",
            "",
            Rebalancing(True, at_any_time=True, behind=True, sent_once=False),
        ),
        (
            "4.2",
            "4.3",
            f"{NEW}, enable.auto.commit: false",
            "",
            Rebalancing(True, at_any_time=False, behind=True, sent_once=False),
        ),
        (
            "4.3",
            "",
            f"{NEW}, enable.auto.commit: false",
            "",
            Rebalancing(True, at_any_time=False, behind=False, sent_once=False),
        ),
        ("3.8", "", NEW, PREVIEW, Rebalancing(True, at_any_time=True, behind=True, sent_once=False)),
        (
            "3.8",
            "",
            NEW,
            "group.coordinator.new.enable: true",
            Rebalancing(True, at_any_time=True, behind=True, sent_once=False),
        ),
        ("3.2", "3.2.0", "", "", Rebalancing(False, at_any_time=False, behind=False, sent_once=True)),
        ("3.2", "3.2.1", "", "", Rebalancing(False, at_any_time=False, behind=True, sent_once=False)),
        ("3.2", "3.2.1", "enable.auto.commit: false", "", IN_ORDER),
        ("3.2", "3.2.3", "", "", IN_ORDER),
        (
            "4.0",
            "",
            f"partition.assignment.strategy: {STICKY}",
            "",
            Rebalancing(False, at_any_time=False, behind=True, sent_once=False),
        ),
        # One assignor that cannot do with members that keep reading is enough.
        ("4.0", "", f"partition.assignment.strategy: 'org.x.RangeAssignor,{STICKY}'", "", IN_ORDER),
    ],
)
def test_members_give_up_partitions_by_protocol_and_release(
    read_yaml, kafka: str, version: str, consumer: str, broker: str, expected: Rebalancing
) -> None:
    text = deployment(kafka, consumer, version=version, broker=broker)
    assert read_yaml(text).consumer.rebalancing == expected


@pytest.mark.parametrize(
    ("consumer", "expected"),
    [
        ("client: librdkafka", IN_BACKGROUND),
        ("client: franz-go", AT_ANY_TIME),
        ("client: franz-go, BlockRebalanceOnPoll: true", IN_ORDER),
        ("client: sarama", IN_ORDER),
        ("client: kafka-python", IN_ORDER),
    ],
)
def test_libraries_give_up_partitions_in_ways_of_their_own(read_yaml, consumer: str, expected: Rebalancing) -> None:
    assert read_yaml(f'kafka: "3.9"\nconsumer: {{{consumer}}}\n').consumer.rebalancing == expected


def test_transaction_of_librdkafka_is_late_unless_partitions_are_given_up_in_a_poll(read_yaml, refusal) -> None:
    text = (
        'kafka: "3.9"\nconsumer: {client: librdkafka, enable.auto.commit: false, isolation.level: read_committed}\n'
        f"{TO_KAFKA}\n"
    )
    assert "a transaction that it finishes late" in refusal(text)
    assert read_yaml(text, {"rebalances": "in-poll"}).application.rebalances is Rebalances.IN_POLL


def test_new_consumer_commits_by_itself(read_yaml) -> None:
    """Its preview commits what it hands over; from 4.0 on what earlier polls returned (KAFKA-18641)."""
    assert read_yaml(deployment("3.9", NEW, broker=PREVIEW)).application.commit is Commit.DELIVERED
    assert read_yaml(deployment("4.0", NEW, version="3.9")).application.commit is Commit.DELIVERED
    assert read_yaml(deployment("4.0", NEW)).application.commit is Commit.AUTO


def test_brokers_limit_the_silence_of_its_members(read_yaml) -> None:
    given = read_yaml(deployment("4.0", NEW, broker="group.consumer.session.timeout.ms: 60000"))
    session = given.durations.consumer_session
    assert (session.name, session.least) == ("group.consumer.session.timeout.ms", 60_000)
    assert read_yaml(deployment("4.0", "")).durations.consumer_session.name == "session.timeout.ms"
    keys = {setting.key for setting in given.settings}
    assert "group.consumer.heartbeat.interval.ms" in keys and "session.timeout.ms" not in keys
    assert any("group.version=1 is assumed" in note for note in given.notes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (deployment("3.6", "group.id: o, group.protocol: consumer", version="4.0"), "UnsupportedVersionException"),
        (deployment("3.9", NEW), "group.coordinator.rebalance.protocols=classic by default (rule C90)"),
        (deployment("3.9", NEW, broker="group.coordinator.new.enable: true"), "(rule C90)"),
        (deployment("4.0", NEW, broker="group.coordinator.rebalance.protocols: classic"), "(rule C90)"),
        (deployment("3.9", NEW, version="4.0", broker=PREVIEW), "not modelled yet: a client from 4.0 on"),
        (deployment("3.9", NEW, broker=f"{PREVIEW}, zookeeper.connect: 'zk:2181'"), "(rule B90)"),
        (deployment("4.0", "", broker="group.consumer.session.timeout.ms: 10000"), "IllegalArgumentException"),
        (deployment("4.0", NEW, broker="group.consumer.heartbeat.interval.ms: 60000"), "(rule B20)"),
        (deployment("3.9", f"{NEW}, group.id: ''", broker=PREVIEW), "(rule C04)"),
        (deployment("3.2", "", rest="assume: {faults: {rebalance: 1}}"), "name the patch level"),
        (
            deployment(
                "4.2", f"{NEW}, enable.auto.commit: false", rest="assume: {sink: kafka, faults: {rebalance: 1}}"
            ),
            "not modelled yet: rebalances of a consumer that puts its offsets in transactions",
        ),
    ],
)
def test_refused(refusal, text: str, says: str) -> None:
    assert says in refusal(text)


def test_accepted_values_beside_refused_values(read_yaml) -> None:
    read_yaml(deployment("3.2", "", rest="assume: {faults: {eviction: 1}}"))
    read_yaml(deployment("3.2", "enable.auto.commit: false", rest="assume: {faults: {rebalance: 1}}"))
    read_yaml(deployment("4.3", f"{NEW}, enable.auto.commit: false", rest=TO_KAFKA))


def test_offsets_expire_when_they_are_loaded_only_in_2_1_with_an_older_protocol(read_yaml) -> None:
    """Brokers of 2.1 that speak an older protocol to each other (KAFKA-8069)."""
    old = "inter.broker.protocol.version: '2.0'"
    for kafka, broker, expected in (
        ("2.1.0", old, True),
        ("2.1", old, True),
        ("2.1.1", old, True),
        ("2.1.0", "", False),
        ("2.1.0", "inter.broker.protocol.version: 2.1-IV0", False),
        ("2.2.0", old, False),
        ("2.0", "", False),
    ):
        assert read_yaml(deployment(kafka, "", broker=broker)).cluster.loaded_offsets_expire is expected, (
            kafka,
            broker,
        )
