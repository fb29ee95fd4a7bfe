"""Brokers of one cluster that do not say the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker.cli.program import app
from proofka.model.deployment.disagreement import disagreement, disagrees_with
from proofka.model.deployment.values import has_placeholder

BROKER = """\
  {name}:
    image: confluentinc/cp-kafka:7.6.0
    environment:
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@one:9093,2@two:9093
      KAFKA_PROCESS_ROLES: broker,controller
"""
IN_SYNC = "      KAFKA_MIN_INSYNC_REPLICAS: 2\n"


def test_the_placeholder_names_the_other_broker() -> None:
    assert has_placeholder(disagreement("two"))
    assert disagrees_with(disagreement("two, which has no value")) == "two, which has no value"
    assert disagrees_with("${MIN_ISR}") is None


@pytest.mark.parametrize(
    ("second", "whose"), [("", "two, which has no value"), (IN_SYNC.replace("2", "1"), "two")], ids=["none", "another"]
)
def test_a_check_says_which_broker_has_to_agree(tmp_path: Path, second: str, whose: str) -> None:
    brokers = BROKER.format(name="one") + IN_SYNC + BROKER.format(name="two") + second
    (tmp_path / "docker-compose.yml").write_text(f"services:\n{brokers}", encoding="utf-8")
    run = CliRunner().invoke(app, ["check", str(tmp_path), "--faults", "0"])
    assert run.exit_code == 2
    said = " ".join(run.output.split())
    assert f"min.insync.replicas: differs from {whose}: set the same value on all brokers of a cluster" in said
    assert "placeholder" not in said
