"""The watcher of disks, with logs that the test writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from proofka.checker.cluster.cluster import Cluster
from proofka.checker.cluster.errors import ClusterError
from proofka.checker.cluster.sends import ForeignValue
from proofka.checker.cluster.waiting import until
from proofka.checker.conformance.observations import PartitionDecision
from proofka.checker.conformance.watching import Watcher
from tests.checker.cluster.segments import batch, marker
from tests.checker.conformance.disks import Disks, replace_log

SECONDS = 20.0
"""Deadline of each observation."""


@contextmanager
def watched(disks: Disks, bases: dict[str, int]) -> Iterator[Watcher]:
    watcher = Watcher(cast(Cluster, disks), bases)
    try:
        yield watcher
    finally:
        watcher.stop()


def records(watcher: Watcher, topic: str, broker: int) -> list[tuple[int | None, ...]]:
    """Return the records of each look at a log."""
    return [tuple(entry.record for entry in look.entries) for look in watcher.looks(topic) if look.broker == broker]


def wait(condition: Callable[[], bool]) -> None:
    until(condition, what="a look of the watcher", seconds=SECONDS)


def test_looks_begin_at_the_base_of_each_topic(tmp_path: Path) -> None:
    disks = Disks(tmp_path)
    disks.write(1, "t", 90, 0)
    disks.write(1, "u", 90, 91, 1)
    with watched(disks, {"t": 1, "u": 2}) as watcher:
        assert records(watcher, "t", 1)[0] == (0,)
        assert records(watcher, "u", 1)[0] == (1,)
        assert records(watcher, "t", 2)[0] == ()


def test_each_change_of_a_log_is_seen_and_equal_looks_are_not_kept(tmp_path: Path) -> None:
    disks = Disks(tmp_path)
    disks.write(1, "t", 90)
    with watched(disks, {"t": 1}) as watcher:
        for written in ((0,), (1,), (1, 0)):
            disks.write(1, "t", 90, *written)
            wait(lambda written=written: records(watcher, "t", 1)[-1] == written)  # type: ignore[misc]
        wait(lambda: records(watcher, "t", 1)[-2:] == [(1, 0)] * 2)
        assert len(records(watcher, "t", 1)) <= 8
    found = records(watcher, "t", 1)
    assert list(dict.fromkeys(found)) == [(), (0,), (1,), (1, 0)]


def test_a_log_of_the_same_size_is_read_again_after_a_write(tmp_path: Path) -> None:
    disks = Disks(tmp_path)
    disks.write(1, "t", 90, 0)
    with watched(disks, {"t": 1}) as watcher:
        begin = watcher.looks("t")[0].when[0]
        wait(lambda: watcher.looks("t")[1].when[0] > begin + 0.3)
        disks.write(1, "t", 90, 1)
        wait(lambda: records(watcher, "t", 1)[-1] == (1,))


def test_decisions_are_those_since_the_start(tmp_path: Path) -> None:
    disks = Disks(tmp_path)
    with watched(disks, {"t": 0}) as watcher:
        assert watcher.partition_before("t").leader == 1
        assert watcher.decisions("t") == ()
        before = watcher.changes
        disks.decide(2, (2,))
        wait(lambda: watcher.partition("t").leader == 2)
        assert watcher.changes > before
        (decision,) = watcher.decisions("t")
        assert isinstance(decision, PartitionDecision) and decision.isr == (2,)
        assert decision.written <= decision.seen
        assert watcher.partition_before("t").leader == 1


def test_a_topic_that_the_controller_does_not_have_is_an_error(tmp_path: Path) -> None:
    with (
        watched(Disks(tmp_path), {"u": 0}) as watcher,
        pytest.raises(ClusterError, match="does not have topic u of the run; run again"),
    ):
        watcher.partition_before("u")


def test_an_error_of_the_thread_reaches_the_next_caller(tmp_path: Path) -> None:
    disks = Disks(tmp_path)
    watcher = Watcher(cast(Cluster, disks), {"t": 0})
    disks.write(1, "t", 90)
    replace_log(disks.nodes[1].data / "t-0", batch(0, [b"of nobody"]))
    with pytest.raises(ForeignValue, match="no value of a client program"):
        until(lambda: watcher.looks("t") == (), what="the error", seconds=SECONDS)
    with pytest.raises(ForeignValue, match="no value of a client program"):
        watcher.stop()


def test_the_states_of_each_transactional_id_are_seen(tmp_path: Path) -> None:
    disks = Disks(tmp_path)
    disks.write(1, "t", 90)
    disks.coordinate("mine", 3, 4)
    watcher = Watcher(cast(Cluster, disks), {"t": 1}, {"t": "mine"})
    try:
        before = watcher.coordinated_before("t")
        assert (before.status, before.producer, watcher.coordinated("t")) == ("CompleteCommit", (7, 3), ())
        disks.coordinate("other", 0, 1)
        disks.coordinate("mine", 3, 1)
        disks.coordinate("mine", 4, 3)
        wait(lambda: len(watcher.coordinated("t")) == 2)
    finally:
        watcher.stop()
    found = watcher.coordinated("t")
    assert [(one.status, one.producer) for one in found] == [("Ongoing", (7, 3)), ("PrepareAbort", (7, 4))]
    assert all(one.written <= one.seen for one in found)


def test_a_transactional_id_that_the_coordinator_does_not_know_is_an_error(tmp_path: Path) -> None:
    disks = Disks(tmp_path)
    watcher = Watcher(cast(Cluster, disks), {"t": 1}, {"t": "mine"})
    try:
        with pytest.raises(ClusterError, match="no transactional id mine"):
            watcher.coordinated_before("t")
    finally:
        watcher.stop()


def test_markers_are_entries_of_a_log(tmp_path: Path) -> None:
    disks = Disks(tmp_path)
    folder = disks.nodes[1].data / "t-0"
    folder.mkdir(parents=True)
    replace_log(folder, batch(0, [b"record-90"]) + batch(1, [b"record-0"]) + marker(2, 0, producer_id=7))
    with watched(disks, {"t": 1}) as watcher:
        entries = [look.entries for look in watcher.looks("t") if look.broker == 1][-1]
    assert [(entry.record, entry.marker) for entry in entries] == [(0, None), (None, "abort")]
