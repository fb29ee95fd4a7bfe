"""A folder with a cluster and its clients: which deployments it holds, and why others are none."""

from __future__ import annotations

import pickle
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proofka.model.deployment import Deployment, DeploymentError, read_properties
from proofka.model.deployment.choices import Acks, Commit
from proofka.model.deployment.describe.described import DescribedCluster, read_cluster
from proofka.model.deployment.describe.folder import look_into
from tests.model.deployment.describe.printed import STATIC, printed_topic, write_cluster


def write(folder: Path, **files: str) -> Path:
    """Write files by their names, with / for __ and . for the last _."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/").replace("_", "-") + (".csv" if name == "pipelines" else ".properties"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def read(folder: Path) -> DescribedCluster:
    return read_cluster(folder, look_into(folder))


def chosen(folder: Path) -> list[tuple[str | None, ...]]:
    described = read(folder)
    return [tuple(described.chosen(index).values()) for index in range(len(described.pipelines))]


def refusal(folder: Path, index: int | None = None, kafka: str | None = "4.0") -> str:
    with pytest.raises(DeploymentError) as caught:
        described = read(folder)
        if index is not None:
            described.read(index, kafka)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{folder}/", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cluster(tmp_path / "prod")


def test_the_same_as_with_property_files(folder: Path, tmp_path: Path) -> None:
    """A pipeline is the same deployment as ``proofka check`` reads from files with the same settings."""
    write(folder, producer="acks=1\nretries=0", consumer="group.id=g\nenable.auto.commit=false")
    write(tmp_path, topic="replication.factor=3\nmin.insync.replicas=2\nretention.ms=1000")
    described = read(folder)
    index = [described.chosen(index)["topic"] for index in range(len(described.pipelines))].index("orders")
    overrides = {"commit": "before", "faults": "1"}
    by_files = read_properties(
        kafka="4.0",
        topic=tmp_path / "topic.properties",
        producer=folder / "producer.properties",
        consumer=folder / "consumer.properties",
        assume=overrides,
    )
    deployment = described.read(index, "4.0", overrides)
    assert meaning(deployment) == meaning(by_files)
    assert deployment.name == "orders:producer:consumer"
    origins = {setting.key: (setting.value, setting.origin) for setting in deployment.settings}
    value, origin = origins["min.insync.replicas"]
    assert (value, origin.kind, origin.file) == ("2", "file", str(folder / "topic-configs.txt"))
    assert origins["replication.factor"][1].file == str(folder / "topics.txt")
    assert origins["acks"][1].file == str(folder / "producer.properties")
    assert origins["release"][1].detail == "--kafka 4.0"


def meaning(deployment: Deployment) -> dict[str, object]:
    left_out = ("name", "settings", "ignored", "notes", "given")
    return {key: value for key, value in vars(deployment).items() if key not in left_out}


def test_every_setting_that_was_set_is_accounted_for(folder: Path) -> None:
    deployment = read(folder).read(1, "4.0")
    ignored = {(one.scope, one.key): one for one in deployment.ignored}
    assert ("topic", "retention.ms") not in ignored  # it is used
    assert deployment.durations.retention.least == 1_000
    assert ("broker", "node.id") in ignored


@pytest.mark.parametrize("release", ["3.3", "3.9", "4.0"])
def test_brokers_settings_reach_topics_that_set_nothing(tmp_path: Path, release: str) -> None:
    folder = tmp_path / "c"
    write_cluster(folder, brokers={"min.insync.replicas": ("2", STATIC)}, topics=False)
    text = (folder / "topics.txt").read_text()
    (folder / "topics.txt").write_text(text.replace("Configs: \n", "Configs: min.insync.replicas=2\n"))
    deployment = read(folder).read(0, release)
    assert (deployment.name, deployment.cluster.min_insync_replicas) == ("audit-log:defaults:defaults", 2)


def test_every_topic_with_every_client(folder: Path) -> None:
    write(folder, web_producer="acks=1", producers__batch="acks=all", consumers__billing="group.id=b")
    producers, billing = ["producers/batch.properties", "web-producer.properties"], "consumers/billing.properties"
    assert chosen(folder) == [(topic, one, billing) for topic in ("audit-log", "orders") for one in producers]
    described = read(folder)
    acks = [described.read(index, "4.0").producer.acks for index in range(4)]
    assert acks == [Acks.ALL, Acks.LEADER, Acks.ALL, Acks.LEADER]


def test_a_topic_with_clients_of_its_own(folder: Path) -> None:
    write(folder, producer="acks=1", orders__producer="acks=0", orders__a_consumer="", orders__b_consumer="")
    write(folder, orders__a_consumer="group.id=a", orders__b_consumer="group.id=b")
    assert chosen(folder) == [
        ("audit-log", "producer.properties", None),
        ("orders", "orders/producer.properties", "orders/a-consumer.properties"),
        ("orders", "orders/producer.properties", "orders/b-consumer.properties"),
    ]


def test_a_list_of_pipelines(folder: Path) -> None:
    """Says exactly what there is, also of Kafka's own topics, and what no tool prints."""
    write(folder, app__web="acks=1", app__billing="enable.auto.commit=false\ngroup.id=g")
    write(
        folder,
        pipelines="topic,producer,consumer,kafka,name,assume.commit,producer.on_send_error,label.team\n"
        "orders,app/web.properties,app/billing.properties,3.9,web,before,resend,payments\n"
        "\n"
        "__consumer_offsets,,,,,,,\n"
        "audit-log,app/web.properties,,4.0,,,,\n",
    )
    described = read(folder)
    assert (len(described.pipelines), described.pipelines.first) == (3, 2)
    first = described.read(0)
    assert (first.name, first.cluster.kafka, first.producer.acks, first.application.commit) == (
        "web",
        (3, 9, 0),
        Acks.LEADER,
        Commit.BEFORE,
    )
    assert str(first.application.on_send_error) == "resend"
    assert described.chosen(0) == {
        "topic": "orders",
        "producer": "app/web.properties",
        "consumer": "app/billing.properties",
        "label.team": "payments",
    }
    assert described.read(1, "4.0").cluster.compaction is not None
    assert described.read(2).name == "audit-log:app/web:defaults"
    assert pickle.loads(pickle.dumps(described)).read(0) == first


