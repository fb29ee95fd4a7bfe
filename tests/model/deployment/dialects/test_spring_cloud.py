"""Spring Cloud Stream: what Spring Boot says counts for its clients, and Kafka Streams has a binder of its own."""

from __future__ import annotations

from model.deployment.dialects.component import Role
from model.deployment.dialects.spring_cloud import NEWER, SPLIT
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


def test_what_boot_says_is_under_what_the_binder_says_and_over_required_acks() -> None:
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
