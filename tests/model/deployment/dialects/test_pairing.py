"""Pairing of components by topic, by file and by folder, and what only the user knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from proofka.model.deployment.dialects.component import Component, Found, Role
from proofka.model.deployment.dialects.finding import Findings
from proofka.model.deployment.dialects.pairing import pair
from proofka.model.deployment.given import Given
from proofka.model.deployment.setting import Origin


def one(role: Role, name: str, topics: tuple[str, ...] = (), profile: str = "", **settings: str) -> Component:
    given = {key: Given(key, value, Origin("file", "", "f", 1)) for key, value in settings.items()}
    return Component(role, name, given, topics, profile=profile)


def findings(**files: Iterable[Component]) -> Findings:
    """Return findings in files by name; a double underscore separates a folder."""
    found = tuple(Found(name.replace("__", "/"), "test", tuple(components)) for name, components in files.items())
    return Findings("", found, (), 0)


def names(*args: object, **kwargs: object) -> list[tuple[str | None, ...]]:
    paired = pair(*args, **kwargs)  # type: ignore[arg-type]
    return [
        tuple(None if placed is None else placed.component.name for placed in (one.producer, one.consumer, one.topic))
        for one in paired.pipelines
    ]


def test_single_producer_consumer_and_topic_are_one_pipeline_across_folders() -> None:
    found = findings(a=[one(Role.PRODUCER, "p")], b=[one(Role.CONSUMER, "c")], t=[one(Role.TOPIC, "orders")])
    assert names(found) == [("p", "c", "orders")]


def test_clients_of_one_file_go_together() -> None:
    services = {
        f"s{number}": [one(Role.PRODUCER, f"p{number}"), one(Role.CONSUMER, f"c{number}")] for number in range(3)
    }
    assert names(findings(**services)) == [(f"p{number}", f"c{number}", None) for number in range(3)]


def test_clients_of_one_folder_go_together() -> None:
    found = findings(
        x__p=[one(Role.PRODUCER, "p1")],
        x__c=[one(Role.CONSUMER, "c1")],
        y__p=[one(Role.PRODUCER, "p2")],
        y__c=[one(Role.CONSUMER, "c2")],
    )
    assert sorted(names(found), key=str) == [("p1", "c1", None), ("p2", "c2", None)]


def test_clients_that_name_a_topic_go_with_it() -> None:
    found = findings(
        a=[one(Role.PRODUCER, "p1", ("orders",)), one(Role.PRODUCER, "p2", ("bills",))],
        b=[one(Role.CONSUMER, "c", ("orders", "bills"))],
        t=[one(Role.TOPIC, "orders")],
    )
    assert names(found) == [("p2", "c", None), ("p1", "c", "orders")]


def test_a_client_that_may_go_with_several_topics_is_asked_for() -> None:
    found = findings(a=[one(Role.PRODUCER, "p")], t=[one(Role.TOPIC, "orders"), one(Role.TOPIC, "bills")])
    paired = pair(found)
    assert [(placed.component.name, "--topic" in reason) for placed, reason in paired.unpaired] == [("p", True)]
    assert names(found) == []  # with a producer of defaults these topics would be somebody else's
    assert names(found, "orders") == [("p", None, "orders")]


def test_profiles_do_not_mix() -> None:
    members = [one(role, f"{role} {profile}", profile=profile) for profile in ("", "prod") for role in list(Role)[:2]]
    assert names(findings(a=members)) == [("producer ", "consumer ", None), ("producer prod", "consumer prod", None)]


def test_brokers_that_are_set_up_alike_are_one_cluster() -> None:
    alike = [one(Role.BROKER, f"kafka{number}", **{"min.insync.replicas": "2"}) for number in range(3)]
    found = findings(a=[one(Role.PRODUCER, "p")], b=alike)
    assert len(pair(found).pipelines) == 1
    other = one(Role.BROKER, "other", **{"min.insync.replicas": "1"})
    assert len(pair(findings(a=[one(Role.PRODUCER, "p")], b=[*alike, other])).pipelines) == 2


def test_applications_of_one_file_do_not_mix() -> None:
    members = [one(role, f"{name}.{role}") for name in ("spring.kafka", "streams") for role in list(Role)[:2]]
    assert names(findings(a=members)) == [
        ("spring.kafka.producer", "spring.kafka.consumer", None),
        ("streams.producer", "streams.consumer", None),
    ]


def test_topics_and_brokers_go_with_the_nearest_clients() -> None:
    found = findings(
        deploy__staging__topic=[one(Role.TOPIC, "orders")],
        deploy__staging__kafka=[one(Role.BROKER, "s", acks="s")],
        deploy__prod__topic=[one(Role.TOPIC, "orders")],
        deploy__prod__kafka=[one(Role.BROKER, "p", acks="p")],
        app__producer=[one(Role.PRODUCER, "producer")],
    )
    pipelines = pair(found).pipelines
    places = [(p.topic.file if p.topic else "", p.brokers.file if p.brokers else "") for p in pipelines]
    assert places == [("deploy/staging/topic", "deploy/staging/kafka"), ("deploy/prod/topic", "deploy/prod/kafka")]


def test_client_of_one_profile_is_paired_with_clients_of_all_profiles() -> None:
    """A client that one profile changes is paired with one that no profile changes; no client is left out."""
    found = findings(a=[one(Role.PRODUCER, "p"), one(Role.PRODUCER, "p prod", profile="prod"), one(Role.CONSUMER, "c")])
    assert names(found) == [("p", "c", None), ("p prod", "c", None)]
    apart = findings(a=[one(Role.PRODUCER, "p")], b=[one(Role.CONSUMER, "c prod", profile="prod")])
    assert names(apart) == [("p", "c prod", None)]
    others = findings(a=[one(Role.PRODUCER, "p dev", profile="dev")], b=[one(Role.CONSUMER, "c prod", profile="prod")])
    assert names(others) == [("p dev", None, None), (None, "c prod", None)]


def test_every_client_is_in_a_pipeline() -> None:
    found = findings(
        a=[one(Role.PRODUCER, "p"), one(Role.CONSUMER, "c")], b=[one(Role.PRODUCER, "p prod", profile="prod")]
    )
    assert ("p prod", None, None) in names(found)


def test_clients_of_different_clusters_do_not_meet() -> None:
    east, west = (replace(one(role, role), talks_to=name) for role, name in zip(list(Role)[:2], "ew", strict=True))
    assert names(findings(a=[east, west])) == [("producer", None, None), (None, "consumer", None)]
