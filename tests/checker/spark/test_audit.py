"""Audits on a real Spark session: the same verdicts as one check each, whole tables, and nothing explored twice."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proofka.checker.budget import Budget
from proofka.checker.check import check
from proofka.checker.spark import audit as auditing
from proofka.checker.spark.audit import Counts, NothingToAudit
from proofka.checker.spark.audit import audit as audit_into
from proofka.checker.spark.exploring import ATTEMPTS, Limits, explore, sign, signature
from proofka.checker.spark.folder import EXPLORED, AuditFolder, DamagedResult, claimed
from proofka.checker.spark.normalising import meaning, normalise
from proofka.checker.spark.sources import find_source
from proofka.checker.spark.summing import summarise
from proofka.model.deployment import Deployment, DeploymentError
from proofka.model.deployment.choices import Commit
from proofka.model.deployment.document import to_document
from proofka.model.deployment.required_properties import ASKED_BY_DEFAULT
from proofka.model.durations import Quantity
from proofka.model.faults import Fault
from proofka.model.pipeline import build
from tests.checker.asking import SMALL, example
from tests.checker.spark.auditing import TABLES, audit, rows
from tests.deployments import changed

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

SEEN = ("property", "status", "cut_sets", "states", "id", "required", "notes")


@pytest.mark.slow
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


@pytest.mark.slow
def test_traces_have_steps_and_lead_to_the_violation_of_the_verdict(spark: Any, audited: Path) -> None:
    violated = {row["id"]: row["cut_sets"] for row in rows(spark, audited, "verdicts") if row["status"] == "violated"}
    traces = rows(spark, audited, "traces")
    assert {row["id"] for row in traces} == set(violated)
    for row in traces:
        assert row["faults"] == violated[row["id"]][row["trace"] - 1]
        assert [step["number"] for step in row["steps"]] == list(range(1, len(row["steps"]) + 1))
        assert sum(step["fault"] is not None for step in row["steps"]) == sum(f["count"] for f in row["faults"])
        assert row["failure"]


@pytest.mark.slow
def test_rejected_rows_say_why(spark: Any, audited: Path) -> None:
    rejected = rows(spark, audited, "rejected")
    assert len(rejected) == 4
    assert all("ConfigException" in row["reason"] and row["reason"].startswith("refused") for row in rejected)
    places = {(row["key"], Path(row["file"]).name, row["line"]) for row in rejected}
    assert places == {("retries", "review.yaml", 4)}, "the first conflict of the file; acks=1 in line 10 is the other"
    assert {row["chosen"]["producer.acks"] for row in rejected} == {"1"}
    assert all(row["reason"].endswith("the row has 1 more problem") for row in rejected)


@pytest.mark.slow
def test_again_explores_nothing_and_gives_the_same_rows(spark: Any, matrix: Path, audited: Path) -> None:
    """On another number of partitions; then with one system's results lost, which alone is explored again."""
    before = {table: rows(spark, audited, table) for table in TABLES}
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    assert audit(spark, find_source(matrix, {}), audited).explored == 0
    assert {table: rows(spark, audited, table) for table in TABLES} == before
    next((audited / EXPLORED).glob("*.parquet")).unlink()
    assert audit(spark, find_source(matrix, {}), audited).explored == 1
    for table in ("verdicts", "traces", "rejected"):
        assert rows(spark, audited, table) == before[table]
    assert not list(audited.glob(".*")), "nothing half-written is left"


def test_the_costliest_come_first(matrix: Path) -> None:
    """More faults, more records, more kinds of fault, no idempotence, more replicas: in this order."""
    plain = find_source(matrix, {}).read(9, "", "")

    def cost(changed: Deployment) -> tuple[Any, ...]:
        return auditing.expected_cost(json.dumps(to_document(changed)))

    faults = plain.faults
    cheap_to_dear = [
        changed(plain, idempotence=True, replicas=5),
        plain,
        changed(plain, replicas=3),
        changed(plain, faults=replace(faults, at_most=(*faults.at_most, ("leader-move", 1))), idempotence=True),
        replace(plain, bounds=replace(plain.bounds, records=2, log=2)),
        replace(plain, faults=replace(faults, total=2)),
        replace(plain, faults=faults.without_limits()),
    ]
    costs = [cost(deployment) for deployment in cheap_to_dear]
    assert costs == sorted(costs)
    assert len(set(costs)) == len(costs)


