"""The application of a run whose producer has transactions: its calls, and the ends that they tell.

The application sends the records of one transaction after another. It commits a transaction once all its records are
sent, aborts a transaction in which a send or the commit failed, and starts another producer where that fails as well.
A call that timed out is made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proofka.checker.cluster.client import ANSWERS, ClientProcess, Event
from proofka.checker.conformance.gathering import CLOCK_SECONDS
from proofka.checker.conformance.observations import EndedTransaction

TIMED_OUT = "timed"
"""The part of an error's name that says that the call can be made again."""

FAILED = "failed"
"""The event of a call that threw an error."""


@dataclass(frozen=True)
class Call:
    """A call that has not returned. ``after``: number of the program's events before the call."""

    command: str
    after: int


class TransactingApplication:
    """The transactions of one producer in a run.

    ``groups``: the records of each transaction, in their order. ``ended``: the calls that ended a transaction.
    ``committing``: when a program ended that waited for the return of commitTransaction().
    """

    def __init__(self, groups: Sequence[Sequence[int]]) -> None:
        self._groups = tuple(map(tuple, groups))
        self._number = 0
        self._is_open = False
        self._fails = False
        self._is_broken = False
        self._sent: list[int] = []
        self._call: Call | None = None
        self.ended: list[EndedTransaction] = []
        self.committing: list[float] = []

    @property
    def is_open(self) -> bool:
        """Tell whether a transaction is going on as far as the application knows."""
        return self._is_open

    @property
    def is_at_rest(self) -> bool:
        """Tell whether the application has neither a transaction nor a call that goes on, and its producer works."""
        return not self._is_open and self._call is None and not self._is_broken

    def due(self) -> str | None:
        """Return the command that the application calls next: None while a call goes on, and after the last one."""
        if self._call is not None:
            return None
        if self._is_broken:
            return "replace"
        if self._is_open:
            return "abort" if self._fails else "send" if self._unsent() else "commit"
        return "send" if self._unsent() else None

    def next_record(self) -> int:
        """Return the record that the application sends next."""
        return self._unsent()[0]

    def _unsent(self) -> tuple[int, ...]:
        group = self._groups[self._number] if self._number < len(self._groups) else ()
        return tuple(record for record in group if record not in self._sent)

    def call(self, command: str, program: ClientProcess) -> None:
        """Call a method that ends a transaction, or starts transactions, and do not wait."""
        self._call = Call(command, len(program.events))
        program.send(command)

    def send(self, record: int) -> None:
        """Note that the application sends a record, and begins the record's transaction with the first."""
        self._is_open = True
        self._sent.append(record)

    def lose_program(self, when: float) -> None:
        """Note that the program has ended, and that another one calls initTransactions()."""
        if self._call is not None and self._call.command == "commit":
            self.committing.append(when)
        if self._is_open:
            self._next()
        self._is_broken = False
        self._call = Call("init", 0)

    def hear(self, program: ClientProcess, since: int) -> None:
        """Take over what the program has told. ``since``: number of its events before the run."""
        events = program.events
        if self._is_open and any(self._is_failed_send(event) for event in events[since:]):
            self._fails = True
        if self._call is None:
            return
        names = (ANSWERS[self._call.command], FAILED)
        answer = next((event for event in events[self._call.after :] if event["event"] in names), None)
        if answer is not None:
            command, self._call = self._call.command, None
            self._returned(command, answer)

    def _is_failed_send(self, event: Event) -> bool:
        concerns = event.get("record") in self._groups[self._number]
        is_report = event["event"] == "report" and bool(event["error"])
        return concerns and (is_report or is_failed_send(event))

    def _returned(self, command: str, answer: Event) -> None:
        if not answer.get("error"):
            if command in ("commit", "abort"):
                when = (answer["at"] - CLOCK_SECONDS, answer["at"] + CLOCK_SECONDS)
                self.ended.append(EndedTransaction(self._number, command == "commit", when))
                self._next()
        elif TIMED_OUT in str(answer["error"]).lower():
            self._is_broken = command == "init"
        elif command == "commit":
            self._fails = True
        else:
            self._is_broken = True

    def _next(self) -> None:
        self._number += 1
        self._is_open = self._fails = False


def is_failed_send(event: Event) -> bool:
    """Tell whether a call of ``send()`` threw an error."""
    return (event["event"], event.get("do")) == (FAILED, "send")
