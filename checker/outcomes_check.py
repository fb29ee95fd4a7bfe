"""Check the outcomes of replays in a result: each is of a trace of the result, and agrees with the trace and itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from proofka.checker.tampered import TamperedDocument
from proofka.properties.reproduced import digest, from_document
from proofka.properties.reproductions import contradiction

Traces = Mapping[str, list[tuple[list[str], set[str]]]]
"""By digest, the actions of each trace and the properties that the trace violates."""


def verify_outcomes(document: Mapping[str, Any]) -> str | None:
    """Return a line about the outcomes of a result, or None if the result has none.

    Raise :class:`TamperedDocument` for the first outcome that is of no trace of the result, names other properties than
    the trace violates, or contradicts itself.
    """
    traces = _traces_of(document)
    seen: set[tuple[str, frozenset[str], str]] = set()
    outcomes = document.get("reproductions", ())
    for number, written in enumerate(outcomes, start=1):
        outcome = from_document(written)
        name = f"reproduction {number}"
        found = traces.get(outcome.trace)
        if found is None:
            raise TamperedDocument(f"{name}: is of trace {outcome.trace}, which the result does not have")
        named = frozenset(outcome.properties)
        if len(named) < len(outcome.properties):
            raise TamperedDocument(f"{name}: names a property twice")
        if not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", outcome.kafka):
            raise TamperedDocument(f"{name}: names {outcome.kafka!r}, which is no release of Kafka")
        actions = next((actions for actions, violated in found if violated == named), None)
        if actions is None:
            violated = ", ".join(sorted(found[0][1]))
            said = ", ".join(outcome.properties)
            raise TamperedDocument(f"{name}: names {said}; the trace violates {violated}")
        if why := contradiction(outcome, actions):
            raise TamperedDocument(f"{name}: {why}")
        key = (outcome.trace, named, outcome.kafka)
        if key in seen:
            raise TamperedDocument(f"{name}: is a second outcome of its trace on Kafka {outcome.kafka}")
        seen.add(key)
    if not outcomes:
        return None
    what = "1 outcome agrees with its trace" if len(outcomes) == 1 else f"{len(outcomes)} outcomes agree with traces"
    return f"reproductions: {what}; only another replay (proofka reproduce) can show what a cluster does"


def _traces_of(document: Mapping[str, Any]) -> Traces:
    """Return the traces of a result. Properties that the same run violates share a trace."""
    runs: dict[str, tuple[str, list[str], set[str]]] = {}
    for verdict in document["verdicts"]:
        for trace in verdict["traces"]:
            steps = trace["steps"]
            run = json.dumps([trace["faults"], steps], sort_keys=True)
            name = digest((step["action"], step["arguments"]) for step in steps)
            _, _, violated = runs.setdefault(run, (name, [step["action"] for step in steps], set()))
            violated.add(verdict["property"])
    traces: dict[str, list[tuple[list[str], set[str]]]] = {}
    for name, actions, violated in runs.values():
        traces.setdefault(name, []).append((actions, violated))
    return traces
