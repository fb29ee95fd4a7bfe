"""Fixtures of all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from scripts.write_seconds import named

settings.register_profile("proofka", deadline=None, print_blob=True)
settings.load_profile("proofka")

TOGETHER = "tests/checker/spark/"
"""A folder whose tests go to the same worker: a Spark session costs more than the tests of several files."""
LONG = (TOGETHER, "tests/reports/test_inherent.py", "tests/test_readme.py")
"""Folders and files of tests that take long one after another: they begin first, so that none is left for the end."""

COLLECT_AFTER = (50_000, 20, 20)
"""Thresholds of Python's garbage collector, those of the program: collecting early costs a seventh of the time here."""
gc.set_threshold(*COLLECT_AFTER)


class ByFile(LoadScopeScheduling):
    """A scheduler that gives the tests of a file to one worker: they share fixtures, runs and compiled systems.

    pytest-xdist's own ``loadgroup`` does not group: pytest no longer reads the group in a test's name.
    """

    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER if nodeid.startswith(TOGETHER) else nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    """Replace ``loadgroup``."""
    return ByFile(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the table, and begin with the tests that take long."""
    of_seconds = frozenset(named())
    for item in items:
        if not of_seconds.isdisjoint((item.nodeid.partition("[")[0], item.nodeid.partition("::")[0])):
            item.add_marker("seconds")
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_collection_finish() -> None:
    """Spare the garbage collector thousands of collected tests, which stay until the end, in each of its rounds."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def machine_code_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep machine code and proofs in a folder of this run, shared by its workers and the processes that they start."""
    own = tmp_path_factory.getbasetemp()
    of_the_run = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROOFKA_CACHE", str(of_the_run / "machine-code"))
        yield


@pytest.fixture(autouse=True)
def interrupts_arrive() -> None:
    """Interrupts go to whom they go by default, also in a run that was started in the background and ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make output independent of the terminal that the tests run in."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
