"""One Spark session for a file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from checker.spark.session import NoSpark, check_java, spark_session


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    try:
        check_java()
    except NoSpark as missing:
        pytest.skip(str(missing))
    with spark_session("local[2]") as session:
        session.conf.set("spark.sql.shuffle.partitions", "4")
        yield session
