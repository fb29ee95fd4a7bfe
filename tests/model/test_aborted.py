"""The cleaner and transactions, and the records that can be read afterwards (semantics 10, D6 D7)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import z3

from proofka.model.deployment import Deployment
from proofka.model.deployment.compaction import Compaction, Keys
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.implied.cleaning import drops_markers
from proofka.model.deployment.transactional import Transactional
from proofka.model.durations import Quantity
from proofka.model.faults import Fault
from proofka.model.log.holes import keeps_record
from proofka.model.log.visibility import can_be_read, end_of_reading
from proofka.model.pipeline import declared
from proofka.model.sequencing.idempotence import check_sequence
from proofka.model.state.compaction import Marker
from proofka.properties.catalogue import properties_of
from proofka.properties.situations import value
from tests.checker.plain_evaluator import holds
from tests.model.scripted import Scenario, scenario

CAREFUL = Compaction(below_high_watermark=True, horizon_from_cleaning=True)
COMMITTED_READ = Transactional(1, verified=True, epoch_each=False, first_is_zero=False, read_committed=True)
ALL_READ = replace(COMMITTED_READ, read_committed=False)
BOUNDS = Bounds(records=2, log=6, sends=1, epochs=6, producer_epochs=6)
ASKED = ("atomicity", "no-aborted-read", "no-hanging-transaction", "no-acked-loss", "no-skip")

KINDS = (Fault.SLOW_FOLLOWER, Fault.TRANSACTION_TIMEOUT, Fault.LEADER_MOVE, Fault.DISK_LOSS)
AFFECTED, MENDED = (3, 1, 0), (3, 1, 1)


def begun(kafka: tuple[int, int, int] = MENDED, *, brief: bool = True, **settings: Any) -> Scenario:
    """Return a run with two records, each in a transaction of its own. Markers are kept for a moment, or (not
    ``brief``) without end."""
    times = scenario().pipeline.deployment.durations
    kept = Quantity("delete.retention.ms", 1, 1) if brief else Quantity("delete.retention.ms", 10**10, None)
    times = replace(times, delete_retention=kept, compaction_lag=Quantity("", 0, 0))
    settings = {"keys": Keys.UPDATED, "transactional": COMMITTED_READ, "replicas": 2, "bounds": BOUNDS} | settings
    few = tuple((kind.value, 9) for kind in KINDS)
    return scenario(
        "idempotent",
        faults=FaultBudget(9, few),
        kafka=kafka,
        compaction=CAREFUL,
        durations=times,
        min_insync_replicas=1,
        require=ASKED,
        **settings,
    )


def write(run: Scenario, batch: int) -> Scenario:
    """Write a record to both brokers, and acknowledge it."""
    run.produce(batch, 1)
    if run.pipeline.deployment.cluster.replicas > 1 and 2 in run.isr_of(1):
        run.replicate(2, 1)
    return run.do("acknowledge", batch=batch, leader=1)


def end(run: Scenario, transaction: int, *, commits: bool, everywhere: bool = True) -> Scenario:
    run.do("write_marker", leader=1, transaction=transaction, commits=int(commits))
    if everywhere:
        run.replicate(2, 1)
    elif 2 in run.isr_of(1):
        run.do("shrink_isr", leader=1, follower=2)
    return run.do("complete_transaction", leader=1)


def commit(run: Scenario, transaction: int) -> Scenario:
    write(run, transaction).do("prepare_commit", transaction=transaction)
    return end(run, transaction, commits=True)


def abort(run: Scenario, transaction: int, *, everywhere: bool = True) -> Scenario:
    """Store the record, and let the transaction time out."""
    write(run, transaction).do("time_out_transaction")
    if not everywhere:
        run.do("become_slow", broker=2)
    return end(run, transaction, commits=False, everywhere=everywhere).do("learn_fenced", transaction=transaction)


def removed(run: Scenario, broker: int = 1) -> list[int]:
    return [entry["removed"] for entry in run.pipeline.replica(broker).log.entries(run.state)]


def markers(run: Scenario, broker: int = 1) -> list[Marker]:
    entries = run.pipeline.replica(broker).log.entries(run.state)
    batches = len(run.pipeline.producer.batches)
    return [Marker(entry["marker"]) for entry in entries if entry["batch"] >= batches]


def readable(run: Scenario, broker: int = 1) -> list[int]:
    leader = run.pipeline.replica(broker)
    return [o for o in range(leader.log.capacity) if holds(can_be_read(run.pipeline, leader, o), run.state)]


def stable(run: Scenario, broker: int) -> int:
    leader = run.pipeline.replica(broker)
    term = end_of_reading(run.pipeline, leader)
    return next(o for o in range(leader.log.capacity + 1) if value(term == o, run.pipeline, run.state))


@cache
def violated(deployment: Deployment) -> dict[str, z3.BoolRef]:
    """Return the term of the violating states of each property."""
    return {one.name: one.violated for one in properties_of(declared(deployment)) if one.name in ASKED}


def violates(run: Scenario, name: str) -> bool:
    return holds(violated(run.pipeline.deployment)[name], run.state)


@pytest.mark.slow
def test_aborted_records_are_removed_whatever_their_key() -> None:
    run = abort(begun(keys=Keys.DISTINCT), 0)
    assert not run.can("drop_marker", broker=1, marker=1, transaction=0), "its record is there"
    run.do("remove_aborted", broker=1, marker=1)
    assert (removed(run), removed(run, 2)) == ([1, 0], [0, 0])
    run.do("pass_hole", leader=1).do("pass_over", leader=1)
    assert run.value(run.pipeline.consumer.position) == 2
    assert not any(violates(run, name) for name in ASKED)


@pytest.mark.slow
def test_no_cleaner_goes_beyond_an_open_transaction() -> None:
    run = write(commit(begun(), 0), 1)
    assert not run.can("compact", broker=1, last=2), "it replaces nothing yet"
    run.do("prepare_commit", transaction=1)
    assert not run.can("compact", broker=1, last=2)
    end(run, 1, commits=True).do("compact", broker=1, last=2)
    assert removed(run) == [1, 0, 0, 0]
    assert not any(violates(run, name) for name in ASKED)


@pytest.mark.slow
def test_aborted_records_replace_no_record() -> None:
    run = abort(commit(begun(), 0), 1)
    assert not run.can("compact", broker=1, last=2)
    run.do("remove_aborted", broker=1, marker=3)
    assert (removed(run), readable(run)) == ([0, 0, 1, 0], [0])
    assert holds(keeps_record(run.pipeline, run.pipeline.replica(1), 0), run.state)
    assert not holds(keeps_record(run.pipeline, run.pipeline.replica(1), 1), run.state)


def test_marker_replaces_no_record_and_is_not_replaced() -> None:
    run = commit(commit(begun(), 0), 1)
    assert not run.can("compact", broker=1, last=1) and not run.can("compact", broker=1, last=3)
    assert removed(run.do("compact", broker=1, last=2)) == [1, 0, 0, 0]


@pytest.mark.slow
def test_read_uncommitted_reads_no_removed_record() -> None:
    run = abort(begun(transactional=ALL_READ), 0)
    assert violates(run, "no-aborted-read")
    run.do("remove_aborted", broker=1, marker=1)
    assert not violates(run, "no-aborted-read")


@pytest.mark.slow
def test_a_transaction_whose_first_record_is_replaced_is_not_torn() -> None:
    """Both have one key."""
    run = begun(transactional=replace(COMMITTED_READ, records=2))
    write(write(run, 0), 1).do("prepare_commit", transaction=0)
    end(run, 0, commits=True).do("compact", broker=1, last=1)
    assert removed(run) == [1, 0, 0]
    assert not violates(run, "atomicity")


def later(run: Scenario, *, everywhere: bool = False) -> Scenario:
    """Let the producer write again, so that brokers know its epoch from another record."""
    run.do("initialise").do("begin_later", transaction=2).do("prepare_commit", transaction=2)
    return end(run, 2, commits=True, everywhere=everywhere)


def test_the_producers_last_marker_stays() -> None:
    run = abort(commit(begun(), 0), 1).do("remove_aborted", broker=1, marker=3)
    assert not run.can("drop_marker", broker=1, marker=3, transaction=1), "its epoch is known by it alone"
    assert later(run, everywhere=True).can("drop_marker", broker=1, marker=3, transaction=1)
    assert not run.can("drop_marker", broker=1, marker=1, transaction=0), "record 1 is there"


def missed(run: Scenario) -> Scenario:
    """Return a run in which broker 2 has the record, and is away until its marker is gone."""
    abort(commit(run, 0), 1, everywhere=False).do("remove_aborted", broker=1, marker=3)
    later(run).do("drop_marker", broker=1, marker=3, transaction=1).do("recover_speed", broker=2)
    return run


@pytest.mark.slow
def test_late_follower_misses_the_marker_and_takes_the_next_marker() -> None:
    run = missed(begun()).do("fetch", follower=2, leader=1)
    assert markers(run) == [Marker.STANDS, Marker.DROPPED, Marker.STANDS]
    assert markers(run, 2) == [Marker.STANDS, Marker.UNSEEN]
    assert (stable(run, 1), run.log(2)[2]) == (5, 1)
    run.do("fetch", follower=2, leader=1).do("fetch", follower=2, leader=1).do("expand_isr", leader=1, follower=2)
    assert not violates(run, "no-aborted-read")
    run.do("move_leader", broker=2).do("apply_metadata", broker=2)
    assert readable(run, 2) == [0, 2]
    assert violates(run, "no-aborted-read")


def test_transaction_stays_open_on_a_follower_without_the_marker() -> None:
    run = missed(begun()).do("fetch", follower=2, leader=1)
    leader = run.pipeline.replica(2)
    run.state = {**run.state, leader.high_watermark.name: 4}
    assert stable(run, 2) == 2


def test_follower_without_record_and_marker_has_no_open_transaction() -> None:
    run = begun().do("become_slow", broker=2).produce(0, 1)
    run.do("shrink_isr", leader=1, follower=2).do("acknowledge", batch=0, leader=1).do("time_out_transaction")
    end(run, 0, commits=False, everywhere=False).do("learn_fenced", transaction=0)
    run.do("remove_aborted", broker=1, marker=1).do("initialise")
    run.produce(1, 1).do("acknowledge", batch=1, leader=1).do("prepare_commit", transaction=1)
    end(run, 1, commits=True, everywhere=False).do("drop_marker", broker=1, marker=1, transaction=0)
    run.do("recover_speed", broker=2).replicate(2, 1)
    assert (removed(run, 2), markers(run, 2)) == ([1, 0, 0, 0], [Marker.UNSEEN, Marker.STANDS])
    run.do("expand_isr", leader=1, follower=2).do("move_leader", broker=2).do("apply_metadata", broker=2)
    assert (stable(run, 2), readable(run, 2)) == (4, [2])
    assert not any(violates(run, name) for name in ASKED)


def test_a_broker_that_copies_a_hole_knows_the_epoch_from_the_records_left() -> None:
    """The number of the record is gone, for a newer batch is there; the marker's epoch is not."""
    run = begun(brief=False).do("become_slow", broker=2).produce(0, 1)
    run.do("shrink_isr", leader=1, follower=2).do("acknowledge", batch=0, leader=1).do("time_out_transaction")
    end(run, 0, commits=False, everywhere=False).do("learn_fenced", transaction=0)
    run.do("remove_aborted", broker=1, marker=1).do("recover_speed", broker=2).replicate(2, 1)
    follower, batch = run.pipeline.replica(2), run.pipeline.producer.batches[0]
    assert [entry["sequence"] for entry in follower.log.entries(run.state)] == [-1, -1]
    assert run.pipeline.replica(1).log.entries(run.state)[0]["sequence"] >= 0
    late = check_sequence(run.pipeline, follower, batch, z3.IntVal(0), z3.IntVal(1))
    assert holds(late.fenced, run.state)


