"""The line protocol of client programs in Python: what reaches the standard output, and how a program ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[4]
PROGRAM = """
import os
from proofka.checker.cluster.programs.python.protocol import Ended, commands, run, start

class Counting:
    def __init__(self, given, events):
        self.events = events
        if "refused" in given.settings:
            raise ValueError("no such setting")
        self.methods = {"count": self.count, "fail": self.fail, "close": self.close}

    def serve(self):
        for command in commands():
            run(command, self.methods, self.events)

    def count(self, command):
        print("a library prints")
        os.write(1, b"a library in C prints\\n")
        self.events.say("counted", number=command["number"] + 1)

    def fail(self, command):
        raise KeyError("gone")

    def close(self, command):
        self.events.say("closed")
        raise Ended

start(Counting, "1.2.3")
"""


def run(*lines: Any, settings: tuple[str, ...] = ()) -> tuple[int, list[dict[str, Any]], str]:
    """Run the program with these commands; return its exit status, its events and its standard error."""
    given = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "host:1", "producer", "t", *settings],
        input=given,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_only_events_reach_the_standard_output() -> None:
    status, events, errors = run({"do": "count", "number": 1}, {"do": "close"})
    assert status == 0
    assert [event["event"] for event in events] == ["ready", "counted", "closed"]
    assert events[0]["version"] == "1.2.3"
    assert events[1]["number"] == 2 and events[1]["at"] > 1e9
    assert "a library prints" in errors and "a library in C prints" in errors


def test_a_command_that_throws_is_told_and_the_next_one_runs() -> None:
    _, events, _ = run({"do": "fail", "number": 4}, {"do": "nonsense"}, {"do": "count", "number": 1})
    failed, unknown, counted = events[1:]
    assert (failed["event"], failed["do"], failed["number"], failed["code"]) == ("failed", "fail", 4, "KeyError")
    assert unknown["event"] == "failed" and "nonsense" in unknown["error"]
    assert counted["event"] == "counted"


def test_the_end_of_the_input_ends_the_program_without_closing() -> None:
    status, events, _ = run({"do": "count", "number": 1})
    assert status == 0
    assert [event["event"] for event in events] == ["ready", "counted"]


def test_a_client_that_cannot_start_says_so() -> None:
    status, events, _ = run(settings=("refused=1",))
    assert status == 1
    assert [(event["event"], event["do"], event["error"]) for event in events] == [
        ("failed", "start", "no such setting")
    ]
