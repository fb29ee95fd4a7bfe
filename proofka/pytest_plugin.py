"""The plugin of pytest: the fixture ``assert_holds``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from proofka.properties.verdict import Result


@pytest.fixture
def assert_holds() -> Callable[..., Result]:
    """Return :func:`proofka.testing.assert_holds`, which fails unless each named property of a deployment holds."""
    from proofka import testing

    return testing.assert_holds
