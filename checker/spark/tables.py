"""The tables that an audit writes, as Arrow schemas, and the conversion of verdicts to their rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa

from proofka.properties.verdict import Coverage, CutSet, EngineRun, Status, Trace, Verdict

Row = dict[str, Any]

FAULTS = pa.list_(pa.struct([("fault", pa.string()), ("count", pa.int32())]))
NUMBERS = pa.list_(pa.struct([("name", pa.string()), ("number", pa.int64())]))
CHANGE = pa.struct([("what", pa.string()), ("before", pa.string()), ("after", pa.string())])
STEP = pa.struct(
    [
        ("number", pa.int32()),
        ("actor", pa.string()),
        ("lane", pa.string()),
        ("action", pa.string()),
        ("arguments", NUMBERS),
        ("text", pa.string()),
        ("fault", pa.string()),
        ("changes", pa.list_(CHANGE)),
        ("at", pa.int64()),
    ]
)
TRACE = pa.struct([("faults", FAULTS), ("failure", pa.string()), ("steps", pa.list_(STEP))])
COVERAGE = pa.struct(
    [
        ("faults_complete_to", pa.int32()),
        ("faults_total", pa.int32()),
        ("fault_kinds", FAULTS),
        ("any_number", pa.list_(pa.string())),
        ("sizes", NUMBERS),
        ("sizes_reached", pa.list_(pa.string())),
        ("stopped", pa.string()),
    ]
)
EXPLORED = pa.schema(
    [
        ("signature", pa.string()),
        ("property", pa.string()),
        ("status", pa.string()),
        ("fewest_faults", pa.int32()),
        ("cut_sets", pa.list_(FAULTS)),
        ("bounds", COVERAGE),
        ("states", pa.int64()),
        ("witness_reached", pa.bool_()),
        ("id", pa.string()),
        ("notes", pa.list_(pa.string())),
        ("traces", pa.list_(TRACE)),
        ("run_states", pa.int64()),
        ("run_transitions", pa.int64()),
        ("run_depth", pa.int32()),
        ("run_seconds", pa.float64()),
        ("run_compile_seconds", pa.float64()),
    ]
)
"""Schema with one row for each distinct system and property, with the cost of the exploration (the same in all rows of
a system)."""


def explored_rows(signature: str, verdicts: tuple[Verdict, ...], run: EngineRun) -> pa.Table:
    """Return the verdicts on one system as a table."""
    rows = [
        {
            "signature": signature,
            "property": verdict.property,
            "status": verdict.status.value,
            "fewest_faults": min((sum(n for _, n in cut_set) for cut_set in verdict.cut_sets), default=None),
            "cut_sets": [_faults(cut_set) for cut_set in verdict.cut_sets],
            "bounds": _coverage(verdict.coverage),
            "states": verdict.states,
            "witness_reached": verdict.witness_reached,
            "id": verdict.id,
            "notes": list(verdict.notes),
            "traces": [_trace(trace) for trace in verdict.traces],
            "run_states": run.states,
            "run_transitions": run.transitions,
            "run_depth": run.depth,
            "run_seconds": run.seconds,
            "run_compile_seconds": run.compile_seconds,
        }
        for verdict in verdicts
    ]
    return pa.Table.from_pylist(rows, schema=EXPLORED)


def undecided_rows(signature: str, properties: Collection[str], reason: str) -> pa.Table:
    """Return a table for an undecided system, with these properties; unknown values are null."""
    rows = [
        {"signature": signature, "property": name, "status": Status.UNKNOWN.value, "cut_sets": [], "traces": []}
        | {"states": 0, "witness_reached": False, "notes": [reason]}
        for name in properties
    ]
    return pa.Table.from_pylist(rows, schema=EXPLORED)


def _faults(cut_set: CutSet) -> list[Row]:
    return [{"fault": fault, "count": count} for fault, count in cut_set]


def _coverage(coverage: Coverage) -> Row:
    return {
        "faults_complete_to": coverage.complete_to,
        "faults_total": coverage.total,
        "fault_kinds": _faults(coverage.kinds),
        "any_number": list(coverage.any_number),
        "sizes": [{"name": name, "number": number} for name, number in coverage.bounds.items()],
        "sizes_reached": list(coverage.bounds_reached),
        "stopped": coverage.stopped,
    }


def _trace(trace: Trace) -> Row:
    steps = [
        {
            "number": number,
            "actor": step.actor,
            "lane": step.lane,
            "action": step.action,
            "arguments": [{"name": name, "number": value} for name, value in step.arguments.items()],
            "text": step.text,
            "fault": step.fault,
            "changes": [{"what": c.what, "before": c.before, "after": c.after} for c in step.changes],
            "at": step.at,
        }
        for number, step in enumerate(trace.steps, 1)
    ]
    return {"faults": _faults(trace.faults), "failure": trace.failure, "steps": steps}
