"""Each report says how the replays of its traces ended, with the evidence, and hides no outcome."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from proofka.checker.cli import app
from proofka.properties.reproduced import ChangedSetting, Fact, Outcome
from proofka.properties.verdict import Result
from proofka.reports import reproduced
from proofka.reports.document import to_document
from proofka.reports.formats import Answer
from proofka.reports.html import to_html
from proofka.reports.markdown import to_markdown
from proofka.reports.story import tellings
from tests.reports import samples
from tests.reports.test_html import Reader

SAID = {
    "✓ reproduced on Apache Kafka 4.0.2, 2026-11-27": samples.REPRODUCED.evidence[0],
    "✗ diverged at step 3 on Apache Kafka 4.0.2, 2026-11-27": samples.DIVERGED.observed,
    "? not steerable at step 2 on Apache Kafka 4.0, 2026-11-28": samples.NOT_STEERABLE.reason,
}
"""The line of each outcome of :data:`samples.REPLAYED` in every report, and its reason."""

HOSTILE_OUTCOME = replace(
    samples.REPRODUCED,
    properties=("no-acked-loss",),
    kafka=samples.HOSTILE,
    clients=(samples.HOSTILE,),
    on=samples.HOSTILE,
    evidence=(samples.HOSTILE,),
    facts=(Fact(0, samples.HOSTILE, samples.HOSTILE, 0.0), Fact(1, samples.HOSTILE, samples.HOSTILE, 1.0)),
    changed=(ChangedSetting(samples.HOSTILE, samples.HOSTILE, samples.HOSTILE, samples.HOSTILE, samples.HOSTILE),),
)


def hostile() -> Result:
    """Return a result whose only trace has an outcome with markup in every text."""
    verdict = replace(samples.VIOLATED, traces=(samples.KILL_TRACE,), cut_sets=((("kill", 1),),))
    return replace(samples.RESULT, verdicts=(verdict,), reproductions=(HOSTILE_OUTCOME,))


def pages(result: Result) -> dict[str, str]:
    """Return the text of each page that a reader sees, by format."""
    pypdf = pytest.importorskip("pypdf")
    pytest.importorskip("reportlab")
    from proofka.reports.pdf import to_pdf

    answer = Answer(samples.DEPLOYMENT, result, samples.COMMAND)
    pdf = pypdf.PdfReader(io.BytesIO(to_pdf([answer])))
    told = {
        "html": to_html(samples.DEPLOYMENT, result, command=samples.COMMAND),
        "markdown": to_markdown(samples.DEPLOYMENT, result, command=samples.COMMAND),
        "pdf": " ".join(page.extract_text() for page in pdf.pages),
    }
    return {name: re.sub(r"\s+", " ", text) for name, text in told.items()}


def test_every_page_has_each_outcome_with_its_reason() -> None:
    for name, text in pages(samples.REPLAYED).items():
        for said, why in SAID.items():
            assert said in text, name
            assert why in text, name
        assert "replica.lag.time.max.ms=120000" in text, name


def test_a_page_without_replays_has_no_word_about_them() -> None:
    for name, text in pages(samples.RESULT).items():
        assert "replay" not in text, name


@pytest.mark.parametrize("all_traces", [True, False])
def test_a_trace_has_the_outcomes_of_its_steps(all_traces: bool) -> None:
    told = tellings(samples.REPLAYED.verdicts, all_traces=all_traces, reproductions=samples.REPLAYED.reproductions)
    assert told[0].reproductions == (samples.REPRODUCED,)
    assert told[-1].reproductions == (samples.NOT_STEERABLE,)


def test_a_view_of_required_properties_has_the_outcomes_too() -> None:
    """The page for print has the required properties alone, of which the outcome's run violates more."""
    (first, *_) = tellings([samples.VIOLATED], all_traces=False, reproductions=samples.REPLAYED.reproductions)
    assert first.reproductions == (samples.REPRODUCED,)


def test_observations_of_several_replays_name_the_release() -> None:
    older = replace(samples.REPRODUCED, kafka="3.9.2")
    assert list(reproduced.observed_at((samples.REPRODUCED,), 1)) == [
        "proxy: request with record 1 from the producer to broker 1"
    ]
    assert list(reproduced.observed_at((older, samples.REPRODUCED), 4)) == [
        "3.9.2: controller: leader 2, epoch 1, ISR [2, 3]",
        "4.0.2: controller: leader 2, epoch 1, ISR [2, 3]",
    ]
    assert list(reproduced.observed_at((samples.DIVERGED,), 3)) == ["✗ diverged here"]


def test_outcomes_are_no_markup() -> None:
    page = to_html(samples.DEPLOYMENT, hostile(), command=samples.COMMAND)
    assert "replay" in page
    read = Reader(page)
    assert not read.open
    assert "i" not in {tag for tag, _ in read.elements}
    assert "\x1b" not in page
    markdown = to_markdown(samples.DEPLOYMENT, hostile(), command=samples.COMMAND)
    assert "\x1b" not in markdown
    assert "<i>" not in MarkdownIt("commonmark").enable("table").render(markdown)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(to_document(samples.DEPLOYMENT, samples.REPLAYED)), encoding="utf-8")
    return file


def trace(*words: object) -> str:
    ran = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["trace", *map(str, words)])
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def test_the_list_marks_replayed_traces(written: Path) -> None:
    rows = [line for line in trace(written).splitlines() if line.split() and line.split()[0].isdigit()]
    ends = [
        "✓ reproduced, 4.0.2",
        "✗ diverged at step 3, 4.0.2",
        "✗ diverged at step 3, 4.0.2",
        "? not steerable at step 2, 4.0",
    ]
    assert [row.rstrip().endswith(end) for row, end in zip(rows, ends, strict=True)] == [True] * 4, rows


@pytest.mark.parametrize(("number", "said"), [(1, 0), (2, 1), (4, 2)])
def test_a_trace_begins_with_its_outcome(written: Path, number: int, said: int) -> None:
    title, outcome, *_ = trace(written, number).splitlines()
    assert " violated by " in title
    assert outcome.strip() == list(SAID)[said]


def test_a_list_without_replays_has_no_column_for_them(tmp_path: Path) -> None:
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(to_document(samples.DEPLOYMENT, samples.RESULT)), encoding="utf-8")
    assert "replayed" not in trace(file)


@pytest.mark.parametrize("outcome", samples.REPLAYED.reproductions, ids=lambda one: one.kind)
def test_a_line_has_all_in_short(outcome: Outcome) -> None:
    line = reproduced.in_short(outcome)
    assert "\n" not in line
    assert line.startswith(reproduced.said(outcome))
    assert reproduced.ran(outcome) in line
    assert all(one in line for one in reproduced.why(outcome))
