"""What all tests share."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

settings.register_profile("proofka", deadline=None, print_blob=True)
settings.load_profile("proofka")


@pytest.fixture(autouse=True)
def interrupts_arrive() -> None:
    """Interrupts go to whom they go by default, also in a run that was started in the background and ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output looks the same whatever terminal the tests run in."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
