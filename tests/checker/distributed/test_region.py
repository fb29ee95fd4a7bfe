"""A set of states in files: what was committed is there again however it was left, and what was not is not."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.distributed import region as regions
from proofka.checker.distributed.region import (
    OPEN_TABLE,
    TABLE_FILE,
    VERIFIED_FILE,
    Extent,
    Region,
    RegionError,
    opened_region,
    read_row,
    scratch_region,
)
from proofka.checker.kernel import closing
from proofka.checker.kernel.closing import DEPTH_SHIFT
from tests.checker.distributed.rows import Model, enter, is_found, packed, rows_of

WORDS = 2


def test_states_are_entered_once(tmp_path: Path) -> None:
    with opened_region(tmp_path, WORDS, Extent()) as region:
        enter(region, rows_of([(1, 0), (2, 1), (1, 1), (3, 2), (2, 2)], WORDS))
        assert [int(row[-1]) & 0xFF for row in region.rows()] == [0, 1, 3], "the first of each state"
        assert (region.count, region.states, len(region.replaced()), len(region.dead())) == (3, 3, 0, 0)
        assert is_found(region, [1, 2, 3, 4]) == [True, True, True, False]


def test_a_shorter_way_replaces_a_longer_known_way(tmp_path: Path) -> None:
    """Not of what was entered in the same superstep: there depths ascend. What is as deep or deeper changes nothing."""
    with opened_region(tmp_path, WORDS, Extent()) as region:
        enter(region, rows_of([(1, 5), (2, 5), (3, 6)], WORDS))
        extent = region.commit()
    with opened_region(tmp_path, WORDS, extent) as region:
        enter(region, rows_of([(1, 4), (2, 5), (3, 6), (1, 5), (4, 7)], WORDS))
        assert (region.count, region.states) == (5, 4)
        assert [int(pair) for pair in region.replaced()] == [3 << 32 | 0]
        assert region.dead().tolist() == [1, 0, 0, 0, 0]
        extent = region.commit()
    with opened_region(tmp_path, WORDS, extent) as region:
        enter(region, rows_of([(1, 4), (1, 4)], WORDS))
        assert region.count == 5, "the slot names the row that took the place"


@pytest.mark.parametrize("words", [1, 3])
def test_growing_from_nothing(tmp_path: Path, words: int) -> None:
    """Rows, replacements and the table all outgrow their room more than once, and nothing is lost by it."""
    with patch.multiple(regions, LEAST_ROWS=4, LEAST_SLOTS=4, LEAST_REPLACED=4):
        model = Model()
        with opened_region(tmp_path, words, Extent()) as region:
            found = [(state, 9) for state in range(500)]
            enter(region, rows_of(found, words))
            model.enter(found, 0)
            small, extent = region.size, region.commit()
        with opened_region(tmp_path, words, extent) as region:
            found = [(state, 8) for state in range(1000)]
            enter(region, rows_of(found, words))
            model.enter(found, 500)
            assert region.size > 2 * small
            model.assert_equals(region)
            extent = region.commit()
        with opened_region(tmp_path, words, extent, grows=False) as region:
            model.assert_equals(region)


@settings(max_examples=40, derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(1, 3), st.integers(1, 9))
def test_against_a_plain_model(chance: random.Random, words: int, at_once: int) -> None:
    """Supersteps that are committed, that fail, and that die; opened by the same run, by others and for reading."""
    kept, model, extent = Model(), Model(), Extent()
    least = patch.multiple(regions, LEAST_ROWS=3, LEAST_SLOTS=3, LEAST_REPLACED=1)
    with tempfile.TemporaryDirectory() as place, least:
        folder = Path(place)
        for _ in range(chance.randint(3, 12)):
            region = Region(folder, words, extent, run=chance.choice([None, "one", "another"]))
            model = kept.copy()
            model.assert_equals(region)
            found = sorted(
                ((chance.randrange(60), chance.randrange(12)) for _ in range(chance.randrange(60))),
                key=lambda one: one[1],
            )
            enter(region, rows_of(found, words), at_once=at_once)
            model.enter(found, len(kept.rows))
            model.assert_equals(region)
            how = chance.choice(["committed", "failed", "killed", "killed after the commit", "looked at"])
            if how in ("committed", "killed after the commit"):
                extent, kept = region.commit(), model
            region.close(committed=how == "committed")
            if how == "looked at":
                with opened_region(folder, words, extent, run=chance.choice([None, "one"]), grows=False) as looked:
                    kept.assert_equals(looked)
        with opened_region(folder, words, extent, run="last", grows=False) as region:
            kept.assert_equals(region)


def some_region(folder: Path) -> Extent:
    """Write and commit some rows, one of them replaced."""
    with opened_region(folder, WORDS, Extent()) as region:
        enter(region, rows_of([(state, 3) for state in range(100)], WORDS))
        extent = region.commit()
    with opened_region(folder, WORDS, extent) as region:
        enter(region, rows_of([(7, 1)], WORDS))
        return region.commit()


def test_uncommitted_rows_are_dropped(tmp_path: Path) -> None:
    """Rows behind the commit neither count nor are found, and their room is used again."""
    extent = some_region(tmp_path)
    with pytest.raises(ZeroDivisionError), opened_region(tmp_path, WORDS, extent) as region:
        enter(region, rows_of([(state, 1) for state in range(50, 300)], WORDS))
        raise ZeroDivisionError
    assert not (tmp_path / TABLE_FILE).exists()
    with opened_region(tmp_path, WORDS, extent) as region:
        assert (region.count, region.states) == (101, 100)
        assert is_found(region, [7, 99, 100, 299]) == [True, True, False, False]
        enter(region, rows_of([(200, 2)], WORDS))
        assert region.rows()[101].tolist() == rows_of([(200, 2)], WORDS)[0].tolist()


def test_a_table_that_was_being_written_to_is_made_again(tmp_path: Path) -> None:
    """The name marks a table in change; a table without changes is used unchanged."""
    extent = some_region(tmp_path)
    with patch.object(closing, "fill_table") as fill:
        with opened_region(tmp_path, WORDS, extent) as region:
            assert (tmp_path / OPEN_TABLE).exists()
            assert not (tmp_path / TABLE_FILE).exists()
            region.commit()
        with opened_region(tmp_path, WORDS, extent, grows=False):
            assert (tmp_path / TABLE_FILE).exists()
        assert not fill.called
    Region(tmp_path, WORDS, extent).close(committed=False)
    (tmp_path / OPEN_TABLE).write_bytes(b"\xff" * (tmp_path / OPEN_TABLE).stat().st_size)
    (tmp_path / f"{OPEN_TABLE}.new").write_bytes(b"\xff" * 100)
    with opened_region(tmp_path, WORDS, extent, grows=False) as region:
        assert is_found(region, [7, 8, 100]) == [True, True, False]
    assert {file.name for file in tmp_path.glob("table*")} == {TABLE_FILE}


def test_each_run_makes_the_table_again_once(tmp_path: Path) -> None:
    """An earlier run's table is not trusted: the checksums are of the rows."""
    extent = some_region(tmp_path)
    (tmp_path / TABLE_FILE).write_bytes(bytes((tmp_path / TABLE_FILE).stat().st_size))
    with opened_region(tmp_path, WORDS, extent, run="one", grows=False) as region:
        assert is_found(region, [7, 8, 100]) == [True, True, False]
    assert (tmp_path / VERIFIED_FILE).read_text() == "one"
    with patch.object(closing, "fill_table") as fill:
        with opened_region(tmp_path, WORDS, extent, run="one") as region:
            region.commit()
        assert not fill.called
        with opened_region(tmp_path, WORDS, extent, run="two") as region:
            region.commit()
        assert fill.called


