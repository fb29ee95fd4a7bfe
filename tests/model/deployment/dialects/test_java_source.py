"""Java programs: properties by string, constant and map; what Spring fills in; the clients in Scala."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.model.deployment.dialects import java_source
from proofka.model.deployment.dialects.component import Found, Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.java_keys import key_of
from proofka.model.deployment.errors import DeploymentError
from tests.model.deployment.dialects.accounting import read_text, values

NAME = "Java source"
SPRING = """package shop;

import org.apache.kafka.clients.producer.ProducerConfig;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;

class Orders {
  private static final String ACKS = "all";
  @Value("${shop.retries:3}")
  private int retries;

  @Bean
  public ProducerFactory<String, String> producerFactory() {
    Map<String, Object> config = new HashMap<>();
    config.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, System.getenv("BROKERS"));
    config.put(ProducerConfig.ACKS_CONFIG, ACKS);
    config.put(ProducerConfig.RETRIES_CONFIG, retries);
    config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 2 * 5_000);
    config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, Boolean.TRUE);
    config.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, StringSerializer.class);
    config.put(SaslConfigs.SASL_JAAS_CONFIG, "secret");
    if (fast) {
      config.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1);
    }
    return new DefaultKafkaProducerFactory<>(config);
  }

  public ConsumerFactory<String, String> consumerFactory() {
    return new DefaultKafkaConsumerFactory<>(consumerConfig());
  }

  private Map<String, Object> consumerConfig() {
    Map<String, Object> props = new HashMap<>();
    props.put("group.id", "g");
    props.put("isolation.level", IsolationLevel.READ_COMMITTED.toString().toLowerCase(Locale.ROOT));
    return props;
  }

  ConcurrentKafkaListenerContainerFactory<String, String> container() { return null; }
}
"""


def reasons(found: Found) -> dict[str, str]:
    """Return the reason for which each value is in no component."""
    return {one.given.key: one.reason for one in (*found.ignored, *found.rejected)}


def java(body: str) -> Found:
    """Return the content of a file with these lines in a method."""
    first = "import org.apache.kafka.clients.producer.*;\nclass A {\n void m(Properties given, boolean b) {\n"
    return read_text(f"{first}{body}\n }}\n}}\n", "A.java", dialect=NAME)


def test_properties_of_a_bean() -> None:
    found = read_text(SPRING, "Orders.java", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "acks": "all",
        "request.timeout.ms": "10000",
        "enable.idempotence": "true",
        "key.serializer": "StringSerializer",
    }
    assert {one.given.key: one.reason for one in found.rejected} == {
        "retries": "its value is not in this file: @Value retries",
        "max.in.flight.requests.per.connection": "is set only if fast",
    }
    assert set(reasons(found)) == {*(one.given.key for one in found.rejected), "bootstrap.servers", "sasl.jaas.config"}
    assert values(read_text(SPRING, "Orders.java", {"shop.retries": "9"}), Role.PRODUCER)["retries"] == "9"


def test_a_listener_container_commits() -> None:
    (consumer,) = read_text(SPRING, "Orders.java").by_role[Role.CONSUMER]
    assert {key: given.value for key, given in consumer.settings.items()} == {
        "group.id": "g",
        "isolation.level": "read_committed",
        "enable.auto.commit": "false",
    }
    assert consumer.settings["enable.auto.commit"].origin.kind == "rule"
    assert consumer.application["commit"].value == "after"


def test_maps_that_are_written_out() -> None:
    found = java('var p = new KafkaProducer<String, String>(Map.of("acks", "1", "retries", "0"));\nMap.of("a", "b");')
    assert values(found, Role.PRODUCER) == {"acks": "1", "retries": "0"} and len(found.components) == 1


def test_more_settings_from_others() -> None:
    found = java(
        'Properties a = new Properties();\na.put("acks", "0");\nProperties p = new Properties();\np.putAll(a);\n'
        'p.setProperty("retries", "1");\nnew KafkaProducer<>(p);'
    )
    assert values(found, Role.PRODUCER) == {"acks": "0", "retries": "1"} and len(found.components) == 1
    found = java('Properties p = new Properties();\np.putAll(given);\np.put("acks", "1");\nnew KafkaProducer<>(p);')
    assert values(found, Role.PRODUCER) == {"acks": "1"} and "settings" in reasons(found)


def test_settings_from_elsewhere_are_rejected() -> None:
    found = java("new KafkaProducer<>(given);")
    assert not values(found, Role.PRODUCER) and reasons(found) == {
        "settings": "its settings are not in this file: given"
    }


def test_the_last_put_wins_and_a_changing_name_is_unknown() -> None:
    found = java(
        'Properties p = new Properties();\np.put("acks", "0");\np.put("acks", "1");\nint n = 1;\nn = 2;\n'
        'p.put("retries", n);\nnew KafkaProducer<>(p);'
    )
    assert values(found, Role.PRODUCER) == {"acks": "1"}
    assert reasons(found)["retries"].endswith(": n") and "set again" in reasons(found)["acks"]


def test_the_first_clients_are_not_modelled() -> None:
    found = java(
        'Properties p = new Properties();\np.put("zookeeper.connect", "z");\np.put("auto.commit.enable", "false");'
    )
    assert not found.components and len(found.rejected) == 2
    found = java(
        'Properties p = new Properties();\np.put("request.required.acks", "1");\nnew Producer<>(new ProducerConfig(p));'
    )
    assert not found.components and "not modelled" in reasons(found)["request.required.acks"]


def test_kafka_streams_are_not_read_from_programs() -> None:
    found = java(
        'Properties p = new Properties();\np.put(StreamsConfig.APPLICATION_ID_CONFIG, "a");\n'
        'p.put("acks", "1");\nnew KafkaStreams(t, p);'
    )
    assert not found.components and all("Streams" in one.reason for one in found.rejected)


@pytest.mark.parametrize(
    ("constant", "key"),
    [
        ("ACKS_CONFIG", "acks"),
        ("MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION", "max.in.flight.requests.per.connection"),
        ("TRANSACTION_TIMEOUT_CONFIG", "transaction.timeout.ms"),
        ("AUTO_OFFSET_RESET_CONFIG", "auto.offset.reset"),
        ("RECEIVE_BUFFER_CONFIG", "receive.buffer.bytes"),
    ],
)
def test_constants(constant: str, key: str) -> None:
    assert key_of(constant) == key


def test_other_files_are_not_taken() -> None:
    assert not java_source.fits(Document("A.java", "import java.util.Properties;\n// org.apache.kafka.clients\n"))


def test_broken_files_are_one_line() -> None:
    with pytest.raises(DeploymentError, match=r"A\.java:4: is not valid Java"):
        java("int = = 3;")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nothing_but_an_error_of_ours(data: st.DataObject) -> None:
    at, to = sorted(data.draw(st.tuples(*[st.integers(60, len(SPRING))] * 2)))
    words = st.sampled_from(["config", " = ", "(", ")", "{", "}", "\n", "new ", '"', "Map.of(", ".put(", ":", ",", ";"])
    text = SPRING[:at] + "".join(data.draw(st.lists(words, max_size=6))) + SPRING[to:]
    try:
        java_source.read(Document("A.java", text), {})
    except DeploymentError as error:
        assert "\n" not in str(error)


def test_repeatedly_doubled_numbers_are_rejected_quickly() -> None:
    doubled = "".join(f"    int a{n} = a{n - 1} + a{n - 1};\n" for n in range(1, 40))
    made = "    Properties p = new Properties();\n    p.put(ProducerConfig.RETRIES_CONFIG, a39);\n"
    body = f"  void f() {{\n{doubled}{made}    new KafkaProducer<>(p);\n  }}\n"
    text = f"import org.apache.kafka.clients.producer.*;\nclass A {{\n{body}}}\n"
    assert [one.reason for one in read_text(text, "A.java").rejected] == ["its value is not in this file: a39"]


def test_flink_goes_by_its_checkpoints() -> None:
    puts = 'p.put(ConsumerConfig.GROUP_ID_CONFIG, "g");\n    p.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");'
    body = f"    Properties p = new Properties();\n    {puts}\n    env.addSource(new FlinkKafkaConsumer<>(T, s, p));\n"
    imports = "import org.apache.kafka.clients.consumer.ConsumerConfig;\n"
    found = read_text(f"{imports}class A {{\n  void f() {{\n{body}  }}\n}}\n", "A.java")
    assert not found.components
    assert {one.reason for one in found.rejected} == {
        "Flink's connector is not modelled: its commits follow its checkpoints"
    }
