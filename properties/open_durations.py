"""Durations that the model leaves open in a run: the run of a violation may have less time than its steps show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.coordination import coordinator_outage_is_limited
from proofka.model.faults import FALLS_SILENT, OF_BROKERS, Fault
from proofka.properties.verdict import Trace

_STANDS_FOR = (
    "a record that is in flight for long stands for one that waited for the coordinator, and with shorter waits the "
    "run may have no time (docs/semantics.md, Time)"
)

WAITS_FOR_COORDINATOR = (
    "the run leaves open how long the producer takes to find its coordinator after a broker fell silent or was cut "
    "off: " + _STANDS_FOR
)
"""The note on a run in which a send of a transaction ran out of time after such a fault."""

WAITS_AFTER_ANY_FAULT = (
    "the run leaves open how long the producer takes to find its coordinator after a broker's fault, as the faults of "
    "this deployment include a shutdown, a reassignment or the failure of a disk: " + _STANDS_FOR
)
"""The note on a run in which a send of a transaction ran out of time, where no such wait has a limit."""

_AFTER: Mapping[str, frozenset[Fault]] = {
    WAITS_FOR_COORDINATOR: FALLS_SILENT | {Fault.CUT_OFF},
    WAITS_AFTER_ANY_FAULT: OF_BROKERS,
}
"""Note -> the faults after which the duration is open."""

ENDS_OF_TIME = ("give_up", "time_out")
"""Beginnings of the names of actions by which a client stops to wait."""


def open_durations(deployment: Deployment, traces: Iterable[Trace]) -> Iterator[str]:
    """Yield a note for each duration that the model leaves open in one of the traces of a violation."""
    if deployment.producer.transactional is not None:
        note = WAITS_FOR_COORDINATOR if coordinator_outage_is_limited(deployment) else WAITS_AFTER_ANY_FAULT
        if any(_is_left_open(note, trace) for trace in traces):
            yield note


def of_run(trace: Trace, notes: Collection[str]) -> Iterator[str]:
    """Yield those of a verdict's notes that say which durations this trace leaves open."""
    for note in _AFTER:
        if note in notes and _is_left_open(note, trace):
            yield note


def _is_left_open(note: str, trace: Trace) -> bool:
    """Tell whether a send of the run ran out of time, after a fault to which the note applies."""
    disturbed = any(kind in _AFTER[note] for kind, _ in trace.faults)
    return disturbed and any(step.action.startswith(ENDS_OF_TIME) for step in trace.steps)
