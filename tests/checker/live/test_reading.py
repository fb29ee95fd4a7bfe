"""A reading of a cluster: what it finds, and how it ends when something is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.checker.live.admin import TOPIC, Coordinated, Refusal
from proofka.checker.live.errors import NoAnswer, NoRights, WrongChoice
from proofka.checker.live.facts import Feature, Features, Synonym, value_of
from proofka.checker.live.reading import AT_ONCE, Wanted, read
from tests.checker.live.fake_admin import FEATURES, OF_GROUP, FakeAdmin, topic, with_level

CONSUMERS = Coordinated("consumer", "Stable", "")


def test_every_topic_but_kafkas_own() -> None:
    facts = read(FakeAdmin(), Wanted())
    assert [one.name for one in facts.topics] == ["audit-log", "orders"]
    assert [(one.number, one.rack) for one in facts.brokers] == [(1, "rack-1"), (2, "rack-2"), (3, "rack-3")]
    assert facts.features == FEATURES
    assert not facts.unread
    assert not facts.groups


def test_named_topics() -> None:
    facts = read(FakeAdmin(), Wanted(topics=("__consumer_offsets",)))
    assert [one.name for one in facts.topics] == ["__consumer_offsets"]


def test_topics_are_asked_for_in_parts() -> None:
    admin = FakeAdmin()
    admin.listed = {f"t{number}": topic(f"t{number}", (1, 2, 3)) for number in range(AT_ONCE + 1)}
    assert len(read(admin, Wanted()).topics) == AT_ONCE + 1
    assert admin.asked_at_once == [AT_ONCE, 1]


def test_a_topic_that_is_not_there() -> None:
    with pytest.raises(WrongChoice, match="--topic order: the cluster has no such topic; did you mean orders"):
        read(FakeAdmin(), Wanted(topics=("orders", "order")))


def test_a_cluster_without_topics() -> None:
    with pytest.raises(WrongChoice, match="lists no topic that this user may see"):
        read(FakeAdmin(listed={}), Wanted())


def test_a_reassignment() -> None:
    admin = FakeAdmin(moved={("orders", 1): ((4,), (2,))})
    orders = read(admin, Wanted(topics=("orders",))).topics[0]
    assert [(one.adding, one.removing) for one in orders.partitions] == [((), ()), ((4,), (2,))]


def test_a_silent_broker() -> None:
    admin = FakeAdmin()
    admin.brokers[2] = None
    admin.listed["audit-log"] = topic("audit-log", (1, 3))
    facts = read(admin, Wanted())
    assert [one.settings is None for one in facts.brokers] == [False, True, False]
    why, what = facts.unread
    assert why.startswith("broker 2 (kafka-2:9092) does not answer: broker 2: no answer within 10 s")
    assert what.startswith("broker 2 is silent, so its settings are unknown: topic orders, with replicas")


def test_a_broker_that_is_down() -> None:
    admin = FakeAdmin()
    del admin.brokers[3]
    (what,) = read(admin, Wanted()).unread
    assert what.startswith("broker 3 is down, so its settings are unknown: topics audit-log, orders, with replicas")


def test_only_silent_brokers() -> None:
    with pytest.raises(NoAnswer, match="no broker answers"):
        read(FakeAdmin(brokers=dict.fromkeys((1, 2, 3))), Wanted())
    with pytest.raises(NoAnswer, match="lists no broker that is up"):
        read(FakeAdmin(brokers={}), Wanted())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"brokers": {1: Refusal("CLUSTER_AUTHORIZATION_FAILED")}}, "broker 1: this user lacks a right.*--cluster"),
        (
            {"refused": {(TOPIC, "orders"): Refusal("TOPIC_AUTHORIZATION_FAILED")}},
            "topic orders: this user lacks a right, Describe and DescribeConfigs on the topic",
        ),
        (
            {"listed": {"orders": Refusal("TOPIC_AUTHORIZATION_FAILED")}},
            "topic orders: this user lacks a right.*--topic T",
        ),
        (
            {"groups": {"billing": Refusal("GROUP_AUTHORIZATION_FAILED")}},
            "group billing: this user lacks a right, Describe on the group",
        ),
        (
            {
                "groups": {"billing": CONSUMERS},
                "of_groups": {"billing": Refusal("GROUP_AUTHORIZATION_FAILED")},
            },
            "group billing: this user lacks a right",
        ),
    ],
)
def test_missing_rights(change: dict[str, object], words: str) -> None:
    admin = replace(FakeAdmin(), **change)  # type: ignore[arg-type]
    with pytest.raises(NoRights, match=words):
        read(admin, Wanted(topics=("orders",), groups=("billing",) if "groups" in change else ()))


def test_another_error_of_a_topic() -> None:
    admin = FakeAdmin(refused={(TOPIC, "orders"): Refusal("UNKNOWN_SERVER_ERROR")})
    with pytest.raises(NoAnswer, match="topic orders: the cluster answers UNKNOWN_SERVER_ERROR"):
        read(admin, Wanted())


def test_brokers_of_different_releases() -> None:
    older = Features(
        tuple(replace(one, most=21) if one.name == "metadata.version" else one for one in FEATURES.ones), 1
    )
    with pytest.raises(WrongChoice, match="brokers 1 and 3 support different features"):
        read(FakeAdmin(reported={3: older}), Wanted())


def test_levels_of_the_newest_epoch_count() -> None:
    newer = replace(with_level(FEATURES, "transaction.version", 1), epoch=43)
    assert read(FakeAdmin(reported={2: newer}), Wanted()).features == newer


def test_a_group() -> None:
    settings = (
        value_of(
            "consumer.session.timeout.ms",
            "50000",
            OF_GROUP,
            (Synonym(OF_GROUP, "consumer.session.timeout.ms", "50000"),),
        ),
        value_of("consumer.heartbeat.interval.ms", "5000", "DEFAULT_CONFIG"),
    )
    admin = FakeAdmin(groups={"billing": CONSUMERS}, offsets={"billing": ("orders",)}, of_groups={"billing": settings})
    facts = read(admin, Wanted(groups=("billing",)))
    assert [one.name for one in facts.topics] == ["orders"]
    (group,) = facts.groups
    assert (group.protocol, group.topics, group.settings) == ("consumer", ("orders",), settings[:1])


def test_groups_have_no_settings_without_the_feature() -> None:
    features = Features((Feature("metadata.version", 1, 21, 21),), 5)
    admin = FakeAdmin(
        reported=dict.fromkeys((1, 2, 3), features),
        groups={"billing": Coordinated("classic", "Stable", "range")},
        offsets={"billing": ("orders",)},
        of_groups={"billing": Refusal("INVALID_REQUEST")},
    )
    assert read(admin, Wanted(groups=("billing",))).groups[0].settings == ()


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (Refusal("GROUP_ID_NOT_FOUND"), "the cluster lists no such group, or not to this user"),
        (Coordinated("share", "Stable", ""), "is a group of the protocol share, which is not modelled"),
        (CONSUMERS, "has no committed offsets, so its topics are unknown; name them with --topic"),
    ],
)
def test_groups_that_cannot_be_checked(group: Coordinated | Refusal, words: str) -> None:
    with pytest.raises(WrongChoice, match=words):
        read(FakeAdmin(groups={"billing": group}), Wanted(groups=("billing",)))


def test_a_group_that_a_file_names_can_be_missing() -> None:
    assert not read(FakeAdmin(), Wanted(may_be_missing=("billing",))).groups
    refused = FakeAdmin(groups={"billing": Refusal("GROUP_AUTHORIZATION_FAILED")})
    with pytest.raises(NoRights, match="group billing"):
        read(refused, Wanted(may_be_missing=("billing",)))
    found = read(FakeAdmin(groups={"billing": CONSUMERS}), Wanted(may_be_missing=("billing",)))
    assert [one.name for one in found.groups] == ["billing"]
    assert len(found.topics) == 2