@pytest.mark.parametrize(
    ("row", "kafka", "words"),
    [
        ("orders,,,,", None, "pipelines.csv:2: has no release of the brokers, and no output tells it: add --kafka"),
        (
            "orders,,,3.9,",
            "4.0",
            "pipelines.csv:2: kafka: is 3.9 here, but the option --kafka gives 4.0; keep one of them",
        ),
        ("orders,,,9.9,", None, "pipelines.csv:2: kafka: no defaults are known for Kafka 9.9"),
        ("ordres,,,3.9,", None, "pipelines.csv:2: topic: no output describes a topic 'ordres'; did you mean orders?"),
        (",,,3.9,", None, "pipelines.csv:2: names no topic"),
        ("orders,,,3.9", None, "pipelines.csv:2: has more or fewer cells than the header"),
        ("orders,,,3.9,,", None, "pipelines.csv:2: has more or fewer cells than the header"),
        ("orders,gone.properties,,3.9,", None, "gone.properties: no such file"),
        ("orders,broken.properties,,3.9,", None, "broken.properties:1: has a malformed \\u escape"),
        ("orders,,,3.9,2", None, "pipelines.csv:2: min.insync.replicas: is given twice, also at topic-configs.txt:"),
    ],
)
def test_rows_that_are_no_deployment(folder: Path, row: str, kafka: str | None, words: str) -> None:
    write(folder, broken="acks=\\u00z", pipelines=f"topic,producer,consumer,kafka,topic.min.insync.replicas\n{row}\n")
    assert words in refusal(folder, 0, kafka)


def test_a_row_adds_to_its_clients(folder: Path) -> None:
    """A row adds settings that its clients' files do not have; it changes none that they have."""
    write(folder, web="retries=0", pipelines="topic,producer,kafka,producer.acks\norders,web.properties,4.0,1\n")
    assert (read(folder).read(0).producer.acks, read(folder).read(0).producer.retries) == (Acks.LEADER, 0)
    write(folder, web="acks=all")
    assert refusal(folder, 0, None) == "pipelines.csv:2: acks: is given twice, also at web.properties:1; keep one"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("producer,consumer\na,b\n", "pipelines.csv:1: has no column topic"),
        ("topic,kafka,kafka\n", "pipelines.csv:1: has two columns 'kafka'"),
        ('topic\n"orders\n', "pipelines.csv:2: is no CSV"),
        ("", "pipelines.csv: is empty"),
    ],
)
def test_lists_that_are_none(folder: Path, text: str, words: str) -> None:
    assert words in refusal(write(folder, pipelines=text))


