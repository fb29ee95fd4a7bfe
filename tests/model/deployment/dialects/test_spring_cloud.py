"""Spring Cloud Stream: what Spring Boot says counts for its clients, and Kafka Streams has a binder of its own."""

from __future__ import annotations

import pytest

from proofka.model.deployment.dialects.client_names import SECRET
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.spring_cloud import NEWER, SPLIT
from tests.model.deployment.dialects.accounting import read_text, values

BINDINGS = """spring.cloud.stream.kafka.binder.brokers=a
spring.cloud.stream.bindings.pay-in-0.destination=orders
spring.cloud.stream.bindings.pay-in-0.group=g
spring.cloud.stream.bindings.pay-out-0.destination=paid
"""
STREAMS = """spring.cloud.stream:
  bindings:
    count-in-0: {destination: words}
    count-out-0: {destination: counts}
  kafka.streams:
    binder:
      applicationId: app
      brokers: a
      deserialization-exception-handler: logAndContinue
      configuration:
        processing.guarantee: exactly_once_v2
        commit.interval.ms: 100
      producerProperties:
        linger.ms: 7
    bindings:
      count-in-0.consumer.configuration: {max.poll.records: 5}
"""
SEVERAL = """spring.cloud.stream:
  bindings:
    pay-out-0: {destination: paid, binder: one}
  binders:
    one:
      type: kafka
      environment.spring.cloud.stream.kafka.binder: {brokers: a, required-acks: all}
    two:
      type: kafka
      environment.spring.cloud.stream.kafka.binder:
        {brokers: b, required-acks: 0, configuration: {sasl.jaas.config: hush, linger.ms: 1}}
"""


def test_boot_properties_rank_below_binder_properties_and_above_required_acks() -> None:
    boot = "spring.kafka.producer.acks=-1\nspring.kafka.producer.properties.linger.ms=5\n"
    text = BINDINGS + boot + "spring.kafka.consumer.isolation-level=read_committed\n"
    by_binder = "spring.cloud.stream.kafka.binder.required-acks=0\n"
    by_binder += "spring.cloud.stream.kafka.binder.producer-properties.linger.ms=6\n"
    for more, linger in (("", "5"), (by_binder, "6")):
        found = read_text(text + more, "application.properties")
        (writes,) = [one for one in found.components if one.name == "pay-out-0"]
        (reads,) = [one for one in found.components if one.name == "pay-in-0"]
        assert writes.settings["acks"].value == "-1" and writes.settings["linger.ms"].value == linger
        assert reads.settings["isolation.level"].value == "read_committed"


def test_the_binder_leaves_out_a_group_and_auto_commit_but_of_a_binding() -> None:
    binder = "spring.cloud.stream.kafka.binder.consumer-properties."
    text = BINDINGS + f"{binder}enable.auto.commit=true\n{binder}group.id=other\n"
    assert values(read_text(text, "application.properties"), Role.CONSUMER) == {
        "bootstrap.servers": "a",
        "enable.auto.commit": "false",
        "group.id": "g",
        "auto.offset.reset": "earliest",
    }
    own = "spring.cloud.stream.kafka.bindings.pay-in-0.consumer.configuration.enable.auto.commit=true\n"
    assert values(read_text(BINDINGS + own, "application.properties"), Role.CONSUMER)["enable.auto.commit"] == "true"


def test_a_note_where_the_release_of_the_binder_decides() -> None:
    assert NEWER in read_text(BINDINGS, "application.properties").notes
    said = BINDINGS + "spring.cloud.stream.kafka.binder.configuration.acks=all\n"
    assert NEWER not in read_text(said, "application.properties").notes


def test_bindings_of_streams_are_clients_of_streams() -> None:
    found = read_text(STREAMS, "application.yml")
    (reads,), (writes,) = found.by_role[Role.CONSUMER], found.by_role[Role.PRODUCER]
    assert reads.topics == ("words",) and writes.topics == ("counts",)
    assert reads.settings["group.id"].value == "app" and reads.settings["max.poll.records"].value == "5"
    assert reads.application["on_processing_error"].value == "skip" and reads.application["sink"].value == "kafka"
    assert writes.settings["transactional.id"].value == "app-TASK" and writes.settings["linger.ms"].value == "7"
    both = STREAMS + "  kafka.binder.brokers: a\n"
    assert SPLIT in read_text(both, "application.yml").notes


def test_the_environment_of_the_first_of_several_binders_is_read() -> None:
    found = read_text(SEVERAL, "application.yml")
    assert values(found, Role.PRODUCER)["acks"] == "all"
    assert [left.given.key.rpartition("binder.")[2] for left in found.rejected] == [
        "required-acks",
        "configuration.linger.ms",
    ]


K = "spring.cloud.stream.binders.k."
IN_K = f"{K}environment.spring.cloud.stream.kafka.binder."


def acks(text: str, name: str = "pay-out-0") -> str:
    """Return the acks of a binding beside these lines, in either order."""
    one, other = (_binding(order, name) for order in (BINDINGS + text, text + BINDINGS))
    assert one.settings["acks"].value == other.settings["acks"].value
    return one.settings["acks"].value


def _binding(text: str, name: str) -> Component:
    (found,) = [one for one in read_text(text, "application.properties").components if one.name == name]
    return found


