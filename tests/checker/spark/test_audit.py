"""Audits on a real Spark session: the same verdicts as one check each, whole tables, and nothing explored twice."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.budget import Budget
from checker.check import check
from checker.spark.session import NoSpark, check_java, spark_session
from model.deployment import DeploymentError

pytest.importorskip("pyspark", reason="pyspark is not installed")

from checker.spark.audit import Counts
from checker.spark.audit import audit as audit_folder
from checker.spark.exploring import DEFAULT_LIMITS, Limits, signature
from checker.spark.folder import EXPLORED, claimed
from checker.spark.normalising import meaning
from checker.spark.sources import Source, find_source

MATRIX = """\
base:
  kafka: "4.0"
  topic: {replicas: 2}
  producer: {retries: 0}
  consumer: {group.id: orders, enable.auto.commit: false}
  assume: {faults: {total: 1, kill: 1, power-loss: 1}}
  bounds: {records: 1, log: 1}
  require: [no-acked-loss]
values:
  producer.acks: [1, all]
  producer.enable.idempotence: [false, true]
  topic.min.insync.replicas: [1, 2]
  consumer.max.poll.interval.ms: [300000, 600000]
exclude:
  - {producer.acks: all, producer.enable.idempotence: true}
"""
SEEN = ("property", "status", "cut_sets", "states", "id", "required", "notes")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    try:
        check_java()
    except NoSpark as missing:
        pytest.skip(str(missing))
    with spark_session("local[2]") as session:
        session.conf.set("spark.sql.shuffle.partitions", "4")
        yield session


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("matrix") / "review.yaml"
    path.write_text(MATRIX)
    return path


def audit(spark: Any, source: Source, out: Path, limits: Limits = DEFAULT_LIMITS) -> Counts:
    with claimed(out) as folder:
        return audit_folder(spark, source, folder, limits)


@pytest.fixture(scope="module")
def audited(spark: Any, matrix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("audit")
    counts = audit(spark, find_source(matrix, {}), out)
    assert (counts.deployments, counts.rejected) == (8, 4), "16 combinations, 4 excluded, 4 that no client starts with"
    assert 0 < counts.systems == counts.explored <= 4, "the poll interval makes no difference"
    return out


def rows(spark: Any, out: Path, table: str) -> list[dict[str, Any]]:
    found = [row.asDict(recursive=True) for row in spark.read.parquet(str(out / table)).collect()]
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True, default=str))


def test_every_verdict_is_that_of_a_check(spark: Any, matrix: Path, audited: Path) -> None:
    """Of every deployment and property, down to the id; cut sets as check names them."""
    source = find_source(matrix, {})
    expected = []
    for number in {row["number"] for row in rows(spark, audited, "verdicts")}:
        deployment = source.read(number, "", "")
        for verdict in check(deployment, budget=Budget(threads=1)).verdicts:
            cut_sets = [[{"fault": kind, "count": n} for kind, n in cut] for cut in verdict.cut_sets]
            told = (str(verdict.status), cut_sets, verdict.states, verdict.id, verdict.required, list(verdict.notes))
            expected.append((deployment.name, verdict.property, *told))
    found = [(row["deployment"], *(row[name] for name in SEEN)) for row in rows(spark, audited, "verdicts")]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert {status for _, _, status, *_ in found} >= {"holds", "violated"}


def test_traces_have_steps_and_lead_to_what_the_verdict_says(spark: Any, audited: Path) -> None:
    violated = {row["id"]: row["cut_sets"] for row in rows(spark, audited, "verdicts") if row["status"] == "violated"}
    traces = rows(spark, audited, "traces")
    assert {row["id"] for row in traces} == set(violated)
    for row in traces:
        assert row["faults"] == violated[row["id"]][row["trace"] - 1]
        assert [step["number"] for step in row["steps"]] == list(range(1, len(row["steps"]) + 1))
        assert sum(step["fault"] is not None for step in row["steps"]) == sum(f["count"] for f in row["faults"])
        assert row["failure"]


def test_rejected_rows_say_why(spark: Any, audited: Path) -> None:
    rejected = rows(spark, audited, "rejected")
    assert len(rejected) == 4
    assert all("ConfigException" in row["reason"] for row in rejected)
    assert {row["chosen"]["producer.acks"] for row in rejected} == {"1"}


def test_again_explores_nothing_and_gives_the_same_rows(spark: Any, matrix: Path, audited: Path) -> None:
    """On another number of partitions; then with one system's results lost, which alone is explored again."""
    tables = ("verdicts", "traces", "rejected", "runs")
    before = {table: rows(spark, audited, table) for table in tables}
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    assert audit(spark, find_source(matrix, {}), audited).explored == 0
    assert {table: rows(spark, audited, table) for table in tables} == before
    next((audited / EXPLORED).glob("*.parquet")).unlink()
    assert audit(spark, find_source(matrix, {}), audited).explored == 1
    for table in ("verdicts", "traces", "rejected"):
        assert rows(spark, audited, table) == before[table]
    assert not list(audited.glob(".*")), "nothing half-written is left"


