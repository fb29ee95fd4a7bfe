"""Durations that the model leaves open in a run: the run of a violation may have less time than its steps show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from model.deployment.deployment import Deployment
from model.faults import OF_BROKERS
from properties.verdict import Trace

WAITS_FOR_COORDINATOR = (
    "the run leaves open how long the producer takes to find its coordinator after a broker's fault: a record that is "
    "in flight for long stands for one that waited for the coordinator, and with shorter waits the run may have no "
    "time (docs/semantics.md, Time)"
)
"""The note on a run in which a send of a transaction ran out of time after a fault of a broker."""

ENDS_OF_TIME = ("give_up", "time_out")
"""Beginnings of the names of actions by which a client stops to wait."""


def open_durations(deployment: Deployment, traces: Iterable[Trace]) -> Iterator[str]:
    """Yield a note for each duration that the model leaves open in one of the traces of a violation."""
    if deployment.producer.transactional is not None and any(_waits_for_coordinator(trace) for trace in traces):
        yield WAITS_FOR_COORDINATOR


def of_run(trace: Trace, notes: Collection[str]) -> Iterator[str]:
    """Yield those of a verdict's notes that say which durations this trace leaves open."""
    if WAITS_FOR_COORDINATOR in notes and _waits_for_coordinator(trace):
        yield WAITS_FOR_COORDINATOR


def _waits_for_coordinator(trace: Trace) -> bool:
    disturbed = any(kind in OF_BROKERS for kind, _ in trace.faults)
    return disturbed and any(step.action.startswith(ENDS_OF_TIME) for step in trace.steps)