@pytest.mark.slow
def test_no_marker_is_dropped_if_no_broker_is_away_for_so_long() -> None:
    run = begun(brief=False)
    assert not drops_markers(run.pipeline.deployment)
    assert {action.name for action in run.model.system.actions}.isdisjoint({"drop_marker", "forget_aborted"})
    assert "forget_aborted" not in {action.name for action in begun().model.system.actions}
    assert "forget_aborted" in {action.name for action in begun(AFFECTED, brief=False).model.system.actions}


def forgotten(run: Scenario) -> Scenario:
    return abort(commit(run, 0), 1).do("forget_aborted", broker=1, marker=3, batch=1)


@pytest.mark.slow
def test_a_transaction_that_is_left_out_of_the_index_is_read() -> None:
    """KAFKA-13727."""
    run = forgotten(begun(AFFECTED, keys=Keys.DISTINCT))
    assert (markers(run), readable(run)) == ([Marker.STANDS, Marker.UNLISTED], [0, 2])
    assert violates(run, "no-aborted-read")
    assert not run.can("remove_aborted", broker=1, marker=3)
    run.do("poll", leader=1, count=1).do("pass_over", leader=1).do("poll", leader=1, count=1)
    assert [run.value(count) for count in run.pipeline.consumer.processed] == [1, 1]


