"""Outputs put together: what holds for a topic, and every contradiction a reason."""

from __future__ import annotations

import pytest

from proofka.model.deployment.describe.cluster import Cluster, put_together
from proofka.model.deployment.describe.lines import DEFAULT, OWN
from proofka.model.deployment.describe.output import read_output
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.describe.printed import (
    CLUSTER_WIDE,
    STATIC,
    Values,
    every_setting,
    printed_all,
    printed_section,
    printed_topic,
)

MIN_ISR = "min.insync.replicas"
ON_TWO = [(1, 2), (2, 1)]


def cluster(*texts: str) -> Cluster:
    return put_together([read_output(text.encode(), f"{number}.txt") for number, text in enumerate(texts, start=1)])


def brokers(**values: Values) -> str:
    """Return brokers 1 and 2, each with its own settings."""
    return "".join(printed_all("broker", name.removeprefix("b"), set_ones) for name, set_ones in values.items())


def values(of: Cluster, topic: str = "orders") -> tuple[dict[str, str], dict[str, str]]:
    found = of.settings(topic)
    return tuple({key: given.value for key, given in part.items()} for part in (found.topic, found.broker))


def refusal(*texts: str, topic: str = "orders") -> str:
    with pytest.raises(DeploymentError) as caught:
        cluster(*texts).settings(topic)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_topics_alone_show_the_settings_that_were_set() -> None:
    found = cluster(printed_topic("orders", ON_TWO, {MIN_ISR: "2", "retention.ms": "5"}))
    expected = {"replication.factor": "2", "partitions": "2", MIN_ISR: "2", "retention.ms": "5"}
    assert values(found) == (expected, {})


def test_all_settings_of_a_topic_win() -> None:
    """Replicas in a line of another file make no difference; each setting keeps its place."""
    found = cluster(
        printed_all("topic", "orders", {MIN_ISR: ("2", CLUSTER_WIDE), "flush.messages": ("1", OWN)}),
        printed_topic("orders", ON_TWO, {MIN_ISR: "2", "flush.messages": "1"}),
        brokers(b1={MIN_ISR: ("2", CLUSTER_WIDE)}, b2={MIN_ISR: ("2", CLUSTER_WIDE)}),
    )
    topic, broker = values(found)
    assert (topic[MIN_ISR], topic["flush.messages"], topic["cleanup.policy"]) == ("2", "1", "delete")
    assert (broker[MIN_ISR], broker["log.flush.interval.messages"]) == ("2", "9223372036854775807")
    origin = found.settings("orders").topic[MIN_ISR].origin
    assert origin.file == "1.txt"
    assert printed_all("topic", "orders").splitlines()[origin.line - 1].startswith(f"  {MIN_ISR}=")


def test_brokers_stand_in_for_settings_that_a_topic_does_not_set() -> None:
    unclean = "unclean.leader.election.enable"
    set_ones = {unclean: ("true", STATIC)}
    topic, broker = values(
        cluster(printed_topic("orders", ON_TWO, {unclean: "true"}), brokers(b1=set_ones, b2=set_ones))
    )
    assert (topic[unclean], broker[unclean]) == ("true", "true")


def test_a_topic_may_outrank_brokers_that_disagree() -> None:
    of_brokers = brokers(b1={MIN_ISR: ("1", STATIC)}, b2={MIN_ISR: ("2", STATIC)})
    described = printed_topic("orders", ON_TWO, {MIN_ISR: "2"})
    for own in (
        printed_all("topic", "orders", {MIN_ISR: ("2", OWN)}),
        printed_section("Dynamic configs for topic orders are:", {MIN_ISR: ("2", OWN)}),
    ):
        assert values(cluster(described, of_brokers, own))[0][MIN_ISR] == "2"


