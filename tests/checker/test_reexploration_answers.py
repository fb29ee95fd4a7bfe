"""A result of a check without a total is recounted property by property, as far as each row says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker import cli
from proofka.checker.budget import Budget
from proofka.checker.reexploration import recount
from proofka.checker.tampered import TamperedDocument

DEPLOYMENT = """
kafka: "4.0"
topic: {replicas: 2, min.insync.replicas: 1}
producer: {acks: 1, enable.idempotence: false, retries: 1}
consumer: {group.id: orders, auto.offset.reset: earliest, enable.auto.commit: false}
assume: {faults: {kill: 1, leader-move: 1, slow-follower: 1}}
bounds: {records: 1}
require: [no-acked-loss]
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    source, result = folder / "orders.yaml", folder / "result.json"
    source.write_text(DEPLOYMENT, encoding="utf-8")
    run = CliRunner().invoke(cli.app, ["check", str(source), "--json", str(result), "--more", "0", "--time", "300"])
    assert run.exit_code == 1, run.output
    return result


def test_an_honest_result_is_verified(result: Path) -> None:
    document = json.loads(result.read_text(encoding="utf-8"))
    covered = {verdict["bounds"]["faults_complete_to"] for verdict in document["verdicts"]}
    assert len(covered) > 1, "all rows were explored as far, so nothing is told apart"
    run = CliRunner().invoke(cli.app, ["verify", str(result), "--recount"])
    assert run.exit_code == 0, run.output
    assert "counts: not compared, as the check named no total of faults" in run.output


def test_a_fault_set_that_is_missing_is_found_out(result: Path) -> None:
    document = json.loads(result.read_text(encoding="utf-8"))
    violated = next(verdict for verdict in document["verdicts"] if len(verdict["cut_sets"]) > 1)
    del violated["cut_sets"][-1]
    with pytest.raises(TamperedDocument, match="fault sets"):
        recount(document, Budget())


def test_a_pass_that_is_none_is_found_out(result: Path) -> None:
    document = json.loads(result.read_text(encoding="utf-8"))
    violated = next(verdict for verdict in document["verdicts"] if verdict["status"] == "violated")
    violated |= {"status": "holds", "cut_sets": [], "notes": []}
    with pytest.raises(TamperedDocument, match="status"):
        recount(document, Budget())
