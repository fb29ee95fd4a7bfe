"""The applications of a replay: the real producer and consumer, and what they were told and told us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Callable

from proofka.checker.cluster.client import ClientProcess
from proofka.checker.cluster.sends import Send

Event = Mapping[str, Any]
START_SECONDS = 60.0
"""Longest wait until a client program is ready, in seconds."""


@dataclass(frozen=True)
class Report:
    """A delivery report of the producer: the record's offset, or an error. ``code``: the error's name."""

    send: Send
    offset: int | None
    error: str | None
    code: str | None

    def __str__(self) -> str:
        return f"{self.send}: " + (self.error or f"stored at offset {self.offset}")


@dataclass
class Producing:
    """The producing application: the program that runs, and the reports of all programs so far."""

    start: Callable[[int], ClientProcess]
    program: ClientProcess | None = None
    programs: int = 0
    sent: list[Send] = field(default_factory=list)
    ended: list[Event] = field(default_factory=list)
    transaction: bool = False

    def run(self) -> ClientProcess:
        """Return the running program, which is started first if there is none."""
        if self.program is None:
            self.programs += 1
            self.program = self.start(self.programs)
            self.program.ask("prepare", seconds=START_SECONDS)
        return self.program

    def send(self, send: Send) -> None:
        """Have the application call ``send()``, which returns at once, and with kafka-go only with the report."""
        program = self.run()
        self.sent.append(send)
        program.send("send", **asdict(send))

    def has_returned(self, send: Send) -> bool:
        """Tell whether a call of ``send()`` has returned."""
        return any(event["event"] == "sent" and _send_in(event) == send for event in self.events)

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
            Report(_send_in(event), event.get("offset"), event.get("error"), event.get("code"))
            for event in self.events
            if event["event"] == "report" and event["record"] > 0
        )

    def acknowledged(self) -> set[int]:
        """Return the records that the application was told are stored."""
        return {report.send.record for report in self.reports if report.error is None}


def _send_in(event: Event) -> Send:
    return Send(event["record"], event["attempt"])


@dataclass
class Consuming:
    """The consuming application: the program that runs, and the processing so far.

    ``processed``: records in the order in which their processing ended. ``with_workers``: by offset in the modelled
    log, the record there that a worker has. ``started_at``: the offset at which each program began, by its number.
    ``late``: by offset in the modelled log, the record there that an evicted member still has. ``evicted``: programs
    that were paused until their group evicted them. ``start_results``: starts the producer of results, by number of the
    program; None if results are not written in transactions. ``first_fetch``: tells by number of the program the offset
    of its first fetch, for libraries that do not tell where they start. ``results``, ``memberships``: by number of the
    program, its producer of results, and its membership in the group.
    """

    start: Callable[[int], ClientProcess]
    start_results: Callable[[int], ClientProcess] | None
    first_fetch: Callable[[int], int]
    program: ClientProcess | None = None
    programs: int = 0
    results: dict[int, ClientProcess] = field(default_factory=dict)
    memberships: dict[int, Any] = field(default_factory=dict)
    processed: list[int] = field(default_factory=list)
    with_workers: dict[int, int] = field(default_factory=dict)
    started_at: dict[int, int] = field(default_factory=dict)
    late: dict[int, int] = field(default_factory=dict)
    evicted: list[ClientProcess] = field(default_factory=list)

    def run(self, *, seconds: float) -> ClientProcess:
        """Return the running program, which is started and joins its group first if there is none."""
        if self.program is None:
            self.programs += 1
            self.program = self.start(self.programs)
            event = self.program.ask("join", seconds=seconds)
            position = event["position"]
            self.started_at[self.programs] = self.first_fetch(self.programs) if position is None else int(position)
            self.memberships[self.programs] = event.get("membership")
            if self.start_results is not None:
                self.results[self.programs] = self.start_results(self.programs)
                self.results[self.programs].ask("init", seconds=START_SECONDS)
        return self.program

    def kill(self) -> None:
        """Kill the program, and its producer of results."""
        if self.program is not None:
            self.program.kill()
            self.program = None
            if self.programs in self.results:
                self.results.pop(self.programs).kill()

    def evict(self) -> None:
        """Stop the program where it is; the next one that runs is another member."""
        if self.program is not None:
            self.program.process.pause()
            self.evicted.append(self.program)
            self.program = None

    def kill_evicted(self) -> None:
        """Kill the programs that were paused, and their producers of results."""
        while self.evicted:
            self.evicted.pop().kill()
        for number in [number for number in self.results if self.program is None or number != self.programs]:
            self.results.pop(number).kill()
