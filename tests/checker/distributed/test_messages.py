"""States on their way: each receiver gets what was sent to it, or the file is named that does not hold it."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proofka.checker.distributed.messages import MessagesLost, read_messages, write_messages

WORDS = 2


def some_rows(count: int, seed: int = 0) -> NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 1 << 64, (count, WORDS + 1), dtype=np.uint64)


@settings(max_examples=50, derandomize=True)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=9), st.integers(1, 4))
def test_each_receiver_reads_its_rows(tmp_path_factory: pytest.TempPathFactory, counts: list[int], words: int) -> None:
    path = tmp_path_factory.mktemp("messages") / "3.arrow"
    starts = [0, *np.cumsum(counts).tolist()]
    rows = np.random.default_rng(1).integers(0, 1 << 64, (starts[-1], words + 1), dtype=np.uint64)
    write_messages(path, rows, starts)
    for receiver, count in enumerate(counts):
        found = read_messages(path, receiver, count, words)
        assert found.dtype == np.uint64
        assert found.tolist() == rows[starts[receiver] : starts[receiver + 1]].tolist()


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    path = tmp_path / "0.arrow"
    write_messages(path, some_rows(20), [0, 5, 5, 20])
    return path


def lost(path: Path, receiver: int = 2, count: int = 15, words: int = WORDS) -> str:
    """Return the message about a file with a wrong content."""
    with pytest.raises(MessagesLost) as told:
        read_messages(path, receiver, count, words)
    assert str(path) in str(told.value)
    return str(told.value)


def test_another_number_of_rows_than_was_reported(sent: Path) -> None:
    for count in (14, 16):
        said = f"{sent}: does not hold the {count} states that were sent to partition 2"
        assert lost(sent, count=count) == said
    lost(sent, words=WORDS + 1)
    lost(sent, receiver=3, count=1)


def test_files_lost_emptied_or_of_another_kind(sent: Path) -> None:
    for content in (b"", b"nothing of the kind", sent.read_bytes()[8:]):
        sent.write_bytes(content)
        lost(sent)
    sent.unlink()
    lost(sent)
    sent.mkdir()
    lost(sent)


def test_files_cut_short(sent: Path) -> None:
    content = sent.read_bytes()
    for size in range(0, len(content), 7):
        sent.write_bytes(content[:size])
        lost(sent)


def test_flipped_bits(sent: Path) -> None:
    """Anywhere in the file: what is read is what was sent, or nothing is."""
    content, rows, chance = sent.read_bytes(), some_rows(20), random.Random(3)
    unread = 0
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << chance.randrange(8)
        sent.write_bytes(damaged)
        for receiver, first, last in ((0, 0, 5), (2, 5, 20)):
            try:
                assert read_messages(sent, receiver, last - first, WORDS).tolist() == rows[first:last].tolist()
            except MessagesLost as told:
                assert str(sent) in str(told)
                unread += 1
    assert unread > 20 * (WORDS + 1) * 8


def test_messages_of_before_are_replaced(sent: Path) -> None:
    """An attempt that is repeated writes the same place; nothing else is left there."""
    write_messages(sent, some_rows(3, seed=1), [0, 0, 0, 3])
    assert read_messages(sent, 2, 3, WORDS).tolist() == some_rows(3, seed=1).tolist()
    assert list(sent.parent.iterdir()) == [sent]
