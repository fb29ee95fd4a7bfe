"""``proofka verify`` accepts the outcomes of replays as they were written, and names what was changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from proofka.checker import cli
from proofka.checker.bundle import write_bundle
from proofka.checker.bundle_check import of_another_model
from proofka.checker.check import check
from proofka.checker.outcomes_check import verify_outcomes
from proofka.checker.tampered import TamperedDocument
from proofka.checker.verify import verify
from proofka.properties.reproduced import Fact, Outcome, digest
from proofka.properties.sealing import SEAL, seal
from proofka.reports.document import to_document
from tests.checker.asking import deployment_of
from tests.checker.test_verify import DEPLOYMENT

Document = dict[str, Any]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Return a result with a reproduced trace, written to JSON and read back."""
    deployment = deployment_of(DEPLOYMENT, tmp_path_factory.mktemp("replayed"))
    result = check(deployment)
    verdict = next(one for one in result.verdicts if one.traces)
    trace = verdict.traces[0]
    names = [one.property for one in result.verdicts if any(each.steps == trace.steps for each in one.traces)]
    outcome = Outcome(
        kind="reproduced",
        trace=digest((step.action, step.arguments) for step in trace.steps),
        properties=tuple(names),
        kafka="4.0.2",
        clients=("java 4.0.2",),
        on="2026-11-27",
        seconds=14.0,
        evidence=("record 1 was reported as stored, and is not in the log of broker 2, which leads",),
        facts=(Fact(1, "proxy", "request with record 1 from the producer to broker 1", 0.5),),
    )
    read: Document = json.loads(json.dumps(to_document(deployment, replace(result, reproductions=(outcome,)))))
    return read


def resealed(document: Document, change: Callable[[Document], None]) -> Document:
    """Return a document with a changed first outcome and a right checksum."""
    changed = copy.deepcopy(document)
    change(changed["reproductions"][0])
    return {**changed, SEAL: seal(changed)}


def test_outcomes_as_written_are_verified(written: Document) -> None:
    assert any(line.startswith("reproductions: 1 outcome agrees with its trace") for line in verify(written).lines)
    other = {**written, "versions": {**written["versions"], "model": "0"}}
    lines = of_another_model({**other, SEAL: seal(other)})
    assert any(line.startswith("reproductions: 1 outcome") for line in lines)


def test_a_result_without_outcomes_has_no_line_about_them(written: Document) -> None:
    without = {key: value for key, value in written.items() if key != "reproductions"}
    assert verify_outcomes(without) is None


@pytest.mark.parametrize(
    ("member", "value", "said"),
    [
        ("trace", "0" * 16, f"is of trace {'0' * 16}, which the result does not have"),
        (
            "properties",
            ["no-skip"],
            "reproduction 1: names no-skip; the trace violates exactly-once-effect, no-acked-loss",
        ),
        ("properties", ["no-loss"], "reproduction 1: names no-loss; the trace violates exactly-once-effect"),
        ("properties", ["no-acked-loss", "no-acked-loss"], "reproduction 1: names a property twice"),
        ("kafka", "4.0.2 ", "reproduction 1: names '4.0.2 ', which is no release of Kafka"),
        ("evidence", [], "reproduction 1: is reproduced, but has no evidence"),
        ("kind", "diverged", "reproduction 1: is diverged, but has no step"),
        ("on", "2026-13-01", "reproduction 1: has the date 2026-13-01"),
        ("on", "1999-01-01", "reproduction 1: has the date 1999-01-01, and no trace was replayed before"),
        ("clients", [], "reproduction 1: is reproduced, but names no client"),
        ("evidence", [" "], "reproduction 1: has a blank line of evidence"),
        ("clients", [""], "reproduction 1: has a blank client"),
        ("seconds", 0.1, "reproduction 1: has an observation outside its 0.1 s"),
        ("facts", [{"step": 1, "source": "proxy", "text": "", "after": 1}], "reproduction 1: has a blank observation"),
        ("facts", [{"step": 99, "source": "a", "text": "b", "after": 1}], "has an observation at step 99"),
    ],
)
def test_a_tampered_outcome_is_rejected_with_a_reason(written: Document, member: str, value: object, said: str) -> None:
    with pytest.raises(TamperedDocument, match="reproduction 1: ") as raised:
        verify(resealed(written, lambda outcome: outcome.update({member: value})))
    assert said in str(raised.value)


def test_two_outcomes_of_a_trace_on_a_release_are_rejected(written: Document) -> None:
    (one,) = written["reproductions"]
    twice = {**written, "reproductions": [one, {**one, "properties": one["properties"][::-1]}]}
    with pytest.raises(TamperedDocument, match=r"reproduction 2: is a second outcome of its trace on Kafka 4\.0\.2"):
        verify_outcomes(twice)


def test_the_checksum_covers_the_rest_of_an_outcome(written: Document) -> None:
    changed = copy.deepcopy(written)
    changed["reproductions"][0]["kafka"] = "4.1.1"
    with pytest.raises(TamperedDocument, match="checksum"):
        verify(changed)


def test_a_bundle_carries_outcomes_and_verify_names_a_wrong_one(written: Document, tmp_path: Path) -> None:
    runner = CliRunner(env={"COLUMNS": "200"})
    file = tmp_path / "orders.zip"
    file.write_bytes(write_bundle(written))
    ran = runner.invoke(cli.app, ["verify", str(file)])
    assert (ran.exit_code, "reproductions: 1 outcome" in ran.stdout) == (0, True)
    file.write_bytes(write_bundle(resealed(written, lambda outcome: outcome.update(evidence=[]))))
    ran = runner.invoke(cli.app, ["verify", str(file)])
    assert ran.exit_code == 1
    assert "reproduction 1: is reproduced, but has no evidence" in ran.stderr


def test_an_outcome_of_a_kind_that_does_not_exist_is_no_result(written: Document, tmp_path: Path) -> None:
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(resealed(written, lambda outcome: outcome.update(kind="proved"))), encoding="utf-8")
    ran = CliRunner().invoke(cli.app, ["verify", str(file)])
    assert ran.exit_code == 2
    assert "reproductions[0].kind" in ran.stderr
