"""Several pipelines on one screen, and one pipeline below the files of a folder."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from proofka.model.deployment.known_properties import Asked, known_properties
from proofka.model.faults import Fault
from proofka.properties.verdict import CutSet, Result, Status
from proofka.reports.several import MOST_FOUND, Checked, Lines, print_checked, print_same, print_together
from proofka.reports.terminal import console, print_brief_trace, print_brief_verdicts, print_what_else
from tests.reports import samples
from tests.reports.test_by_fault import violated

EVERY_SET: list[CutSet] = [(), *(((fault.value, 1),) for fault in list(Fault)[:12])]


def failing(steps: int) -> Result:
    """Return a violation of 18 properties, the most for one deployment: transactions exclude more properties than their
    absence."""
    of_transactions = (Asked.WITH_TRANSACTIONS, Asked.BY_NAME_WITH_TRANSACTIONS)
    names = [name for name, one in known_properties().items() if one.asked not in of_transactions]
    verdicts = tuple(violated(name, *EVERY_SET, required=True, steps=steps) for name in names)
    return replace(samples.RESULT, verdicts=verdicts)


def of(name: str, result: Result) -> Checked:
    return Checked(replace(samples.DEPLOYMENT, name=name), result, "proofka trace fleet --pipeline 2")


def screen(results: list[Result], width: int, *, above: int = MOST_FOUND, skipped: int = 0) -> str:
    written = io.StringIO()
    out = console(written)
    out.width = width
    lines = Lines(len(results))
    checked = [
        (of(f"service-{number}/application.yml: orders -> billing", one), "proofka check fleet --pipeline 1")
        for number, one in enumerate(results, start=1)
    ]
    for number, (one, _) in enumerate(checked, start=1):
        print_checked(out, lines, f"{number}  ", one)
    print_together(out, checked, lines, above=above, skipped=skipped)
    return written.getvalue()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("steps", [3, 60])
@pytest.mark.parametrize("pipelines", [2, 7, 10, 11, 50])
def test_several_pipelines_are_one_screen(width: int, steps: int, pipelines: int) -> None:
    text = screen([failing(steps)] * pipelines, width, skipped=3)
    assert MOST_FOUND + len(text.splitlines()) <= 60
    assert "Fails: it failed" in text
    assert "3 pipelines are not checked" in " ".join(text.split())
    assert ("more pipelines: --details" in text) is (pipelines > 10)
    assert "--pipeline 2" in text or steps == 3


def test_the_table_counts_pipelines_and_names_the_first_that_fails() -> None:
    holds = replace(samples.verdict("no-acked-loss", Status.HOLDS), required=True)
    text = screen([replace(samples.RESULT, verdicts=(holds,)), failing(3)], 100)
    row = next(line for line in text.splitlines() if line.startswith("no-acked-loss*"))
    assert row.split()[1:5] == ["✗", "1", "✓", "1"]
    assert "service-2/application.yml" in row
    assert "1  service-1/application.yml: orders -> billing: Yes: " in text
    assert "within the bounds below" not in text


def test_the_notes_of_all_pipelines_stand_below_the_answer() -> None:
    near = "ack: unknown, which warns and goes on; did you mean acks?"
    one, two = (of(name, failing(3)) for name in ("one", "two"))
    two = replace(two, deployment=replace(two.deployment, notes=(near,)))
    written = io.StringIO()
    print_together(console(written), [(one, "x"), (two, "y")], Lines(2), above=0, skipped=0)
    assert f"two: {near}" in " ".join(written.getvalue().split())


def test_a_second_name_takes_a_line_too() -> None:
    written = io.StringIO()
    lines = Lines(12)
    for number in range(12):
        print_same(console(written), lines, f"other-{number}", "orders")
    assert len(written.getvalue().splitlines()) == lines.used == 9
    assert [line.plain for line in lines.rest()] == ["and 3 more pipelines: --details"]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("steps", [3, 60])
def test_one_pipeline_of_a_folder_is_one_screen(width: int, steps: int) -> None:
    written = io.StringIO()
    out = console(written)
    out.width = width
    deployment, result = samples.DEPLOYMENT, failing(steps)
    print_brief_verdicts(out, deployment, result, repair="proofka repair fleet", above=MOST_FOUND, skipped=1)
    print_brief_trace(out, deployment, result, trace="proofka trace fleet", above=MOST_FOUND, skipped=1)
    print_what_else(out, deployment, result, command=samples.COMMAND)
    text = written.getvalue()
    assert MOST_FOUND + len(text.splitlines()) <= 60
    assert "1 pipeline is not checked" in text


def test_a_result_without_a_violation_has_no_trace() -> None:
    harmless = replace(samples.RESULT, verdicts=(samples.verdict("no-skip", Status.HOLDS),))
    assert "Fails:" not in screen([harmless, harmless], 80)
