"""The page of proofs says what the search finds."""

from __future__ import annotations

import pytest

from scripts import write_deployment_invariants, write_invariants


def test_the_table_has_the_rows_that_the_script_finds() -> None:
    """Otherwise: python scripts/write_invariants.py"""
    page = write_invariants.PAGE.read_text(encoding="utf-8")
    (row,) = write_invariants.rows({"kip-320": [(2, 2)]})
    assert f"| {' | '.join(row)} |\n" in page
    assert row[3:6] == ("proved", "proved", "no")
    assert f"| {' | '.join(write_invariants.HEAD)} |\n" in page


def test_a_table_replaces_the_table_of_its_section_alone() -> None:
    page = "# A page\n\n## One\n\ntext\n\n| old |\n|---|\n\n## Two\n\n| other |\n|---|\n"
    changed = write_invariants.with_table(page, "One", ["| new |"])
    assert changed == "# A page\n\n## One\n\ntext\n\n| new |\n\n## Two\n\n| other |\n|---|\n"
    assert write_invariants.with_table(changed, "Two", ["| last |"]).endswith("| new |\n\n## Two\n\n| last |\n")


@pytest.mark.slow
def test_the_table_of_examples_has_the_rows_that_the_script_finds() -> None:
    """Otherwise: python scripts/write_invariants.py --examples"""
    lines = write_invariants.table(write_invariants.HEAD_OF_EXAMPLES, write_invariants.example_rows())
    assert "\n".join(lines) in write_invariants.PAGE.read_text(encoding="utf-8")


def test_the_table_has_every_protocol() -> None:
    page = write_invariants.PAGE.read_text(encoding="utf-8")
    assert all(
        f"| `{name}` | {one[0]} | {one[1]} |" in page for name, sizes in write_invariants.SIZES.items() for one in sizes
    )


def test_the_table_of_deployments_has_the_outcomes_of_the_file() -> None:
    """Otherwise: python scripts/write_deployment_invariants.py --table"""
    lines = write_invariants.table(write_deployment_invariants.HEAD, write_deployment_invariants.summary())
    assert "\n".join(lines) in write_invariants.PAGE.read_text(encoding="utf-8")


def test_every_example_has_an_outcome_for_each_property() -> None:
    found = {(row["example"], row["property"]) for row in write_deployment_invariants.rows()}
    examples = {path.name for path in (write_deployment_invariants.ROOT / "examples").glob("*.yaml")}
    assert examples == {example for example, _ in found}
    assert all((example, "no-acked-loss") in found for example in examples)
