"""A client process: its commands and events, and its end. The program here is a small one, without a library."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from proofka.checker.cluster.client import ClientProcess, event_is
from proofka.checker.cluster.errors import ClientEnded, CommandFailed, NotSeen
from proofka.checker.cluster.supervisor import Supervisor

PATIENCE = 60.0
PROGRAM = """
import json, os, sys
def say(event, **fields):
    sys.stdout.write(json.dumps({"event": event, "at": 1.0, **fields}) + "\\n")
    sys.stdout.flush()
say("ready")
for line in sys.stdin:
    command = json.loads(line)
    if command["do"] == "send":
        say("sent", record=command["record"])
        say("report", record=command["record"], offset=7)
    elif command["do"] == "commit":
        say("failed", do="commit", error="no group", code="NoGroup")
    elif command["do"] == "part":
        sys.stdout.write('{"event": "torn')
        sys.stdout.flush()
        say("more")
    elif command["do"] == "torn":
        sys.stderr.write("the last words")
        sys.stdout.write('{"event": "torn')
        sys.stdout.flush()
        os._exit(1)
    elif command["do"] == "close":
        say("closed")
        break
"""


@pytest.fixture
def client() -> Iterator[ClientProcess]:
    with Supervisor() as supervisor:
        log = supervisor.folder / "client.log"
        child = supervisor.start("a client", [sys.executable, "-c", PROGRAM], log=log, stdin=True, stdout=True)
        made = ClientProcess("a client", child)
        made.wait_event(event_is("ready"), what="the start", seconds=PATIENCE)
        yield made


def test_a_command_gets_its_answer_and_later_events(client: ClientProcess) -> None:
    assert client.ask("send", record=3, seconds=PATIENCE) == {"event": "sent", "at": 1.0, "record": 3}
    report = client.wait_event(event_is("report", record=3), what="the report of record 3", seconds=PATIENCE)
    assert report["offset"] == 7
    assert [event["event"] for event in client.events] == ["ready", "sent", "report"]


def test_an_answer_belongs_to_its_own_command(client: ClientProcess) -> None:
    client.ask("send", record=1, seconds=PATIENCE)
    assert client.ask("send", record=2, seconds=PATIENCE)["record"] == 2


def test_an_event_from_before_the_wait_counts_unless_it_is_passed_over(client: ClientProcess) -> None:
    client.ask("send", record=1, seconds=PATIENCE)
    client.wait_event(event_is("report"), what="the report", seconds=PATIENCE)
    passed = len(client.events)
    with pytest.raises(NotSeen, match="another report"):
        client.wait_event(event_is("report"), what="another report", seconds=0.0, after=passed)
    client.send("send", record=2)
    assert client.wait_event(event_is("report"), what="", seconds=PATIENCE, after=passed)["record"] == 2


def test_a_failed_command_is_an_error_with_the_librarys_words(client: ClientProcess) -> None:
    with pytest.raises(CommandFailed, match="no group") as raised:
        client.ask("commit", seconds=PATIENCE)
    assert raised.value.event["code"] == "NoGroup"


def test_the_end_of_a_program_ends_a_wait_and_tells_its_log(client: ClientProcess) -> None:
    client.send("torn")
    with pytest.raises(ClientEnded, match="the last words") as raised:
        client.wait_event(event_is("report"), what="the report", seconds=PATIENCE)
    assert "unreadable" not in str(raised.value)
    assert [event["event"] for event in client.events] == ["ready"], "a part of a line is no event"


def test_a_killed_program_takes_no_command(client: ClientProcess) -> None:
    client.kill()
    assert client.process.exit_status == -9
    with pytest.raises(ClientEnded, match="'send'"):
        client.ask("send", record=1, seconds=PATIENCE)


def test_an_output_that_is_no_event_ends_the_client_instead_of_hiding_later_events(client: ClientProcess) -> None:
    client.send("part")
    with pytest.raises(ClientEnded, match="unreadable"):
        client.wait_event(event_is("more"), what="the next event", seconds=PATIENCE)


def test_close_waits_for_the_end(client: ClientProcess) -> None:
    client.close(seconds=PATIENCE)
    assert client.process.exit_status == 0


def test_events_are_plain_data(client: ClientProcess) -> None:
    client.ask("send", record=1, seconds=PATIENCE)
    assert json.loads(json.dumps(client.events))[1]["record"] == 1
