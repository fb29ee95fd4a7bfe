"""``proofka audit``: exit status, one line for whatever is wrong, and what lies in the folder afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.cli.endings import audit_status
from proofka.checker.spark import audit as auditing
from proofka.checker.spark import session
from proofka.checker.spark.folder import EXPLORED, claimed
from proofka.checker.spark.watching import Interrupted
from proofka.properties.audited import AuditProgress, AuditSummary, Stage
from proofka.properties.verdict import Status
from tests.checker.spark.auditing import TABLES
from tests.checker.test_cli import fails_in_one_line, proofka

SUMMARY = AuditSummary(9, 0, (), 0, 3, 3, (), {Status.HOLDS: 9}, 1.0)


@pytest.mark.parametrize(
    ("worst", "rejected", "status"),
    [
        ({Status.HOLDS: 9}, 0, 0),
        ({}, 0, 0),
        ({Status.HOLDS: 8, Status.VIOLATED: 1}, 0, 1),
        ({Status.HOLDS: 8, Status.VIOLATED: 1, Status.UNKNOWN: 1}, 5, 1),
        ({Status.HOLDS: 9}, 1, 2),
        ({Status.UNKNOWN: 9}, 1, 2),
        ({}, 9, 2),
        ({Status.HOLDS: 8, Status.UNKNOWN: 1, Status.VACUOUS: 1}, 0, 3),
        ({Status.HOLDS: 8, Status.VACUOUS: 1}, 0, 4),
    ],
)
def test_exit_status(worst: dict[Status, int], rejected: int, status: int) -> None:
    assert audit_status(replace(SUMMARY, worst=worst, rejected=rejected)) == status


@pytest.fixture
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session, "spark_session", refuse)


WRONG = ("empty.csv", "no-header.csv", "twice.csv", "semicolons.csv", "wide.csv", "one.yaml")


@pytest.fixture
def given(tmp_path: Path, matrix: Path) -> dict[str, Path]:
    """Write sources and folders, right and wrong, by name."""
    (tmp_path / "broken.yaml").write_text("values: {producer.acks: [1]}")
    (tmp_path / "empty.csv").touch()
    (tmp_path / "no-header.csv").write_text("orders,3.9,2,all\n")
    (tmp_path / "twice.csv").write_text("kafka,kafka\n4.0,3.9\n")
    (tmp_path / "semicolons.csv").write_text("kafka;producer.acks\n4.0;all\n")
    (tmp_path / "wide.csv").write_text("kafka,producer.acks\n4.0,all\n", encoding="utf-16")
    (tmp_path / "one.yaml").write_text("kafka: '4.0'\n")
    (tmp_path / "misspelt.yaml").write_text("base: {kafka: '4.0'}\nvalues:\n  producer.ack: [1, all]\n")
    (tmp_path / "fleet.xls").write_text("x")
    (tmp_path / "fleet").mkdir()
    (tmp_path / "fleet" / "one.yaml").write_text("kafka: '4.0'\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    names = {
        name: tmp_path / name
        for name in ("broken.yaml", "misspelt.yaml", *WRONG, "fleet.xls", "fleet", "full", "nothing", "out")
    }
    return {**names, "matrix": matrix, "inside": tmp_path / "fleet" / "out"}


@pytest.mark.parametrize(
    ("source", "out", "options", "words"),
    [
        ("nothing", "out", (), "nothing: does not exist"),
        ("fleet.xls", "out", (), "is no source of an audit"),
        ("broken.yaml", "out", (), "broken.yaml:1: has no section base"),
        ("misspelt.yaml", "out", (), "misspelt.yaml:3: ack: unknown producer setting; did you mean acks?"),
        ("empty.csv", "out", (), "empty.csv: is empty"),
        ("no-header.csv", "out", (), "no-header.csv:1: orders: unknown section"),
        ("twice.csv", "out", (), "twice.csv:1: has the column kafka twice"),
        ("semicolons.csv", "out", (), "semicolons.csv:1: has a header without a comma"),
        ("wide.csv", "out", (), "wide.csv: is no text in UTF-8"),
        ("one.yaml", "out", (), "one.yaml:1: is one deployment, not a matrix; check it with proofka check"),
        ("fleet", "inside", (), "is inside"),
        ("fleet", "fleet", (), "is inside"),
        ("matrix", "full", (), "full: holds files that no audit wrote"),
        ("matrix", "fleet.xls", (), "fleet.xls: is no folder"),
        ("matrix", "out", ("--assume", "faults"), "expected KEY=VALUE"),
        ("matrix", "out", ("--assume", "fautls=1"), "--assume fautls=1: unknown assumption; did you mean faults?"),
        ("matrix", "out", ("--profile", "order"), "--profile order: unknown profile; did you mean ordered?"),
        ("matrix", "out", ("--time", "0"), "is not a number of seconds"),
        ("matrix", "out", ("--memory", "much"), "is not a size"),
    ],
)
def test_errors_of_the_input_are_printed_before_spark_starts(
    no_session: None, given: dict[str, Path], source: str, out: str, options: tuple[str, ...], words: str
) -> None:
    fails_in_one_line(proofka("audit", given[source], "--out", given[out], *options), words)
    assert not given["inside"].exists()


def test_out_must_be_said(no_session: None, matrix: Path) -> None:
    fails_in_one_line(proofka("audit", matrix), "--out")


def test_another_audit(no_session: None, given: dict[str, Path]) -> None:
    with claimed(given["out"]):
        fails_in_one_line(proofka("audit", given["matrix"], "--out", given["out"]), "another audit is writing into it")


def test_java_is_missing(given: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    monkeypatch.setenv("JAVA_HOME", str(given["fleet"]))
    run = proofka("audit", given["matrix"], "--out", given["out"])
    fails_in_one_line(run, "Spark needs Java 17 or later", "apt install")


def test_matplotlib_is_missing(no_session: None, given: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "proofka.checker.cli.audit.find_spec", lambda name: None if name == "matplotlib" else find_spec(name)
    )
    fails_in_one_line(proofka("audit", given["matrix"], "--out", given["out"]), "matplotlib", "--no-figures")


@pytest.fixture
def one_session(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands use the session that is there."""

    @contextmanager
    def use(*_: object, **__: object) -> Iterator[Any]:
        yield spark

    monkeypatch.setattr(session, "spark_session", use)


