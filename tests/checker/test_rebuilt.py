"""A deployment is built again from the settings that are printed of it, whoever's words they were in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.rebuilt import verify_settings
from proofka.checker.source import Source, narrowed
from proofka.checker.tampered import TamperedDocument
from proofka.model.deployment import from_document, read_deployment, to_document
from proofka.model.deployment.deployment import Deployment
from tests.checker.asking import EXAMPLES, deployment_of

SPRING = """\
spring:
  kafka:
    producer: {acks: 1}
    consumer: {group-id: orders, auto-offset-reset: earliest}
"""


def as_read(deployment: Deployment) -> Deployment:
    return from_document(json.loads(json.dumps(to_document(deployment))))


def comes_out(deployment: Deployment) -> None:
    lines, left_open = verify_settings(as_read(deployment))
    assert not left_open
    assert f"the {len(deployment.settings)} printed settings" in lines[0]


@pytest.mark.parametrize("file", sorted(EXAMPLES.rglob("*.yaml")), ids=lambda file: file.stem)
def test_examples(file: Path) -> None:
    if file.parent.name in ("audit", "policies"):
        pytest.skip("a matrix or a policy, and no deployment")
    for faults in (None, "0", "2", "any"):
        comes_out(narrowed(read_deployment(file), faults, None))


@pytest.mark.parametrize(
    "said",
    [
        'producer: {client: sarama, version: "1.40", settings: {Producer.RequiredAcks: WaitForAll}}\n'
        'consumer: {client: sarama, version: "1.40", settings: {Consumer.Offsets.Initial: OffsetOldest}}\n',
        "producer: {client: franz-go, settings: {RequiredAcks: AllISRAcks()}}\n",
        'producer: {client: kafka-go, version: "0.4.18", settings: {RequiredAcks: RequireOne}}\n',
        'broker: {zookeeper.connect: "z:2181"}\nproducer: {acks: 1}\n',
    ],
)
def test_words_of_clients_and_reasons_of_ignored_settings(said: str, tmp_path: Path) -> None:
    comes_out(deployment_of(f'kafka: "3.6"\n{said}', tmp_path))


def test_settings_of_frameworks(tmp_path: Path) -> None:
    """Spring's own settings are printed as rules, and were given all the same."""
    (tmp_path / "application.yml").write_text(SPRING, encoding="utf-8")
    sought = Source(tmp_path).seek()
    assert sought is not None
    assert sought.deployments
    for deployment in sought.deployments:
        comes_out(deployment)


@pytest.mark.parametrize(
    ("key", "value"),
    [("Producer.RequiredAcks", "0"), ("Consumer.Offsets.Initial", "latest"), ("client", "sarama 1.60")],
)
def test_other_words(key: str, value: str, tmp_path: Path) -> None:
    deployment = as_read(
        deployment_of(
            'kafka: "3.6"\nproducer: {client: sarama, version: "1.40", settings: {Producer.RequiredAcks: WaitForAll}}\n'
            'consumer: {client: sarama, version: "1.40", settings: {Consumer.Offsets.Initial: OffsetOldest}}\n',
            tmp_path,
        )
    )
    settings = tuple(replace(one, value=value) if one.key == key else one for one in deployment.settings)
    assert settings != deployment.settings
    try:
        _, left_open = verify_settings(replace(deployment, settings=settings))
    except TamperedDocument:
        return
    assert left_open
