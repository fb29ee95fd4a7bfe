"""Fixtures for tests of replays without Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from proofka.checker.reproduction import comparing, replay
from proofka.checker.reproduction.steps import brokers, consuming, producing
from tests.checker.reproduction.scene import Scene


@pytest.fixture
def scene() -> Iterator[Scene]:
    with ExitStack() as stack:
        yield Scene(stack)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each wait of a replay end soon, for tests of what does not come."""
    for module in (brokers, consuming, producing):
        for name in ("SECONDS", "TIMER_SECONDS"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, 0.3)
    monkeypatch.setattr(comparing, "LOG_SECONDS", 0.3)
    monkeypatch.setattr(replay, "ASKS_ELSEWHERE_SECONDS", 0.3)
