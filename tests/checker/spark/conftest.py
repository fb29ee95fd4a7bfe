"""Fixtures of the tests of audits: a Spark session for a worker, a small matrix, and readers of tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.spark.session import NoSpark, check_java, spark_session
from proofka.checker.spark.sources import find_source
from tests.checker.spark.auditing import MATRIX, audit


@pytest.fixture(scope="session")
def started_spark() -> Iterator[Any]:
    """Start one session for all tests of a worker; each test clears interrupts before it begins."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    try:
        check_java()
    except NoSpark as missing:
        pytest.skip(str(missing))
    with spark_session("local[2]") as session:
        yield session


@pytest.fixture(scope="module")
def spark(started_spark: Any) -> Any:
    """Return the session, in the state in which no other module has changed it."""
    started_spark.conf.set("spark.sql.shuffle.partitions", "4")
    return started_spark


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("matrix") / "review.yaml"
    path.write_text(MATRIX)
    return path


@pytest.fixture(scope="module")
def audited(spark: Any, matrix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("audit")
    counts = audit(spark, find_source(matrix, {}), out)
    assert (counts.deployments, counts.rejected) == (8, 4), "16 combinations, 4 excluded, 4 that no client starts with"
    assert 0 < counts.systems == counts.explored <= 4, "the poll interval makes no difference"
    return out