@pytest.mark.parametrize("file", ["rows", "replaced"])
def test_damage_is_found_by_the_first_that_opens_in_a_run(tmp_path: Path, file: str) -> None:
    """Any byte that counts; what is behind it may be anything."""
    extent = some_region(tmp_path)
    content = bytearray((tmp_path / file).read_bytes())
    counted = {"rows": 101 * (WORDS + 1) * 8, "replaced": 8}[file]
    for place in (0, counted // 2, counted - 1):
        damaged = bytearray(content)
        damaged[place] ^= 4
        (tmp_path / file).write_bytes(damaged)
        for _ in range(2):
            with pytest.raises(RegionError, match=f"{tmp_path}: does not hold what was committed"):
                Region(tmp_path, WORDS, extent, run="new")
    content[counted:] = b"\xff" * len(content[counted:])
    (tmp_path / file).write_bytes(content)
    with opened_region(tmp_path, WORDS, extent, run="new", grows=False) as region:
        assert region.states == 100


@pytest.mark.parametrize("file", ["rows", "replaced"])
@pytest.mark.parametrize("run", [None, "new"])
def test_files_cut_short_or_gone(tmp_path: Path, file: str, run: str | None) -> None:
    extent = some_region(tmp_path)
    counted = {"rows": 101 * (WORDS + 1) * 8, "replaced": 8}[file]
    for size in (counted - 1, 0):
        with (tmp_path / file).open("r+b") as opened:
            opened.truncate(size)
        with pytest.raises(RegionError, match=f"{tmp_path}: shorter than what was committed"):
            Region(tmp_path, WORDS, extent, run=run)
    (tmp_path / file).unlink()
    with pytest.raises(RegionError, match="shorter than what was committed"):
        Region(tmp_path, WORDS, extent, run=run)


def test_the_checksums_are_of_everything_however_it_was_committed(tmp_path: Path) -> None:
    """In one superstep or in several: and pieces larger than are read at a time."""
    found = [(state, state // 40) for state in range(400)]
    with opened_region(tmp_path / "whole", WORDS, Extent()) as region:
        enter(region, rows_of(found, WORDS))
        whole = region.commit()
    extent = Extent()
    with patch.object(regions, "CHECKSUM_CHUNK", 100):
        for first in range(0, 400, 40):
            with opened_region(tmp_path / "parts", WORDS, extent) as region:
                enter(region, rows_of(found, WORDS)[first : first + 40])
                extent = region.commit()
    assert extent == whole
    assert whole.rows_checksum


def test_more_rows_than_can_be_numbered(tmp_path: Path) -> None:
    with opened_region(tmp_path, WORDS, Extent()) as region, pytest.raises(RegionError, match="take more partitions"):
        region.reserve(regions.MOST_ROWS + 1)
    with patch.object(regions, "MOST_ROWS", 100), opened_region(tmp_path, WORDS, Extent()) as region:
        region.reserve(100)
        with pytest.raises(RegionError, match="more than 100 rows in one partition"):
            region.reserve(101)


def test_single_rows_are_read_by_their_number(tmp_path: Path) -> None:
    some_region(tmp_path)
    state, origin = read_row(tmp_path, WORDS, 100)
    assert (state.tolist(), origin) == (packed(7, WORDS), 1 << DEPTH_SHIFT)
    with pytest.raises(RegionError, match="has no row"):
        read_row(tmp_path, WORDS, 10**6)


def test_scratch_regions_leave_nothing(tmp_path: Path) -> None:
    """A scratch region contains nothing of a killed attempt, and its files are deleted at the end."""
    some_region(tmp_path / "outbox")
    with scratch_region(tmp_path / "outbox", WORDS) as region:
        assert region.count == 0
        assert is_found(region, [7]) == [False]
        enter(region, rows_of([(7, 1)], WORDS))
    assert not (tmp_path / "outbox").exists()