def test_a_system_that_outgrows_its_limits_is_unknown(spark: Any, matrix: Path, tmp_path: Path) -> None:
    """And is explored again where the limits are other ones."""
    tight = Limits(seconds=1e-6)
    counts = audit(spark, find_source(matrix, {}), tmp_path, tight)
    assert counts.explored == counts.systems
    verdicts = rows(spark, tmp_path, "verdicts")
    assert {(row["status"], row["bounds"]["stopped"]) for row in verdicts} == {("unknown", "time")}
    assert audit(spark, find_source(matrix, {}), tmp_path, tight).explored == 0
    assert audit(spark, find_source(matrix, {}), tmp_path).explored == counts.systems
    assert {row["status"] for row in rows(spark, tmp_path, "verdicts")} >= {"holds", "violated"}


FLEET: list[dict[str, str]] = [
    {"kafka": "4.0", "name": "one", "topic.replicas": "2", "producer.acks": "1"},
    {"kafka": "4.0", "name": "two", "topic.replicas": "2", "producer.acks": "2"},
    {"kafka": "4.0", "name": "", "topic.replicas": "1", "producer.acks": "0"},
    {"kafka": "", "name": "four", "topic.replicas": "2", "producer.acks": "all"},
    {"kafka": "4.0", "name": "five, the last", "topic.replicas": "2", "producer.acks": "1"},
]


def written(folder: Path, form: str, spark: Any) -> Path:
    path = folder / f"fleet.{form}"
    if form == "csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, FLEET[0])
            writer.writeheader()
            writer.writerows(FLEET)
    elif form == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in FLEET))
    elif form == "parquet":
        spark.createDataFrame(FLEET).coalesce(1).write.parquet(str(path))
    else:
        path.mkdir()
        for row in FLEET:
            (path / "deep").mkdir(exist_ok=True)
            text = "\n".join(f"{key.replace('.', ': {')}: '{value}'{'}' * ('.' in key)}" for key, value in row.items())
            (path / "deep" / f"{row['name'] or 'three'}.yaml").write_text(text.replace("name: ''\n", ""))
    return path


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "folder"])
def test_inventories(spark: Any, tmp_path: Path, form: str) -> None:
    """Rows that cannot be read are rejected with their place; the others are the deployments that they say."""
    source = find_source(written(tmp_path, form, spark), {})
    found = [row.asDict() for row in source.rows(spark).orderBy("number").collect()]
    assert len(found) == len(FLEET)
    outcomes = {}
    for row in found:
        try:
            deployment = source.read(row["number"], row["place"], row["text"])
            outcomes[deployment.name] = (str(deployment.acks), deployment.replicas)
        except DeploymentError as error:
            assert error.file is not None
            outcomes[error.message] = error.key
    names = {name for name, outcome in outcomes.items() if isinstance(outcome, tuple)}
    assert outcomes["one"] == outcomes["five, the last"] == ("1", 2)
    assert len(names) == 3
    assert [name for name in names if outcomes[name] == ("0", 1)]
    assert sum(not isinstance(outcome, tuple) for outcome in outcomes.values()) == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("not json", "is no JSON"),
        ("[1]", "is no deployment"),
        ("", "is no deployment"),
        ('{"kafka": "4.0", "producer.akcs": 1}', "akcs"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_broken_lines(tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / "fleet.jsonl").write_text("{}")
    with pytest.raises(DeploymentError, match=words) as caught:
        find_source(tmp_path / "fleet.jsonl", {}).read(3, "fleet.jsonl", line)
    assert str(caught.value).startswith("fleet.jsonl:3: ")


def test_a_row_with_too_many_cells_is_rejected(spark: Any, tmp_path: Path) -> None:
    """Not cut off: its cells may stand in the wrong columns."""
    path = tmp_path / "fleet.csv"
    path.write_text("kafka,producer.acks\n4.0,all\n4.0,all,3\n4.0\n")
    source = find_source(path, {})
    outcomes = []
    for row in source.rows(spark).orderBy("number").collect():
        try:
            outcomes.append(str(source.read(row.number, row.place, row.text).acks))
        except DeploymentError as error:
            outcomes.append(str(error))
    assert outcomes[0] == "all"
    assert all(":3: has more or fewer cells" in text or ":4: has more" in text for text in outcomes[1:])
    assert len(outcomes) == 3


def test_sources_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "fleet.xls").write_text("")
    for path in (tmp_path / "fleet.xls", tmp_path / "nothing.csv"):
        with pytest.raises(DeploymentError, match=path.name):
            find_source(path, {})


def test_names_and_places_change_no_question(matrix: Path) -> None:
    """What two deployments that mean the same are told apart by has no part in what is asked of them."""
    source = find_source(matrix, {})
    short, long = source.read(0, "", ""), source.read(1, "", "")
    assert short != long
    assert meaning(short) == meaning(long)
    assert signature(meaning(short)) == signature(short) == signature(long)
