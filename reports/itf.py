"""A trace in the ITF format of Apalache, which the viewers of Apalache and Quint read.

The format is Apalache's ADR 015 (https://apalache-mc.org/docs/adr/015adr-trace.html): an object with ``vars`` and
``states``; each state has a value for every variable. A value here is a string or a sequence of strings, because the
parts of the state are in words; numbers would require ``#bigint``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proofka.properties.verdict import Shown, Trace, states_of
from proofka.reports import wording
from proofka.reports.story import Telling

DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"
STRING, SEQUENCE = "Str", "Seq(Str)"
STEP, ACTOR, FAULT, FAULTS, AT = "step", "actor", "fault", "faults", "at_ms"
"""Variables about the step before a state: its sentence, its actor, its kind of fault (empty: no fault), the faults so
far, and the time of the step in ms (empty: unknown), if the trace has times."""

Value = str | list[str]


def to_itf(telling: Telling, *, source: str) -> str:
    """Return the trace as the text of an ``.itf.json`` file. ``source``: the origin of the trace."""
    trace = telling.trace
    states = _complete(trace)
    names = _names(states[0])
    timed = any(step.at is not None for step in trace.steps)
    types = {STEP: STRING, ACTOR: STRING, FAULT: STRING, FAULTS: SEQUENCE} | ({AT: STRING} if timed else {})
    types |= {names[what]: SEQUENCE if _is_log(states, what) else STRING for what in names}
    document = {
        "#meta": {
            "format": "ITF",
            "format-description": DESCRIPTION,
            "source": wording.plain(source),
            "description": wording.plain(_description(telling)),
            "varTypes": types,
        },
        "params": [],
        "vars": list(types),
        "states": [
            {
                "#meta": {"index": index},
                **told,
                **{names[what]: _value(shown, types[names[what]]) for what, shown in state.items()},
            }
            for index, (told, state) in enumerate(zip(_told(trace, timed=timed), states, strict=True))
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _description(telling: Telling) -> str:
    names = wording.listed([verdict.property for verdict, _ in telling.violated])
    failures = "; ".join(dict.fromkeys(failure for _, failure in telling.violated))
    return f"{names} violated by {wording.fault_set(telling.faults)}: {failures}"


def _told(trace: Trace, *, timed: bool) -> Iterator[dict[str, Value]]:
    """Yield the variables about the step that leads to each state; they are empty for the initial state."""
    faults: list[str] = []
    at = {AT: ""} if timed else {}
    yield {STEP: "", ACTOR: "", FAULT: "", FAULTS: [], **at}
    for step in trace.steps:
        faults = [*faults, step.fault] if step.fault else faults
        if timed:
            at = {AT: "" if step.at is None else str(step.at)}
        told = {
            STEP: wording.plain(step.text),
            ACTOR: wording.plain(step.actor),
            FAULT: wording.plain(step.fault or ""),
        }
        yield {**told, FAULTS: [wording.plain(fault) for fault in faults], **at}


def _complete(trace: Trace) -> list[dict[str, Shown]]:
    """Return the states by part.

    A part that first appears in a change has its value before this change from the start.
    """
    first: dict[str, Shown] = {shown.what: shown for shown in trace.start}
    for step in trace.steps:
        for change in step.changes:
            first.setdefault(change.what, Shown(change.what, "", change.before))
    return [{**first, **{shown.what: shown for shown in state}} for state in states_of(trace)]


def _is_log(states: Sequence[Mapping[str, Shown]], what: str) -> bool:
    return all(state[what].entries is not None for state in states)


def _value(shown: Shown, kind: str) -> Value:
    if kind == SEQUENCE:
        return [wording.plain(entry) for entry in shown.entries or ()]
    return wording.plain(shown.value)


def _names(state: Mapping[str, Any]) -> dict[str, str]:
    """Return a unique identifier for each part of the state: ``broker_1_log`` for ``broker 1's log``."""
    taken = {STEP, ACTOR, FAULT, FAULTS, AT}
    found: dict[str, str] = {}
    for what in state:
        word = re.sub(r"[^a-z0-9]+", "_", what.lower().replace("'s ", " ")).strip("_")
        plain = word if word[:1].isalpha() else f"part_{word}".rstrip("_")
        name, number = plain, 2
        while name in taken:
            name, number = f"{plain}_{number}", number + 1
        taken.add(name)
        found[what] = name
    return found
