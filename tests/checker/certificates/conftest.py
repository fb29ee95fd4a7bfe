"""Fixtures of the tests of certificates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proofka.checker.certificates import checkers


@pytest.fixture(scope="module")
def no_fast_checker() -> Iterator[None]:
    """Let the checker in Python answer, whatever is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkers, "PROGRAM", "no-such-certcheck")
        patch.setattr(checkers, "FAST", ())
        yield
