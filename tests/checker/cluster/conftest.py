"""A fixture for tests of the proxy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.checker.cluster.network import Network


@pytest.fixture
def network() -> Iterator[Network]:
    with ExitStack() as stack:
        yield Network(stack)