def test_own_and_inherited_settings_of_a_topic_are_distinguished() -> None:
    """The tool without --all lists the topic's own settings; the topic's line lists those of its brokers too."""
    unclean = "unclean.leader.election.enable"
    texts = [
        printed_topic("orders", ON_TWO, {MIN_ISR: "2", unclean: "true"}),
        printed_section("Dynamic configs for topic orders are:", {MIN_ISR: ("2", OWN)}),
    ]
    topic, _ = values(cluster(*texts))
    assert (topic[MIN_ISR], topic[unclean]) == ("2", "true")
    assert f"{unclean}: is false by the brokers, but true at 1.txt:1" in refusal(*texts, brokers(b1={}, b2={}))


def test_brokers_that_disagree() -> None:
    """On what the topic does not set: named with all brokers; without a word where the values do not matter."""
    of_brokers = brokers(b1={MIN_ISR: ("1", STATIC)}, b2={MIN_ISR: ("2", STATIC)})
    described = printed_topic("orders", ON_TWO, {MIN_ISR: "2"})
    text = refusal(described, of_brokers, printed_all("topic", "orders", {MIN_ISR: ("2", STATIC)}))
    assert "min.insync.replicas: is 1 on broker 1 and 2 on broker 2, among the brokers that hold topic orders" in text
    assert text.startswith("2.txt:")
    assert "or give the topic its own value" in text
    assert "no output says whether the topic has its own value: add" in refusal(described, of_brokers)
    lag = brokers(b1={"replica.lag.time.max.ms": ("1000", STATIC)}, b2={})
    assert "replica.lag.time.max.ms: is 1000 on broker 1 and 30000 on broker 2" in refusal(described, lag)
    selector = brokers(b1={"replica.selector.class": ("x.RackAwareReplicaSelector", STATIC)}, b2={})
    assert "is x.RackAwareReplicaSelector on broker 1 and without a value on broker 2" in refusal(described, selector)
    factor = brokers(b1={"default.replication.factor": ("2", STATIC)}, b2={"default.replication.factor": ("3", STATIC)})
    assert values(cluster(printed_topic("orders", ON_TWO), factor))[0]["replication.factor"] == "2"
    racks = brokers(b1={"broker.rack": ("a", STATIC)}, b2={"broker.rack": ("b", STATIC)})
    assert values(cluster(printed_topic("orders", ON_TWO), racks))[1]["broker.rack"] == "a"


def test_only_brokers_that_hold_the_topic_matter() -> None:
    of_brokers = brokers(b1={}, b2={}, b3={MIN_ISR: ("2", STATIC)})
    described = printed_topic("orders", ON_TWO) + printed_topic("wide", [(1, 2, 3)])
    assert values(cluster(described, of_brokers))[1][MIN_ISR] == "1"
    assert "is 1 on broker 1, 2 and 2 on broker 3" in refusal(described, of_brokers, topic="wide")
    assert "whose settings are in no output (3)" in refusal(described, brokers(b1={}, b2={}), topic="wide")


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (
            [printed_topic("orders", ON_TWO, {MIN_ISR: "2"}), printed_all("topic", "orders", {MIN_ISR: ("1", OWN)})],
            "1.txt:1: min.insync.replicas: is 2 for topic orders, but 1 at 2.txt:",
        ),
        (
            [printed_topic("orders", ON_TWO, {"retention.ms": "2"}), printed_all("topic", "orders")],
            "retention.ms: is 2 for topic orders, but 604800000 at 2.txt:",
        ),
        (
            [
                printed_topic("orders", ON_TWO),
                brokers(b1={MIN_ISR: ("2", STATIC)}, b2={MIN_ISR: ("2", STATIC)}),
            ],
            "min.insync.replicas: is 2 by the brokers, but the default for topic orders",
        ),
        (
            [
                printed_topic("orders", ON_TWO, {MIN_ISR: "3"}),
                printed_all("topic", "orders", {MIN_ISR: ("3", STATIC)}),
                brokers(b1={MIN_ISR: ("2", STATIC)}, b2={MIN_ISR: ("2", STATIC)}),
            ],
            "min.insync.replicas: is 2 by the brokers, but 3 at 2.txt:",
        ),
        (
            [printed_topic("orders", ON_TWO), printed_topic("orders", [(1,)])],
            "2.txt:1: topic orders: is described diff",
        ),
        (
            [printed_topic("orders", ON_TWO), brokers(b1={}), brokers(b1={"node.id": ("9", STATIC)})],
            "3.txt:1: broker 1: is described differently at 2.txt:1",
        ),
        (
            [
                printed_section("Dynamic configs for topic orders are:", {MIN_ISR: ("2", OWN)}),
                printed_all("topic", "orders"),
            ],
            "min.insync.replicas: is 2 for topic orders, but 1 at 2.txt:",
        ),
    ],
)
def test_outputs_that_contradict_each_other(texts: list[str], words: str) -> None:
    assert words in refusal(*texts)
    assert "describe the cluster again" in refusal(*texts)


