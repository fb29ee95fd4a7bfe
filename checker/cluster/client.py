"""A client program of a library as a process: commands to it, and the events that it tells.

The commands and events are JSON objects, one a line; ``programs/python/protocol.py`` and its siblings are the other
side. Every command has "do" and every event "event". A program runs one command after another, and does nothing that no
command asked for, except what its library does by itself. Each program tells in its first lines how its library obeys.

Commands of a producer, with their answers:
    prepare (seconds)       prepared: metadata and, where there is one, the producer id are there; no record is written
    send (record, attempt)  sent, when the library's send() returned; later report (offset, error, code) by callback.
                            "attempt" tells the sends of one record apart, and is 1 if left out (sends.py)
    init, begin, commit, abort      initialised, begun, committed, aborted (error, code)
    send_offsets (offset, group, topic, partition, membership)      offsets_sent (error, code)
Commands of a consumer:
    join (seconds, partitions)      assigned (partitions, position, membership), with that number of partitions (1)
    poll (count, milliseconds)      polled (records, held), with the first record, or when the time has passed;
                            with count 0 the library does what it does in a poll, and no record is given
    commit (offset)         committed (offset, error, code); without an offset what the library takes as read
    stored (offset)         stored (offset, error, code): the offset for the library's own commits
Commands of both:
    close                   closed; the program ends
Further events: ready (version of the library), which is the first; rebalance (kind, partitions), error (error, code),
failed (do, error, code) instead of an answer.
The position is null where the library does not tell the offset. "membership" is for send_offsets of the same library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Condition, Thread
from typing import Any

from proofka.checker.cluster.errors import ClientEnded, CommandFailed, NotSeen
from proofka.checker.cluster.launching import Launch, launch_of, libraries
from proofka.checker.cluster.supervisor import Child, Supervisor

Event = dict[str, Any]
"""An event: its name under "event", the time under "at" in seconds since the epoch, and what belongs to it."""

ANSWERS = {
    "prepare": "prepared",
    "send": "sent",
    "init": "initialised",
    "begin": "begun",
    "commit": "committed",
    "abort": "aborted",
    "send_offsets": "offsets_sent",
    "join": "assigned",
    "poll": "polled",
    "stored": "stored",
    "close": "closed",
}
"""The event that answers a command."""
STARTED_WITHIN = 60.0
"""Seconds within which a program must have started; the first start may compile."""
TOLD_OF_LOG = 2000
"""The number of characters of a log's end that an error tells."""


def event_is(name: str, **fields: Any) -> Callable[[Event], bool]:
    """Return a condition: an event of this name with these fields."""
    return lambda event: event["event"] == name and all(event.get(key) == value for key, value in fields.items())


class ClientProcess:
    """A running client program. ``process`` can be paused and resumed. ``launch``: its command, where that is known."""

    def __init__(self, name: str, process: Child, *, launch: Launch | None = None) -> None:
        self.name = name
        self.process = process
        self.launch = launch
        self._events: list[Event] = []
        self._changed = Condition()
        self._silent = False
        self._unreadable = ""
        Thread(target=self._read, name=f"events of {name}", daemon=True).start()

    @classmethod
    def start(
        cls,
        supervisor: Supervisor,
        library: str,
        role: str,
        *,
        bootstrap: str,
        topic: str,
        client_id: str,
        settings: Mapping[str, str],
        classpath: Sequence[Path] = (),
        seconds: float = STARTED_WITHIN,
    ) -> ClientProcess:
        """Start a program of a library and wait until its client is there.

        ``role``: "producer" or "consumer". ``settings``: in the library's own names, without the client id.
        ``classpath``: the jars of the client's release, for Java. Raises CommandFailed where the library refuses the
        settings, MissingProgram and MissingLibrary where something is not installed, and NotSeen.
        """
        row = libraries()[library]
        if row.client_id in settings:
            raise ValueError(f"{row.client_id} is a setting, and the argument client_id too")
        launch = launch_of(row, classpath)
        pairs = [f"{key}={value}" for key, value in {**settings, row.client_id: client_id}.items()]
        command = (*launch.command, bootstrap, role, topic, *pairs)
        child = supervisor.start(
            f"{library} {role} {client_id}",
            command,
            log=supervisor.folder / f"{client_id}.log",
            stdin=True,
            stdout=True,
            environment=launch.environment,
        )
        client = cls(child.name, child, launch=Launch(command, launch.environment))
        client._expect("ready", after=0, do="start", seconds=seconds)
        return client

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far, in order."""
        with self._changed:
            return tuple(self._events)

    def send(self, command: str, **arguments: Any) -> None:
        """Send a command, and do not wait. Raises ClientEnded where the program has ended."""
        try:
            self.process.stdin.write((json.dumps({"do": command, **arguments}) + "\n").encode())
        except (BrokenPipeError, ValueError) as error:
            raise self._ended(f"it gets the command {command!r}") from error

    def ask(self, command: str, *, seconds: float, **arguments: Any) -> Event:
        """Send a command and return the event that answers it. Raises CommandFailed, ClientEnded and NotSeen."""
        after = len(self.events)
        self.send(command, **arguments)
        return self._expect(ANSWERS[command], after=after, do=command, seconds=seconds)

    def wait_event(self, matching: Callable[[Event], bool], *, what: str, seconds: float, after: int = 0) -> Event:
        """Return the first event that matches. ``after``: the number of first events to pass over.

        Raises NotSeen after ``seconds``, and ClientEnded where the program ends before.
        """
        looked = after
        found: list[Event] = []

        def look() -> bool:
            nonlocal looked
            found.extend(event for event in self._events[looked:] if matching(event))
            looked = max(looked, len(self._events))
            return bool(found) or self._silent

        with self._changed:
            if not self._changed.wait_for(look, seconds):
                raise NotSeen(f"{self.name}: {what}", seconds)
        if not found:
            raise self._ended(what)
        return found[0]

    def kill(self) -> None:
        """End the program by SIGKILL, and wait for its end."""
        self.process.kill()

    def close(self, *, seconds: float) -> None:
        """Let the library close its client, and wait for the end of the program."""
        self.ask("close", seconds=seconds)
        self.process.wait(seconds)

    def _expect(self, answer: str, *, after: int, do: str, seconds: float) -> Event:
        answers, fails = event_is(answer), event_is("failed", do=do)
        found = self.wait_event(
            lambda event: answers(event) or fails(event), what=f"event {answer!r}", seconds=seconds, after=after
        )
        if fails(found):
            raise CommandFailed(self.name, found)
        return found

    def _ended(self, what: str) -> ClientEnded:
        log = self.process.log.read_text(encoding="utf-8", errors="replace")[-TOLD_OF_LOG:]
        return ClientEnded(f"{self.name} ended before: {what}{self._unreadable}. Its log ends with:\n{log}\n")

    def _read(self) -> None:
        try:
            for line in self.process.stdout:
                if line.endswith(b"\n"):  # a killed program can leave a part of a line
                    self._add(json.loads(line))
        except ValueError as error:
            self._unreadable = f"; its output is unreadable: {error}"
        finally:
            with self._changed:
                self._silent = True
                self._changed.notify_all()

    def _add(self, event: Event) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()
