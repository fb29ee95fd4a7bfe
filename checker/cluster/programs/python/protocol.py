"""The line protocol of a client program: commands as JSON objects on the standard input, events on the standard output.

Whatever else prints to the standard output (a library, a warning) goes to the standard error stream instead.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Any

from checker.cluster.programs.python.settings import Started

DEADLINE_SECONDS = 60.0
"""The seconds that "join" and "prepare" wait if their command does not say so."""

Command = Mapping[str, Any]


class Ended(Exception):
    """The command was the last one; its event is out already."""


class Events:
    """The stream of events; threads can share it."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._lock = Lock()

    def say(self, event: str, **fields: Any) -> None:
        """Write an event with its time, in seconds since the epoch."""
        line = json.dumps({"event": event, **fields, "at": time.time()})
        with self._lock:
            self._stream.write(line + "\n")
            self._stream.flush()

    def fail(self, command: Command, error: BaseException) -> None:
        """Write that a command threw an exception, with all that the command said."""
        self.say("failed", **{**command, **told(error)})


def told(error: BaseException | None, code: str | None = None) -> dict[str, str | None]:
    """Return the two fields that tell an error, or its absence. ``code``: the library's own name of the error."""
    if error is None:
        return {"error": None, "code": None}
    return {"error": str(error) or repr(error), "code": code or type(error).__name__}


def commands() -> Iterator[Command]:
    """Yield commands until the input ends."""
    for line in sys.stdin:
        yield json.loads(line)


def run(name: str, command: Command, methods: Mapping[str, Callable[[Command], None]], events: Events) -> None:
    """Run a command; an exception of the command becomes an event. Raises Ended after "close"."""
    try:
        if name not in methods:
            raise ValueError(f"This library's client has no command {name}")
        methods[name](command)
    except Ended:
        raise
    except Exception as error:
        events.fail(command, error)


def end() -> None:
    """End the process at once: nothing is flushed, committed or left, and no thread of the library is waited for."""
    sys.stderr.flush()
    os._exit(0)


def refuse(events: Events, error: BaseException) -> None:
    """Say that the client cannot start, and end the process."""
    events.fail({"do": "start"}, error)
    os._exit(1)


def deadline(command: Command) -> float:
    """Return the time at which a command gives up, by ``time.monotonic()``."""
    return time.monotonic() + float(command.get("seconds", DEADLINE_SECONDS))


def started() -> Started:
    """Return what the command line asks for."""
    return Started.read(sys.argv[1:])
