"""Stability: a verdict that changes with a size is said loudly, and a verdict that does not is said to stay."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

import proofka.checker.stability as computing
from proofka.checker.check import check
from proofka.checker.stability import VALUES, Outcome, Sized, stability
from proofka.model.deployment import Deployment, read_deployment
from proofka.properties.stability import AtSize, falls, unchanged_from
from proofka.properties.verdict import Result, Status
from proofka.reports.document import result_from_document, to_document
from proofka.reports.schema import problem
from proofka.reports.stability import stability_lines, warnings
from tests.checker.checkpointed import command

ONE_BROKER = """
kafka: "4.0"
topic: {replicas: 1}
producer: {client: java, acks: 1, enable.idempotence: false}
consumer: {client: java, group.id: g}
assume:
  faults: {total: 1, lost-response: 1}
bounds: {records: 1, log: 1}
"""


def deployment_of(folder: Path, required: str) -> Deployment:
    file = folder / "deployment.yaml"
    file.write_text(f"{ONE_BROKER}require: [{required}]\n", encoding="utf-8")
    return read_deployment(file)


def rows_of(deployment: Deployment) -> tuple[Result, tuple[AtSize, ...]]:
    result = check(deployment)
    return result, stability(deployment, result.verdicts, sizes={"log": range(1, 4)})


def test_a_pass_that_ends_at_a_larger_log_is_said_loudly(tmp_path: Path) -> None:
    deployment = deployment_of(tmp_path, "no-log-duplicate")
    result, rows = rows_of(deployment)
    assert [row.status is Status.VIOLATED for row in rows] == [False, True, True]
    (warning,) = warnings(rows)
    assert "no-log-duplicate holds only at small sizes" in warning
    assert "with log 2 it is violated by {lost-response}" in warning
    assert "unchanged from 2 on, tried to 3" in next(stability_lines(rows))
    with_rows = replace(result, stability=rows)
    document = to_document(deployment, with_rows)
    assert problem(document) is None
    assert result_from_document(document).stability == rows


def test_a_verdict_without_influence_of_the_log_is_unchanged(tmp_path: Path) -> None:
    _, rows = rows_of(deployment_of(tmp_path, "replica-agreement"))
    assert len({(row.status, row.cut_sets) for row in rows}) == 1
    assert not list(warnings(rows))
    assert "unchanged from 1 on, tried to 3" in next(stability_lines(rows))


def test_a_vacuous_verdict_at_every_size_is_no_evidence() -> None:
    rows = [AtSize("no-skip", "log", value, 1, Status.VACUOUS, is_own=value == 1) for value in (1, 2, 3)]
    assert "vacuous from 1 on, tried to 3, which is no evidence" in next(stability_lines(rows))
    assert "unchanged" not in next(stability_lines(rows))


def test_sizes_that_are_not_reached_are_said(tmp_path: Path) -> None:
    deployment = deployment_of(tmp_path, "replica-agreement")
    stop = threading.Event()
    stop.set()
    rows = stability(deployment, check(deployment).verdicts, stop, sizes={"log": range(1, 4)})
    lines = list(stability_lines(rows))
    assert "2 and 3 not decided" in lines[0]
    assert [line for line in lines if line.endswith("not reached in time")] == [
        "    log 2: not reached in time",
        "    log 3: not reached in time",
    ]


def test_each_size_is_that_of_the_built_deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every size is asked in a deployment that has it, with the compared number of faults, and differs in no other."""
    asked: list[Sized] = []

    def remembered(sized: Sized, **_: object) -> Outcome:
        asked.append(sized)
        return {}

    monkeypatch.setattr(computing, "outcome_of", remembered)
    monkeypatch.setattr(computing, "as_completed", lambda ask, sizes, _: [(one, ask(one)) for one in sizes])
    deployment = deployment_of(tmp_path, "no-acked-loss")
    stability(deployment, check(deployment).verdicts)
    found = {(one.size, one.value): one.deployment for one in asked}
    assert found.keys() == {(size, value) for size, values in VALUES.items() for value in values} - {("records", 1)}
    for (size, value), built in found.items():
        sizes = {"records": built.bounds.records, "log": built.bounds.log, "replicas": built.cluster.replicas}
        assert sizes.pop(size) == value
        if size == "records":
            sizes.pop("log")
        assert set(sizes.values()) == {1}
        assert built.faults == deployment.faults


def test_the_own_row_has_the_fault_sets_of_the_compared_number_of_faults(tmp_path: Path) -> None:
    deployment = deployment_of(tmp_path, "no-log-duplicate")
    (verdict,) = (one for one in check(deployment).verdicts if one.required)
    larger = replace(verdict, status=Status.VIOLATED, cut_sets=((("lost-response", 2),),), traces=())
    (own,) = (one for one in stability(deployment, [larger], sizes={"log": range(1, 2)}) if one.is_own)
    assert (own.status, own.cut_sets) == (Status.HOLDS, ())


def row(value: int, status: Status | None, *, own: bool = False) -> AtSize:
    return AtSize("no-loss", "records", value, 1, status, is_own=own)


@pytest.mark.parametrize(
    ("statuses", "start"),
    [
        ((Status.HOLDS, Status.HOLDS, Status.HOLDS), 1),
        ((Status.VIOLATED, Status.HOLDS, Status.HOLDS), 2),
        ((Status.HOLDS, Status.HOLDS, Status.VIOLATED), None),
        ((Status.HOLDS, None, Status.HOLDS), None),
        ((Status.HOLDS, Status.HOLDS, None), 1),
        ((Status.HOLDS, Status.UNKNOWN, None), None),
    ],
)
def test_the_agreement_ends_at_a_change_or_a_gap(statuses: tuple[Status | None, ...], start: int | None) -> None:
    found = unchanged_from([row(value, status) for value, status in enumerate(statuses, start=1)])
    assert (None if found is None else found.value) == start


def test_a_smaller_size_that_fails_is_no_fall() -> None:
    rows = [row(1, Status.VIOLATED), row(2, Status.HOLDS, own=True), row(3, Status.HOLDS)]
    assert not list(falls(rows))
    rows[2] = row(3, Status.VIOLATED)
    assert [(own.value, worse.value) for own, worse in falls(rows)] == [(2, 3)]


def test_quiet_leaves_no_room_for_the_table(tmp_path: Path) -> None:
    deployment_of(tmp_path, "no-log-duplicate")
    run = command("check", tmp_path / "deployment.yaml", "--quiet", "--stability")
    assert run.returncode == 2
    assert "--stability prints a table" in run.stderr
    assert not run.stdout


def test_several_pipelines_are_refused(tmp_path: Path) -> None:
    """A table of sizes speaks of one pipeline."""
    for topic in ("a", "b"):
        (tmp_path / f"{topic}.yaml").write_text(
            f"{ONE_BROKER.replace('{replicas: 1}', f'{{name: {topic}, replicas: 1}}')}"
        )
    run = command("check", tmp_path, "--stability")
    assert run.returncode == 2
    assert "--stability takes one pipeline, not 2" in run.stderr
