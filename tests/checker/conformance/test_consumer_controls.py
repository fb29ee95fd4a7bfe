"""The controls of a consumer: what it is given, what it commits before it ends, and where the next one begins."""

from __future__ import annotations

from typing import Any, cast

import pytest

from proofka.checker.cluster.client import ClientProcess
from proofka.checker.cluster.errors import NotSeen
from proofka.checker.conformance.consumer_controls import ConsumerControls, ConsumerStart
from proofka.checker.conformance.controls import Control
from proofka.model.deployment.choices import Commit

BASE = 5
"""The first offset of the run."""


class Program:
    """A consumer's program that answers each command at once."""

    def __init__(self, *, position: int | None = None) -> None:
        self.position = position
        self.events: list[dict[str, Any]] = []
        self.commands: list[str] = []
        self.waiting: list[tuple[int, int]] = []
        self.error: str | None = None
        self.is_killed = False
        self.time = 100.0

    def ask(self, command: str, **_: Any) -> dict[str, Any]:
        self.commands.append(command)
        if command == "poll":
            given, self.waiting = self.waiting, []
            records = [{"offset": offset, "value": f"record-{record}"} for offset, record in given]
            return self.say("polled", records=records, held=0)
        return self.say("committed", error=self.error)

    def send(self, command: str, **_: Any) -> None:
        self.commands.append(command)
        if command == "join" and self.position is not None:
            self.say("assigned", position=self.position)

    def say(self, event: str, **fields: Any) -> dict[str, Any]:
        self.time += 1
        self.events.append({"event": event, "at": self.time, **fields})
        return self.events[-1]

    def kill(self) -> None:
        self.is_killed = True


class Run:
    """A consumer whose process has its partition; later ones begin at the offset that the test names."""

    def __init__(self, commit: Commit) -> None:
        self.programs = [Program()]
        self.programs[0].say("polled", records=[{"offset": BASE - 1, "value": "record-90"}])
        self.begins_at: int | None = BASE
        self.committing: list[bool] = []
        self.committed = BASE
        self.controls = ConsumerControls(
            7,
            BASE,
            commit=commit,
            first=ConsumerStart(cast(ClientProcess, self.programs[0]), 50.0, commits=True),
            start=self._start,
            committed=lambda: self.committed,
        )

    def _start(self, commits: bool) -> ClientProcess:
        self.committing.append(commits)
        self.programs.append(Program(position=self.begins_at))
        return cast(ClientProcess, self.programs[-1])

    def names(self) -> set[str]:
        return {control.name for control in self.controls.possible()}

    def use(self, name: str) -> None:
        self.controls.use(Control(name, producer=7))


def test_records_of_the_run_are_given_from_its_first_offset_on() -> None:
    run = Run(Commit.AFTER)
    run.programs[0].waiting = [(BASE, 0), (BASE + 2, 1)]
    run.use("poll")
    given = run.controls.seen().given
    assert [(one.offset, one.record) for one in given] == [(0, 0), (2, 1)]
    assert {one.when[0] for one in given} == {50.0}, "a client fetches before poll() returns"
    run.programs[0].waiting = [(BASE + 3, 0)]
    run.use("poll")
    assert run.controls.seen().given[-1].when[0] == given[-1].when[1] - 0.001


def test_the_consumer_commits_all_or_nothing_before_it_ends() -> None:
    run = Run(Commit.AFTER)
    assert run.names() == {"poll", "crash_consumer", "commit_and_crash"}
    run.programs[0].waiting = [(BASE, 0)]
    run.use("poll")
    run.use("commit_and_crash")
    assert run.programs[0].commands == ["poll", "commit"] and run.programs[0].is_killed
    run.use("crash_consumer")
    assert run.programs[1].commands == ["join"] and run.programs[1].is_killed
    assert len(run.controls.seen().ended) == 2


def test_a_commit_before_processing_follows_each_poll() -> None:
    run = Run(Commit.BEFORE)
    assert run.names() == {"poll", "crash_consumer"}
    run.use("poll")
    assert run.programs[0].commands == ["poll"], "nothing was given"
    run.programs[0].waiting = [(BASE, 0)]
    run.use("poll")
    assert run.programs[0].commands == ["poll", "poll", "commit"]


def test_a_client_that_commits_by_itself_always_or_never_does_so() -> None:
    run = Run(Commit.AUTO)
    assert run.names() == {"poll", "commit_and_crash"}
    run.programs[0].waiting = [(BASE, 0)]
    run.use("poll")
    run.committed = BASE + 1
    run.use("commit_and_crash")
    assert run.programs[0].commands == ["poll", "poll"] and run.committing == [False]
    assert run.names() == {"poll", "crash_consumer"}
    run.use("crash_consumer")
    assert run.committing == [False, True]


def test_nothing_is_possible_before_the_consumer_has_its_partition() -> None:
    run = Run(Commit.AFTER)
    run.begins_at = None
    run.use("crash_consumer")
    assert run.names() == set()
    run.programs[1].say("assigned", position=BASE + 1)
    assert "poll" in run.names()
    assert [one.position for one in run.controls.seen().joined] == [1]


def test_a_commit_that_fails_ends_the_run() -> None:
    run = Run(Commit.AFTER)
    run.programs[0].waiting = [(BASE, 0)]
    run.use("poll")
    run.programs[0].error = "CommitFailedException"
    with pytest.raises(NotSeen, match="CommitFailedException"):
        run.use("commit_and_crash")
    assert not run.programs[0].is_killed


def test_the_end_of_a_run_reads_all_records() -> None:
    run = Run(Commit.AFTER)
    run.programs[0].waiting = [(BASE, 0)]
    run.controls.finish()
    assert [one.record for one in run.controls.seen().given] == [0]
    assert run.programs[0].commands == ["poll"] * 4
