"""Every report of a pass names the known defects that could violate what holds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from proofka.properties.verdict import KnownDefect, Result, Status
from proofka.reports.citation import paragraph, to_bibtex
from proofka.reports.document import to_document
from proofka.reports.formats import Answer
from proofka.reports.html import to_html
from proofka.reports.junit import to_junit
from proofka.reports.markdown import to_markdown
from proofka.reports.sarif import to_sarif
from proofka.reports.wording import answer, answer_of_all, brief_answer
from tests.reports import samples

DEFECT = KnownDefect("KAFKA-0", "Kafka's brokers", "A broker forgets a record.", "fixed in 9.9", "KAFKA-0")
BESIDE = replace(samples.HOLDS, known_defects=(DEFECT,))
"""A required property that holds, with a known defect beside."""


def answer_with(*verdicts: object) -> Answer:
    return Answer(samples.DEPLOYMENT, Result(verdicts, samples.ENGINE, (), samples.VERSIONS), samples.COMMAND)  # type: ignore[arg-type]


FORMATS = {
    "json": lambda one: json.dumps(to_document(one.deployment, one.result)),
    "markdown": lambda one: to_markdown(one.deployment, one.result, command=one.command),
    "html": lambda one: to_html(one.deployment, one.result, command=one.command),
    "sarif": lambda one: to_sarif([one]),
    "junit": lambda one: to_junit([one]).decode(),
    "citation": lambda one: paragraph(one.deployment, one.result, command=one.command),
    "bibtex": lambda one: to_bibtex([one]),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_names_the_defect_beside_a_pass_and_no_other(name: str) -> None:
    write = FORMATS[name]
    assert DEFECT.id in write(answer_with(BESIDE))
    assert DEFECT.id not in write(answer_with(samples.HOLDS))


def test_sarif_has_a_note_for_a_required_pass_with_a_defect_beside() -> None:
    (result,) = json.loads(to_sarif([answer_with(BESIDE, replace(BESIDE, property="no-loss", required=False))]))[
        "runs"
    ][0]["results"]
    assert (result["ruleId"], result["level"]) == ("no-skip", "note")
    assert DEFECT.sentence in result["message"]["text"]


def test_answers_count_the_defects() -> None:
    said = "; 1 known defect of these releases could violate it."
    assert answer([BESIDE]).endswith(said)
    assert brief_answer([BESIDE]).endswith(said)
    assert answer_of_all([[BESIDE]]).endswith(said)
    several = answer_of_all([[BESIDE], [replace(BESIDE, property="no-loss")]])
    assert several.endswith("; 1 known defect of these releases could violate them.")
    assert "known defect" not in answer_of_all([[samples.HOLDS]])
    assert samples.HOLDS.status is Status.HOLDS
