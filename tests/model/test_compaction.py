"""Logs after the cleaner, and their followers and consumers (semantics 10, D3 D4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import z3

from proofka.model.deployment.choices import Commit, ProducerId
from proofka.model.deployment.compaction import Compaction, Keys
from proofka.model.durations import Quantity
from proofka.model.log.holes import keeps_record
from proofka.model.sequencing.idempotence import check_sequence
from proofka.properties import loss
from proofka.properties.agreement import disagree
from tests.checker.plain_evaluator import holds
from tests.model.scripted import Scenario
from tests.model.scripted import scenario as any_scenario

CAREFUL = Compaction(below_high_watermark=True, horizon_from_cleaning=True)
CARELESS = Compaction(below_high_watermark=False, horizon_from_cleaning=False)


def scenario(compaction: Compaction = CAREFUL, keys: Keys = Keys.DELETED, **settings: Any) -> Scenario:
    times = any_scenario().pipeline.deployment.durations
    times = replace(times, delete_retention=Quantity("delete.retention.ms", 1, 1), compaction_lag=Quantity("", 0, 0))
    return any_scenario(
        compaction=compaction, keys=keys, durations=times, replicas=2, min_insync_replicas=1, **settings
    )


def both_written(run: Scenario, *, replicated: bool = True) -> Scenario:
    run.produce(0, 1).replicate(2, 1).produce(1, 1)
    return run.replicate(2, 1) if replicated else run


def removed(run: Scenario, broker: int) -> list[int]:
    return [entry["removed"] for entry in run.pipeline.replica(broker).log.entries(run.state)]


def test_a_record_is_removed_for_one_that_is_committed() -> None:
    run = both_written(scenario(), replicated=False)
    assert not run.can("compact", broker=1, last=1)
    run.replicate(2, 1).do("compact", broker=1, last=1)
    assert (removed(run, 1), removed(run, 2)) == ([1, 0], [0, 0])


@pytest.mark.slow
def test_before_3_1_for_any_and_on_followers_too() -> None:
    run = both_written(scenario(CARELESS), replicated=False)
    assert run.can("compact", broker=1, last=1)
    assert both_written(scenario(CARELESS)).can("compact", broker=2, last=1)


def test_a_hole_is_no_disagreement_and_a_replaced_record_counts_as_kept() -> None:
    run = both_written(scenario()).do("compact", broker=1, last=1)
    one, other = run.pipeline.replicas
    assert not holds(disagree(run.pipeline, one, other, 0), run.state)
    assert holds(keeps_record(run.pipeline, one, 0), run.state)


def test_a_tombstone_is_dropped_after_the_records_of_its_key() -> None:
    run = both_written(scenario())
    assert not run.can("drop_tombstone", broker=1, offset=1, batch=1)
    run.do("compact", broker=1, last=1).do("drop_tombstone", broker=1, offset=1, batch=1)
    assert removed(run, 1) == [1, 2]
    assert holds(keeps_record(run.pipeline, run.pipeline.replica(1), 1), run.state)


def test_no_tombstone_is_dropped_before_the_cleaner_passed_over_it() -> None:
    """An older record of the key is not needed; up to 3.0 the age of the tombstone alone counts."""
    bounds = replace(any_scenario().pipeline.deployment.bounds, records=1)
    for compaction in (CAREFUL, CARELESS):
        run = scenario(compaction, bounds=bounds).produce(0, 1).replicate(2, 1)
        assert run.can("drop_tombstone", broker=1, offset=0, batch=0) is (compaction is CARELESS)
    run = scenario(bounds=bounds).produce(0, 1).replicate(2, 1).do("compact", broker=1, last=0)
    assert run.can("drop_tombstone", broker=1, offset=0, batch=0)


def test_a_late_replica_never_gets_the_tombstone() -> None:
    run = scenario().produce(0, 1).replicate(2, 1).do("become_slow", broker=2)
    run.produce(1, 1).do("shrink_isr", leader=1, follower=2).do("compact", broker=1, last=1).do(
        "drop_tombstone", broker=1, offset=1, batch=1
    )
    run.do("recover_speed", broker=2).replicate(2, 1)
    assert removed(run, 2) == [0, 2]
    assert not holds(keeps_record(run.pipeline, run.pipeline.replica(2), 1), run.state)


def test_follower_that_copies_a_hole_knows_only_the_last_sequence_number() -> None:
    """The cleaner leaves an empty batch for the last one of a producer."""
    run = scenario().do("become_slow", broker=2).produce(0, 1)
    run.do("shrink_isr", leader=1, follower=2).produce(1, 1).do("compact", broker=1, last=1).do(
        "drop_tombstone", broker=1, offset=1, batch=1
    )
    run.do("recover_speed", broker=2).replicate(2, 1)
    assert [entry["sequence"] for entry in run.pipeline.replica(2).log.entries(run.state)] == [-1, 1]


@pytest.mark.parametrize("commit", [Commit.AFTER, Commit.BEFORE])
def test_a_consumer_goes_on_behind_holes(commit: Commit) -> None:
    run = both_written(scenario(commit=commit)).do("compact", broker=1, last=1)
    assert not run.can("poll", leader=1, count=1)
    run.do("pass_hole", leader=1).do("poll", leader=1, count=1)
    consumer = run.pipeline.consumer
    assert [run.value(count) for count in consumer.processed] == [0, 1]
    assert not holds(loss.skipped(run.pipeline, 0), run.state)
    assert run.value(consumer.committed) == (2 if commit is Commit.BEFORE else 0)


@pytest.mark.slow
@pytest.mark.parametrize("had_it", [True, False])
def test_consumer_without_the_key_misses_no_tombstone(had_it: bool) -> None:
    run = both_written(scenario())
    if had_it:
        run.do("poll", leader=1, count=1)
    run.do("compact", broker=1, last=1).do("drop_tombstone", broker=1, offset=1, batch=1)
    while run.can("pass_hole", leader=1):
        run.do("pass_hole", leader=1)
    assert run.value(run.pipeline.consumer.position) == 2
    # A broker that is cut off can keep consumers from reading for as long as it likes.
    assert run.pipeline.compacted is not None
    if run.pipeline.compacted.unserved is not None:
        run.state = {**run.state, run.pipeline.compacted.unserved.name: 1}
    assert holds(loss.skipped(run.pipeline, 1), run.state) is had_it


def test_hole_whose_newer_record_is_lost_counts_as_skipped() -> None:
    """The group went past the hole; where another broker leads, what stood there is the last value again."""
    run = both_written(scenario(CARELESS, Keys.UPDATED), replicated=False).do("compact", broker=1, last=1)
    run.do("pass_hole", leader=1)
    assert not holds(loss.skipped(run.pipeline, 0), run.state)
    run.do("move_leader", broker=2).do("apply_metadata", broker=2)
    assert (run.log(2), run.value(run.pipeline.consumer.position)) == ([0], 1)
    assert holds(loss.skipped(run.pipeline, 0), run.state)


def test_hole_whose_newer_record_survives_does_not_count_as_skipped() -> None:
    """The cleaner of the new leader has not removed the old record yet."""
    run = both_written(scenario(CAREFUL, Keys.UPDATED)).do("compact", broker=1, last=1).do("pass_hole", leader=1)
    run.do("move_leader", broker=2).do("apply_metadata", broker=2)
    assert removed(run, 2) == [0, 0]
    assert not holds(loss.skipped(run.pipeline, 0), run.state)


def test_broker_with_a_hole_alone_does_not_know_its_producer() -> None:
    """A broker that copied a hole, and then dropped what stood behind it, knows nothing of the producer."""
    run = scenario(producer_id=ProducerId.NEW).do("become_slow", broker=2).produce(0, 1)
    run.do("shrink_isr", leader=1, follower=2).produce(1, 1).do("compact", broker=1, last=1)
    run.do("recover_speed", broker=2).do("fetch", follower=2, leader=1)
    assert (run.log(2), removed(run, 2)) == ([0], [1])
    batch, broker = run.pipeline.producer.batches[1], run.pipeline.replica(2)
    check = check_sequence(run.pipeline, broker, batch, z3.IntVal(0), z3.IntVal(1))
    assert holds(check.in_sequence, run.state), "any number is appended (2.5 and later)"


def test_reading_a_passed_offset_again_is_no_disorder() -> None:
    """Another broker still has it."""
    run = both_written(scenario()).do("compact", broker=1, last=1)
    run.do("pass_hole", leader=1).do("poll", leader=1, count=1).do("crash_consumer")
    run.do("restart_consumer", committed_all=0, finished=0)
    run.do("move_leader", broker=2).do("apply_metadata", broker=2)
    run.do("poll", leader=2, count=1)
    assert run.value(run.pipeline.consumer.processed[0]) == 1
    assert not run.value(run.pipeline.consumer.disorder)
