"""The order of packed states, against a plain sort of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.certificates.sorting import order_of

EVERY_BIT = 2**64 - 1


@given(
    st.integers(1, 5).flatmap(
        lambda words: st.tuples(
            st.lists(st.integers(0, EVERY_BIT), min_size=words, max_size=words),
            st.lists(st.lists(st.integers(0, EVERY_BIT), min_size=words, max_size=words), max_size=30),
        )
    )
)
def test_rows_come_in_lexicographic_order(drawn: tuple[list[int], list[list[int]]]) -> None:
    mask, rows = drawn
    table = np.array(rows, dtype=np.uint64).reshape(-1, len(mask)) & np.array(mask, dtype=np.uint64)
    order = order_of(table)
    assert sorted(order) == list(range(len(table)))
    assert table[order].tolist() == sorted(table.tolist())


@pytest.mark.parametrize("seed", range(20))
def test_many_rows_that_tie_in_the_first_words_come_in_order(seed: int) -> None:
    random = np.random.default_rng(seed)
    words = int(random.integers(2, 6))
    few = random.integers(0, EVERY_BIT, size=(int(random.integers(1, 50)), words), dtype=np.uint64)
    table = few[random.integers(0, len(few), 3000)]
    table[:, -1] = random.integers(0, EVERY_BIT, 3000, dtype=np.uint64)
    assert table[order_of(table)].tolist() == sorted(table.tolist())
