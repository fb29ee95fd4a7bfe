"""Systems that need more memory than one exploration may take: left undecided, or explored by all executors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proofka.checker.spark.audit import Counts
from proofka.checker.spark.audit import audit as audit_into
from proofka.checker.spark.exploring import DEFAULT_LIMITS, Limits
from proofka.checker.spark.folder import claimed
from proofka.checker.spark.outgrown import SPREAD
from proofka.checker.spark.sources import find_source
from tests.checker.spark.auditing import MATRIX, rows

LITTLE = Limits(memory=1)
"""A limit of memory, in bytes, that every system outgrows."""
COST = ("seconds", "compile_seconds")


def audit(spark: Any, matrix: Path, out: Path, limits: Limits, *, spread: bool = False) -> Counts:
    with claimed(out) as folder:
        return audit_into(spark, find_source(matrix, {}), folder, limits, spread=spread)


def found(spark: Any, out: Path) -> list[tuple[dict[str, Any], ...]]:
    """Return all parts of the result except its cost."""
    runs = [{name: value for name, value in row.items() if name not in COST} for row in rows(spark, out, "runs")]
    return [tuple(rows(spark, out, "verdicts")), tuple(sorted(runs, key=str))]


@pytest.mark.slow
def test_left_undecided_and_then_spread(spark: Any, tmp_path: Path) -> None:
    """First nothing is decided for want of memory; the same audit told to spread finds what one with memory finds."""
    matrix, little, enough = tmp_path / "one.yaml", tmp_path / "little", tmp_path / "enough"
    one_system = MATRIX.partition("exclude:")[0].replace("[1, all]", "[1]").replace("[false, true]", "[false]")
    matrix.write_text(one_system.replace("[1, 2]", "[1]"))
    audit(spark, matrix, enough, DEFAULT_LIMITS)
    counts = audit(spark, matrix, little, LITTLE)
    verdicts = rows(spark, little, "verdicts")
    assert {row["bounds"]["stopped"] for row in verdicts} == {"memory"}
    assert "unknown" in {row["status"] for row in verdicts}
    again = audit(spark, matrix, little, LITTLE, spread=True)
    assert again.explored == 0 < counts.explored
    assert found(spark, little) == found(spark, enough)
    traces = [(row["id"], row["trace"], len(row["steps"])) for row in rows(spark, little, "traces")]
    assert sorted(traces) == sorted((r["id"], r["trace"], len(r["steps"])) for r in rows(spark, enough, "traces"))
    assert not list((little / SPREAD).iterdir())
