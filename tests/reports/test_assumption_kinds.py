"""Modelling assumptions of passes: reports list those that can be false here before those of the model."""

from __future__ import annotations

import json
import re

import pytest

from proofka.properties.modelling_assumption import by_kind
from proofka.properties.verdict import Result, Status
from proofka.reports.document import result_from_document, to_document
from proofka.reports.html.page import to_html
from proofka.reports.markdown import to_markdown
from proofka.reports.resting import modelling_assumptions_here
from tests.reports import samples
from tests.reports.test_terminal import shown

HERE, GENERAL = samples.OF_DEPLOYMENT.text, samples.OF_MODEL.text


def test_kinds_sort_and_nothing_else_does() -> None:
    some = (samples.OF_MODEL, samples.OF_DEPLOYMENT)
    assert by_kind(some) == some[::-1]
    again = (samples.OF_MODEL, samples.OF_DEPLOYMENT, samples.OF_MODEL)
    assert by_kind(again) == (samples.OF_DEPLOYMENT, samples.OF_MODEL, samples.OF_MODEL)


def test_details_list_assumptions_by_kind_and_not_as_notes() -> None:
    text = shown(120)
    of_deployment, of_model, notes = re.split(
        r"Assumptions of this deployment|Assumptions of the model|\nNotes\n", text
    )[1:]
    assert f"no-skip: {HERE}" in of_deployment
    assert f"no-skip: {GENERAL}" in of_model
    assert "no-skip: Holds for any processing time." in notes
    assert text.count(HERE) == text.count(GENERAL) == 1


@pytest.mark.parametrize("page", [to_markdown, to_html])
def test_pages_list_assumptions_by_kind(page: object) -> None:
    assert callable(page)
    text = page(samples.DEPLOYMENT, samples.RESULT, command=samples.COMMAND)
    said = re.sub(r"\\\\|<[^>]+>", "", text.replace("\\-", "-"))
    listed = said[said.rindex("Of this deployment") :]
    assert listed.index(f"no-skip: {HERE}") < listed.index("Of the model") < listed.index(f"no-skip: {GENERAL}")
    assert listed.index(f"no-skip: {GENERAL}") < listed.index("Notes")
    assert HERE not in listed[listed.index("Notes") :]


def test_json_has_assumptions_by_kind_and_notes_unchanged() -> None:
    document = json.loads(json.dumps(to_document(samples.DEPLOYMENT, samples.HARMLESS)))
    (verdict,) = document["verdicts"]
    assert [one["kind"] for one in verdict["assumptions"]] == ["of this deployment", "of the model"]
    assert verdict["notes"] == list(samples.HOLDS.notes)
    assert result_from_document(document).verdicts == (samples.HOLDS,)


def test_result_of_an_earlier_version_has_assumptions_in_its_notes() -> None:
    document = to_document(samples.DEPLOYMENT, samples.HARMLESS)
    del document["verdicts"][0]["assumptions"]
    result = result_from_document(document)
    assert result.verdicts[0].assumptions == ()
    notes = shown(120, result=result).split("\nNotes\n")[1]
    assert HERE in notes
    assert GENERAL in notes


def test_the_brief_answer_counts_those_that_can_be_false_here() -> None:
    assert list(modelling_assumptions_here(samples.RESULT)) == [
        "no-skip rests on 1 modelling assumption that can be false in this deployment (--details)"
    ]


@pytest.mark.parametrize(
    "verdict",
    [
        samples.verdict("no-skip", Status.HOLDS, required=True, assumptions=(samples.OF_MODEL,)),
        samples.verdict("no-skip", Status.HOLDS, assumptions=(samples.OF_DEPLOYMENT,)),
        samples.verdict("no-skip", Status.VACUOUS, required=True, assumptions=(samples.OF_DEPLOYMENT,)),
    ],
)
def test_the_brief_answer_counts_no_others(verdict: object) -> None:
    result = Result((verdict,), samples.ENGINE, (), {})  # type: ignore[arg-type]
    assert not list(modelling_assumptions_here(result))
