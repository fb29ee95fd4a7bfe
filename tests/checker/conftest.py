"""Fixtures of the tests of snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from proofka.checker import embedded
from tests.checker.checkpointed import DEPLOYMENT


@pytest.fixture
def one_by_one() -> Iterator[None]:
    """Explore each combination alone, so that snapshots stand in the middle of an exploration."""
    with patch.object(embedded, "LARGE", 0):
        yield


@pytest.fixture
def deployment(tmp_path: Path) -> Path:
    file = tmp_path / "orders.yaml"
    file.write_text(DEPLOYMENT, encoding="utf-8")
    return file
