"""Possible changes to a deployment: every row of the table is a setting that the code reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proofka.model.deployment import DeploymentError, from_document, read_deployment, to_document
from proofka.model.deployment.changing import (
    Change,
    Unchangeable,
    brought,
    changed,
    changes_of,
    companions,
    lowered_from,
    strengthenings,
    turned,
    upgrades_of,
)
from proofka.model.deployment.choices import Acks, Commit, OnSendError
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import UnknownKeyError
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.question import question
from proofka.model.deployment.release import NEWEST


def deployment(folder: Path, text: str = "producer: {acks: 1}") -> Deployment:
    file = folder / "d.yaml"
    file.write_text(f'kafka: "4.0"\ntopic: {{replicas: 3}}\n{text}\n', encoding="utf-8")
    return read_deployment(file)


def find(words: str, library: str = "java") -> Change:
    return next(change for change in strengthenings() if str(change) == words and change.library in ("", library))


@pytest.mark.parametrize("change", strengthenings(), ids=str)
def test_every_change_is_of_settings_that_are_read(change: Change, tmp_path: Path) -> None:
    """Each change is applied, or refused for its value; its keys are known."""
    # Defaults of kafka-python 3.0 are not modelled: its producer is idempotent.
    version = ', version: "2.0"' if change.library == "kafka-python" else ""
    client = f"{{client: {change.library}{version}}}" if change.library else "{}"
    made = deployment(tmp_path, f"producer: {client}\nconsumer: {client}\n")
    try:
        assert changed(made, [change]).given is not None
    except UnknownKeyError:
        pytest.fail(f"{change}: nobody knows the key")
    except DeploymentError as error:
        assert str(error)


def test_rules_of_the_client_follow_a_change(tmp_path: Path) -> None:
    weak = deployment(tmp_path)
    assert (weak.producer.acks, weak.producer.idempotence) == (Acks.LEADER, False)
    strong = changed(weak, [find("producer.acks=all")])
    assert (strong.producer.acks, strong.producer.idempotence) == (Acks.ALL, True)  # acks=1 had switched it off
    both = changed(weak, [find("producer.acks=all"), find("producer.on_send_error=resend")])
    assert (both.producer.acks, both.application.on_send_error) == (Acks.ALL, OnSendError.RESEND)
    assert (weak.producer.acks, weak.application.on_send_error) == (Acks.LEADER, OnSendError.DROP)


@pytest.mark.parametrize("change", strengthenings(), ids=str)
def test_a_change_is_written_as_a_file_has_it(change: Change, tmp_path: Path) -> None:
    """A printed change can be put into a deployment, and has the same result as the change itself."""
    version = ', version: "2.0"' if change.library == "kafka-python" else ""
    client = f"client: {change.library}{version}" if change.library else ""
    sections = {"topic": "replicas: 3", "broker": "", "producer": client, "consumer": client}
    said = dict(sections)
    kafka = {"before": "4.0", "after": "4.0"}
    for part in str(change).split(" and "):
        place, _, value = part.partition("=")
        if place == "kafka":
            kafka = {"before": "3.5", "after": value}
            continue
        section, _, key = place.partition(".")
        said[section] = ", ".join(filter(None, [*said[section].split(", "), f"{key}: '{value}'"]))
    said["topic"] = said["topic"].replace("replicas: 3, replication.factor", "replication.factor")
    files = [tmp_path / "before.yaml", tmp_path / "after.yaml"]
    for file, words in zip(files, (sections, said), strict=True):
        text = "".join(f"{section}: {{{inner}}}\n" for section, inner in words.items())
        file.write_text(f'kafka: "{kafka[file.stem]}"\n{text}', encoding="utf-8")
    try:
        expected = changed(read_deployment(files[0]), [change])
    except DeploymentError:
        with pytest.raises(DeploymentError):
            read_deployment(files[1])
        return
    assert question(read_deployment(files[1])) == question(expected)


def test_change_names_its_consequences_with_their_rules(tmp_path: Path) -> None:
    weak = deployment(tmp_path)
    for words, expected in (
        ("producer.acks=all", ["producer.enable.idempotence=true (rule P12)"]),
        ("topic.min.insync.replicas=2", []),
        ("broker.elr=on", []),
        ("consumer.enable.auto.commit=false and consumer.commit=after", []),
    ):
        change = find(words)
        assert list(brought(weak, changed(weak, [change]), change)) == expected


def test_only_a_change_that_turns_a_verdict_is_to_blame(tmp_path: Path) -> None:
    change = find("consumer.enable.auto.commit=false and consumer.commit=after")
    by_hand = deployment(tmp_path, "consumer: {enable.auto.commit: false, commit: before}")
    assert turned(by_hand, changed(by_hand, [change]), change) == ("application.commit",)
    by_itself = deployment(tmp_path, "consumer: {enable.auto.commit: true}")
    assert "consumer.enable.auto.commit" in turned(by_itself, changed(by_itself, [change]), change)


def test_change_of_two_settings_is_one_change(tmp_path: Path) -> None:
    change = find("consumer.enable.auto.commit=false and consumer.commit=after")
    assert changed(deployment(tmp_path), [change]).application.commit is Commit.AFTER


def test_change_keeps_faults_bounds_and_name(tmp_path: Path) -> None:
    narrow = replace(deployment(tmp_path), faults=deployment(tmp_path).faults.up_to(1), name="mine")
    made = changed(narrow, [find("producer.acks=all")])
    assert (made.faults, made.name, made.require) == (narrow.faults, "mine", narrow.require)


def test_only_changes_that_make_a_difference_are_offered(tmp_path: Path) -> None:
    offered = {str(change) for change in changes_of(deployment(tmp_path, "producer: {acks: all}"))}
    assert "producer.acks=all" not in offered
    assert "topic.min.insync.replicas=2" in offered
    assert not any(words.startswith("producer.Producer.") for words in offered)
    sarama = {str(change) for change in changes_of(deployment(tmp_path, "producer: {client: sarama}"))}
    assert "producer.Producer.RequiredAcks=WaitForAll" in sarama
    assert "producer.acks=all" not in sarama


def test_a_change_refused_alone_is_tried_with_others(tmp_path: Path) -> None:
    made = deployment(tmp_path, "producer: {settings: {acks: 1, enable.idempotence: false}}")
    offered = changes_of(made)
    idempotence, acks = find("producer.enable.idempotence=true"), find("producer.acks=all")
    assert idempotence not in offered
    assert companions(made, offered)[idempotence] == [(acks,)]


def test_change_without_effect_alone_has_companions(tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text('kafka: "4.0"\ntopic: {replicas: 1}\nproducer: {acks: all}\n', encoding="utf-8")
    made = read_deployment(file)
    offered = changes_of(made)
    in_sync, three = find("topic.min.insync.replicas=2"), find("topic.replication.factor=3")
    assert in_sync not in offered
    found = companions(made, offered)
    assert found[in_sync] == [(three,)]
    assert not any(change.library not in ("", "java") for change in found)
    weak = deployment(tmp_path)
    idempotence = find("producer.enable.idempotence=true")
    assert idempotence not in companions(weak, changes_of(weak)), "acks=all alone switches it on"


def test_less_than_before_is_noticed(tmp_path: Path) -> None:
    in_sync, flight = find("topic.min.insync.replicas=2"), find("producer.max.in.flight.requests.per.connection=1")
    text = "\nbroker: {settings: {min.insync.replicas: 3}}"
    assert lowered_from(deployment(tmp_path, text), in_sync) == "3"
    assert lowered_from(deployment(tmp_path), in_sync) is None
    assert lowered_from(deployment(tmp_path), flight) is None, "fewer in flight is what it is meant for"
    forever = deployment(tmp_path, "broker: {settings: {log.retention.ms: -1}}")
    week = find("topic.retention.ms=604800000")
    assert lowered_from(forever, week) == "-1"
    assert lowered_from(forever, find("topic.retention.ms=-1")) is None
    hour = find("producer.message.timeout.ms=3600000", "librdkafka")
    for value, was in (("0", "0"), ("5000", None)):
        text = f"producer: {{client: librdkafka, settings: {{message.timeout.ms: {value}}}}}"
        assert lowered_from(deployment(tmp_path, text), hour) == was


def of_release(folder: Path, text: str, kafka: str) -> Deployment:
    file = folder / "old.yaml"
    file.write_text(f'kafka: "{kafka}"\ntopic: {{replicas: 3}}\n{text}\n', encoding="utf-8")
    return read_deployment(file)


TRANSACTIONS = "producer: {transactional.id: t}\nconsumer: {group.id: g, isolation.level: read_committed}"


def test_upgrade_changes_brokers_and_their_clients(tmp_path: Path) -> None:
    old = of_release(tmp_path, TRANSACTIONS, "3.5")
    offered = {str(change): change for change in upgrades_of(old)}
    new = changed(old, [offered["kafka=4.0"]])
    assert (new.cluster.kafka, new.client) == ((4, 0, 0), "java 4.0")
    assert new.producer.transactional is not None and new.producer.transactional.epoch_each
    assert not any(change.is_upgrade for change in changes_of(old)), "explanations try settings alone"
    assert min(change.cost for change in offered.values()) > 3 * max(
        c.cost for c in strengthenings() if not c.is_upgrade
    )


def test_clients_whose_release_is_named_are_upgraded_with_the_brokers(tmp_path: Path) -> None:
    version = "producer: {transactional.id: t, version: 3.5}\nconsumer: {group.id: g, version: 3.5}"
    old = of_release(tmp_path, version, "3.5")
    offered = {str(change): change for change in upgrades_of(old)}
    assert {"kafka=4.0", "kafka=4.0 and producer.version=4.0 and consumer.version=4.0"} <= set(offered)
    alone, both = (changed(old, [offered[words]]) for words in list(offered) if words.startswith("kafka=4.0"))
    assert (alone.client, both.client) == ("java 3.5", "java 4.0")


def test_one_client_is_upgraded_where_the_other_is_of_another_library(tmp_path: Path) -> None:
    old = "{client: librdkafka, version: 1.5, settings: {group.id: g, isolation.level: read_committed}}"
    mixed = of_release(tmp_path, f"producer: {{transactional.id: t}}\nconsumer: {old}", "4.0")
    assert "consumer.version=2.15" in map(str, upgrades_of(mixed))
    producer = "{client: librdkafka, version: 2.0, settings: {transactional.id: t}}"
    both = f"producer: {producer}\nconsumer: {old.replace('1.5', '2.0')}"
    alike = [str(one) for one in upgrades_of(of_release(tmp_path, both, "4.0"))]
    assert "producer.version=2.15 and consumer.version=2.15" in alike
    assert not {"producer.version=2.15", "consumer.version=2.15"} & set(alike)


def test_no_release_is_offered_that_is_older_or_changes_nothing(tmp_path: Path) -> None:
    newest = ".".join(map(str, NEWEST))
    assert upgrades_of(of_release(tmp_path, TRANSACTIONS, newest)) == []
    assert upgrades_of(of_release(tmp_path, "producer: {acks: 1}", "4.0")) == [], "broker.elr=on makes the same of it"
    zookeeper = "broker: {zookeeper.connect: z}"
    assert [str(c) for c in upgrades_of(of_release(tmp_path, zookeeper, "2.0"))] == ["kafka=3.9.1"], "4.0 has none"


def test_the_newest_releases_that_are_modelled_are_among_the_upgrades() -> None:
    told = {(c.library, value) for c in strengthenings() if c.is_upgrade for _, _, value in c.values}
    assert ("", ".".join(map(str, NEWEST))) in told
    for name, one in LIBRARIES.items():
        versions = {value for library, value in told if library == name}
        assert versions == ({".".join(map(str, one.newest))} if versions else set())


def test_a_change_that_needs_a_newer_release_is_tried_with_that_release(tmp_path: Path) -> None:
    old = of_release(tmp_path, f"broker: {{transaction.version: 0}}\n{TRANSACTIONS}", "3.5")
    upgrades = upgrades_of(old)
    version = find("broker.transaction.version=2")
    with_it = companions(old, [*changes_of(old), *upgrades])[version]
    assert ["kafka=4.0"] in [[str(one) for one in ones] for ones in with_it]


def test_a_setting_by_another_name_is_replaced(tmp_path: Path) -> None:
    text = "producer: {client: librdkafka, settings: {request.required.acks: 1}}"
    assert changed(deployment(tmp_path, text), [find("producer.acks=all", "librdkafka")]).producer.acks is Acks.ALL


def test_a_deployment_of_a_document_cannot_be_changed(tmp_path: Path) -> None:
    read = from_document(to_document(deployment(tmp_path)))
    assert question(read) == question(deployment(tmp_path))
    with pytest.raises(Unchangeable, match="name its original files"):
        changes_of(read)
