"""A violation that no change repairs: every answer names a next step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proofka.model.deployment import read_deployment
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import FAULT_ROWS, ONLY_BY_NAME, Fault
from proofka.properties.verdict import CutSet, Status, Trace, Verdict
from proofka.reports.repairs import upgrade
from proofka.reports.unmended import next_steps, tried_releases
from tests.reports import samples


def violated(name: str, *sets: CutSet) -> Verdict:
    traces = tuple(Trace(one, (samples.SEND,), "it failed") for one in sets)
    return replace(samples.verdict(name, Status.VIOLATED, cut_sets=sets, traces=traces), required=True)


def deployment(folder: Path, kafka: str, client: str = "java") -> Deployment:
    file = folder / "d.yaml"
    roles = f"{{client: {client}}}"
    file.write_text(
        f'kafka: "{kafka}"\ntopic: {{replicas: 3}}\nproducer: {roles}\nconsumer: {roles}\n', encoding="utf-8"
    )
    return read_deployment(file)


def test_every_remedy_belongs_to_a_fault_that_deployments_must_name() -> None:
    # A comma without quotes would cut the sentence: the rest would be a field without a column.
    assert all(None not in row for row in FAULT_ROWS.values())
    assert {kind for kind, row in FAULT_ROWS.items() if row["remedy"]} <= {kind.value for kind in ONLY_BY_NAME}


@pytest.mark.parametrize(
    ("kafka", "name", "faults", "words"),
    [
        ("4.0", "no-silent-loss", (("producer-crash", 1),), "the application must (producer.on_restart)"),
        (
            "4.0",
            "no-reprocessing",
            (("consumer-crash", 1),),
            "the application must (consumer.commit and consumer.sink)",
        ),
        ("4.0", "no-acked-loss", (("kill", 1),), "remove conflicting settings from this deployment, and check again"),
        ("4.0", "atomicity", (("kill", 1),), "was not computed"),
        ("4.0", "no-acked-loss", (("kill", 1), ("power-loss", 1)), "--faults 1 checks fewer"),
        ("4.0", "no-acked-loss", (("lost-transaction-state", 1),), "transaction.state.log.min.isr=2"),
    ],
)
def test_each_reason_has_a_next_step(tmp_path: Path, kafka: str, name: str, faults: CutSet, words: str) -> None:
    (said,) = next_steps(deployment(tmp_path, kafka), [violated(name, faults)])
    assert said.startswith(f"{name} with 1 {faults[0][0]}")
    assert words in said


@pytest.mark.parametrize(
    ("client", "name", "fault", "words"),
    [
        ("sarama", "log-order", "producer-crash", "inherent: no setting of this client and release and no known"),
        (
            "aiokafka",
            "recoverability",
            "controller-stall",
            'brokers 4.0 settings prevent this: check with kafka: "4.0"',
        ),
    ],
)
def test_failures_that_other_clients_cannot_prevent(
    tmp_path: Path, client: str, name: str, fault: str, words: str
) -> None:
    (said,) = next_steps(deployment(tmp_path, "3.9", client), [violated(name, ((fault, 1),))])
    assert words in said


def test_failures_that_no_release_prevents_are_named(tmp_path: Path) -> None:
    (said,) = next_steps(deployment(tmp_path, "4.0", "kafkajs"), [violated("log-order", (("delayed-request", 1),))])
    assert "no newer release is known to prevent this: drop the property, or prevent the fault" in said


def test_properties_and_faults_with_the_same_step_are_told_together(tmp_path: Path) -> None:
    sets = ((("kill", 1),), (("power-loss", 1),))
    (said,) = next_steps(deployment(tmp_path, "4.0"), [violated(name, *sets) for name in ("no-loss", "no-acked-loss")])
    assert said.startswith("no-loss and no-acked-loss with 1 kill; or with 1 power-loss: ")


def test_releases_that_were_tried_are_named(tmp_path: Path) -> None:
    assert list(tried_releases(deployment(tmp_path, "4.0"))) == [
        "no newer release that is modelled makes a difference here"
    ]
    (said,) = tried_releases(deployment(tmp_path, "3.6"))
    assert "do not help: " in said and "kafka=4.0" in said
    assert list(tried_releases(samples.DEPLOYMENT)) == [], "what was not read from files has no release to change"


def test_an_upgrade_names_the_release_and_the_steps(tmp_path: Path) -> None:
    old, new = (deployment(tmp_path, kafka) for kafka in ("2.8", "4.0"))
    said = upgrade(old, new)
    assert said.startswith(
        "upgrade, the most expensive change: run brokers 4.0 instead of 2.8 and producer and consumer"
    )
    assert "migrate from ZooKeeper" in said
    assert said.endswith("kafka-features.sh upgrade --release-version 4.0")
    assert "features" not in upgrade(old, deployment(tmp_path, "3.9.1"))
    assert Fault.LOST_TRANSACTION_STATE in ONLY_BY_NAME
