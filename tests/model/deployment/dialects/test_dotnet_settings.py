"""``appsettings.json`` of .NET: properties with capitals, words of enumerations, and what is bound to nothing."""

from __future__ import annotations

from hypothesis import given, settings

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.dotnet_settings import DIALECT
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.recognising import dialect_of
from tests.model.deployment.dialects.accounting import read_text, unaccounted, values
from tests.model.deployment.dialects.mutations import near, only_complains

SETTINGS = """{
  "HttpClient": {"Retries": 3},
  // of the shop
  "Kafka": {
    "BootstrapServers": "a:9092",
    "SecurityProtocol": "SaslSsl",
    "Producer": {
      "Orders": {
        "Topic": "orders",
        "Acks": "Leader",
        "EnableIdempotence": false,
        "EnableDeliveryReports": "False",
        "RetryCount": 3
      }
    },
    "Consumer": {
      "BootstrapServers": "b:9092",
      "GroupId": "g",
      "AutoOffsetReset": "Earliest",
      "IsolationLevel": "ReadCommitted",
      "PartitionAssignmentStrategy": "CooperativeSticky",
      "EnableAutoCommit": true
    }
  }
}
"""


def test_properties_and_words_are_librdkafkas_with_the_shared_configuration() -> None:
    found = read_text(SETTINGS, "appsettings.json", dialect=DIALECT.name)
    assert values(found, Role.PRODUCER) == {
        "acks": "1",
        "enable.idempotence": "false",
        "bootstrap.servers": "a:9092",
        "security.protocol": "sasl_ssl",
    }
    assert values(found, Role.CONSUMER) == {
        "bootstrap.servers": "b:9092",
        "group.id": "g",
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        "partition.assignment.strategy": "cooperative-sticky",
        "enable.auto.commit": "true",
        "security.protocol": "sasl_ssl",
    }
    (producer,) = found.by_role[Role.PRODUCER]
    assert producer.topics == ("orders",) and producer.application["on_send_error"].value == "ignore"
    assert producer.client is not None and producer.client.value == "librdkafka"
    assert not found.rejected
    assert not unaccounted(values_of(Document("a.json", SETTINGS).json), found)


def test_a_section_of_settings_of_its_own_is_for_whom_its_settings_are() -> None:
    text = '{"KafkaSettings": {"BootstrapServers": "a", "GroupId": "g", "Topic": "t"}}'
    (consumer,) = read_text(text, "appsettings.json", dialect=DIALECT.name).components
    assert consumer.role is Role.CONSUMER and consumer.topics == ("t",)
    both = text.replace('"Topic"', '"Acks": "All", "Topic"')
    assert [one.role for one in read_text(both, "a.json").components] == [Role.PRODUCER, Role.CONSUMER]


def test_other_json_is_none() -> None:
    for text in ('{"Http": {"Retries": 3}}', '{"Bus": {"BootstrapServers": "a"}}', '{"BootstrapServers": ['):
        found = dialect_of(Document("appsettings.json", text))
        assert found is None or found.name != DIALECT.name


@settings(max_examples=50, deadline=None)
@given(near(SETTINGS))
def test_any_text_is_read_or_refused(text: str) -> None:
    only_complains(DIALECT, "appsettings.json", text)
