"""The line protocol of a client program: commands as JSON objects on the standard input, events on the standard output.

Whatever else prints to the standard output (a library, a warning) goes to the standard error stream instead.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, Protocol, TypeVar

from proofka.checker.cluster.programs.python.settings import Started
from proofka.checker.cluster.sends import Send

DEADLINE_SECONDS = 60.0
"""The seconds that "join" and "prepare" wait if their command does not say so."""

Command = Mapping[str, Any]
Method = TypeVar("Method")


class Ended(Exception):
    """The command was the last one; its event is out already."""


class Client(Protocol):
    """A producer or a consumer that runs commands."""

    def serve(self) -> None:
        """Run commands until "close", which raises Ended, or until the end of the input."""


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


def thrown(call: Callable[[], object]) -> dict[str, str | None]:
    """Return the fields that tell how a call ended."""
    try:
        call()
    except Exception as error:
        return told(error)
    return told(None)


def commands() -> Iterator[Command]:
    """Yield commands until the input ends."""
    for line in sys.stdin:
        yield json.loads(line)


def chosen(name: str, methods: Mapping[str, Method]) -> Method:
    """Return the method of a command. Raises ValueError if the client has no such command."""
    if name not in methods:
        raise ValueError(f"This library's client has no command {name}")
    return methods[name]


def run(command: Command, methods: Mapping[str, Callable[[Command], None]], events: Events) -> None:
    """Run a command; an exception of the command becomes an event. Raises Ended after "close"."""
    try:
        chosen(command["do"], methods)(command)
    except Ended:
        raise
    except Exception as error:
        events.fail(command, error)


def send_in(command: Command) -> Send:
    """Return the call of ``send()`` that a command asks for."""
    return Send(int(command["record"]), int(command.get("attempt", 1)))


def end() -> None:
    """End the process at once: nothing is flushed, committed or left, and no thread of the library is waited for."""
    sys.stderr.flush()
    os._exit(0)


def start(make: Callable[[Started, Events], Client], version: str) -> None:
    """Make the client that the command line asks for, and run it until "close" or the end of the input.

    ``version``: of the library.
    """
    events = Events()
    try:
        client = make(Started.read(sys.argv[1:]), events)
    except Exception as error:
        events.fail({"do": "start"}, error)
        os._exit(1)
    events.say("ready", version=version)
    with suppress(Ended):
        client.serve()
    end()


def deadline(command: Command) -> float:
    """Return the time at which a command gives up, by ``time.monotonic()``."""
    return time.monotonic() + float(command.get("seconds", DEADLINE_SECONDS))
