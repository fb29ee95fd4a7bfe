"""Files that are none of ours, and files that are made to break a reader: one line each, and soon."""

from __future__ import annotations

import csv
import os
import re
from importlib.resources import files
from pathlib import Path

import pytest

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.finding import find
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.source import LARGEST

SPRING = "spring.kafka.producer.acks=1\n"


def test_files_that_are_no_configuration_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_text(SPRING, encoding="utf-8")
    (tmp_path / "README.md").write_text("nothing", encoding="utf-8")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "b.properties").write_text(SPRING, encoding="utf-8")
    found = find(tmp_path, {})
    assert ([Path(one.file).name for one in found.found], found.others) == (["a.properties"], 1)


def test_a_bomb_of_aliases_is_refused(tmp_path: Path) -> None:
    lines = ["spring: {kafka: {producer: {acks: 1}}}", "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    (tmp_path / "application.yml").write_text("\n".join(lines), encoding="utf-8")
    (unread,) = find(tmp_path, {}).unread
    assert "values" in unread.reason


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    (tmp_path / "application.yml").write_text("a: " + "[" * 5000 + "]" * 5000, encoding="utf-8")
    with pytest.raises(DeploymentError):
        find(tmp_path / "application.yml", {})


@pytest.mark.parametrize(
    "name", ["application.yml", "producer.properties", "main.go", "main.tf", "a.json", "a.toml", "a.py"]
)
@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfea\0c\0k\0s\0=\x001\0",
        b"acks=1\0",
        b"\x80\x81\xfe\xff",
        b"a" * LARGEST,
        b"${" * 50_000,
        b"{" * 50_000,
        b"a:\n" * 50_000,
        b"\xef\xbb\xbfacks=1\n",
    ],
    ids=["utf-16", "nul", "no-utf-8", "long-line", "placeholders", "braces", "keys", "mark"],
)
def test_hostile_files_are_read_or_refused_in_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    try:
        found = find(path, {}).found[0]
    except DeploymentError as error:
        assert "\n" not in str(error)
    else:
        assert found.dialect


def test_files_that_are_too_large_are_not_opened(tmp_path: Path) -> None:
    with (tmp_path / "application.yml").open("wb") as large:
        large.truncate(100 * LARGEST)
    (tmp_path / "a.properties").write_text(SPRING, encoding="utf-8")
    (unread,) = find(tmp_path, {}).unread
    assert "is larger than" in unread.reason


def test_pipes_and_links_in_a_circle_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "application.yml")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone.yml").symlink_to(tmp_path / "nothing")
    (tmp_path / "a.properties").write_text(SPRING, encoding="utf-8")
    assert [Path(one.file).name for one in find(tmp_path, {}).found] == ["a.properties"]
    (unread,) = find(tmp_path, {}).unread
    assert (Path(unread.file).name, unread.reason) == ("application.yml", "is no regular file")
    assert find(tmp_path, {}).links == (str(tmp_path / "loop"),)


def test_a_broken_file_that_speaks_of_kafka_is_named_whatever_its_name_is(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("kafka:\n  acks: 0\n bad: [\n", encoding="utf-8")
    (tmp_path / "x.json").write_text('{"bootstrap.servers": "b", "acks": "0",, }', encoding="utf-8")
    (tmp_path / "other.yaml").write_text("a: [\n", encoding="utf-8")
    (tmp_path / "a.properties").write_text(SPRING, encoding="utf-8")
    found = find(tmp_path, {})
    assert {Path(one.file).name for one in found.unread} == {"settings.yaml", "x.json"}
    assert found.others == 1


def test_settings_of_a_topic_without_a_name_are_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "topic.properties").write_text("# ours\nmin.insync.replicas=2\n", encoding="utf-8")
    (tmp_path / "topics-of-ui.properties").write_text("page.size=2\n", encoding="utf-8")
    (tmp_path / "a.properties").write_text(SPRING, encoding="utf-8")
    found = find(tmp_path, {})
    (topic,) = (component for one in found.found for component in one.components if component.role is Role.TOPIC)
    assert (topic.name, topic.settings["min.insync.replicas"].origin.line) == ("", 2)
    assert (found.unread, found.others) == ((), 1)


