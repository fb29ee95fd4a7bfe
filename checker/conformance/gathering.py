"""Observations from what the parts of a cluster remember: the proxy, the client program and the watcher of disks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proofka.checker.cluster.bodies import produce_request, produce_response
from proofka.checker.cluster.client import Event
from proofka.checker.cluster.frames import REQUEST, Frame
from proofka.checker.cluster.passed import DETACHED, DROPPED, PASSED, RELEASED, Passed
from proofka.checker.cluster.sends import send_of
from proofka.checker.conformance.observations import Report, Request, Send

CLOCK_SECONDS = 0.001
"""The resolution of the times that client programs tell."""

NO_ANSWER = 0
"""The ``acks`` of a produce request that a broker does not answer."""

_TO_BROKER = re.compile(r"client->(\d+)")
_TO_CONTROLLER = re.compile(r"(\d+)->controller")
_GONE_ON = (PASSED, RELEASED)


@dataclass
class _Seen:
    """A produce request as the proxy's record tells."""

    frame: Frame
    left: float | None = None
    given_up: float | None = None
    answered: float | None = None
    error: int | None = None


def requests_of(entries: Iterable[Passed], client: str, records: int) -> tuple[Request, ...]:
    """Return the produce requests of a client with at least one of the records from 0 to ``records`` - 1.

    Raises UnreadableBody and ForeignValue.
    """
    seen: dict[int, _Seen] = {}
    ended: dict[int, float] = {}
    for entry in entries:
        frame = entry.frame
        if frame.api != "Produce" or frame.client != client:
            continue
        if frame.side == REQUEST:
            one = seen.setdefault(id(frame), _Seen(frame))
            if entry.fate in _GONE_ON:
                one.left = one.left or entry.at
            elif entry.fate in (DROPPED, DETACHED):
                one.given_up = one.given_up or entry.at
                ended.setdefault(frame.connection, entry.at)
        elif entry.fate in _GONE_ON and frame.request is not None:
            one = seen.setdefault(id(frame.request), _Seen(frame.request))
            one.answered = entry.at
            one.error = next((answer.error_code for answer in produce_response(frame).partitions), None)
    found = (_request(one, ended, records) for one in seen.values())
    return tuple(request for request in found if request.records)


def _request(one: _Seen, ended: Mapping[int, float], records: int) -> Request:
    frame = one.frame
    content = produce_request(frame)
    values = [send_of(value).record for partition in content.partitions for value in partition.values]
    closed = ended.get(frame.connection)
    if closed is not None and one.given_up is None and (one.left is None or one.left > closed):
        one.given_up = closed  # It waited behind a request that was held.
    late = one.given_up is not None and one.left is not None and one.left > one.given_up
    return Request(
        frame.connection,
        _broker(_TO_BROKER, frame.link),
        tuple(value for value in values if value < records),
        arrived=frame.at,
        left=None if late else one.left,
        given_up=one.given_up,
        answered=one.answered,
        error=one.error,
        answerable=content.acks != NO_ANSWER,
    )


def changes_proposed(entries: Iterable[Passed]) -> dict[int, tuple[float, ...]]:
    """Return, by broker, the times at which its proposals of another ISR left to the controller."""
    return _times_of_changes(entries, are_requests=True)


def changes_passed(entries: Iterable[Passed]) -> dict[int, tuple[float, ...]]:
    """Return, by broker, the times at which answers to its proposals of another ISR left to the broker."""
    return _times_of_changes(entries, are_requests=False)


def _times_of_changes(entries: Iterable[Passed], *, are_requests: bool) -> dict[int, tuple[float, ...]]:
    found: dict[int, tuple[float, ...]] = {}
    for entry in entries:
        frame = entry.frame
        if frame.api == "AlterPartition" and (frame.side == REQUEST) is are_requests and entry.fate in _GONE_ON:
            broker = _broker(_TO_CONTROLLER, frame.link)
            found[broker] = (*found.get(broker, ()), entry.at)
    return found


def _broker(pattern: re.Pattern[str], link: str) -> int:
    match = pattern.fullmatch(link)
    if match is None:
        raise ValueError(f"the link {link} leads from no client to a broker, and from no broker to the controller")
    return int(match[1])


def sends_of(events: Sequence[Event], commanded: Mapping[int, float], end: float) -> tuple[Send, ...]:
    """Return the calls of ``send()``: the times of the commands by record, and of the events that say "sent"."""
    returned = {event["record"]: event["at"] + CLOCK_SECONDS for event in events if event["event"] == "sent"}
    return tuple(Send(record, (begin, max(begin, returned.get(record, end)))) for record, begin in commanded.items())


def reports_of(events: Sequence[Event], records: int) -> tuple[Report, ...]:
    """Return the reports on the records from 0 to ``records`` - 1."""
    return tuple(
        Report(
            event["record"],
            (event["at"] - CLOCK_SECONDS, event["at"] + CLOCK_SECONDS),
            event["error"] and event["code"],
        )
        for event in events
        if event["event"] == "report" and event["record"] < records
    )
