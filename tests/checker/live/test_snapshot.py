"""A snapshot: the same pipelines in memory and in a folder, and nothing secret in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.live.admin import Coordinated
from proofka.checker.live.asked import Asked
from proofka.checker.live.clients import client_file
from proofka.checker.live.errors import WrongChoice
from proofka.checker.live.facts import Synonym, value_of
from proofka.checker.live.snapshot import ABOUT, Snapshot, check_folder, write
from proofka.checker.source import Source
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.question import question
from tests.checker.live.fake_admin import (
    FEATURES,
    OF_GROUP,
    OWN,
    FakeAdmin,
    connect,
    topic,
    with_level,
)

SECRET = "hunter2"
SESSION = "consumer.session.timeout.ms"
PRODUCER = f"""# password={SECRET}
acks=all
sasl.jaas.config=x required \\
   password="{SECRET}";
schema.registry.url=https://alice:{SECRET}@registry

retries=3
"""


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> FakeAdmin:
    made = FakeAdmin()
    connect(monkeypatch, made)
    return made


def asked(**more: object) -> Asked:
    return replace(Asked("kafka:9092"), **more)  # type: ignore[arg-type]


def live(request: Asked) -> Sequence[Deployment | DeploymentError]:
    """Return the pipelines of a live check."""
    sought = Source(None, live=request).seek()
    assert sought is not None
    assert sought.described is not None
    return [one for _, _, one in sought.described.ones]


def written(request: Asked, folder: Path) -> Sequence[Deployment | DeploymentError]:
    """Return the pipelines of a check of the snapshot."""
    write(request.snapshot(), folder)
    sought = Source(folder).seek()
    assert sought is not None
    assert sought.described is not None
    return [one for _, _, one in sought.described.ones]


def settings(deployment: Deployment | DeploymentError) -> dict[str, str]:
    assert isinstance(deployment, Deployment), deployment
    return {f"{one.scope}.{one.key}": one.value for one in deployment.settings}


def meaning(deployment: Deployment | DeploymentError) -> object:
    assert isinstance(deployment, Deployment), deployment
    return deployment.name, question(deployment), deployment.require, settings(deployment)


def client(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_a_live_check_is_that_of_its_snapshot(admin: FakeAdmin, tmp_path: Path) -> None:
    admin.groups["billing"] = Coordinated("consumer", "Stable", "")
    admin.offsets["billing"] = ("orders",)
    admin.of_groups["billing"] = (value_of(SESSION, "50000", OF_GROUP, (Synonym(OF_GROUP, SESSION, "50000"),)),)
    producer = client(tmp_path, "p.properties", PRODUCER)
    request = asked(groups=("billing",), producer=producer)
    here, there = live(request), written(request, tmp_path / "snapshot")
    assert list(map(meaning, here)) == list(map(meaning, there))
    found = settings(here[0])
    assert found["topic.min.insync.replicas"] == "2"
    assert found["topic.replication.factor"] == "3"
    assert found["broker.release"] == "4.0"
    assert found["producer.retries"] == "3"
    assert found["consumer.group.protocol"] == "consumer"
    assert found["broker.group.consumer.session.timeout.ms"] == "50000"


def test_the_places_of_values(admin: FakeAdmin, tmp_path: Path) -> None:
    """A live check names the lines of the user's own file, also behind a secret that is left out."""
    producer = client(tmp_path, "p.properties", PRODUCER)
    (deployment,) = live(asked(topics=("orders",), producer=producer))
    assert isinstance(deployment, Deployment)
    places = {one.key: (one.origin.file, one.origin.line) for one in deployment.settings}
    assert places["retries"] == (str(producer), 7)
    assert places["min.insync.replicas"][0] == "kafka:9092/topic-configs.txt"