def test_tests_by_a_build_tools_own_rules_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "src/test/resources").mkdir(parents=True)
    (tmp_path / "src/test/resources/a.properties").write_text(SPRING, encoding="utf-8")
    (tmp_path / "a.properties").write_text(SPRING, encoding="utf-8")
    assert [one.file for one in find(tmp_path, {}).found] == [str(tmp_path / "a.properties")]
    assert len(find(tmp_path / "src/test", {}).found) == 1  # whoever names it means it


def test_a_comment_in_another_encoding_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_bytes("# 生产者\nacks=1\nlinger.ms=5\n".encode("gb18030"))
    (found,) = find(tmp_path, {}).found
    assert found.by_role[Role.PRODUCER][0].settings["acks"].value == "1"
    assert any("not UTF-8" in note for note in found.notes)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("producer.properties", "acks=1\nmax.block.ms=\\uZZZZ\n", "has a malformed"),
        ("docker-compose.yml", "services:\n  kafka: [\n", "is not valid YAML"),
    ],
)
def test_unreadable_file_with_a_known_name_is_named(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (unread,) = find(tmp_path, {}).unread
    assert (Path(unread.file).name, why in unread.reason) == (name, True)


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("queue.rb", 'Kafka.new(["b:9092"], bootstrap_servers: "b:9092")', True),
        ("config.exs", "config :brod, kafka: [brokers: ['b:9092']]", True),
        ("channel.ini", "url = kafka://b:9092/orders", True),
        ("micronaut.yml", "kafka:\n  bootstrap:\n    servers: b:9092\n", True),
        ("README.md", "bootstrap.servers=b:9092", False),
        ("car.ini", "brokers: an estate agent", False),
        ("kafka.ini", "kafka = off", False),
    ],
)
def test_files_that_give_brokers_in_no_known_form_are_named(
    tmp_path: Path, name: str, text: str, *, named: bool
) -> None:
    (tmp_path / "a.properties").write_text(SPRING, encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = find(tmp_path, {})
    assert [mention.file for mention in found.mentioning] == ([str(tmp_path / name)] if named else [])
    assert found.others == 1


def test_a_folder_without_a_known_form_names_a_file(tmp_path: Path) -> None:
    (tmp_path / "queue.rb").write_text('bootstrap_servers: "b:9092"', encoding="utf-8")
    with pytest.raises(DeploymentError, match=r"queue\.rb mentions Kafka in no known form"):
        find(tmp_path, {})


OTHER_PRODUCTS = [
    ("application.yml", "kafka:\n  # in each environment\n  bootstrap:\n    servers: b:9092\n", "Micronaut"),
    ("application.properties", "micronaut.application.name=orders\n", "Micronaut"),
    ("Orders.java", "import io.vertx.kafka.client.producer.KafkaProducer;", "vert.x"),
    ("application.conf", "akka.kafka.producer { close-timeout = 60s }", "Akka or Pekko"),
    ("route.properties", "camel.component.kafka.brokers=b:9092", "Apache Camel"),
    ("Job.java", "import org.apache.flink.connector.kafka.source.KafkaSource;", "Apache Flink"),
    ("job.py", 'spark.readStream.format("kafka").load()', "Apache Spark"),
    ("debezium.conf", "debezium.sink.kafka.producer.acks=1", "Debezium Server"),
    ("consume.php", "$conf = new RdKafka\\Conf();", "PHP's rdkafka"),
    ("karafka.rb", "class KarafkaApp < Karafka::App", "Karafka"),
    ("send.rb", "Rdkafka::Config.new(config)", "rdkafka for Ruby"),
    ("main.rs", "use rdkafka::config::ClientConfig;", "rdkafka for Rust"),
    ("kafka.yaml", "data:\n  DEBEZIUM_SINK_KAFKA_PRODUCER_ACKS: '1'\n", "Debezium Server"),
    ("producer.xml", '<bean class="org.springframework.kafka.core.KafkaTemplate"/>', "Spring's XML"),
    ("output.conf", "output.kafka:\n  hosts: [b:9092]\n", "Beats"),
    ("Program.cs", "cluster => cluster.WithBrokers(new[] { brokers })", "KafkaFlow"),
    ("Send.cs", "var config = new ProducerConfig { Acks = Acks.All };", "Confluent's client for .NET"),
    ("send.c", 'rd_kafka_conf_set(conf, "acks", "1", error, 9);', "librdkafka for C"),
    ("burrow.toml", '[cluster.local]\nclass-name="kafka"\n', "Burrow"),
    ("redpanda.yaml", "redpanda:\n  kafka_api: []\n", "Redpanda"),
    ("hosts.yml", "kafka_broker:\n  hosts: {a: {}}\n", "Ansible for Confluent Platform"),
    ("install.sh", "helm install events bitnami/kafka --set replicaCount=1", "Helm's command line"),
    (
        "config.properties",
        "connector.class=io.debezium.X\noffset.storage=org.apache.kafka.connect.storage.FileOffsetBackingStore\n",
        "Debezium's engine",
    ),
    ("prod.tfvars", "kafka_replication_factor = 1", "Terraform's variables"),
    ("send.erl", 'ok = brod:start_client([{"b", 9092}], client).', "brod"),
]


@pytest.mark.parametrize(("name", "text", "product"), OTHER_PRODUCTS)
def test_a_file_of_another_product_is_named_with_the_product(
    tmp_path: Path, name: str, text: str, product: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DeploymentError, match=f"{re.escape(name)} is a file of {re.escape(product)}, "):
        find(tmp_path, {})
    with pytest.raises(DeploymentError, match=f"is a file of {re.escape(product)}, "):
        find(tmp_path / name, {})
    (tmp_path / "a.properties").write_text(SPRING, encoding="utf-8")
    (mention,) = find(tmp_path, {}).mentioning
    assert mention.product is not None and mention.product.name == product


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        (".env", "KAFKA_BROKERS=b:9092\n", "a file of variables"),
        ("config.yml", "kafka: {brokers: [b:9092]}\n", "a YAML file"),
        ("app.conf", 'kafka { bootstrap.servers = "b:9092" }', "a configuration"),
        ("Send.kt", 'props["bootstrap.servers"] = "b:9092"', "a Kotlin program"),
        ("send.pony", 'brokers = "kafka:9092"', "a file"),
    ],
)
def test_a_file_of_an_unknown_program_is_named_by_its_form(tmp_path: Path, name: str, text: str, form: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DeploymentError, match=f"it is {form}.*; write a deployment with the settings of its clients"):
        find(tmp_path / name, {})


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        (
            "consume.php",
            "$conf = new RdKafka\\Conf();",
            "a deployment with client: librdkafka (docs/deployment-format.md)",
        ),
        ("Orders.java", "import io.vertx.kafka.client.producer.KafkaProducer;", "files for --producer and --consumer"),
    ],
)
def test_settings_of_another_product_go_where_they_are_read_as_its_clients(
    tmp_path: Path, name: str, text: str, place: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DeploymentError, match=f"client in {re.escape(place)}"):
        find(tmp_path, {})


