"""Replays on real clusters with ZooKeeper: one of each way in which a leader changes its ISR."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.cluster.jars import jars_of, newest_patch
from proofka.checker.reproduction.session import replay_all
from proofka.properties.reproduced import REPRODUCED
from tests.checker.reproduction.deployments import plan_for

pytestmark = pytest.mark.cluster

DEPLOYMENT = """
kafka: "{release}"
topic: {{replicas: 3, min.insync.replicas: 2}}
producer: {{acks: 1}}
consumer: {{group.id: orders, enable.auto.commit: false}}
bounds: {{records: 1}}
assume: {{faults: {{total: 1, {fault}: 1}}}}
"""


@pytest.mark.parametrize(
    ("release", "fault"), [("2.8", "kill"), ("2.8", "cut-off"), ("2.6", "kill")], ids=lambda value: value
)
def test_a_leader_that_is_killed_or_cut_off_takes_a_record_with_it_that_acks_1_acknowledged(
    release: str, fault: str
) -> None:
    plan = plan_for(DEPLOYMENT.format(release=release, fault=fault), of_property="no-acked-loss")
    ((_, outcome),) = replay_all([plan], kafka_home=None, tell=lambda line: None, keep=False, kept=print)
    assert outcome.kind == REPRODUCED, outcome
    assert outcome.kafka.startswith(release)
    assert any("record 1 was reported as stored" in line for line in outcome.evidence)


def test_brokers_and_zookeeper_run_from_an_installation_of_kafka(tmp_path: Path) -> None:
    (tmp_path / "libs").mkdir()
    for jar in jars_of(newest_patch("2.8")):
        (tmp_path / "libs" / jar.name).symlink_to(jar)
    plan = plan_for(DEPLOYMENT.format(release="2.8", fault="kill"), of_property="no-acked-loss")
    ((_, outcome),) = replay_all([plan], kafka_home=tmp_path, tell=lambda line: None, keep=False, kept=print)
    assert outcome.kind == REPRODUCED, outcome
    assert outcome.kafka == newest_patch("2.8")
