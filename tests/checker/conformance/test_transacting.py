"""The application with transactions: the command that is due, and what the answers to its calls lead to."""

from __future__ import annotations

from typing import Any, cast

import pytest

from proofka.checker.cluster.client import ClientProcess
from proofka.checker.conformance.transacting import TransactingApplication

AT = 5.0


class Program:
    """A client program that notes its commands, and has the events that the test gives it."""

    def __init__(self) -> None:
        self.events: tuple[dict[str, Any], ...] = ({"event": "ready"},)
        self.commands: list[str] = []

    def send(self, command: str) -> None:
        self.commands.append(command)

    def say(self, event: str, **fields: Any) -> None:
        self.events = (*self.events, {"event": event, "at": AT, **fields})


class Run:
    """An application of two transactions, of record 0, and of records 1 and 2."""

    def __init__(self) -> None:
        self.application = TransactingApplication([[0], [1, 2]])
        self.program = Program()

    @property
    def process(self) -> ClientProcess:
        return cast(ClientProcess, self.program)

    def do(self, command: str) -> None:
        if command == "send":
            self.application.send(self.application.next_record())
        else:
            self.application.call(command, self.process)

    def told(self, event: str, **fields: Any) -> str | None:
        """Take an event over, and return the command that is due."""
        self.program.say(event, **fields)
        self.application.hear(self.process, 1)
        return self.application.due()


def test_each_transaction_is_committed_once_its_records_are_sent() -> None:
    run = Run()
    assert run.application.due() == "send"
    for expected in ("send", "commit"):
        assert run.application.due() == expected
        run.do(expected)
    assert run.application.due() is None and not run.application.is_at_rest
    assert run.told("committed", error=None) == "send"
    assert run.application.is_at_rest
    for expected in ("send", "send", "commit"):
        assert run.application.due() == expected
        run.do(expected)
    assert run.told("committed", error=None) is None
    assert [(one.transaction, one.commits) for one in run.application.ended] == [(0, True), (1, True)]
    assert run.program.commands == ["commit", "commit"]


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("report", {"record": 0, "error": "TimeoutException: expired"}),
        ("failed", {"do": "send", "record": 0, "error": "KafkaException"}),
    ],
)
def test_a_failed_send_leads_to_an_abort(event: str, fields: dict[str, Any]) -> None:
    run = Run()
    run.do("send")
    assert run.told(event, **fields) == "abort"
    run.do("abort")
    assert run.told("aborted", error=None) == "send" and run.application.next_record() == 1
    assert [(one.transaction, one.commits) for one in run.application.ended] == [(0, False)]


def test_a_failed_commit_leads_to_an_abort_and_a_failed_abort_to_another_producer() -> None:
    run = Run()
    run.do("send")
    run.do("commit")
    assert run.told("committed", error="ProducerFencedException") == "abort"
    run.do("abort")
    assert run.told("aborted", error="ProducerFencedException") == "replace"
    run.application.lose_program(AT)
    assert run.application.due() is None and not run.application.is_at_rest and not run.application.is_open
    run.program.events = ()
    assert run.told("initialised", error=None) == "send" and run.application.next_record() == 1
    assert not run.application.ended


def test_a_call_that_timed_out_is_made_again() -> None:
    run = Run()
    run.do("send")
    run.do("commit")
    assert run.told("committed", error="TimeoutException: Timeout expired; Timed out") == "commit"


def test_the_end_of_a_program_that_commits_is_noted() -> None:
    run = Run()
    run.do("send")
    run.application.lose_program(1.0)
    run.program.events = ()
    run.told("initialised", error=None)
    run.do("send")
    run.do("send")
    run.do("commit")
    run.application.lose_program(2.0)
    assert run.application.committing == [2.0]