def test_a_logger_of_a_product_is_no_file_of_it(tmp_path: Path) -> None:
    (tmp_path / "logback.xml").write_text('<logger name="akka.kafka" level="INFO"/>', encoding="utf-8")
    with pytest.raises(DeploymentError, match=r"logback\.xml: is no known configuration of Kafka"):
        find(tmp_path / "logback.xml", {})


def test_every_product_has_a_file_that_shows_its_sign() -> None:
    table = files("proofka.model.deployment.dialects") / "tables" / "other_products.csv"
    rows = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    assert {row["product"] for row in rows} == {product for _, _, product in OTHER_PRODUCTS}


def test_a_manual_that_speaks_of_another_product_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Written with io.vertx.kafka.", encoding="utf-8")
    (tmp_path / "a.properties").write_text(SPRING, encoding="utf-8")
    assert find(tmp_path, {}).mentioning == ()
    with pytest.raises(DeploymentError, match=r"is no known configuration of Kafka; docs/dialects\.md lists the known"):
        find(tmp_path / "README.md", {})


def test_variables_of_terraform_are_named_unless_the_folder_has_the_files_that_declare_them(tmp_path: Path) -> None:
    (tmp_path / "terraform.tfvars").write_text("kafka_replicas = 1\n", encoding="utf-8")
    (tmp_path / "a.properties").write_text(SPRING, encoding="utf-8")
    assert len(find(tmp_path, {}).mentioning) == 1
    (tmp_path / "main.tf").write_text('variable "kafka_replicas" {}\n', encoding="utf-8")
    assert find(tmp_path, {}).mentioning == ()
