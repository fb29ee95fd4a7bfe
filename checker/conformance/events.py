"""The events of a run: observations of a cluster and its clients, as plain data.

An event happens at one moment, of which an interval is known: a request passes between its arrival at the proxy and its
departure; a record is in a log before a reader of the disk has seen the record. Events whose intervals overlap happen
in any order, except those of one chain, which happen in the order of the recording.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from proofka.checker.conformance.arguments import wrong_argument
from proofka.checker.conformance.errors import BadRecording, ConformanceError, UnknownEvent
from proofka.model.deployment import from_document, to_document
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.faults import Fault

_TABLE = Path(__file__).parent / "tables" / "events.csv"

EVENT_ROWS: Mapping[str, Mapping[str, str]] = {
    row["event"]: row for row in csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines())
}
"""Kind of event -> its row of the table."""

FORMAT_NUMBER = 1
"""The number of the format of recordings."""


@dataclass(frozen=True)
class Event:
    """An event of a kind (tables/events.csv), at a moment from ``opens`` to ``closes`` (seconds, or any other order).

    ``chain``: events of the same chain happen in their order; empty where only the moments order the event.
    """

    kind: str
    arguments: Mapping[str, Any]
    _: KW_ONLY
    opens: float
    closes: float
    chain: str = ""

    def __post_init__(self) -> None:
        row = EVENT_ROWS.get(self.kind)
        if row is None:
            raise UnknownEvent(f"{self.kind} is no kind of event: use one of {', '.join(EVENT_ROWS)}")
        missing = [name for name in row["arguments"].split() if name not in self.arguments]
        if missing:
            raise UnknownEvent(f"the event {self.kind} needs the argument {', '.join(missing)}")
        if self.opens > self.closes:
            raise UnknownEvent(f"the event {self.kind} ends before it begins: {self.opens} to {self.closes}")

    @property
    def content(self) -> str:
        """The kind and the arguments as a text: events with the same content have the same explanation."""
        return json.dumps([self.kind, dict(self.arguments)], sort_keys=True)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.arguments.items())
        return f"{self.kind}({given})"


def faults_of(events: Sequence[Event]) -> frozenset[Fault]:
    """Return the kinds of fault that can explain one of the events."""
    return frozenset(Fault(kind) for event in events for kind in EVENT_ROWS[event.kind]["faults"].split())


@dataclass(frozen=True)
class Recording:
    """The events of one run, and the deployment that the run used.

    ``about``: where the run comes from (release, client, seed and the like); the checker does not read it.
    """

    deployment: Deployment
    events: tuple[Event, ...]
    about: Mapping[str, Any] = field(default_factory=dict)


def to_json(recording: Recording) -> str:
    """Return the recording as a JSON text, with a line for each event."""
    return _json(recording, {"deployment": to_document(recording.deployment)})


def events_to_json(recording: Recording) -> str:
    """Return the recording without its deployment as a JSON text, with a line for each event."""
    return _json(recording, {})


def _json(recording: Recording, more: Mapping[str, Any]) -> str:
    head = {"format": FORMAT_NUMBER, "about": dict(recording.about), **more}
    rows = [
        {
            "kind": event.kind,
            "arguments": dict(event.arguments),
            "opens": event.opens,
            "closes": event.closes,
            **({"chain": event.chain} if event.chain else {}),
        }
        for event in recording.events
    ]
    members = [f'"{name}": {json.dumps(value)}' for name, value in head.items()]
    lines = ",\n".join(json.dumps(row) for row in rows)
    return "{" + ",\n".join([*members, f'"events": [\n{lines}\n]']) + "}\n"


def from_json(text: str, deployment: Deployment | None = None, *, name: str = "the text") -> Recording:
    """Read a recording. Raise :class:`BadRecording` or :class:`UnknownEvent`.

    ``deployment``: that of a recording which leaves the deployment out; None for a recording that has one. ``name``:
    what errors call the text.
    """
    try:
        document = json.loads(text)
        if document["format"] != FORMAT_NUMBER:
            raise BadRecording(f"{name}: has format {document['format']}; record the run again")
        events = tuple(map(_event, document["events"]))
        used = from_document(document["deployment"]) if deployment is None else deployment
        if not events:
            raise BadRecording(f"{name}: has no events, so it shows nothing of a cluster; record the run again")
        return Recording(used, events, _object(document["about"]))
    except ConformanceError:
        raise
    except (ValueError, OverflowError, RecursionError, KeyError, TypeError, AttributeError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise BadRecording(
            f"{name}: is no recording of a run ({why}); write one with proofka conform --keep"
        ) from error
    except DeploymentError as error:
        raise BadRecording(f"{name}: the deployment in the recording is not readable: {error}") from error


def _event(row: Mapping[str, Any]) -> Event:
    """Return the event of a row. Raise :class:`UnknownEvent` for arguments and times of another form."""
    found = Event(
        str(row["kind"]),
        _object(row["arguments"]),
        opens=_time(row["opens"]),
        closes=_time(row["closes"]),
        chain=str(row.get("chain", "")),
    )
    table = EVENT_ROWS[found.kind]
    if wrong := wrong_argument(found.arguments, f"{table['arguments']} {table['optional']}".split()):
        raise UnknownEvent(f"the event {found} {wrong}")
    return found


def _object(value: object) -> dict[str, Any]:
    """Return a JSON object. Raise TypeError for another value."""
    if not isinstance(value, dict):
        raise TypeError(f"{json.dumps(value)[:80]} is no object")
    return value


def _time(value: object) -> float:
    """Return a time. Raise TypeError for what is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{json.dumps(value)} is no time")
    return float(value)
