"""Conditions of the register on settings: a deployment that writes the setting so meets the condition."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from proofka.model.deployment import DeploymentError, read_deployment
from proofka.model.deployment.libraries import LIBRARIES
from proofka.properties.known_defects.conditions import is_met, values_of
from proofka.properties.known_defects.defect import Treatment, release_in_words
from proofka.properties.known_defects.register import register

READ_AT_LEAST = 100
"""Conditions for which some section of a deployment takes the setting; the others are about code or other programs."""


def written() -> Iterator[tuple[str, str, str, str]]:
    """Yield library, release, setting and value of each condition that asks a library's setting for one value."""
    for one in register():
        for condition in one.settings if one.product in LIBRARIES and one.treatment is Treatment.NOTED else ():
            key, equals, value = condition.partition("=")
            if equals and key[-1] not in "!<>" and value not in ("set", "unset"):
                yield one.product, release_in_words(one.affected.last), key, value


def deployments(folder: Path, library: str, release: str, key: str, value: str) -> Iterator[str]:
    """Yield for each section that takes the setting the condition that the deployment does not meet, or nothing."""
    for section in ("producer", "consumer"):
        path = folder / "deployment.yaml"
        text = f'kafka: "2.6"\n{section}: {{client: {library}, version: {release}, settings: {{{key}: {value}}}}}\n'
        path.write_text(text, encoding="utf-8")
        try:
            values = values_of(read_deployment(path))
        except DeploymentError:
            continue
        yield "" if is_met(f"{key}={value}", values) else f"{library} {section} {key}={value}"


def test_a_condition_is_met_where_the_setting_is_written_so(tmp_path: Path) -> None:
    found = [said for one in written() for said in deployments(tmp_path, *one)]
    assert len(found) >= READ_AT_LEAST
    assert not list(filter(None, found))


@pytest.mark.parametrize(
    ("library", "key", "value", "condition"),
    [
        ("sarama", "Consumer.Offsets.Initial", "OffsetNewest", "Consumer.Offsets.Initial=OffsetNewest"),
        ("sarama", "Consumer.IsolationLevel", "1", "Consumer.IsolationLevel=ReadCommitted"),
        ("kafka-go", "CommitInterval", "0", "CommitInterval=0"),
        ("kafka-go", "CommitInterval", "0s", "CommitInterval=0"),
        ("librdkafka", "enable.partition.eof", "t", "enable.partition.eof=true"),
        ("librdkafka", "auto.offset.reset", "end", "auto.offset.reset=latest"),
        ("kafka-python", "enable_auto_commit", "True", "enable_auto_commit=True"),
    ],
)
def test_texts_of_one_meaning(tmp_path: Path, library: str, key: str, value: str, condition: str) -> None:
    path = tmp_path / "deployment.yaml"
    text = f"consumer: {{client: {library}, settings: {{{key}: {value}}}}}\nproducer: {{client: java}}\n"
    path.write_text(f'kafka: "2.6"\n{text}', encoding="utf-8")
    values = values_of(read_deployment(path))
    assert condition.partition("=")[0] in values
    assert is_met(condition, values)


@pytest.mark.parametrize(
    ("library", "key"), [("sarama", "Producer.Compression"), ("kafkajs", "compression"), ("kafka-go", "Compression")]
)
def test_compression_by_number(tmp_path: Path, library: str, key: str) -> None:
    path = tmp_path / "deployment.yaml"
    for number, name in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
        path.write_text(
            f'kafka: "2.6"\nproducer: {{client: {library}, settings: {{{key}: {number}}}}}\n', encoding="utf-8"
        )
        values = values_of(read_deployment(path))
        assert values["compression.type"] == {name}
        assert is_met(f"{key}={name}", values)
