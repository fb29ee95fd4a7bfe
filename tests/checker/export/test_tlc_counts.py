"""TLC finds exactly as many states of an exported system as the embedded engine."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from proofka.checker.export.exported import export_deployment, export_protocol
from proofka.checker.export.tla import TlaModule
from proofka.checker.export.writing import Format, write
from proofka.model.faults import Fault
from proofka.model.published.protocols import protocol
from tests.checker.asking import SMALL, example
from tests.checker.export.counting import engine_states, naive_states
from tests.checker.export.systems import random_exported, turnstile
from tests.checker.export.tlc import needs_tlc, run_tlc
from tests.checker.test_exploration import KINDS
from tests.deployments import changed

pytestmark = needs_tlc


PROTOCOLS = ["kip-101", "truncate-to-hw"]
LARGER = ["acks-0", "eligible-leader-replicas", "orders", "retries-in-flight-1"]


@pytest.mark.parametrize(
    ("name", "replicas"), [("acks-0", 2), *(pytest.param(name, 3, marks=pytest.mark.slow) for name in LARGER)]
)
def test_deployments(name: str, replicas: int, tmp_path: Path) -> None:
    exported = export_deployment(changed(example(name), bounds=SMALL, replicas=replicas), total=1)
    module, _ = write(exported, Format.TLA, tmp_path)
    run = run_tlc(module, invariant="TypeOk")
    assert run.violated is None
    assert run.states == engine_states(exported)


@pytest.mark.parametrize("name", ["kip-320", *(pytest.param(name, marks=pytest.mark.slow) for name in PROTOCOLS)])
def test_published_protocols(name: str, tmp_path: Path) -> None:
    exported = export_protocol(protocol(name, replicas=2, log_size=2, records=2, epochs=2))
    module, _ = write(exported, Format.TLA, tmp_path)
    run = run_tlc(module, invariant=TlaModule(exported).type_ok)
    assert run.violated is None
    assert run.states == engine_states(exported)


@pytest.mark.parametrize("seed", range(3))
def test_random_systems(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    exported = random_exported(chance, {kind: chance.randint(1, 2) for kind in KINDS}, 2)
    module, _ = write(exported, Format.TLA, tmp_path)
    assert run_tlc(module, invariant="TypeOk").states == naive_states(exported)


def test_awkward_names(tmp_path: Path) -> None:
    module, _ = write(turnstile(), Format.TLA, tmp_path)
    assert run_tlc(module, invariant="Domains").states == naive_states(turnstile())


def test_the_configuration_checks_the_properties(tmp_path: Path) -> None:
    deployment = changed(example("acks-1", (Fault.POWER_LOSS,)), bounds=SMALL, replicas=2)
    module, configuration = write(
        export_deployment(deployment, properties=["no-acked-loss", "replica-agreement"]), Format.TLA, tmp_path
    )
    assert "    NoAckedLoss\n    ReplicaAgreement\n" in configuration.read_text(encoding="utf-8")
    assert run_tlc(module).violated == "NoAckedLoss"
