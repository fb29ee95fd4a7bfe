"""A replay for each client library: its consumer crashes, and starts again where its group committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.cluster.launching import libraries
from proofka.checker.reproduction.session import replay_all
from proofka.properties.reproduced import REPRODUCED
from tests.checker.reproduction.deployments import plan_for

pytestmark = pytest.mark.cluster

DEPLOYMENTS = Path(__file__).parents[3] / "docs" / "conformance" / "deployments"


@pytest.mark.parametrize("library", sorted(set(libraries()) - {"java", "librdkafka"}))
def test_a_consumer_that_crashes_processes_a_record_again(library: str) -> None:
    text = (DEPLOYMENTS / f"{library}.yaml").read_text(encoding="utf-8")
    plan = plan_for(f"{text}assume: {{faults: {{total: 1, consumer-crash: 1}}}}\n", of_property="no-reprocessing")
    ((_, outcome),) = replay_all([plan], kafka_home=None, tell=lambda line: None, keep=False, kept=print)
    assert outcome.kind == REPRODUCED, outcome
    assert {client.split()[0] for client in outcome.clients} == {library}
