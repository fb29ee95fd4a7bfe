"""Notes on durations that the model leaves open in the run of a violation."""

from __future__ import annotations

import pytest

from properties.open_durations import WAITS_FOR_COORDINATOR, of_run, open_durations
from properties.verdict import CutSet, Step, Trace
from tests.checker.asking import example

KILL: CutSet = (("kill", 1),)
CRASH: CutSet = (("producer-crash", 1),)


def run(faults: CutSet, *actions: str) -> Trace:
    return Trace(faults, tuple(Step("producer", "producer", name, {}, name, None, ()) for name in actions), "it failed")


WAITED = run(KILL, "send", "transmit", "give_up")


@pytest.mark.parametrize(
    ("pipeline", "trace", "noted"),
    [
        ("transactions", WAITED, True),
        ("transactions", run(KILL, "send", "append"), False),
        ("transactions", run(CRASH, "send", "give_up"), False),
        ("idempotent", WAITED, False),
    ],
)
def test_a_send_of_a_transaction_that_runs_out_of_time_after_a_brokers_fault_is_noted(
    pipeline: str, trace: Trace, noted: bool
) -> None:
    notes = tuple(open_durations(example(pipeline), [trace]))
    assert notes == ((WAITS_FOR_COORDINATOR,) if noted else ())


def test_a_trace_is_told_with_the_notes_that_are_its_own() -> None:
    assert list(of_run(WAITED, [WAITS_FOR_COORDINATOR, "another note"])) == [WAITS_FOR_COORDINATOR]
    assert list(of_run(WAITED, ["another note"])) == []
    assert list(of_run(run(CRASH, "give_up"), [WAITS_FOR_COORDINATOR])) == []
