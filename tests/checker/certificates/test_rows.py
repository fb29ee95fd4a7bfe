"""Sets of states as bytes: every row comes back, sorted, without the bits of other variables."""

from __future__ import annotations

import numpy as np
import pytest

from proofka.checker.certificates import rows
from proofka.checker.certificates.order import Order
from proofka.checker.certificates.rows import as_bytes, members_of
from proofka.checker.shard import Shard
from proofka.model.faults import Fault
from tests.checker.asking import example, run

EVERY_BIT = np.uint64(0xFFFFFFFFFFFFFFFF)


def shard() -> Shard:
    """Return the largest set of a small exploration."""
    (exploration,) = run(example("exactly-once", (Fault.CONSUMER_CRASH,)), ["no-loss"]).explorations
    return max(exploration.shards.values(), key=lambda one: one.count)


def read(content: bytes, words: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Return the rows of a member, read word by word as the page of the format says."""
    columns = np.frombuffer(content, dtype="<u8").reshape(words, -1)
    return np.bitwise_xor.accumulate(columns, axis=1).T


def test_every_row_comes_back_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MEMBER_ROWS", 50)
    one = shard()
    words = sum(one.components.dictionaries[:, 0]) if len(one.components.dictionaries) else 1
    mask = np.full(words, EVERY_BIT)
    pieces = [read(as_bytes(piece, None), words) for piece, _ in members_of(one, Order.of(one.components), mask, None)]
    assert len(pieces) == -(-one.count // 50) > 1
    found = np.concatenate(pieces)
    stored = np.concatenate([one.packed(part, slice(None)) for part in range(16)])
    assert {tuple(row) for row in found.tolist()} == {tuple(row) for row in stored.tolist()}
    assert [tuple(row) for row in found.tolist()] == sorted(tuple(row) for row in found.tolist())


def test_bits_outside_the_mask_are_not_written() -> None:
    one = shard()
    ((plain, _),) = members_of(one, Order.of(one.components), np.full(plain_words(one), EVERY_BIT), None)
    mask = np.full(plain_words(one), np.uint64(0xFF))
    ((masked, _),) = members_of(one, Order.of(one.components), mask, None)
    assert (plain > 0xFF).any()
    assert (masked <= 0xFF).all()


def plain_words(one: Shard) -> int:
    """Return the number of words of a state."""
    return int(one.packed(0, slice(0, 1)).shape[1])


def test_ranks_follow_their_rows() -> None:
    one = shard()
    ranks = [np.arange(count, dtype=np.uint16) + np.uint16(1000 * part) for part, count in enumerate(one.counts)]
    by_state = {
        tuple(row): int(rank)
        for part in range(16)
        for row, rank in zip(one.packed(part, slice(None)).tolist(), ranks[part], strict=True)
    }
    ((found, sorted_ranks),) = members_of(one, Order.of(one.components), np.full(plain_words(one), EVERY_BIT), ranks)
    assert sorted_ranks is not None
    content, size = as_bytes(found, sorted_ranks), 8 * found.size
    assert read(content[:size], plain_words(one)).tolist() == found.tolist()
    assert content[size:] == sorted_ranks.astype("<u2").tobytes()
    assert {tuple(row): int(rank) for row, rank in zip(found.tolist(), sorted_ranks, strict=True)} == by_state