@pytest.mark.slow
def test_an_audit_and_the_same_again(one_session: None, matrix: Path, tmp_path: Path) -> None:
    run = proofka("audit", matrix, "--out", tmp_path / "out")
    assert run.exit_code == 1, run.output
    assert run.stdout.startswith("8 deployments, 4 distinct systems (4 explored now), 4 rows rejected, ")
    assert "no-acked-loss*" in run.stdout
    assert "4: retries: refused by the Java producer" in run.stdout
    assert "(first:" in run.stdout
    said = run.stderr.splitlines()
    assert said[-1] == f"tables and figures: {tmp_path / 'out'}"
    assert "0 of 4 systems explored, 0 violate a required property" in said
    assert any(line.startswith("4 of 4 systems explored, ") for line in said)
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        *TABLES,
        "figures",
        "explored",
        "signed",
        "audit.json",
    }
    figures = {file.name: file.read_bytes() for file in (tmp_path / "out" / "figures").iterdir()}
    assert set(figures) == {f"{n}.{f}" for n in ("settings", "combinations", "tolerance") for f in ("png", "svg")}

    again = proofka("audit", matrix, "--out", tmp_path / "out")
    assert again.exit_code == 1
    assert "(0 explored now, 4 already known)" in again.stdout
    assert {file.name: file.read_bytes() for file in (tmp_path / "out" / "figures").iterdir()} == figures


@pytest.mark.slow
def test_options_reach_the_explorations(one_session: None, matrix: Path, tmp_path: Path) -> None:
    options = ("--time", "1e-6", "--memory", "300M", "--assume", "faults=0", "--no-figures")
    run = proofka("audit", matrix, "--out", tmp_path / "out", *options)
    assert run.exit_code == 2, "rows were rejected, and nothing is known to be violated"
    assert "could not be decided" in run.stdout
    assert run.stderr.endswith(f"\ntables: {tmp_path / 'out'}\n")
    assert not (tmp_path / "out" / "figures").exists()
    files = {file.name for file in (tmp_path / "out" / EXPLORED).iterdir()}
    assert files
    assert all(name.endswith(f"-within-1e-06s-{300 << 20}B.parquet") for name in files)


@pytest.mark.slow
def test_nothing_but_rejected_rows(one_session: None, tmp_path: Path) -> None:
    (tmp_path / "fleet.csv").write_text("kafka,producer.acks\n4.0,7\n")
    run = proofka("audit", tmp_path / "fleet.csv", "--out", tmp_path / "out")
    assert run.exit_code == 2
    assert "No row could be read as a deployment." in run.stdout


@pytest.mark.slow
def test_an_empty_source(one_session: None, tmp_path: Path) -> None:
    (tmp_path / "fleet.jsonl").write_text("\n")
    run = proofka("audit", tmp_path / "fleet.jsonl", "--out", tmp_path / "out")
    fails_in_one_line(run, "fleet.jsonl: there is no row in it")


def test_an_interrupt(one_session: None, matrix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise Interrupted(AuditProgress(Stage.EXPLORING, 57, 1300))

    monkeypatch.setattr(auditing, "audit", interrupted)
    run = proofka("audit", matrix, "--out", tmp_path / "out")
    assert (run.exit_code, run.stdout) == (3, "")
    assert run.stderr == "interrupted: 57 of 1,300 systems are explored; the same command continues from there\n"


@pytest.mark.slow
def test_spark_fails(one_session: None, matrix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the executors, with a traceback that ends in what went wrong."""

    def fail(spark: Any, *_: object, **__: object) -> None:
        spark.range(1).rdd.map(lambda row: row.id / 0).collect()

    monkeypatch.setattr(auditing, "audit", fail)
    run = proofka("audit", matrix, "--out", tmp_path / "out")
    assert (run.exit_code, run.stdout) == (3, "")
    (line,) = run.stderr.splitlines()
    assert line.startswith("Spark failed: ZeroDivisionError: division by zero; the same command continues from there")