def test_the_environment_of_a_binder_outranks_each_layer_outside() -> None:
    outside = "spring.cloud.stream.kafka.binder."
    assert acks(f"{outside}required-acks=all\n{IN_K}required-acks=0\n") == "0"
    assert acks(f"{IN_K}required-acks=0\n{outside}required-acks=all\n") == "0"
    assert acks(f"{IN_K}configuration.acks=0\n{outside}configuration.acks=all\n") == "0"
    assert acks(f"{IN_K}required-acks=0\n{outside}configuration.acks=all\n") == "all"
    own = "spring.cloud.stream.kafka.bindings.pay-out-0.producer.configuration.acks=0\n"
    assert acks(f"{IN_K}producer-properties.acks=all\n{own}") == "0"
    brackets = f"{K}environment[spring.cloud.stream.kafka.binder.required-acks]=0\n"
    assert acks(f"{brackets}{outside}required-acks=all\n") == "0"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("spring.cloud.stream.bindings.pay-out-0.binder=k\n", "all"),
        ("spring.cloud.stream.bindings.pay-out-0.binder=other\n", "1"),
        ("spring.cloud.stream.default-binder=k\n", "all"),
        ("spring.cloud.stream.default-binder=other\n", "1"),
        (f"{K}default-candidate=false\n", "1"),
        (f"{K}default-candidate=false\nspring.cloud.stream.bindings.pay-out-0.binder=k\n", "all"),
    ],
)
def test_the_environment_of_a_binder_is_for_its_bindings(more: str, expected: str) -> None:
    assert acks(f"{IN_K}required-acks=all\n{more}") == expected


def test_a_binder_that_inherits_nothing_is_not_followed() -> None:
    for value, lines in (("false", [5]), ("true", [])):
        found = read_text(f"{BINDINGS}{K}inherit-environment={value}\n{IN_K}brokers=b\n", "application.properties")
        assert [one.given.origin.line for one in found.rejected] == lines


@pytest.mark.parametrize("name", ["ack-mode=MANUAL", "enable-dlq=true", "start-offset=latest"])
def test_properties_of_a_second_binder_that_matter_are_rejected(name: str) -> None:
    second = f"spring.cloud.stream.binders.z.environment.spring.cloud.stream.kafka.bindings.pay-in-0.consumer.{name}\n"
    found = read_text(f"{BINDINGS}{IN_K}brokers=b\n{second}", "application.properties")
    assert [one.given.origin.line for one in found.rejected] == [6]


def test_the_ack_mode_of_boot_counts_where_the_binding_says_none() -> None:
    boot = "spring.kafka.listener.ack-mode=MANUAL\n"
    own = "spring.cloud.stream.kafka.bindings.pay-in-0.consumer.ack-mode=BATCH\n"
    old = "spring.cloud.stream.kafka.bindings.pay-in-0.consumer.auto-commit-offset=false\n"
    for more, commits in (("", True), (boot, False), (boot + own, True), (old, False), (old + own, True)):
        reads = _binding(BINDINGS + more, "pay-in-0")
        assert ("commit" in reads.application) is commits, more
    text = BINDINGS + old + "spring.kafka.listener.ack-mode=BATCH\n"
    assert "commit" not in _binding(text, "pay-in-0").application


def test_a_transactional_id_of_boot_as_it_is_counts_and_its_prefix_does_not() -> None:
    for key, counts in (("transaction-id-prefix", False), ("properties.transactional.id", True)):
        writes = _binding(f"{BINDINGS}spring.kafka.producer.{key}=t\n", "pay-out-0")
        assert ("transactional.id" in writes.settings) is counts


def test_each_choice_of_profiles_has_its_own_layers() -> None:
    text = """spring.cloud.stream:
  kafka.binder.required-acks: 0
  bindings: {pay-out-0: {destination: paid}}
---
spring.config.activate.on-profile: prod
spring.kafka.producer.acks: all
"""
    found = read_text(text, "application.yml")
    bindings = {one.profile: one.settings["acks"].value for one in found.components if one.name.startswith("pay")}
    assert bindings == {"": "0", "prod": "all"}


def test_clients_of_streams_are_of_their_profiles() -> None:
    text = f"{STREAMS}---\nspring.config.activate.on-profile: prod\n"
    text += "spring.cloud.stream.kafka.streams.binder.configuration.processing.guarantee: at_least_once\n"
    found = read_text(text, "application.yml")
    names = {(one.name, one.profile): "transactional.id" in one.settings for one in found.by_role[Role.PRODUCER]}
    assert names == {("streams.producer", ""): True, ("streams.producer (prod)", "prod"): False}


def test_of_spring_kafka_of_one_binder_only_keys_that_can_matter_are_rejected() -> None:
    boot = f"{K}environment.spring.kafka."
    text = f"{BINDINGS}{boot}bootstrap-servers=b\n{boot}properties.sasl.jaas.config=hush\n{boot}producer.acks=0\n"
    found = read_text(text, "application.properties")
    assert [one.given.origin.line for one in found.rejected] == [7]
    assert [one.reason for one in found.ignored if one.given.origin.line in (5, 6)] == ["names brokers", SECRET]


@pytest.mark.parametrize("group", ["", "spring.cloud.stream.bindings.pay-in-0.group=\n"])
def test_a_binding_without_a_group_is_rejected(group: str) -> None:
    text = BINDINGS.replace("spring.cloud.stream.bindings.pay-in-0.group=g\n", group)
    rejected = [(left.given.origin.line, left.reason) for left in read_text(text, "application.properties").rejected]
    assert len(rejected) == 1
    assert rejected[0][1].endswith("not modelled; set spring.cloud.stream.bindings.pay-in-0.group")
    assert read_text(BINDINGS, "application.properties").rejected == ()
