"""sarama's fields in YAML and JSON."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.document import Document
from proofka.model.deployment.dialects.finding import Findings
from proofka.model.deployment.dialects.formats.yaml import values_of
from proofka.model.deployment.dialects.judging import judge
from proofka.model.deployment.dialects.pairing import pair
from proofka.model.deployment.dialects.sarama_maps import DIALECT, NAME
from tests.model.deployment.dialects.accounting import read_text, unaccounted, values
from tests.model.deployment.dialects.mutations import nearly, only_complains

NESTED = """\
log: {level: info}
kafka_client:
  version: 2.8.0
  producer:
    required_acks: WaitForAll
    retry: {max: 5, backoff: 200ms}
    return: {successes: true}
  Consumer:
    Offsets: {Initial: OffsetOldest, AutoCommit: {Enable: false}}
    Group: {Session: {Timeout: 20000000000}}
"""


def test_nested_names_in_any_case() -> None:
    found = read_text(NESTED, "config.yaml", dialect=NAME)
    assert values(found, Role.PRODUCER) == {
        "Version": "2.8.0",
        "Producer.RequiredAcks": "WaitForAll",
        "Producer.Retry.Max": "5",
        "Producer.Retry.Backoff": "200ms",
        "Producer.Return.Successes": "true",
    }
    assert values(found, Role.CONSUMER)["Consumer.Group.Session.Timeout"] == "20000000000ns"
    assert [one.client.value for one in found.components if one.client is not None] == ["sarama", "sarama"]
    assert not unaccounted([said for node in Document("a.yaml", NESTED).yaml for said in values_of(node)], found)


def test_map_of_sarama_is_built_by_the_rules_of_sarama() -> None:
    found = read_text(NESTED, "config.yaml", dialect=NAME)
    (pipeline,) = pair(Findings("", (found,), (), 0)).pipelines
    deployment = judge(pipeline).deployment
    assert deployment is not None
    assert deployment.durations.consumer_session.most == 20_000
    text = '{"Producer.Idempotent": true, "Producer.RequiredAcks": "WaitForLocal", "Net.MaxOpenRequests": 1}'
    (refused,) = pair(Findings("", (read_text(text, "a.json", dialect=NAME),), (), 0)).pipelines
    assert any("ConfigurationError" in str(problem) for problem in judge(refused).problems)


@pytest.mark.parametrize("text", ["producer: {retry: {max: 3}}\n", "producer: {acks: all}\nretry: {max: 3}\n"])
def test_names_that_others_have_as_well_are_not_enough(text: str) -> None:
    assert not DIALECT.fits(Document("config.yaml", text))


@settings(max_examples=60, deadline=None)
@given(nearly(NESTED))
def test_any_text_is_read_or_refused(text: str) -> None:
    only_complains(DIALECT, "config.yaml", text)
