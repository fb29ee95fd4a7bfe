"""The release of a cluster and the levels of its features, as outputs of Kafka's tools tell them."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.model.deployment import Deployment, DeploymentError
from proofka.model.deployment.describe.described import read_cluster
from proofka.model.deployment.describe.folder import look_into
from proofka.model.deployment.describe.lines import FeatureLine, read_line
from proofka.model.deployment.describe.output import read_output
from tests.model.deployment.describe.printed import STATIC, write_cluster

PROTOCOL = "inter.broker.protocol.version"
METADATA = (
    "Feature: metadata.version\tSupportedMinVersion: 3.0-IV1\tSupportedMaxVersion: {most}\tFinalizedVersionLevel: "
    "{level}\tEpoch: 7"
)
GROUPS = "Feature: group.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\tFinalizedVersionLevel: {}\tEpoch: 7"
KRAFT = {"process.roles": ("broker", STATIC)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cluster(tmp_path / "prod", brokers=KRAFT)


def metadata(most: str, level: str | None = None) -> str:
    return METADATA.format(most=most, level=level or most)


def read(folder: Path, *features: str, kafka: str | None = None, **clients: str) -> Deployment:
    if features:
        (folder / "features.txt").write_text("".join(f"{line}\n" for line in features))
    for name, text in clients.items():
        (folder / f"{name}.properties").write_text(text)
    described = read_cluster(folder, look_into(folder))
    return described.read(len(described.pipelines) - 1, kafka)


def refusal(folder: Path, *features: str, kafka: str | None = None, **clients: str) -> str:
    with pytest.raises(DeploymentError) as caught:
        read(folder, *features, kafka=kafka, **clients)
    return str(caught.value).replace(f"{folder}/", "")


def value(deployment: Deployment, key: str) -> str:
    return next(one.value for one in deployment.settings if one.key == key)


def test_the_release_of_the_brokers(folder: Path) -> None:
    deployment = read(folder, metadata("4.0-IV3"))
    release = next(one for one in deployment.settings if one.key == "release")
    assert (release.value, release.origin.file, release.origin.line) == ("4.0", str(folder / "features.txt"), 1)
    assert value(read(folder, kafka="4.0.1"), "release") == "4.0.1"


def test_the_release_by_the_protocol_between_brokers(tmp_path: Path) -> None:
    """Up to 3.9 the default of the protocol names the release, also below a value that somebody set."""
    folder = write_cluster(tmp_path / "old")
    brokers = folder / "brokers.txt"
    lines = [text for text in brokers.read_text().splitlines() if PROTOCOL not in text]
    told = (
        f"  {PROTOCOL}=3.2-IV0 sensitive=false synonyms={{{STATIC}:{PROTOCOL}=3.2-IV0, DEFAULT_CONFIG:{PROTOCOL}=%s}}"
    )

    def write(of_second: str) -> None:
        given = {1: "3.9-IV0", 2: of_second, 3: "3.9-IV0"}
        after = {f"All configs for broker {number} are:": told % newest for number, newest in given.items()}
        brokers.write_text("".join(f"{text}\n{after[text]}\n" if text in after else f"{text}\n" for text in lines))

    write("3.9-IV0")
    assert value(read(folder), "release") == "3.9"
    write("3.8-IV0")
    assert "the brokers are of different releases: 3.9 at" in refusal(folder)


def test_no_release(folder: Path) -> None:
    assert "has no release of the brokers, and no output tells it: add --kafka" in refusal(folder)


def test_a_release_of_another_line_is_refused(folder: Path) -> None:
    said = refusal(folder, metadata("4.0-IV3"), kafka="4.1")
    assert said.startswith("--kafka 4.1: is 4.1, but features.txt:1 shows brokers of 4.0")


def test_a_release_that_is_not_known(folder: Path) -> None:
    assert "no defaults are known for Kafka 9.9" in refusal(folder, metadata("9.9-IV0"))


@pytest.mark.parametrize(
    ("most", "level", "words"),
    [
        ("4.0-IV3", "3.4-IV0", "metadata.version: is 3.4-IV0, with which a replica that lost its log"),
        ("3.9-IV0", "3.5-IV0", "the model assumes 3.5-IV1 or later for brokers of 3.9: raise it"),
        ("3.4-IV0", "3.3-IV2", "with which a broker that is being stopped can join the ISR again (KIP-841)"),
    ],
)
def test_an_old_metadata_version_is_refused(most: str, level: str, words: str, folder: Path) -> None:
    """The model assumes the metadata.version of the release; a cluster that is upgraded can keep an older one."""
    assert words in refusal(folder, metadata(most, level))


@pytest.mark.parametrize(("most", "level"), [("4.0-IV3", "3.5-IV1"), ("3.4-IV0", "3.3-IV3"), ("3.9-IV0", "0")])
def test_a_metadata_version_that_suffices(most: str, level: str, folder: Path) -> None:
    assert read(folder, metadata(most, level))


def test_groups_of_the_brokers_need_their_feature(folder: Path) -> None:
    consumer = "group.protocol=consumer\ngroup.id=g"
    assert read(folder, metadata("4.0-IV3"), GROUPS.format(1), consumer=consumer)
    said = refusal(folder, metadata("4.0-IV3"), GROUPS.format(0), consumer=consumer)
    assert said.startswith("consumer.properties:1: group.protocol: needs group.version=1")
    assert "needs group.version=1" in refusal(folder, metadata("4.0-IV3"), consumer=consumer)
    assert read(folder, metadata("4.0-IV3"), GROUPS.format(0), consumer="group.id=g")


def test_features_that_are_not_listed_are_off(folder: Path) -> None:
    deployment = read(folder, metadata("4.1-IV1"))
    assert value(deployment, "eligible.leader.replicas.version") == "0"
    assert not [note for note in deployment.notes if "eligible leader replicas" in note]


def test_a_group_has_settings_of_its_own(folder: Path) -> None:
    (folder / "groups.txt").write_text(
        "Dynamic configs for group g are:\n"
        "  consumer.session.timeout.ms=50000 sensitive=false "
        "synonyms={DYNAMIC_GROUP_CONFIG:consumer.session.timeout.ms=50000}\n"
    )
    features = (metadata("4.0-IV3"), GROUPS.format(1))
    own = read(folder, *features, consumer="group.protocol=consumer\ngroup.id=g")
    assert value(own, "group.consumer.session.timeout.ms") == "50000"
    assert not [note for note in own.notes if "of its own" in note]
    other = read(folder, *features, consumer="group.protocol=consumer\ngroup.id=h")
    assert value(other, "group.consumer.session.timeout.ms") == "45000"
    assert [note for note in other.notes if "of its own" in note]


def test_lines() -> None:
    assert read_line(metadata("4.0-IV3")) == FeatureLine("metadata.version", "4.0-IV3", "4.0-IV3")
    assert read_line(metadata("4.0-IV3").replace("\t", "  ")) == FeatureLine("metadata.version", "4.0-IV3", "4.0-IV3")
    with pytest.raises(DeploymentError, match=r"features.txt:1: is no complete line"):
        read_output(metadata("4.0-IV3")[:-8].encode(), "features.txt")
    with pytest.raises(DeploymentError, match=r"features.txt:2: metadata.version: is listed twice"):
        read_output(f"{metadata('4.0-IV3')}\n{metadata('4.0-IV3')}\n".encode(), "features.txt")
