"""The page of proofs says what the search finds."""

from __future__ import annotations

from scripts import write_invariants


def test_the_table_has_the_rows_that_the_script_finds() -> None:
    """Otherwise: python scripts/write_invariants.py"""
    page = write_invariants.PAGE.read_text(encoding="utf-8")
    (row,) = write_invariants.rows({"kip-320": [(2, 2)]})
    assert f"| {' | '.join(row)} |\n" in page
    assert row[3:6] == ("proved", "proved", "no")
    assert f"| {' | '.join(write_invariants.HEAD)} |\n" in page


def test_the_table_replaces_the_last_table_of_the_page() -> None:
    page = "# A page\n\n| a |\n|---|\n\ntext\n\n| old |\n|---|\n"
    assert write_invariants.with_table(page, ["| new |"]) == "# A page\n\n| a |\n|---|\n\ntext\n\n| new |\n"


def test_the_table_has_every_protocol() -> None:
    page = write_invariants.PAGE.read_text(encoding="utf-8")
    assert all(
        f"| `{name}` | {one[0]} | {one[1]} |" in page for name, sizes in write_invariants.SIZES.items() for one in sizes
    )