@pytest.mark.slow
def test_a_system_that_outgrows_its_limits_is_unknown(spark: Any, matrix: Path, tmp_path: Path) -> None:
    """Other limits explore the system again."""
    tight = Limits(seconds=1e-6)
    counts = audit(spark, find_source(matrix, {}), tmp_path, tight)
    assert counts.explored == counts.systems
    verdicts = rows(spark, tmp_path, "verdicts")
    assert {(row["status"], row["bounds"]["stopped"]) for row in verdicts} == {("unknown", "time")}
    assert audit(spark, find_source(matrix, {}), tmp_path, tight).explored == 0
    assert audit(spark, find_source(matrix, {}), tmp_path).explored == counts.systems
    assert {row["status"] for row in rows(spark, tmp_path, "verdicts")} >= {"holds", "violated"}


@pytest.mark.slow
def test_a_system_that_cannot_be_explored_is_unknown_and_tried_again(
    spark: Any, matrix: Path, audited: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process died, say. The others are what they are."""
    out = tmp_path / "out"
    shutil.copytree(audited, out)
    lost = next((out / EXPLORED).glob("*.parquet"))
    lost.unlink()
    explore(lost.stem, "", AuditFolder(out), Limits(), attempt=ATTEMPTS)
    with monkeypatch.context() as patched:
        patched.setattr(auditing, "explore", lambda *_, **__: None)
        audit(spark, find_source(matrix, {}), out)
    before = {(row["deployment"], row["property"]): row for row in rows(spark, audited, "verdicts")}
    found = rows(spark, out, "verdicts")
    assert {(row["deployment"], row["property"]) for row in found} == before.keys()
    for row in found:
        if row["signature"] == lost.stem:
            assert (row["status"], row["id"], row["bounds"], row["cut_sets"]) == ("unknown", None, None, [])
            assert "died" in row["notes"][0]
        else:
            assert row == before[row["deployment"], row["property"]]
    assert audit(spark, find_source(matrix, {}), out).explored == 1
    assert rows(spark, out, "verdicts") == rows(spark, audited, "verdicts")


@pytest.mark.parametrize(
    ("attempt", "words"), [(ATTEMPTS - 1, "no verdict: ZeroDivisionError: over and out"), (ATTEMPTS, "died")]
)
def test_a_system_that_cannot_be_explored_has_an_error(
    audited: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attempt: int, words: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("over\nand out")

    monkeypatch.setattr("proofka.checker.spark.exploring.check", fail)
    monkeypatch.setattr("proofka.checker.spark.exploring.from_document", lambda _: None)
    folder = AuditFolder(tmp_path)
    folder.explored.mkdir()
    explore("a", "{}", folder, Limits(), attempt)
    assert folder.found(["a"], Limits()) == {}
    found = pq.read_table(folder.failed(["a", "b"])["a"]).to_pylist()
    assert [row["property"] for row in found] == list(ASKED_BY_DEFAULT)
    assert all(row["status"] == "unknown" and words in row["notes"][0] for row in found)
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["a-failed.parquet"]


def test_a_question_that_cannot_be_signed_is_a_system_of_its_own(tmp_path: Path) -> None:
    folder = AuditFolder(tmp_path)
    folder.signed.mkdir()
    sign("0123", "no document", folder)
    assert folder.signatures() == {"0123": "alone-0123"}


@pytest.mark.parametrize(("name", "text"), [("fleet.csv", "kafka,producer.acks\n"), ("fleet.jsonl", "\n")])
def test_nothing_to_audit(spark: Any, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(NothingToAudit, match="there is no row in it"):
        audit(spark, find_source(tmp_path / name, {}), tmp_path / "out")


def test_a_source_that_spark_cannot_read(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "fleet.parquet").write_text("kafka")
    with pytest.raises(NothingToAudit, match="Spark cannot read it: ") as caught:
        audit(spark, find_source(tmp_path / "fleet.parquet", {}), tmp_path / "out")
    assert len(str(caught.value).splitlines()) == 1


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
            outcomes[deployment.name] = (str(deployment.producer.acks), deployment.cluster.replicas)
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
            outcomes.append(str(source.read(row.number, row.place, row.text).producer.acks))
        except DeploymentError as error:
            outcomes.append(str(error))
    assert outcomes[0] == "all"
    assert all("cells, and the header" in text for text in outcomes[1:])
    assert len(outcomes) == 3


def test_sources_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "fleet.xls").write_text("")
    for path in (tmp_path / "fleet.xls", tmp_path / "nothing.csv"):
        with pytest.raises(DeploymentError, match=path.name):
            find_source(path, {})


def test_names_and_places_change_no_question(matrix: Path) -> None:
    """Names and places, by which deployments of one meaning differ, are no part of their question."""
    source = find_source(matrix, {})
    short, long = source.read(0, "", ""), source.read(1, "", "")
    assert short != long
    assert meaning(short) == meaning(long)
    assert signature(meaning(short)) == signature(short) == signature(long)


def in_ms(deployment: Deployment) -> set[tuple[object, ...]]:
    """Return every deadline of the model, and the needs of actions."""
    system = build(deployment).system
    due = {(clock.key, clock.at_most.at_most()) for clock in system.clocks if clock.at_most is not None}
    needed = {
        (key, need.clock.key, bound is need.at_most, bound.at_least(), bound.at_most())
        for key, needs in system.needs.items()
        for need in needs
        for bound in (need.at_least, need.at_most)
        if bound is not None
    }
    return due | needed


@pytest.mark.slow
@pytest.mark.parametrize("commit", Commit)
@pytest.mark.parametrize("kinds", [(Fault.CONSUMER_CRASH,), (Fault.CONSUMER_CRASH, Fault.KILL), (Fault.POWER_LOSS,)])
@pytest.mark.parametrize("kept", [3_600_000, 2**50])
def test_durations_that_mean_nothing_are_in_no_clock(commit: Commit, kinds: tuple[Fault, ...], kept: int) -> None:
    """Questions are told apart by what their models are built from, which is all that there is to it."""
    asked = changed(example("auto-commit", kinds, 2), commit=commit, bounds=replace(SMALL, records=1))
    away = Quantity("application_restart", 1_000, 2_000_000_000)
    kept_for = Quantity("retention.ms", kept, kept)
    asked = replace(asked, durations=replace(asked.durations, retention=kept_for, application_restart=away))
    for ages in (False, True):
        asked = changed(asked, offsets_age_in_use=ages)
        assert in_ms(meaning(asked)) == in_ms(asked)


@pytest.mark.parametrize(
    ("row", "name", "key"),
    [
        ({"kafka": "4.0", "name": "billing", "producer.akcs": "1"}, "billing", "producer.akcs"),
        ({"kafka": "4.0", "producer": {"akcs": "1"}}, "fleet-7", "akcs"),
        ({"kafka": "4.0", "name": ["billing"]}, "fleet-7", "name"),
        ({"kafka": "4.0", "producer.x.y": "1", "consumer.x.y": "1"}, "fleet-7", "x.y"),
    ],
)
def test_a_rejected_row_is_called_as_the_source_calls_it(
    tmp_path: Path, row: dict[str, Any], name: str, key: str
) -> None:
    """By its name, where it has one, and of what is wrong by the column, where only one can be meant."""
    import pandas as pd

    (tmp_path / "fleet.jsonl").write_text("{}")
    batch = pd.DataFrame([(7, "fleet.jsonl", json.dumps(row))], columns=["number", "place", "text"])
    (found,) = normalise(find_source(tmp_path / "fleet.jsonl", {}), iter([batch]))
    assert (found["deployment"][0], found["key"][0]) == (name, key)
    assert found["question"][0] is None


@pytest.mark.slow
def test_a_damaged_result_ends_the_audit(spark: Any, matrix: Path, tmp_path: Path) -> None:
    """One byte that has changed on the disk is told by its page's checksum, and passes for no verdict."""
    source, out = find_source(matrix, {}), tmp_path / "out"
    audit(spark, source, out)
    (damaged, *_) = sorted((out / EXPLORED).iterdir())
    content = bytearray(damaged.read_bytes())
    at = content.index(b"no-acked-loss")
    content[at] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(DamagedResult, match=f"{damaged.name}: is damaged; delete it"):
        audit(spark, source, out)
    damaged.unlink()
    audit(spark, source, out)


@pytest.mark.slow
def test_a_result_under_another_name_ends_the_audit(spark: Any, matrix: Path, tmp_path: Path) -> None:
    """A renamed result would be joined to the other system's deployments, or to none."""
    source, out = find_source(matrix, {}), tmp_path / "out"
    audit(spark, source, out)
    one, other, *_ = sorted((out / EXPLORED).iterdir())
    other.write_bytes(one.read_bytes())
    with pytest.raises(DamagedResult, match=f"{other.name}: is the result of another system"):
        audit(spark, source, out)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inv[1].jsonl", "inv*.jsonl", "inv{1,2}.jsonl", "inv?.jsonl", "a b%20.jsonl"])
def test_names_are_no_patterns(spark: Any, tmp_path: Path, name: str) -> None:
    for file, row in (("inv1.jsonl", "other"), (name, "one")):
        (tmp_path / file).write_text(json.dumps({"kafka": "4.0", "name": row, "topic.replicas": 1}))
    source = find_source(tmp_path / name, {"bounds.records": "1", "faults": "0"})
    out = tmp_path / "run[1]{a}"
    audit(spark, source, out, Limits(seconds=1e-6))
    assert {row["deployment"] for row in pq.read_table(out / "verdicts").to_pylist()} == {"one"}
    assert summarise(spark, AuditFolder(out), Counts(1, 0, 1, 1), 0.0).deployments == 1


def test_rows_of_parquet_files_are_numbered_by_their_places(spark: Any, tmp_path: Path) -> None:
    """Spark's division of the files makes no difference."""
    import pyarrow as pa

    (tmp_path / "fleet").mkdir()
    for file, count in (("b", 300), ("a", 100)):
        table = pa.table({"kafka": ["4.0"] * count, "name": [f"{file}{n:03}" for n in range(count)]})
        pq.write_table(table, tmp_path / "fleet" / f"{file}.parquet", row_group_size=50)
    source = find_source(tmp_path / "fleet", {})
    spark.conf.set("spark.sql.files.maxPartitionBytes", "1000")
    try:
        found = sorted((row.number, json.loads(row.text)["name"]) for row in source.rows(spark).collect())
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert [name for _, name in found] == [
        f"{file}{n:03}" for file, last in (("a", 100), ("b", 300)) for n in range(last)
    ]
    assert [number for number, _ in found] == list(range(1, 401))


@pytest.mark.slow
def test_half_a_character_rejects_no_other_row(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "fleet.jsonl"
    path.write_text('{"kafka": "4.0", "label.t": "bad\\ud800"}\n{"kafka": "4.0", "label.t": "good"}\n')
    counts = audit(spark, find_source(path, {"bounds.records": "1", "faults": "0"}), tmp_path / "out", Limits(1e-6))
    assert (counts.deployments, counts.rejected) == (2, 0)


@pytest.mark.slow
def test_every_file_of_a_folder_counts(spark: Any, tmp_path: Path) -> None:
    """Empty files and files that Spark itself would pass over count, too; hidden files do not."""
    fleet = tmp_path / "fleet"
    (fleet / "_deep").mkdir(parents=True)
    for name, text in (("_a.yaml", "kafka: '4.0'"), ("b.yaml", ""), ("_deep/c.yml", "{}"), (".d.yaml", "{}")):
        (fleet / name).write_text(text)
    source = find_source(fleet, {"bounds.records": "1", "faults": "0"})
    counts = audit(spark, source, tmp_path / "out")
    assert (counts.deployments, counts.rejected) == (1, 2)
    rejected = rows(spark, tmp_path / "out", "rejected")
    assert {(row["deployment"], Path(row["file"]).name) for row in rejected} == {("b", "b.yaml"), ("c", "c.yml")}
    assert {row["number"] for row in rejected} == {2, 3}


@pytest.mark.slow
def test_figures_of_an_earlier_audit_go_with_its_tables(spark: Any, matrix: Path, tmp_path: Path) -> None:
    source, out = find_source(matrix, {}), tmp_path / "out"
    with claimed(out) as folder:
        audit_into(spark, source, folder, Limits(seconds=1e-6))
        folder.figures.mkdir()
        (folder.figures / "settings.png").touch()
        audit_into(spark, source, folder, Limits(seconds=1e-6))
        assert not folder.figures.exists()


@pytest.mark.parametrize(("said", "read"), [(4.0, (4, 0, 0)), (3.9, (3, 9, 0)), ("4.0", (4, 0, 0))])
def test_a_release_may_be_a_number(tmp_path: Path, said: object, read: tuple[int, int, int]) -> None:
    (tmp_path / "fleet.jsonl").write_text("{}")
    source = find_source(tmp_path / "fleet.jsonl", {})
    found = source.read(1, "fleet.jsonl", json.dumps({"kafka": said, "topic.replicas": 2.0}))
    assert (found.cluster.kafka, found.cluster.replicas) == (read, 2)


@pytest.mark.parametrize(
    ("base", "value", "key", "line"), [("99", "4.0", "version", 3), ("4.0", "99", "producer.version", 5)]
)
def test_error_in_the_base_of_a_matrix_names_the_base(
    tmp_path: Path, base: str, value: str, key: str, line: int
) -> None:
    path = tmp_path / "review.yaml"
    path.write_text(
        f"base:\n  kafka: '4.0'\n  consumer: {{version: '{base}'}}\nvalues:\n  producer.version: ['{value}']\n"
    )
    with pytest.raises(DeploymentError) as caught:
        find_source(path, {}).read(0, str(path), "")
    assert (caught.value.key, caught.value.line) == (key, line)