def test_unknown_column_is_refused(folder: Path) -> None:
    text = refusal(write(folder, pipelines="topic,kafka,team\norders,4.0,payments\n"), 0)
    assert "pipelines.csv:2: team: unknown section" in text
    assert "label.team" in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("client", "client.properties: is neither a known producer nor a known consumer"),
        ("producer_consumer", "producer-consumer.properties: is neither a known producer"),
        ("order__producer", "order/producer.properties: is in a folder order, which is neither the name of a topic"),
        ("producers__producer_consumer", "producers/producer-consumer.properties: is neither a known producer"),
        ("clients__web", "clients/web.properties: is neither a known producer"),
    ],
)
def test_property_file_of_an_unknown_client_is_refused(folder: Path, name: str, words: str) -> None:
    assert words in refusal(write(folder, **{name: "acks=1"}))


def test_a_topic_of_that_name_is_no_role(tmp_path: Path) -> None:
    """Clients in the folder of a topic called producers are what their own names say."""
    (tmp_path / "topics.txt").write_text(printed_topic("producers", [(1,)]))
    assert "is neither a known producer" in refusal(write(tmp_path, producers__web="acks=1"))
    (tmp_path / "producers" / "web.properties").unlink()
    assert chosen(write(tmp_path, producers__web_consumer="group.id=g")) == [
        ("producers", None, "producers/web-consumer.properties")
    ]


def test_a_broken_client_spoils_only_its_own_pipelines(folder: Path) -> None:
    write(folder, orders__producer="acks=\\u00z", producer="acks=1", consumer="sasl.jaas.config=hunter2\nkey hunter2")
    assert refusal(folder, 1).startswith("orders/producer.properties:1: ")
    assert refusal(folder, 1) == refusal(folder, 1)
    described = read(folder)
    with pytest.raises(DeploymentError) as caught:
        described.read(0, "4.0")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("notes.txt", b"nothing here\n", "notes.txt:1: is no complete line of kafka-topics.sh"),
        ("empty.txt", b"", "empty.txt: is empty"),
        ("failed.log", b"Error while executing topic command : x\n", "failed.log:1: the tool failed here"),
        ("wide.txt", "Topic: a".encode("utf-16"), "wide.txt: is in UTF-16"),
        ("cut.out", printed_topic("cut", [(1,), (2,)]).encode()[:-40], "cut.out:"),
    ],
)
def test_texts_that_are_no_output(folder: Path, name: str, content: bytes, words: str) -> None:
    (folder / name).write_bytes(content)
    assert words in refusal(folder)


def test_other_files_are_not_read(folder: Path) -> None:
    before = chosen(folder)
    for name in ("README.md", "LICENSE", "dump.sh", ".hidden.txt", "data.json"):
        (folder / name).write_text("nothing here")
    (folder / ".git").mkdir()
    (folder / ".git" / "notes.txt").write_text("nothing here")
    assert chosen(folder) == before


def test_outputs_are_recognised_by_their_text_also_after_a_byte_order_mark(folder: Path) -> None:
    (folder / "more").mkdir()
    text = "SLF4J: x\r\n" + printed_topic("new", [(1, 2, 3)]).replace("\n", "\r\n")
    (folder / "more" / "dump").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert "new" in [topic for topic, _, _ in chosen(folder)]


def test_eligible_leader_replicas_are_on_unless_said_to_be_off(folder: Path) -> None:
    text = (folder / "topics.txt").read_text()
    (folder / "topics.txt").write_text(text.replace("Elr: \t", "Elr: 3\t", 1))
    assert read(folder).read(1, "4.0").cluster.eligible_leader_replicas
    assert not read(folder).read(1, "4.0", {"elr": "off"}).cluster.eligible_leader_replicas


def test_no_topic_at_all(tmp_path: Path) -> None:
    write(tmp_path, producer="acks=1")
    assert "has no topic: add the output of kafka-topics.sh --describe (found: 1 .properties file)" in refusal(tmp_path)


@given(st.binary(max_size=300) | st.text(alphabet='topic,producer\nkafka4.0"orders ', max_size=80))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_list_is_read_or_refused(folder: Path, text: str | bytes) -> None:
    (folder / "pipelines.csv").write_bytes(text if isinstance(text, bytes) else b"topic,kafka\n" + text.encode())
    with suppress(DeploymentError):
        described = read(folder)
        for index in range(len(described.pipelines)):
            with suppress(DeploymentError):
                assert isinstance(described.read(index), Deployment)
