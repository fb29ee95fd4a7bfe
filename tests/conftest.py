"""What all tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("proofka", deadline=None, print_blob=True)
settings.load_profile("proofka")

SLOW = Path(__file__).parent / "slow.txt"
"""Tests that were measured to take too long for `make test`, one id a line."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is listed as slow, besides what says so itself."""
    listed = set(SLOW.read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid in listed:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def machine_code_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Machine code that tests keep is kept in a folder of their own, also by the processes that they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROOFKA_CACHE", str(tmp_path_factory.mktemp("machine-code")))
        yield


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
