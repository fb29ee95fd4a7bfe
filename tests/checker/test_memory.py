"""Results in the memory of the consumer's process, saved apart from offsets or not at all (semantics 12.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import Commit, Group, OnProcessingError, Sink
from proofka.model.durations import Quantity
from proofka.model.faults import Fault
from proofka.properties.catalogue import properties_of
from tests.checker.asking import ask, cut, example
from tests.checker.plain_evaluator import holds
from tests.deployments import changed
from tests.model.scripted import Scenario, scenario

C, R, F = Fault.CONSUMER_CRASH, Fault.LOST_RESPONSE, Fault.FAILED_PROCESSING
EXACT = "exactly-once-effect"
COMMITS = (Commit.BEFORE, Commit.AFTER, Commit.NEVER)
FOR_EVER = Quantity("retention.ms", 1, None)


def reading(*kinds: Fault, sink: Sink = Sink.IN_MEMORY, keeps_records: bool = True, **settings: object) -> Deployment:
    """Read a consumer that keeps its results in memory; ``keeps_records``: its topic deletes no records."""
    deployment = changed(example("manual-commit-plain-sink", kinds, 1), replicas=1, min_insync_replicas=1)
    deployment = changed(deployment, sink=sink, **settings)  # type: ignore[arg-type]
    if keeps_records:
        deployment = replace(deployment, durations=replace(deployment.durations, retention=FOR_EVER))
    if deployment.application.commit is Commit.NEVER:
        deployment = changed(deployment, group=Group.NEW)
    return deployment


@dataclass(frozen=True)
class Simulated:
    """A consumer of two records in a log, its memory, and what was saved and committed of it."""

    position: int = 0
    committed: int = 0
    memory: tuple[int, int] = (0, 0)
    saved: tuple[int, int] = (0, 0)
    crashed: bool = False

    def steps(self, sink: Sink, commit: Commit) -> Iterator[Simulated]:
        """Let the consumer poll one record or more, commit, save and crash at any time; commits come first or last."""
        counts = tuple(n + (i >= self.position) for i, n in enumerate(self.memory))
        if self.position < 2 and commit is Commit.BEFORE:
            yield replace(self, position=2, committed=2, memory=counts)
            if not self.crashed:
                yield self._after_crash(committed=2)
        elif self.position < 2:
            one = tuple(n + (i == self.position) for i, n in enumerate(self.memory))
            yield replace(self, position=self.position + 1, memory=one)  # type: ignore[arg-type]
        if commit is Commit.AFTER and self.committed != self.position:
            yield replace(self, committed=self.position)
        if sink is Sink.SNAPSHOTS and self.saved != self.memory:
            yield replace(self, saved=self.memory)
        if not self.crashed:
            yield self._after_crash(committed=self.committed)

    def _after_crash(self, committed: int) -> Simulated:
        kept = replace(self, memory=self.saved, committed=committed, crashed=True)
        return replace(kept, position=committed)


def can_go_wrong(sink: Sink, commit: Commit) -> bool:
    """Tell whether some run of the simulation reads the whole log and ends in a count other than one."""
    known, left = set[Simulated](), [Simulated()]
    while left:
        state = left.pop()
        if state not in known:
            known.add(state)
            left.extend(state.steps(sink, commit))
    return any(state.position == 2 and state.memory != (1, 1) for state in known)


@pytest.mark.parametrize(
    ("sink", "commit"),
    list(product((Sink.IN_MEMORY, Sink.SNAPSHOTS), COMMITS)),
)
def test_a_crash_changes_memory_as_a_simulation_does(sink: Sink, commit: Commit) -> None:
    expected = (cut(C),) if can_go_wrong(sink, commit) else ()
    assert ask(reading(C, sink=sink, commit=commit), EXACT)[EXACT].cut_sets == expected


def test_only_an_application_that_reads_the_whole_log_again_needs_no_more_than_memory() -> None:
    fine = {case for case in product((Sink.IN_MEMORY, Sink.SNAPSHOTS), COMMITS) if not can_go_wrong(*case)}
    assert fine == {(Sink.IN_MEMORY, Commit.NEVER)}


@pytest.mark.parametrize(
    ("deployment", "wrong"),
    [
        (reading(R), False),
        (reading(R, sink=Sink.SNAPSHOTS), False),
        (reading(R, idempotence=False), True),
        (reading(C, commit=Commit.NEVER, keeps_records=False), True),
        (reading(R, commit=Commit.NEVER, keeps_records=False), False),
        (reading(F, on_processing_error=OnProcessingError.CLOSE), True),
        (reading(F, on_processing_error=OnProcessingError.RETRY), False),
    ],
)
def test_other_losses_of_the_sinks_memory(deployment: Deployment, wrong: bool) -> None:
    assert bool(ask(deployment, EXACT)[EXACT].cut_sets) is wrong


def violated(run: Scenario) -> tuple[bool, str]:
    found = next(one for one in properties_of(run.pipeline) if one.name == EXACT)
    return holds(found.violated, run.state), found.explain(run.state) if holds(found.violated, run.state) else ""


def read_one(sink: Sink) -> Scenario:
    run = scenario("acks-1", sink=sink, replicas=1, min_insync_replicas=1)
    run.do("send", batch=0).do("transmit", batch=0, leader=1).do("append", batch=0, leader=1)
    return run.do("acknowledge", batch=0, leader=1).do("poll", leader=1, count=1)


def test_saved_but_uncommitted_results_are_counted_twice() -> None:
    run = read_one(Sink.SNAPSHOTS).do("save_memory").do("crash_consumer")
    assert not run.can("save_memory")
    run.do("restart_consumer", committed_all=0, finished=0)
    assert not violated(run)[0]
    run.do("poll", leader=1, count=1)
    assert violated(run) == (True, "the effect of record 1 happened more than once")


def test_committed_but_unsaved_results_are_lost() -> None:
    run = read_one(Sink.SNAPSHOTS).do("crash_consumer").do("restart_consumer", committed_all=1, finished=0)
    why = "was in the memory of a consumer that ended, and the group does not read the record again"
    assert violated(run) == (True, f"the effect of record 1 {why}")


@pytest.mark.parametrize("sink", [Sink.IN_MEMORY, Sink.SNAPSHOTS])
def test_record_neither_committed_nor_in_memory_is_read_again(sink: Sink) -> None:
    run = read_one(sink).do("crash_consumer").do("restart_consumer", committed_all=0, finished=0)
    assert not violated(run)[0]
    assert not violated(run.do("poll", leader=1, count=1))[0]
    assert bool(run.pipeline.applied and run.pipeline.applied.saved) is (sink is Sink.SNAPSHOTS)
