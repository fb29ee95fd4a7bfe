"""Noted rows of the register in deployments that meet all conditions of the row, and in deployments that do not."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from proofka.properties.known_defects.beside import defects_beside
from proofka.properties.known_defects.defect import Defect, Treatment
from proofka.properties.known_defects.register import defects_of, products, register
from tests.properties.known_defects.meeting import Record, lacking, meeting, mended, read

NEVER_NAMED = Path(__file__).with_name("never_named.csv")
DECIDED_BY_CONDITIONS = 460
"""Rows that some deployment with the same releases does not meet. The others are met by each of their releases."""


def noted(product: str) -> tuple[Defect, ...]:
    return tuple(one for one in defects_of(product) if one.treatment is Treatment.NOTED)


def is_named(defect: Defect, record: Record) -> bool | None:
    """Tell whether a pass of a property that the row breaks names the defect; None for a record that is refused."""
    deployment = read(record)
    return None if deployment is None else defect in defects_beside(deployment, defect.breaks[0])


@pytest.mark.parametrize("product", products())
def test_noted_row_is_named_in_a_deployment_that_meets_the_row(product: str) -> None:
    met = [(one, record) for one in noted(product) if (record := meeting(one)) is not None]
    assert met
    assert not [one.id for one, record in met if not is_named(one, record)]


@pytest.mark.parametrize("product", products())
def test_noted_row_is_not_named_with_a_fixed_release(product: str) -> None:
    met = [(one, record) for one in noted(product) if (record := meeting(one)) is not None]
    assert not [one.id for one, record in met if any(is_named(one, other) for other in mended(one, record))]


def test_noted_row_is_not_named_where_a_condition_is_not_met() -> None:
    """A row whose conditions each deployment of the product meets has a fixed release, or its product is left out."""
    met = [(one, record) for one in register() if one.treatment is Treatment.NOTED and (record := meeting(one))]
    always = [
        (one, record) for one, record in met if all(is_named(one, other) is not False for other in lacking(record))
    ]
    assert len(met) - len(always) >= DECIDED_BY_CONDITIONS
    for one, record in always:
        others = (*mended(one, record), {"kafka": record["kafka"]})
        assert any(is_named(one, other) is False for other in others), one.id


def test_the_table_has_the_noted_rows_that_no_deployment_meets() -> None:
    """Each with the reason; a row that some deployment meets has no place there."""
    with NEVER_NAMED.open(encoding="utf-8", newline="") as file:
        listed = {row["id"]: row["reason"] for row in csv.DictReader(file)}
    unmet = [one.id for one in register() if one.treatment is Treatment.NOTED and meeting(one) is None]
    assert list(listed) == unmet
    assert all(listed.values())
