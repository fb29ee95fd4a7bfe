"""Fixtures of the tests of the distributed search."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

from tests.checker.distributed.both import embedded
from tests.checker.distributed.stopping import Asked, compiled_once, some_resets


@pytest.fixture(autouse=True, scope="package")
def nothing_waits_for_the_disk() -> Iterator[None]:
    """Skip waiting for the disk: a killed process loses nothing that it wrote, and the tests cut no power."""
    with patch.object(os, "fsync", lambda _: None):
        yield


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    """Yield a small question with every kind of content."""
    with compiled_once():
        yield some_resets()


@pytest.fixture(scope="module")
def reference(asked: Asked) -> Any:
    """Return the result of the embedded engine."""
    return embedded(asked.system, asked.question, asked.at_most, asked.total)
