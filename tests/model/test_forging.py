"""A client that fetches in the name of a follower: which brokers believe it, and what comes of that (6.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.model.deployment import Deployment, read_deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.truncation import Truncation
from proofka.model.faults import Fault
from tests.checker.asking import example
from tests.deployments import changed
from tests.model.scripted import BOUNDS, Scenario

AUTHORIZED = "broker: {authorizer.class.name: kafka.security.authorizer.AclAuthorizer}"


def read(folder: Path, kafka: str, broker: str = "") -> Deployment:
    file = folder / "asked.yaml"
    faults = "assume: {faults: {forged-fetch: 1}}"
    producer = "producer: {enable.idempotence: false, acks: all}"
    text = f'kafka: "{kafka}"\ntopic: {{replicas: 2}}\n{producer}\n{faults}\n{broker}\n'
    file.write_text(text, encoding="utf-8")
    return read_deployment(file)


def test_leader_counts_an_unreplicated_record_as_replicated_after_a_forged_fetch() -> None:
    asked = example("acks-all-min-isr-2", (Fault.FORGED_FETCH, Fault.KILL), 2)
    own = {"replicas": 2, "believes_any_fetch": True, "truncation": Truncation.EPOCHS, "idempotence": False}
    run = Scenario(changed(asked, bounds=BOUNDS, **own)).produce(0, 1)
    assert not run.can("acknowledge", batch=0, leader=1)
    run.do("forge_fetch", leader=1, follower=2)
    assert (run.high_watermark(1), run.log(2)) == (1, [])
    assert not run.can("forge_fetch", leader=1, follower=2)
    assert run.do("acknowledge", batch=0, leader=1).can("kill", broker=1, checkpointed=1)


@pytest.mark.parametrize(("kafka", "believes"), [("0.10.2", True), ("1.0.0", True), ("1.0.1", False), ("4.0", False)])
def test_releases_that_believe_a_forged_fetch(tmp_path: Path, kafka: str, believes: bool) -> None:
    deployment = read(tmp_path, kafka, AUTHORIZED)
    assert deployment.cluster.believes_any_fetch is believes
    assert any("forged-fetch has no effect" in note for note in deployment.notes) is not believes


def test_brokers_without_an_authorizer_are_refused(tmp_path: Path) -> None:
    assert read(tmp_path, "1.0.0").cluster.believes_any_fetch
    with pytest.raises(DeploymentError, match="brokers without an authorizer"):
        read(tmp_path, "1.0.1")
