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
    """That a process is killed takes nothing from the disk; only that the power goes would, and it does not here."""
    with patch.object(os, "fsync", lambda _: None):
        yield


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    """A small question with everything in it."""
    with compiled_once():
        yield some_resets()


@pytest.fixture(scope="module")
def reference(asked: Asked) -> Any:
    """Return the result of the embedded engine."""
    return embedded(asked.system, asked.question, asked.at_most, asked.total)
