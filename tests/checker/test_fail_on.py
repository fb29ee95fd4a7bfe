"""``--fail-on``: what a script fails on, whatever is required."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from proofka.checker.check import Run
from proofka.checker.cli import answering as checking
from proofka.checker.cli.endings import (
    EXIT_BAD_INPUT,
    EXIT_HOLDS,
    EXIT_UNDECIDED,
    EXIT_VACUOUS,
    EXIT_VIOLATED,
    exit_status,
)
from proofka.checker.cli.exploring import run_check
from proofka.checker.cli.program import app
from proofka.properties.catalogue import ASKED_BY_DEFAULT, properties_of
from proofka.properties.verdict import Result
from tests.reports import samples

ACKS_1 = str(Path(__file__).parents[2] / "examples" / "acks-1.yaml")


def ended(*arguments: str) -> tuple[int, str]:
    run = CliRunner().invoke(app, ["check", *arguments])
    return run.exit_code, run.output


@pytest.mark.parametrize(
    ("fail_on", "status"),
    [
        ((), EXIT_VIOLATED),
        (("no-skip",), EXIT_HOLDS),
        (("no-skip", "no-acked-loss"), EXIT_VIOLATED),
        (("exactly-once-effect",), EXIT_VIOLATED),  # not required, and violated
        (("recoverability",), EXIT_UNDECIDED),
        (("read-stability", "no-skip"), EXIT_VACUOUS),
        (("recoverability", "no-loss"), EXIT_VIOLATED),
    ],
)
def test_only_the_named_decide(fail_on: tuple[str, ...], status: int) -> None:
    assert exit_status(samples.RESULT.verdicts, fail_on) == status


def test_a_name_that_is_none_is_refused_with_the_list() -> None:
    status, said = ended(ACKS_1, "--fail-on", "no-los")
    assert status == EXIT_BAD_INPUT
    assert "--fail-on no-los: unknown property; choose from no-acked-loss, " in said


def test_a_property_that_is_not_checked_is_refused() -> None:
    status, said = ended(ACKS_1, "--fail-on", "no-dropped-record")
    assert status == EXIT_BAD_INPUT
    assert "add --require no-dropped-record" in said
    status, said = ended(ACKS_1, "--fail-on", "atomicity")
    assert status == EXIT_BAD_INPUT


def test_fail_on_decides_the_exit_status() -> None:
    """Without faults no leader is replaced: what is required holds vacuously, and the order is that of sending."""
    asked = (ACKS_1, "--faults", "0", "--quiet", "--threads", "1")
    status, said = ended(*asked, "--fail-on", "processing-order")
    assert said.startswith("Yes: the named property, processing-order, holds"), "the sentence is of what decides"
    assert status == EXIT_HOLDS


@pytest.mark.parametrize(
    ("options", "explored"),
    [
        (("--quiet",), {"no-acked-loss"}),
        (("--quiet", "--fail-on", "processing-order"), {"processing-order"}),
        (("--quiet", "--json", "result.json"), None),
        (("--quiet", "--all-properties"), None),
        ((), None),
    ],
)
def test_one_sentence_needs_only_the_properties_that_decide(
    options: tuple[str, ...], explored: set[str] | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    names: set[str] = set()

    def noted(*asked: Any) -> tuple[Run, Result]:
        run, result = run_check(*asked)
        names.update(verdict.property for verdict in result.verdicts)
        return run, result

    monkeypatch.setattr(checking, "run_check", noted)
    ended(ACKS_1, "--faults", "0", "--more", "0", *options)
    assert names == explored if explored is not None else names >= {"no-acked-loss", "processing-order"}


def test_accepted_properties_have_a_verdict() -> None:
    """Properties that are always asked belong to every pipeline, or a name could pass without a verdict."""
    from proofka.model.pipeline import build

    model = build(replace(samples.DEPLOYMENT, require=()))
    assert {prop.name for prop in properties_of(model.pipeline)} == set(ASKED_BY_DEFAULT)


def test_property_of_the_exit_status_stands_below_the_answer() -> None:
    status, said = ended(ACKS_1, "--faults", "0", "--fail-on", "processing-order", "--more", "0")
    assert said.splitlines()[-1] == f"--fail-on processing-order: exit status {status}"
