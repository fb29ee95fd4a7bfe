"""SPIN stores exactly as many states of an exported system as the embedded engine."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.export.exported import export_deployment, export_protocol
from proofka.checker.export.writing import Format, write
from proofka.model.deployment.sender import OF_JAVA, ClientRecovery, Sender
from proofka.model.faults import Fault
from proofka.model.published.protocols import protocol
from tests.checker.asking import SMALL, example
from tests.checker.export.counting import engine_states, naive_states
from tests.checker.export.spin import needs_spin, run_spin
from tests.checker.export.systems import random_exported, turnstile
from tests.checker.test_exploration import KINDS, random_number
from tests.deployments import changed

pytestmark = needs_spin


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["acks-0", "eligible-leader-replicas", "exactly-once", "orders", "retries-in-flight-1"]
)
def test_deployments(name: str, tmp_path: Path) -> None:
    exported = export_deployment(example(name), total=1)
    (model,) = write(exported, Format.PROMELA, tmp_path)
    run = run_spin(model, tmp_path, optimise=["-O0"])
    assert run.errors == 0
    assert run.states == engine_states(exported) > 5_000


PURGES = replace(
    OF_JAVA,
    recovery=ClientRecovery.LIBRDKAFKA_TRANSACTIONS,
    retries_keep_their_place=True,
    refusals_count=False,
)


@pytest.mark.slow
@pytest.mark.parametrize("sender", [OF_JAVA, PURGES, replace(PURGES, recovery=ClientRecovery.LIBRDKAFKA_BUMP_WITHIN)])
def test_transactions(sender: Sender, tmp_path: Path) -> None:
    kinds = (Fault.DELAYED_REQUEST, Fault.PRODUCER_CRASH, Fault.TRANSACTION_TIMEOUT)
    exported = export_deployment(changed(example("transactions", kinds), replicas=2, sender=sender), total=1)
    (model,) = write(exported, Format.PROMELA, tmp_path)
    run = run_spin(model, tmp_path, optimise=["-O0"])
    assert run.errors == 0
    assert run.states == engine_states(exported) > 5_000


@pytest.mark.parametrize("name", ["kip-101", "truncate-to-hw", pytest.param("kip-320", marks=pytest.mark.slow)])
def test_published_protocols(name: str, tmp_path: Path) -> None:
    exported = export_protocol(protocol(name, replicas=2, log_size=2, records=2, epochs=2))
    (model,) = write(exported, Format.PROMELA, tmp_path)
    run = run_spin(model, tmp_path, optimise=["-O0"])
    assert run.errors == 0
    assert run.states == engine_states(exported) > 5_000


@pytest.mark.slow
@settings(max_examples=6, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_random_systems(tmp_path_factory: pytest.TempPathFactory, chance: random.Random) -> None:
    directory = tmp_path_factory.mktemp("random")
    exported = random_exported(chance, {kind: chance.randint(1, 2) for kind in KINDS}, 2)
    (model,) = write(exported, Format.PROMELA, directory)
    assert run_spin(model, directory, optimise=["-O0"]).states == naive_states(exported)


def test_values_before_the_step_count(tmp_path: Path) -> None:
    """One action that moves values among variables in a circle, some of them only under a condition."""
    chance = random.Random(7)
    exported = turnstile()
    variables = exported.system.variables[:2]
    actions = list(exported.system.actions)
    for number in range(12):
        one, other = chance.sample(variables, 2)
        moved = random_number(chance, variables)
        low, high = max(one.low, other.low), min(one.high, other.high)
        fits = z3.And(one.term <= high, other.term <= high, moved >= low, moved <= high)
        updates = {one: z3.If(other.term > 1, other.term, moved), other: z3.If(other.term > 1, one.term, other.term)}
        actions.append(replace(actions[0], arguments={"number": number}, guard=fits, updates=updates))
        object.__setattr__(actions[-1], "key", ("next", (("number", number),)))
    exported = replace(exported, system=replace(exported.system, actions=tuple(actions)))
    (model,) = write(exported, Format.PROMELA, tmp_path)
    assert "new_" in model.read_text(encoding="utf-8")
    assert run_spin(model, tmp_path, optimise=["-O0"]).states == naive_states(exported)


@pytest.mark.slow
def test_a_violation_is_found_where_it_is_asserted(tmp_path: Path) -> None:
    """The assertion of a property fails where the property is violated, and only there."""
    deployment = changed(example("acks-1", (Fault.POWER_LOSS,)), bounds=SMALL, replicas=2)
    exported = export_deployment(deployment, properties=["no-acked-loss", "replica-agreement"])
    (model,) = write(exported, Format.PROMELA, tmp_path)
    found = {
        name: run_spin(model, tmp_path, optimise=["-O0"], defines=[f"ASSERT_{name}"]).errors
        for name in ("NO_ACKED_LOSS", "REPLICA_AGREEMENT")
    }
    assert found == {"NO_ACKED_LOSS": 1, "REPLICA_AGREEMENT": 0}