def test_the_same_twice_is_no_contradiction() -> None:
    texts = [printed_topic("orders", ON_TWO), printed_all("topic", "orders"), brokers(b1={}, b2={})]
    assert values(cluster(*texts, *texts)) == values(cluster(*texts))


@pytest.mark.parametrize("heading", ["Dynamic configs for broker 1 are:", "Configs for broker 1 are:"])
def test_brokers_without_their_files_settings_are_refused(heading: str) -> None:
    dynamic = printed_section(heading, {MIN_ISR: ("2", "DYNAMIC_BROKER_CONFIG")})
    assert "2.txt:1: broker 1: lists only settings that were changed while" in refusal(
        printed_topic("orders", ON_TWO), dynamic
    )
    whole = brokers(b1={MIN_ISR: ("2", "DYNAMIC_BROKER_CONFIG")}, b2={MIN_ISR: ("2", STATIC)})
    assert values(cluster(printed_topic("orders", ON_TWO, {MIN_ISR: "2"}), dynamic, whole))[1][MIN_ISR] == "2"


def test_cluster_wide_settings_alone_are_no_brokers() -> None:
    wide = printed_section("Default configs for brokers in the cluster are:", {MIN_ISR: ("2", CLUSTER_WIDE)})
    assert "describe them with --all" in refusal(printed_topic("orders", ON_TWO), wide)


@pytest.mark.parametrize(
    ("described", "words"),
    [
        (printed_topic("orders", [(1, 2), (1,)]), "1.txt:1: topic orders: not modelled yet: partitions with different"),
        (printed_topic("orders", ON_TWO).replace("Factor: 2", "Factor: 3"), "says ReplicationFactor 3, but each"),
        (
            printed_topic("orders", ON_TWO, release="3.6").replace(
                "Isr: 2,1", "Isr: 2,1\tAdding Replicas: 3\tRemoving Replicas: "
            ),
            "1.txt:3: topic orders: has a partition whose replicas are being moved",
        ),
        (
            printed_topic("orders", ON_TWO, release="3.6").replace("Configs: ", "Configs: \tMarkedForDeletion: true"),
            "del",
        ),
        (printed_all("topic", "orders"), "1.txt:1: topic orders: no output gives its number of replicas"),
        (printed_topic("order", ON_TWO), "no output describes a topic 'orders'; did you mean order?"),
    ],
)
def test_topics_of_which_nothing_can_be_said(described: str, words: str) -> None:
    assert words in refusal(described)


def test_eligible_leader_replicas_are_seen() -> None:
    described = printed_topic("orders", ON_TWO).replace("Elr: \t", "Elr: 2\t", 1)
    elr = cluster(described).settings("orders").elr
    assert elr is not None
    assert (elr.value, elr.origin.line) == ("on", 2)
    assert cluster(printed_topic("orders", ON_TWO)).settings("orders").elr is None


def test_names_are_those_of_topics_and_of_their_settings() -> None:
    texts = [printed_topic("b", ON_TWO), printed_all("topic", "a"), printed_all("broker", "1")]
    assert cluster(*texts).names() == ["a", "b"]


def test_defaults_are_those_that_are_printed() -> None:
    """The printed values of brokers are in force, independent of the named release."""
    printed = {**every_setting("topic"), "flush.messages": ("77", DEFAULT)}
    text = printed_section("All configs for topic orders are:", printed)
    assert values(cluster(printed_topic("orders", ON_TWO), text))[0]["flush.messages"] == "77"
