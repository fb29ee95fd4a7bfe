"""A disk that is full is an error that is told, never a process that dies of a page that cannot be written."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from proofka.checker.distributed.exploration import DistributedExploration
from proofka.checker.distributed.messages import write_messages
from proofka.checker.distributed.region import Extent, opened_region
from proofka.checker.distributed.running import DistributedError
from proofka.checker.exploration import Question
from proofka.properties.superstep import Superstep
from tests.checker.distributed.both import assert_same, distributed, embedded
from tests.checker.distributed.rows import Model, enter, rows_of
from tests.checker.small_disk import enlarge, in_a_child, small_disk
from tests.checker.test_exploration import NEVER, SLOW, counters

WORDS = 2
FULL = 7


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "small", "1m") as place:
        yield place


def full(write: Callable[[], object]) -> int:
    """Write until there is no room."""
    try:
        write()
    except OSError as error:
        return FULL if error.errno == errno.ENOSPC else 1
    return 0


@pytest.mark.slow
def test_a_region_on_a_full_disk(disk: Path) -> None:
    """Commits before the disk was full are still there, and the region continues once there is room."""
    few, many = ([(state, 1) for state in range(count)] for count in (3000, 60_000))
    with opened_region(disk / "region", WORDS, Extent()) as region:
        enter(region, rows_of(few, WORDS), at_once=500)
        extent = region.commit()

    def grow() -> None:
        with opened_region(disk / "region", WORDS, extent) as region:
            enter(region, rows_of(many, WORDS), at_once=500)
            region.commit()

    rows_of(many, WORDS)
    for _ in range(2):
        assert in_a_child(lambda: full(grow)) == FULL
        with opened_region(disk / "region", WORDS, extent, run="next", grows=False) as region:
            Model([(state, 1, state) for state, _ in few]).assert_equals(region)
    enlarge(disk, "20m")
    assert in_a_child(lambda: full(grow)) == 0


def test_messages_on_a_full_disk(disk: Path) -> None:
    """Nothing of them is left: the room is there for others."""
    rows = np.zeros((100_000, WORDS + 1), dtype=np.uint64)
    assert full(lambda: write_messages(disk / "sent.arrow", rows, [0, len(rows)])) == FULL
    assert list(disk.iterdir()) == []


def test_a_search_on_a_full_disk(disk: Path) -> None:
    """One line that names the folder; with more room the same folder leads to the same result, not from the start."""
    system, question = counters(20), Question({"never": NEVER}, None, {})
    folder = disk / "states"
    expanded: list[Superstep] = []

    def search() -> DistributedExploration:
        return distributed(folder, system, question, {SLOW: 1}, 1, partitions=3, on_superstep=expanded.append)

    assert in_a_child(lambda: told(search)) == FULL
    with pytest.raises(DistributedError, match=f"^{folder}: no space is left there$"):
        search()
    done = len(expanded)
    enlarge(disk, "50m")
    assert_same(search(), embedded(system, question, {SLOW: 1}, 1))
    whole = len(expanded) - done
    expanded.clear()
    distributed(disk / "other", system, question, {SLOW: 1}, 1, partitions=3, on_superstep=expanded.append)
    assert whole < len(expanded)


def told(search: Callable[[], object]) -> int:
    try:
        search()
    except DistributedError:
        return FULL
    return 0
