"""What all tests share."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("proofka", deadline=None, print_blob=True)
settings.load_profile("proofka")

SHARED = ("spark",)
"""Fixtures that are made once in a worker and cost more than the tests of several files that use them."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group tests for xdist: what shares a fixture, a run or a compiled system goes to the same worker.

    Tests of one file share these unless the test says otherwise with ``xdist_group``.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            shared = [name for name in SHARED if name in getattr(item, "fixturenames", ())]
            item.add_marker(pytest.mark.xdist_group((shared or [item.nodeid.partition("::")[0]])[0]))


def pytest_collection_finish() -> None:
    """Spare the garbage collector thousands of collected tests, which stay until the end, in each of its rounds."""
    gc.freeze()


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
