"""Budgets: the default raises the faults for some seconds, but answers for every single fault first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proofka.checker import budget
from proofka.checker.budget import (
    ANSWERED_TO,
    DEFAULT_SECONDS,
    SECONDS_FOR_CLOCKS,
    SECONDS_FOR_FAULT_SETS,
    Budget,
    Meter,
    PartMeter,
    processors,
)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Meter, "elapsed", DEFAULT_SECONDS + 1)


def test_default_time_never_cuts_the_answer(late: None) -> None:
    meter = Meter(Budget())
    assert meter.exceeded(ANSWERED_TO) is None
    assert meter.exceeded(ANSWERED_TO + 1) == "time"
    meter.is_answered = True
    assert meter.exceeded(0) == "time"


def test_clocks_have_a_default_limit_for_few_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Meter, "elapsed", SECONDS_FOR_CLOCKS + 1)
    assert Meter(Budget()).out_of_time_for_clocks(ANSWERED_TO) == "time"
    assert Meter(Budget(), timed=False).out_of_time_for_clocks(ANSWERED_TO) is None
    monkeypatch.setattr(Meter, "elapsed", SECONDS_FOR_FAULT_SETS + 1)
    assert Meter(Budget()).out_of_time_for_clocks(ANSWERED_TO) is None
    assert Meter(Budget()).out_of_time_for_clocks(ANSWERED_TO, is_violated=True) == "time"
    assert Meter(Budget(), timed=False).out_of_time_for_clocks(ANSWERED_TO, is_violated=True) is None


def test_clocks_have_no_default_limit_for_few_faults_of_a_promised_property(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Meter, "elapsed", SECONDS_FOR_CLOCKS + 1)
    meter, given = Meter(Budget()), Meter(Budget(seconds=5.0))
    part = PartMeter(meter, None, "more")
    with meter.promising(lambda: True), given.promising(lambda: True):
        assert meter.out_of_time_for_clocks(ANSWERED_TO) is None
        assert part.exceeded(ANSWERED_TO) is None
        assert part.out_of_time_for_clocks(ANSWERED_TO) is None
        assert meter.out_of_time_for_clocks(ANSWERED_TO + 1) == "time"
        assert given.out_of_time_for_clocks(ANSWERED_TO) == "time"
    assert part.exceeded(ANSWERED_TO) == meter.out_of_time_for_clocks(ANSWERED_TO) == "time"


def test_a_named_total_has_no_default_time(late: None) -> None:
    assert Meter(Budget(), timed=False).exceeded(ANSWERED_TO + 1) is None


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


@pytest.mark.parametrize(
    ("said", "bound", "allowed"),
    [
        ("max 100000", 4, 4),
        ("200000 100000", 4, 2),
        ("150000 100000", 4, 1),
        ("50000 100000", 4, 1),
        ("900000 100000", 4, 4),
        ("", 3, 3),
        ("200000 0", 3, 3),
        (None, 3, 3),
    ],
)
def test_a_container_s_share_of_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str | None, bound: int, allowed: int
) -> None:
    """Threads that wait for each other must not be more than the system lets run."""
    if said is not None:
        (tmp_path / "cpu.max").write_text(said)
    monkeypatch.setattr(budget, "CPU_SHARE", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(bound)), raising=False)
    assert processors() == Budget().threads == allowed