def test_secrets_are_nowhere(admin: FakeAdmin, tmp_path: Path) -> None:
    hidden = value_of("custom.license", SECRET, OWN, (Synonym(OWN, "custom.license", SECRET),), sensitive=True)
    first = admin.brokers[1]
    assert isinstance(first, tuple)
    admin.brokers[1] = (*first, hidden)
    config = client(
        tmp_path,
        "command.properties",
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config="
        f'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="{SECRET}";\n',
    )
    producer = client(tmp_path, "p.properties", PRODUCER)
    request = asked(command_config=config, producer=producer, consumer=producer)
    made = request.snapshot()
    write(made, tmp_path / "snapshot")
    texts = {file.name: file.read_text() for file in (tmp_path / "snapshot").iterdir()}
    assert "acks=all" in texts["producer.properties"]
    assert not [name for name, text in texts.items() if SECRET in text or "alice" in text]
    assert SECRET not in repr(made)
    assert SECRET not in repr(made.described())


def test_each_group_reads_its_topics(admin: FakeAdmin) -> None:
    admin.groups = {name: Coordinated("classic", "Stable", "range") for name in ("a", "b")}
    admin.offsets = {"a": ("audit-log", "orders"), "b": ("orders",)}

    def rows(request: Asked) -> list[tuple[str, str]]:
        return [(row["topic"], row["consumer"]) for row in request.snapshot().rows]

    assert rows(asked(groups=("a", "b"))) == [
        ("audit-log", "group-a.properties"),
        ("orders", "group-a.properties"),
        ("orders", "group-b.properties"),
    ]
    # The user's word on topics outranks the offsets: a new group has none.
    assert rows(asked(groups=("b",), topics=("audit-log",))) == [("audit-log", "group-b.properties")]


def test_names_of_groups_that_are_no_names_of_files(admin: FakeAdmin, tmp_path: Path) -> None:
    admin.groups = {name: Coordinated("classic", "Stable", "range") for name in ("../a", "b é=c")}
    request = asked(groups=("../a", "b é=c"), topics=("orders",))
    there = written(request, tmp_path / "snapshot")
    assert [settings(one)["consumer.group.id"] for one in there] == ["../a", "b é=c"]
    assert sorted(file.name for file in (tmp_path / "snapshot").glob("group-*")) == [
        "group-1.properties",
        "group-2.properties",
    ]
    assert list(map(meaning, live(request))) == list(map(meaning, there))


@pytest.mark.parametrize(
    ("text", "state", "words"),
    [
        ("group.id=other", "Stable", "c.properties:1 names another group"),
        ("group.protocol=classic", "Stable", "speaks the protocol consumer, but .* has group.protocol=classic;"),
        ("acks=all", "Stable", "has group.protocol=classic by default; correct the file"),
    ],
)
def test_files_that_contradict_a_group(text: str, state: str, words: str, admin: FakeAdmin, tmp_path: Path) -> None:
    admin.groups["billing"] = Coordinated("consumer", state, "")
    file = client(tmp_path, "c.properties", text)
    with pytest.raises(WrongChoice, match=words):
        asked(groups=("billing",), topics=("orders",), consumer=file).snapshot()


def test_an_empty_group_can_change_its_protocol(admin: FakeAdmin, tmp_path: Path) -> None:
    admin.groups["billing"] = Coordinated("classic", "Empty", "")
    file = client(tmp_path, "c.properties", "group.protocol=consumer\ngroup.id=billing\n")
    (deployment,) = live(asked(groups=("billing",), topics=("orders",), consumer=file))
    assert settings(deployment)["consumer.group.protocol"] == "consumer"


def test_the_settings_of_a_group_that_only_a_file_names(admin: FakeAdmin, tmp_path: Path) -> None:
    admin.groups["billing"] = Coordinated("consumer", "Stable", "")
    admin.of_groups["billing"] = (value_of(SESSION, "50000", OF_GROUP, (Synonym(OF_GROUP, SESSION, "50000"),)),)
    file = client(tmp_path, "c.properties", "group.protocol=consumer\ngroup.id=billing\n")
    (deployment,) = live(asked(topics=("orders",), consumer=file))
    assert settings(deployment)["broker.group.consumer.session.timeout.ms"] == "50000"


