"""Offsets of two transactions in a row that are pending at once (semantics 11.3, KAFKA-17507), step by step."""

from __future__ import annotations

from copy import copy
from functools import cache

from proofka.model.deployment.choices import Group, Sink
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.faults import Fault
from tests.model.scripted import Scenario, scenario

ONE = {"leader": 1, "count": 1}


@cache
def _start() -> Scenario:
    run = scenario(
        "manual-commit-plain-sink",
        sink=Sink.KAFKA,
        offsets_applied_late=True,
        group=Group.NEW,
        replicas=1,
        min_insync_replicas=1,
        max_poll_records=1,
        bounds=Bounds(records=3, log=3, sends=1, epochs=2, producer_epochs=2),
        faults=FaultBudget(2, ((Fault.CONSUMER_CRASH.value, 2), (Fault.EVICTION.value, 1))),
    )
    for batch in range(3):
        run.produce(batch, 1)
    return run


def written() -> Scenario:
    """Return a run in which the log has three records, and a new group has read none."""
    return copy(_start())


def committed(run: Scenario) -> int:
    return run.value(run.pipeline.consumer.committed)


def processed(run: Scenario) -> list[int]:
    return [run.value(count) for count in run.pipeline.consumer.processed]


def test_the_offsets_of_both_are_dropped() -> None:
    run = written()
    assert not run.can("drop_offsets", **ONE), "there is no transaction before"
    run.do("poll", **ONE).do("drop_offsets", **ONE)
    assert (committed(run), processed(run)) == (-1, [1, 1, 0])
    run.do("crash_consumer").do("restart_consumer", committed_all=0, finished=0).do("poll", **ONE)
    assert processed(run) == [2, 1, 0]


def test_the_next_commit_mends_it() -> None:
    run = written().do("poll", **ONE).do("drop_offsets", **ONE).do("poll", **ONE)
    assert committed(run) == 3


def test_unless_it_overlaps_as_well() -> None:
    run = written().do("poll", **ONE).do("drop_offsets", **ONE).do("drop_offsets", **ONE)
    assert (committed(run), processed(run)) == (-1, [1, 1, 1])


def test_offsets_are_applied_that_are_never_committed() -> None:
    run = written().do("poll", **ONE).do("apply_too_soon", **ONE)
    assert (committed(run), processed(run)) == (2, [1, 0, 0])
    run.do("restart_consumer", committed_all=0, finished=0).do("poll", **ONE)
    assert processed(run) == [1, 0, 1], "record 2 is skipped"


def test_another_member_waits_for_pending_offsets() -> None:
    """Its producer is another one, and it starts when nothing is pending any more (UNSTABLE_OFFSET_COMMIT)."""
    run = written().do("poll", **ONE).do("throw_out").do("restart_consumer", committed_all=0, finished=0)
    assert committed(run) == 1
    assert not run.can("drop_offsets", **ONE) and not run.can("apply_too_soon", **ONE)
