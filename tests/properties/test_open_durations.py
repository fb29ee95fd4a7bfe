"""Notes on durations that the model leaves open in the run of a violation."""

from __future__ import annotations

import pytest

from proofka.model.faults import Fault
from proofka.properties.open_durations import WAITS_AFTER_ANY_FAULT, WAITS_FOR_COORDINATOR, of_run, open_durations
from proofka.properties.verdict import CutSet, Step, Trace
from tests.checker.asking import example

KILL: CutSet = (("kill", 1),)
SILENT: CutSet = (("power-loss", 1),)
CUT_OFF: CutSet = (("cut-off", 1),)
CRASH: CutSet = (("producer-crash", 1),)


def run(faults: CutSet, *actions: str) -> Trace:
    return Trace(faults, tuple(Step("producer", "producer", name, {}, name, None, ()) for name in actions), "it failed")


GIVEN_UP = ("send", "transmit", "give_up")
WAITED = run(SILENT, *GIVEN_UP)


@pytest.mark.parametrize(
    ("pipeline", "trace", "noted"),
    [
        ("transactions", WAITED, True),
        ("transactions", run(CUT_OFF, *GIVEN_UP), True),
        ("transactions", run(KILL, *GIVEN_UP), False),
        ("transactions", run(SILENT, "send", "append"), False),
        ("transactions", run(CRASH, "send", "give_up"), False),
        ("idempotent", WAITED, False),
    ],
)
def test_a_send_that_ran_out_of_time_after_a_broker_fell_silent_is_noted(
    pipeline: str, trace: Trace, noted: bool
) -> None:
    deployment = example(pipeline, (Fault.KILL, Fault.POWER_LOSS, Fault.CUT_OFF, Fault.PRODUCER_CRASH), 1)
    assert list(open_durations(deployment, [trace])) == ([WAITS_FOR_COORDINATOR] if noted else [])


def test_a_send_that_ran_out_of_time_after_any_fault_is_noted_where_a_broker_can_be_shut_down() -> None:
    deployment = example("transactions", (Fault.KILL, Fault.SHUTDOWN), 1)
    assert list(open_durations(deployment, [run(KILL, *GIVEN_UP)])) == [WAITS_AFTER_ANY_FAULT]


def test_a_trace_is_told_with_the_notes_that_are_its_own() -> None:
    assert list(of_run(WAITED, [WAITS_FOR_COORDINATOR, "another note"])) == [WAITS_FOR_COORDINATOR]
    assert list(of_run(run(KILL, *GIVEN_UP), [WAITS_FOR_COORDINATOR])) == []
    assert list(of_run(run(KILL, *GIVEN_UP), [WAITS_AFTER_ANY_FAULT])) == [WAITS_AFTER_ANY_FAULT]
    assert list(of_run(WAITED, ["another note"])) == []
    assert list(of_run(run(CRASH, "give_up"), [WAITS_FOR_COORDINATOR])) == []