@pytest.mark.slow
def test_only_the_cleaning_broker_has_lost_the_aborted_transaction() -> None:
    run = forgotten(begun(AFFECTED))
    run.do("move_leader", broker=2).do("apply_metadata", broker=2)
    assert readable(run, 2) == [0]
    assert not violates(run, "no-aborted-read")


@pytest.mark.slow
def test_forgotten_abort_replaces_committed_records() -> None:
    run = forgotten(begun(AFFECTED))
    assert not violates(run, "no-acked-loss")
    run.do("compact", broker=1, last=2)
    assert removed(run) == [1, 0, 0, 0]
    assert violates(run, "no-acked-loss")
    run.do("pass_hole", leader=1)
    assert violates(run, "no-skip")


@pytest.mark.slow
def test_nothing_is_forgotten_of_which_the_records_are_gone() -> None:
    run = abort(commit(begun(AFFECTED), 0), 1).do("remove_aborted", broker=1, marker=3)
    assert not run.can("forget_aborted", broker=1, marker=3, batch=1)


@pytest.mark.parametrize("broker", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_marker_is_removed_before_its_records(broker: int) -> None:
    """Whoever copies the log after that has them open."""
    run = forgotten(begun(AFFECTED))
    later(run, everywhere=True).do("drop_marker", broker=1, marker=3, transaction=1)
    assert markers(run) == [Marker.STANDS, Marker.DROPPED, Marker.STANDS]
    assert stable(run, 1) == 5
    run.do("lose_disk", broker=2).do("fence", broker=2).do("learn_isr", broker=1).do("restart", broker=2)
    for _ in range(4):
        run.do("fetch", follower=2, leader=1)
    follower = run.pipeline.replica(2)
    run.state = {**run.state, follower.high_watermark.name: 4}
    assert markers(run, 2) == [Marker.STANDS, Marker.UNSEEN]
    assert stable(run, broker) == (5 if broker == 1 else 2)
