"""Budgets: the default raises the faults for some seconds, but covers every pair first."""

from __future__ import annotations

import pytest

from checker.budget import ALWAYS_COVERED, DEFAULT_SECONDS, Budget, Meter


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Meter, "elapsed", DEFAULT_SECONDS + 1)


def test_default_time_never_cuts_what_is_always_covered(late: None) -> None:
    meter = Meter(Budget())
    assert meter.exceeded(ALWAYS_COVERED) is None
    assert meter.exceeded(ALWAYS_COVERED + 1) == "time"


def test_a_named_total_has_no_default_time(late: None) -> None:
    assert Meter(Budget(), timed=False).exceeded(ALWAYS_COVERED + 1) is None


def test_a_named_time_always_counts(late: None) -> None:
    assert Meter(Budget(seconds=1.0), timed=False).exceeded(0) == "time"


def test_states_memory_and_interruption() -> None:
    meter = Meter(Budget(states=10, memory=1000))
    meter.grow(10, 1000)
    assert meter.exceeded(0) is None
    meter.grow(1, 0)
    assert meter.exceeded(0) == "states"
    assert Meter(Budget(memory=-1)).exceeded(0) == "memory"
    meter.interrupt()
    assert meter.exceeded(0) == "interrupted"
