"""What the tests of the distributed search share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from unittest.mock import patch

import pytest


@pytest.fixture(autouse=True, scope="package")
def nothing_waits_for_the_disk() -> Iterator[None]:
    """That a process is killed takes nothing from the disk; only that the power goes would, and it does not here."""
    with patch.object(os, "fsync", lambda _: None):
        yield
