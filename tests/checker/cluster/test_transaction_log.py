"""States of transactional ids, read from a log of the coordinator that the test writes."""

from __future__ import annotations

import struct
from pathlib import Path

from proofka.checker.cluster.transaction_log import TransactionState, size_of_states, transaction_states
from proofka.checker.cluster.wire import NO_TAGS, compact_array, int8, int16, int32, int64, text
from tests.checker.cluster.segments import TIME, batch, partition

ONGOING, PREPARE_COMMIT = 1, 2


def key(name: str) -> bytes:
    return int16(0) + text(name)


def value(epoch: int, status: int, *, version: int = 0) -> bytes:
    """Return a value: in version 1 the lists and what follows have the forms of flexible versions."""
    end = (compact_array([]) if version else int32(0)) + int64(TIME) + int64(TIME) + (NO_TAGS if version else b"")
    return int16(version) + int64(7) + int16(epoch) + int32(60_000) + int8(status) + end


def test_states_are_read_in_the_order_of_each_log(tmp_path: Path) -> None:
    first = batch(0, [value(0, ONGOING)], key=key("a"), time=TIME)
    second = batch(1, [value(1, PREPARE_COMMIT, version=1)], key=key("a"), time=TIME + 5)
    partition(tmp_path / "__transaction_state-3", {0: first + second})
    partition(tmp_path / "__transaction_state-0", {0: batch(0, [value(4, 0)], key=key("other"), time=TIME)})
    partition(tmp_path / "orders-0", {0: batch(0, [b"record-0"])})
    assert transaction_states(tmp_path) == (
        TransactionState(0, 0, TIME, "other", 7, 4, "Empty"),
        TransactionState(3, 0, TIME, "a", 7, 0, "Ongoing"),
        TransactionState(3, 1, TIME + 5, "a", 7, 1, "PrepareCommit"),
    )


def test_a_forgotten_id_has_no_state(tmp_path: Path) -> None:
    partition(tmp_path / "__transaction_state-0", {0: batch(0, [None], key=key("a"))})
    assert transaction_states(tmp_path) == ()


def test_each_state_makes_the_logs_larger(tmp_path: Path) -> None:
    folder = partition(tmp_path / "__transaction_state-0", {0: batch(0, [value(0, ONGOING)], key=key("a"))})
    before = size_of_states(tmp_path)
    with (folder / f"{0:020d}.log").open("ab") as log:
        log.write(batch(1, [value(0, PREPARE_COMMIT)], key=key("a")))
    assert size_of_states(tmp_path) > before > struct.calcsize(">q")
