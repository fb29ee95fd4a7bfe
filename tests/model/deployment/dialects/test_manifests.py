"""Build files: which release of a client they set, and for which of the configurations around them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.model.deployment.dialects.finding import find
from proofka.model.deployment.dialects.judging import judge
from proofka.model.deployment.dialects.manifests import manifest_in
from proofka.model.deployment.dialects.pairing import pair

CLIENTS = "<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId>"
POM = """<?xml version="1.0"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>{boot}</version>
  </parent>
{rest}
</project>
"""


def releases(folder: Path, name: str, text: str) -> dict[str, tuple[str, int | None]]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    manifest = manifest_in(path)
    return {} if manifest is None else {key: (one.value, one.origin.line) for key, one in manifest.releases.items()}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("go.mod", "module x\n\nrequire github.com/IBM/sarama v1.43.2\n", {"sarama": ("1.43.2", 3)}),
        ("go.mod", "require (\n\tgithub.com/twmb/franz-go v1.18.0 // indirect\n)\n", {"franz-go": ("1.18.0", 2)}),
        (
            "go.mod",
            "require github.com/confluentinc/confluent-kafka-go/v2 v2.3.0\n",
            {"librdkafka": ("2.3.0", 1)},
        ),
        (
            "go.mod",
            "require github.com/IBM/sarama v1.43.2\nreplace github.com/IBM/sarama => github.com/IBM/sarama v1.45.0\n",
            {"sarama": ("1.45.0", 2)},
        ),
        (
            "go.mod",
            "require (\n\tgithub.com/IBM/sarama v1.43.2\n)\nreplace (\n\tgithub.com/IBM/sarama v1.43.2 => ../fork\n)\n",
            {"sarama": ("1.43.2", 2)},
        ),
        (
            "go.mod",
            "require github.com/IBM/sarama v1.43.2\nexclude (\n\tgithub.com/IBM/sarama v1.60.0\n)\n",
            {"sarama": ("1.43.2", 1)},
        ),
        (
            "pom.xml",
            POM.format(
                boot="9.9",
                rest=f"<dependencies>{CLIENTS}<version>[2.0,3.0)</version></dependency></dependencies>"
                f"<build><plugins><plugin><dependencies>{CLIENTS}<version>3.9.0</version></dependency></dependencies>"
                "</plugin></plugins></build>",
            ),
            {},
        ),
        (
            "pom.xml",
            POM.format(
                boot="9.9",
                rest=f"<dependencies>{CLIENTS}<version>2.3.0</version></dependency></dependencies>\n<dependencyManagement>"
                f"<dependencies>{CLIENTS}<version>3.9.0</version></dependency></dependencies></dependencyManagement>",
            ),
            {"java": ("2.3.0", 8)},
        ),
        ("requirements.txt", "flask\nconfluent-kafka[avro] == 2.3.0\n", {"librdkafka": ("2.3.0", 2)}),
        ("requirements-dev.txt", "confluent-kafka>=2.0,<3\n", {}),
        ("package.json", '{"dependencies": {\n"kafkajs": "^2.2.4"}}', {"kafkajs": ("2.2.4", 2)}),
        ("package.json", '{"dependencies": ["kafkajs"]}', {}),
        ("pom.xml", POM.format(boot="2.2.6.RELEASE", rest=""), {"java": ("2.3", 5)}),
        ("pom.xml", POM.format(boot="9.9", rest=""), {}),
        (
            "pom.xml",
            POM.format(boot="2.2.6", rest="<properties>\n<kafka.version>2.8.1</kafka.version></properties>"),
            {"java": ("2.8.1", 9)},
        ),
        ("pom.xml", "<project", {}),
        ("go.sum", "github.com/IBM/sarama v1.43.2", {}),
    ],
)
def test_build_file_gives_the_releases_of_clients(name: str, text: str, expected: object, tmp_path: Path) -> None:
    assert releases(tmp_path, name, text) == expected


def test_the_nearest_above_a_configuration_counts(tmp_path: Path) -> None:
    for folder, release in (("", "2.3.0"), ("a", "2.5.0"), ("b", "2.7.0")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "requirements.txt").write_text(f"confluent-kafka=={release}\n")
    for folder in ("a/src", "c"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "app.py").write_text(
            'from confluent_kafka import Producer\nProducer({"bootstrap.servers": "b", "acks": "1"})\n'
        )
    found = {one.file.removeprefix(str(tmp_path)): one.components[0].version for one in find(tmp_path, {}).found}
    assert {file: one and one.value for file, one in found.items()} == {"/a/src/app.py": "2.5.0", "/c/app.py": "2.3.0"}


@settings(max_examples=50)
@given(st.sampled_from(["go.mod", "package.json", "pom.xml", "requirements.txt"]), st.binary(max_size=200))
def test_no_build_file_is_refused(tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes) -> None:
    path = tmp_path_factory.mktemp("m") / name
    path.write_bytes(content)
    manifest_in(path)


@pytest.mark.parametrize(
    ("path", "module", "client"),
    [
        ("github.com/confluentinc/confluent-kafka-go/kafka", "", "librdkafka 1.9.2"),
        ("github.com/confluentinc/confluent-kafka-go/kafka", "v1.4.2", "librdkafka 1.4.2"),
        ("github.com/confluentinc/confluent-kafka-go/v2/kafka", "", "librdkafka 2."),
    ],
)
def test_an_import_path_of_old_releases_limits_the_release_that_is_assumed(
    tmp_path: Path, path: str, module: str, client: str
) -> None:
    program = f'package a\nimport "{path}"\nfunc f() {{ kafka.NewProducer(&kafka.ConfigMap{{"acks": "1"}}) }}\n'
    (tmp_path / "a.go").write_text(program, encoding="utf-8")
    if module:
        (tmp_path / "go.mod").write_text(f"require {path.removesuffix('/kafka')} {module}\n", encoding="utf-8")
    (pipeline,) = pair(find(tmp_path, {})).pipelines
    deployment = judge(pipeline).deployment
    assert deployment is not None
    said = {one.key: one for one in deployment.settings if one.scope == "producer"}["client"]
    assert said.value.startswith(client)
    assert said.origin.kind == ("file" if module else "assumption")