def test_levels_of_features(admin: FakeAdmin, tmp_path: Path) -> None:
    upgraded = with_level(with_level(FEATURES, "transaction.version", 1), "eligible.leader.replicas.version", 1)
    admin.reported = dict.fromkeys((1, 2, 3), upgraded)
    producer = client(tmp_path, "p.properties", "transactional.id=t\n")
    (deployment,) = live(asked(topics=("orders",), producer=producer))
    found = settings(deployment)
    assert found["broker.eligible.leader.replicas.version"] == "1"
    assert found["broker.transaction.version"] == "1"


def test_a_silent_broker_keeps_its_topics_from_a_check(admin: FakeAdmin, tmp_path: Path) -> None:
    admin.brokers[2] = None
    admin.listed["audit-log"] = topic("audit-log", (1, 3))
    request = asked()
    for found in (live(request), written(request, tmp_path / "snapshot")):
        checked, refused = found
        assert settings(checked)["topic.replication.factor"] == "2"
        assert isinstance(refused, DeploymentError)
        assert "has replicas on brokers whose settings are in no output (2)" in str(refused)
    about = json.loads((tmp_path / "snapshot" / ABOUT).read_text())
    assert [broker["read"] for broker in about["brokers"]] == [True, False, True]
    assert len(about["unread"]) == 2


def test_a_reassignment_is_refused(admin: FakeAdmin) -> None:
    admin.moved[("orders", 0)] = ((4,), ())
    (found,) = live(asked(topics=("orders",)))
    assert isinstance(found, DeploymentError)
    assert "whose replicas are being moved" in str(found)


def test_the_release_that_the_user_names(admin: FakeAdmin, tmp_path: Path) -> None:
    request = asked(topics=("orders",), kafka="4.0.1", clients="3.9")
    for deployment in (*live(request), *written(request, tmp_path / "snapshot")):
        found = settings(deployment)
        assert found["broker.release"] == "4.0.1"
        assert found["producer.client"] == found["consumer.client"] == "java 3.9"
    (refused,) = live(asked(topics=("orders",), kafka="3.9"))
    assert "is 3.9, but kafka:9092/features.txt:3 shows brokers of 4.0" in str(refused)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def snapshot(admin: FakeAdmin) -> Snapshot:
    return asked(topics=("orders",)).snapshot()


def test_writing(admin: FakeAdmin, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "snapshot"
    made = snapshot(admin)
    write(made, folder)
    assert names(folder) == ["brokers.txt", "features.txt", "pipelines.csv", ABOUT, "topic-configs.txt", "topics.txt"]
    admin.groups["billing"] = Coordinated("classic", "Stable", "range")
    write(asked(groups=("billing",), topics=("orders",)).snapshot(), folder)
    assert "group-billing.properties" in names(folder)
    write(made, folder)
    assert "group-billing.properties" not in names(folder)
    assert names(folder.parent) == ["snapshot"]


def test_folders_with_other_files_stay_as_they_are(admin: FakeAdmin, tmp_path: Path) -> None:
    other = tmp_path / "snapshot"
    other.mkdir()
    (other / "topics.txt").write_text("mine")
    with pytest.raises(WrongChoice, match=r"holds topics.txt, which is of no snapshot"):
        write(snapshot(admin), other)
    assert names(other) == ["topics.txt"]
    (other / ABOUT).write_text("{}")
    (other / "notes.md").write_text("mine")
    with pytest.raises(WrongChoice, match=r"holds notes.md"):
        check_folder(other)
    with pytest.raises(WrongChoice, match="is no folder"):
        check_folder(other / "notes.md")


def test_a_failed_write_leaves_the_earlier_snapshot(
    admin: FakeAdmin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "snapshot"
    write(snapshot(admin), folder)
    before = {file.name: file.read_text() for file in folder.iterdir()}

    def full(*arguments: object, **more: object) -> int:
        raise OSError(28, "No space left on device")

    made = snapshot(admin)
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        write(made, folder)
    monkeypatch.undo()
    assert {file.name: file.read_text() for file in folder.iterdir()} == before
    assert names(tmp_path) == ["snapshot"]


def test_a_copy_keeps_lines(tmp_path: Path) -> None:
    file = client_file("producer", client(tmp_path, "p.properties", PRODUCER))
    assert file.text.count("\n") == PRODUCER.count("\n")
    assert SECRET not in file.text
