"""The register: every cell says something that the code understands, and no entry of a change log is left out."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from proofka.model.deployment.codes import codes
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.properties.known_defects.conditions import is_met
from proofka.properties.known_defects.defect import NOTHING, Defect, Treatment
from proofka.properties.known_defects.events import events
from proofka.properties.known_defects.features import USES
from proofka.properties.known_defects.register import defects_of, products, register, rows_of

ROOT = Path(__file__).parents[3]
HEADINGS = Path(__file__).parent / "headings"
CONDITION = re.compile(r"(?P<setting>[\w.]+)(?:(?:>=|<=|!=|=|>|<).*)?")
LONGEST_SENTENCE = 200
"""Characters."""


def entries() -> list[Mapping[str, str]]:
    """Return every entry of a change log, or commit, that was read for the register."""
    files = sorted(HEADINGS.glob("*.csv"))
    return [row for file in files for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines())]


def test_every_product_that_is_modelled_has_a_part() -> None:
    assert set(products()) == {"broker", "java", *LIBRARIES}
    assert not [product for product in products() if not defects_of(product)]


def test_ids_are_unique() -> None:
    assert not [name for name, count in Counter(defect.id for defect in register()).items() if count > 1]


@pytest.mark.parametrize("product", products())
def test_every_cell_has_a_known_value(product: str) -> None:
    wrong = {defect.id: what for defect in defects_of(product) if (what := sorted(_wrong(defect)))}
    assert not wrong


def _wrong(defect: Defect) -> set[str]:
    found = {f"property {name}" for name in defect.breaks if name not in KNOWN_PROPERTIES}
    found |= {f"event {event}" for event in defect.needs if event not in events()}
    found |= {f"feature {feature}" for feature in defect.features if feature not in USES}
    first, last = defect.affected.first, defect.affected.last
    checks = {
        "breaks nothing": bool(defect.breaks),
        "sentence": 20 < len(defect.sentence) <= LONGEST_SENTENCE and defect.sentence.endswith("."),
        "source": defect.source not in ("", NOTHING),
        "last before first": not last or last >= first,
        "its first release does not have it": not first or defect.affected.has(first),
        "a fixed release has it": not any(map(defect.affected.has, defect.affected.fixed)),
        "noted, and shown by something": defect.treatment is not Treatment.NOTED or defect.shown_by == NOTHING,
        "treated, and shown by nothing": defect.treatment is Treatment.NOTED or defect.shown_by != NOTHING,
    }
    return found | {what for what, is_right in checks.items() if not is_right}


def test_refused_defects_have_the_codes_of_their_refusals() -> None:
    """Share groups have none: a rule of the client refuses them."""
    rows = {row["id"] for row in rows_of("codes")}
    assert rows == {defect.id for defect in register() if defect.codes}
    for defect in register():
        expected = defect.treatment is Treatment.REFUSED and "share-groups" not in defect.features
        assert bool(defect.codes) == expected, defect.id
        assert set(defect.codes) <= set(codes()), defect.id


def test_evidence_of_a_treatment_exists() -> None:
    """A path in the repository, with a test of that name in it."""
    shown = sorted({defect.shown_by for defect in register() if "/" in defect.shown_by})
    assert shown
    assert not [(path, name) for path, _, name in map(_parts, shown) if not _has(path, name)]


def _parts(shown: str) -> tuple[str, str, str]:
    return shown.split(" ")[0].partition("::")


def _has(path: str, name: str) -> bool:
    file = ROOT / path
    return file.exists() and (not name or f"def {name.partition('[')[0]}(" in file.read_text(encoding="utf-8"))


def test_conditions_can_be_read() -> None:
    """A condition whose setting is there is decided; one of a setting that nobody knows counts as met."""
    defaults = {row["setting"] for row in rows_of("defaults")}
    for condition in (condition for defect in register() for condition in defect.settings):
        read = CONDITION.fullmatch(condition)
        assert read is not None, condition
        assert read["setting"] in defaults or is_met(condition, {}), condition


def test_conditions_can_be_met() -> None:
    """The items of a list are values one by one: a condition on two items is two conditions."""
    assert not [one.id for one in register() for condition in one.settings if "," in condition]


NEVER_TOGETHER = [{"idempotence", "transactions"}, {"kraft", "zookeeper"}]
"""Features of which the second implies the first, or excludes the first: a row with both leaves deployments out."""


def test_features_can_be_in_use_together() -> None:
    noted = [one for one in register() if one.treatment is Treatment.NOTED]
    assert not [one.id for one in noted if any(pair <= set(one.features) for pair in NEVER_TOGETHER)]


def test_names_and_meanings_stand_for_something_known() -> None:
    """The setting that a library names in a way of its own is one that a condition or a feature asks for."""
    keys = {row["setting"] for row in rows_of("defaults")}
    assert {row["setting"] for row in rows_of("names")} <= keys
    assert not {row["meaning"] for row in rows_of("meanings")} & {row["text"] for row in rows_of("meanings")}


def test_tables_name_nothing_twice() -> None:
    for table, key in (
        ("events", "event"),
        ("defaults", "setting"),
        ("products", "product"),
        ("names", "name"),
        ("meanings", "text"),
    ):
        names = [row[key] for row in rows_of(table)]
        assert len(set(names)) == len(names)


def test_every_entry_of_the_change_logs_is_accounted_for() -> None:
    """Each is a row of the register, or irrelevant for a reason."""
    known = {defect.id for defect in register()}
    found = entries()
    assert len(found) > 8_900
    assert not [row for row in found if row["verdict"] != "irrelevant" and row["verdict"] not in known]
    assert not [row for row in found if row["verdict"] == "irrelevant" and not row["why"].strip(" -")]


def test_every_product_was_read_up_to_its_newest_release() -> None:
    read = {row["product"] for row in entries()}
    assert set(products()) <= read | {"java"}, "Kafka's Java clients are in the commits of the brokers"
