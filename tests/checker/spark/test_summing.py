"""Summaries and figures' data against the same counted by hand from the rows of the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.spark.audit import Counts
from proofka.checker.spark.exploring import Limits
from proofka.checker.spark.folder import AuditFolder
from proofka.checker.spark.influence import ALL_DEPLOYMENTS, EACH_PROPERTY, NOT_SET, influence
from proofka.checker.spark.sources import find_source
from proofka.checker.spark.summing import summarise
from proofka.model.deployment.matrix import read_matrix
from proofka.model.deployment.required_properties import ASKED_BY_DEFAULT
from proofka.properties.audited import Influence, Portion, Tolerance
from proofka.properties.verdict import Status
from tests.checker.spark.auditing import audit, rows

COUNTS = Counts(8, 4, 3, 3)
Row = dict[str, Any]


@pytest.fixture(scope="module")
def verdicts(spark: Any, audited: Path) -> list[Row]:
    return rows(spark, audited, "verdicts")


@pytest.fixture(scope="module")
def found(spark: Any, audited: Path, matrix: Path) -> Influence:
    return influence(spark, AuditFolder(audited), read_matrix(matrix).values)


pytestmark = pytest.mark.slow


def statuses(some: Iterable[Row], name: str) -> Counter[Status]:
    return Counter(Status(row["status"]) for row in some if row["property"] == name)


def test_properties(spark: Any, audited: Path, verdicts: list[Row]) -> None:
    summary = summarise(spark, AuditFolder(audited), COUNTS, 1.5)
    assert [count.property for count in summary.properties] == list(ASKED_BY_DEFAULT)
    assert (summary.deployments, summary.rejected, summary.systems, summary.explored, summary.seconds) == (
        8,
        4,
        3,
        3,
        1.5,
    )
    for count in summary.properties:
        assert count.statuses == statuses(verdicts, count.property)
        assert count.required == (8 if count.property == "no-acked-loss" else 0)
        cut_sets = Counter(
            tuple((fault["fault"], fault["count"]) for fault in cut_set)
            for row in verdicts
            if row["property"] == count.property
            for cut_set in row["cut_sets"]
        )
        assert dict(count.cut_sets).items() <= cut_sets.items()
        assert len(count.cut_sets) == min(3, len(cut_sets))
        assert all(one >= other for (_, one), (_, other) in pairwise(count.cut_sets))
    assert any(count.cut_sets for count in summary.properties)


def test_the_worst_of_the_required_properties(spark: Any, audited: Path, verdicts: list[Row]) -> None:
    """Here a single property is."""
    summary = summarise(spark, AuditFolder(audited), COUNTS, 1.5)
    assert summary.worst == statuses(verdicts, "no-acked-loss")
    assert set(summary.worst) == {Status.VIOLATED, Status.HOLDS}


def test_passes_with_known_defects_beside(spark: Any, audited: Path, verdicts: list[Row]) -> None:
    summary = summarise(spark, AuditFolder(audited), COUNTS, 1.5)
    passes = [row for row in verdicts if row["required"] and row["status"] == Status.HOLDS and row["known_defects"]]
    assert summary.with_known_defects == len({(row["place"], row["number"]) for row in passes}) > 0


def test_reasons_are_counted_without_their_places(spark: Any, audited: Path) -> None:
    summary = summarise(spark, AuditFolder(audited), COUNTS, 1.5)
    ((reason, count),) = summary.reasons
    assert count == 4
    assert reason.startswith("retries: refused by the Java producer"), "the first conflict of the file"
    assert "; the row has 1 more problem (first: " in reason


def test_nothing_but_rejected_rows(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "fleet.csv").write_text("kafka,producer.acks\n4.0,7\n")
    counts = audit(spark, find_source(tmp_path / "fleet.csv", {}), tmp_path / "out")
    assert counts == Counts(0, 1, 0, 0)
    summary = summarise(spark, AuditFolder(tmp_path / "out"), counts, 0.0)
    assert (summary.properties, summary.worst, len(summary.reasons)) == ((), {}, 1)


def matching(verdicts: list[Row], portion: Portion) -> list[Row]:
    wanted = {setting: None if value == NOT_SET else value for setting, value in portion.values}
    return [row for row in verdicts if wanted.items() <= row["chosen"].items()]


def is_told_by(portions: Iterable[Portion], verdicts: list[Row]) -> None:
    for portion in portions:
        some = matching(verdicts, portion)
        assert portion.deployments == len({row["number"] for row in some}) > 0
        assert {name: dict(counts) for name, counts in portion.statuses.items()} == {
            name: statuses(some, name) for name in ASKED_BY_DEFAULT
        }
        assert tuple(portion.statuses) == ASKED_BY_DEFAULT


def test_by_value(found: Influence, verdicts: list[Row]) -> None:
    is_told_by(found.by_value, verdicts)
    told = [portion.values for portion in found.by_value]
    assert found.apart == ("producer.enable.idempotence",), "true is always excluded or refused"
    assert {setting for ((setting, _),) in told} | {*found.without, *found.apart} == set(verdicts[0]["chosen"])
    assert "consumer.max.poll.interval.ms" in found.without
    assert "producer.acks" not in found.without
    assert told.index((("producer.acks", "1"),)) + 1 == told.index((("producer.acks", "all"),)), "as in the file"


def test_combinations_tell_every_verdict_here(found: Influence, verdicts: list[Row]) -> None:
    is_told_by(found.by_combination, verdicts)
    assert sum(portion.deployments for portion in found.by_combination) == 8
    for portion, name in product(found.by_combination, ASKED_BY_DEFAULT):
        assert portion.share(name, Status.VIOLATED) in (0.0, 1.0)
    settings = {setting for portion in found.by_combination for setting, _ in portion.values}
    assert "consumer.max.poll.interval.ms" not in settings


DESIGN = {"a": ("1", "2"), "b": ("x", "y", None), "c": ("0", "1"), "d": ("0", "1")}


def write_verdicts(spark: Any, place: Path, made: list[tuple[Any, ...]]) -> None:
    columns = "deployment string, place string, number long, chosen map<string,string>, property string"
    table = spark.createDataFrame(made, f"{columns}, required boolean, status string, fewest_faults int")
    table.coalesce(1).write.partitionBy("property").parquet(str(place / "verdicts"))


@pytest.fixture
def written(spark: Any, tmp_path: Path) -> Path:
    """Write invented verdicts: two of ``b`` lose with the second ``a``; ``c`` decides alone; ``d`` changes nothing."""
    made = []
    for number, values in enumerate(product(*DESIGN.values())):
        chosen = dict(zip(DESIGN, values, strict=True))
        violated = {"no-loss": chosen["a"] == "2" and chosen["b"] != "x", "no-skip": chosen["c"] == "1"}
        for name, is_violated in violated.items():
            status, faults = ("violated", 2) if is_violated else ("unknown", None)
            made.append(("", "", number, chosen, name, True, status, faults))
    write_verdicts(spark, tmp_path, made)
    return tmp_path


def test_settings_that_decide_together(spark: Any, written: Path) -> None:
    """Each of the three is found, though the first two say little alone; and the one that changes nothing is not."""
    found = influence(spark, AuditFolder(written), DESIGN)
    assert found.without == ("d",)
    (settings,) = {tuple(setting for setting, _ in portion.values) for portion in found.by_combination}
    assert set(settings) == {"a", "b", "c"}
    assert settings[0] == "c"
    combinations = [tuple(value for _, value in portion.values) for portion in found.by_combination]
    shown = [[NOT_SET if value is None else value for value in DESIGN[setting]] for setting in settings]
    assert combinations == list(product(*shown)), "in the order of the file"
    for portion in found.by_combination:
        chosen = dict(portion.values)
        assert portion.deployments == 2
        assert portion.share("no-loss", Status.VIOLATED) == (chosen["a"] == "2" and chosen["b"] != "x")
        assert portion.share("no-skip", Status.VIOLATED) == (chosen["c"] == "1")
    by_value = {portion.values[0]: portion for portion in found.by_value}
    assert by_value["b", NOT_SET].statuses["no-loss"] == {Status.VIOLATED: 4, Status.UNKNOWN: 4}
    told = {(one.group, one.label): one for one in found.tolerance}
    assert told["b", NOT_SET] == Tolerance("b", NOT_SET, {2: 6}, 0, 0, 2)


def test_settings_that_change_nothing(spark: Any, written: Path) -> None:
    found = influence(spark, AuditFolder(written), {"d": DESIGN["d"]})
    assert (found.by_value, found.without, found.by_combination) == ((), ("d",), ())


def made_up(spark: Any, place: Path, values: dict[str, tuple[str, ...]], statuses: dict[tuple[str, ...], str]) -> None:
    """Write the verdicts on one property of combinations of values, numbered; the others are not there."""
    made = []
    for number, combination in enumerate(product(*values.values())):
        if (status := statuses.get(combination)) is not None:
            chosen = dict(zip(values, combination, strict=True))
            made.append(("", "", number, chosen, "no-loss", True, status, 1 if status == "violated" else None))
    write_verdicts(spark, place, made)


TWO_BY_TWO = {"a": ("1", "2"), "b": ("x", "y")}


def test_a_setting_is_not_credited_with_the_effect_of_another(spark: Any, tmp_path: Path) -> None:
    """Excluded: the first ``a`` with the second ``b``; so ``y`` is always violated, and yet ``b`` changes nothing."""
    made_up(spark, tmp_path, TWO_BY_TWO, {("1", "x"): "vacuous", ("2", "x"): "violated", ("2", "y"): "violated"})
    found = influence(spark, AuditFolder(tmp_path), TWO_BY_TWO)
    assert (found.without, found.apart) == (("b",), ())
    assert {portion.values[0]: portion.statuses["no-loss"] for portion in found.by_value} == {
        ("a", "1"): {Status.VACUOUS: 1},
        ("a", "2"): {Status.VIOLATED: 1},
    }
    told = {(one.group, one.label): one for one in found.tolerance}
    assert told["a", "1"] == Tolerance("a", "1", {}, 0, 1, 0)
    assert told["a", "2"] == Tolerance("a", "2", {1: 1}, 0, 0, 0)
    assert told[ALL_DEPLOYMENTS, ""] == Tolerance(ALL_DEPLOYMENTS, "", {1: 2}, 0, 1, 0)


def test_settings_that_undo_each_other_change_verdicts(spark: Any, tmp_path: Path) -> None:
    """Each value has half of its deployments violated; the other setting decides which half."""
    statuses = {(a, b): "violated" if (a == "1") == (b == "x") else "holds" for a, b in product(*TWO_BY_TWO.values())}
    made_up(spark, tmp_path, TWO_BY_TWO, statuses)
    found = influence(spark, AuditFolder(tmp_path), TWO_BY_TWO)
    assert (found.without, found.apart) == ((), ())
    assert [portion.values[0] for portion in found.by_value] == [("a", "1"), ("a", "2"), ("b", "x"), ("b", "y")]


def test_settings_that_never_change_alone_are_not_compared(spark: Any, tmp_path: Path) -> None:
    made_up(spark, tmp_path, TWO_BY_TWO, {("1", "x"): "holds", ("2", "y"): "violated"})
    found = influence(spark, AuditFolder(tmp_path), TWO_BY_TWO)
    assert (found.by_value, found.without, found.apart) == ((), (), ("a", "b"))
    assert found.by_combination


def test_values_of_which_one_is_never_there_are_compared_in_pairs(spark: Any, tmp_path: Path) -> None:
    """No deployment is there with all three values: there is nothing to draw, and yet a verdict changes."""
    three = {"a": ("1", "2", "3"), "b": ("x", "y")}
    made_up(spark, tmp_path, three, {("1", "x"): "holds", ("2", "x"): "violated", ("3", "y"): "holds"})
    found = influence(spark, AuditFolder(tmp_path), three)
    assert (found.by_value, found.without, found.apart) == ((), (), ("a", "b"))


def test_tolerance(found: Influence, verdicts: list[Row]) -> None:
    told = {(one.group, one.label): one for one in found.tolerance}
    assert len(told) == len(found.tolerance)
    assert found.required == ("no-acked-loss",)
    for (group, label), one in told.items():
        if group == EACH_PROPERTY:
            some = [row for row in verdicts if row["property"] == label]
        else:
            of_value = [row for row in verdicts if group == ALL_DEPLOYMENTS or row["chosen"][group] == label]
            some = [row for row in of_value if row["required"]]
        expected = Counter(row["fewest_faults"] for row in some)
        assert one.vacuous == sum(row["status"] == "vacuous" for row in some)
        assert (one.safe + one.vacuous, one.undecided) == (expected.pop(None, 0), 0)
        assert one.fewest == expected
    assert any(one.vacuous for one in told.values())
    assert told[ALL_DEPLOYMENTS, ""].fewest
    compared = set(verdicts[0]["chosen"]) - {"producer.enable.idempotence"}
    assert {group for group, _ in told} == {ALL_DEPLOYMENTS, EACH_PROPERTY, *compared}


def test_fewest_faults_are_those_of_the_smallest_set(verdicts: list[Row]) -> None:
    for row in verdicts:
        sizes = [sum(fault["count"] for fault in cut_set) for cut_set in row["cut_sets"]]
        assert row["fewest_faults"] == (sizes[0] if sizes else None) == min(sizes, default=None)
    assert {row["fewest_faults"] for row in verdicts} >= {None, 1}


def test_without_settings_by_outcome(spark: Any, tmp_path: Path) -> None:
    """An undecided verdict counts as undecided, and as no fault set."""
    rows_ = ["kafka,topic.replicas,name", "4.0,1,b", "4.0,1,a", "4.0,2,c"]
    (tmp_path / "fleet.csv").write_text("\n".join(rows_))
    source = find_source(tmp_path / "fleet.csv", {"bounds.records": "1", "faults": "0"})
    audit(spark, source, tmp_path / "out", Limits(seconds=1e-6))
    found = influence(spark, AuditFolder(tmp_path / "out"), {})
    assert (found.by_value, found.by_combination) == ((), ())
    ((one,)) = found.by_outcome
    assert (one.values, one.deployments) == ((("", "a and 2 more"),), 3)
    assert one.statuses == {name: {Status.UNKNOWN: 3} for name in ASKED_BY_DEFAULT}
    everything = next(t for t in found.tolerance if t.group == ALL_DEPLOYMENTS)
    assert (everything.fewest, everything.safe, everything.undecided) == ({}, 0, 3)


SCALARS = {"string": "string", "bigint": "long", "int": "int", "boolean": "boolean", "double": "double"}
"""Spark's names of types and the page's."""


def documented(page: str) -> Mapping[str, dict[str, str]]:
    """Return the columns of each table with their types, as docs/audit.md lists them."""
    tables: dict[str, dict[str, str]] = {}
    name = ""
    for line in page.splitlines():
        if line.startswith("#"):
            name = line.split("`")[1] if line.startswith("### `") else ""
        elif name and line.startswith("| `"):
            column, kind = (cell.strip(" `") for cell in line.split("|")[1:3])
            tables.setdefault(name, {})[column] = kind
    return tables


@pytest.mark.parametrize("table", ["verdicts", "traces", "rejected", "runs"])
def test_documented_columns_equal_the_written_columns(spark: Any, audited: Path, table: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")
    written: dict[str, str] = {}
    for field in spark.read.parquet(str(audited / table)).schema:
        written[field.name] = field.dataType.simpleString()
        if field.name in ("bounds", "steps"):
            inner = getattr(field.dataType, "elementType", field.dataType)
            written |= {f"{field.name}.{part.name}": part.dataType.simpleString() for part in inner}
    told = documented(page)[table]
    assert told.keys() == written.keys()
    for column, kind in written.items():
        assert kind not in SCALARS or told[column] == SCALARS[kind], column
