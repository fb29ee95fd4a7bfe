"""Modelled rows of the register: the checker finds each defect in an affected release, and not in a fixed one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.model.deployment import Deployment
from proofka.properties.known_defects import beside
from proofka.properties.known_defects.affected import Release
from proofka.properties.known_defects.beside import defects_beside
from proofka.properties.known_defects.defect import Treatment
from proofka.properties.known_defects.register import register
from proofka.properties.known_defects.releases import releases_of
from proofka.properties.verdict import Status
from tests.properties.known_defects.modelled import ModelledRow, modelled_rows

SLOW = frozenset(
    {
        "KAFKA-6361",
        "KAFKA-7128",
        "KAFKA-7415",
        "KAFKA-8805",
        "KAFKA-9144",
        "KAFKA-13194",
        "KAFKA-14140",
        "KAFKA-14617",
        "KAFKA-15221",
        "KAFKA-15665",
        "kafka-go-0.4.50-a",
        "librdkafka-3575",
        "sarama-2619",
    }
)
"""Rows whose questions take half of the time of all."""

ROWS = modelled_rows()
every_row = pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS])


def asked(*rows: ModelledRow) -> pytest.MarkDecorator:
    """Return the parameters of a test that asks a question of each of the rows."""
    marked = [pytest.param(row, id=row.id, marks=[pytest.mark.slow] if row.id in SLOW else []) for row in rows]
    return pytest.mark.parametrize("row", marked)


def releases(deployment: Deployment, product: str) -> set[Release]:
    return {release for name, release in releases_of(deployment) if name == product}


def test_the_table_has_every_modelled_row_of_the_register() -> None:
    modelled = [one.id for one in register() if one.treatment is Treatment.MODELLED]
    assert [row.id for row in ROWS] == modelled
    assert set(modelled) >= SLOW


@every_row
def test_first_deployment_meets_the_row_and_the_others_do_not(
    row: ModelledRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Release, settings, events and features of the row decide as they do for a row that is noted."""
    noted = replace(row.defect, treatment=Treatment.NOTED)
    monkeypatch.setattr(beside, "defects_of", lambda product: (noted,) if product == noted.product else ())
    assert row.affected.violates in noted.breaks
    assert noted in defects_beside(row.affected.deployment, row.affected.violates)
    for other in filter(None, (row.fixed, row.otherwise)):
        assert noted not in defects_beside(other.deployment, other.violates)


@every_row
def test_another_deployment_stands_where_no_fixed_release_holds(row: ModelledRow) -> None:
    assert (row.fixed is not None) == bool(row.defect.affected.fixed)
    assert (row.otherwise is not None) == (row.fixed is None or bool(row.hidden))
    assert row.fixed or not row.hidden


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS if row.fixed])
def test_fixed_deployment_differs_in_the_release_alone(row: ModelledRow) -> None:
    assert row.fixed is not None
    before, after = row.affected.deployment, row.fixed.deployment
    assert releases(after, row.defect.product) & set(row.defect.affected.fixed)
    changed = set(releases_of(before)) ^ set(releases_of(after))
    assert {product for product, _ in changed} == {row.defect.product}
    *_, with_defect = row.affected.records
    *_, with_fix = row.fixed.records
    differing = {key for key in {*with_defect, *with_fix} if with_defect.get(key) != with_fix.get(key)}
    assert differing <= {"kafka", "producer.version", "consumer.version"}


@asked(*ROWS)
def test_affected_release_violates_the_property(row: ModelledRow) -> None:
    verdict = row.affected.verdict
    assert (verdict.status, verdict.cut_sets) == (Status.VIOLATED, (row.smallest,))


@asked(*ROWS)
def test_property_holds_without_the_defect(row: ModelledRow) -> None:
    verdict = row.without.verdict
    assert verdict.status is Status.HOLDS, verdict.cut_sets


@asked(*(row for row in ROWS if row.hidden))
def test_fixed_release_violates_the_property_for_another_reason(row: ModelledRow) -> None:
    """A row whose fixed release holds needs no other deployment."""
    assert row.fixed is not None
    assert row.fixed.verdict.status is Status.VIOLATED
