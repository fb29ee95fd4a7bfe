"""The applications of a replay: the real producer and consumer, and what they were told and told us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Callable

from checker.cluster.client import ClientProcess

Event = Mapping[str, Any]
START_SECONDS = 60.0
"""Longest wait until a client program is ready, in seconds."""


@dataclass(frozen=True)
class Report:
    """What the producer told the application about a record: its offset, or an error. ``code``: the error's name."""

    record: int
    offset: int | None
    error: str | None
    code: str | None

    def __str__(self) -> str:
        return f"record {self.record}: " + (self.error or f"stored at offset {self.offset}")


@dataclass
class Producing:
    """The producing application: the program that runs, and the reports of all programs so far."""

    start: Callable[[int], ClientProcess]
    program: ClientProcess | None = None
    programs: int = 0
    sent: list[int] = field(default_factory=list)
    ended: list[Event] = field(default_factory=list)
    transaction: bool = False

    def run(self) -> ClientProcess:
        """Return the running program, which is started first if there is none."""
        if self.program is None:
            self.programs += 1
            self.program = self.start(self.programs)
            self.program.ask("prepare", seconds=START_SECONDS)
        return self.program

    def send(self, record: int) -> None:
        """Have the application send a record, and wait until ``send()`` returned."""
        program = self.run()
        self.sent.append(record)
        program.ask("send", record=record, seconds=START_SECONDS)

    def kill(self) -> None:
        """Kill the program; its reports stay known."""
        if self.program is not None:
            self.program.kill()
            self.ended += self.program.events
            self.program = None

    @property
    def events(self) -> tuple[Event, ...]:
        """Events of all programs so far, in order."""
        return (*self.ended, *(self.program.events if self.program is not None else ()))

    @property
    def reports(self) -> tuple[Report, ...]:
        """All reports of records so far, in order. The warm-up, record 0, is none of the trace's."""
        return tuple(
            Report(event["record"], event.get("offset"), event.get("error"), event.get("code"))
            for event in self.events
            if event["event"] == "report" and event["record"] > 0
        )

    def acknowledged(self) -> set[int]:
        """Return the records that the application was told are stored."""
        return {report.record for report in self.reports if report.error is None}


@dataclass
class Consuming:
    """The consuming application: the program that runs, and the processing so far.

    ``processed``: records in the order in which their processing ended. ``with_workers``: by offset in the modelled
    log, the record there that a worker has. ``started_at``: the offset at which each program began, by its number.
    """

    start: Callable[[int], ClientProcess]
    program: ClientProcess | None = None
    programs: int = 0
    processed: list[int] = field(default_factory=list)
    with_workers: dict[int, int] = field(default_factory=dict)
    started_at: dict[int, int] = field(default_factory=dict)

    def run(self, *, seconds: float) -> ClientProcess:
        """Return the running program, which is started and joins its group first if there is none."""
        if self.program is None:
            self.programs += 1
            self.program = self.start(self.programs)
            event = self.program.ask("join", seconds=seconds)
            self.started_at[self.programs] = int(event["position"])
        return self.program

    def kill(self) -> None:
        """Kill the program."""
        if self.program is not None:
            self.program.kill()
            self.program = None
