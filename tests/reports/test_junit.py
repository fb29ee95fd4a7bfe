"""JUnit XML: failing cases, and no input that breaks the document."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as xml

import pytest

from proofka.properties.verdict import Result, Status, Verdict
from proofka.reports.blame import NOBODY_TO_BLAME
from proofka.reports.formats import Answer
from proofka.reports.junit import outcome, to_junit
from tests.reports import samples
from tests.reports.golden_files import matches

ANSWER = Answer(samples.DEPLOYMENT, samples.RESULT, samples.COMMAND)
HOSTILE = Answer(samples.HOSTILE_DEPLOYMENT, samples.HOSTILE_RESULT, samples.HOSTILE)


def test_golden() -> None:
    matches("result.xml", to_junit([ANSWER]).decode())


@pytest.mark.parametrize(
    ("verdict", "required", "expected"),
    [
        (samples.VIOLATED, True, "failure"),
        (samples.VIOLATED, False, "skipped"),
        (samples.UNKNOWN, True, "error"),
        (samples.UNKNOWN, False, "skipped"),
        (samples.VACUOUS, True, "error"),
        (samples.VACUOUS, False, "skipped"),
        (samples.HOLDS, True, None),
        (samples.HOLDS, False, None),
    ],
)
def test_only_required_properties_fail_the_report(verdict: Verdict, required: bool, expected: str | None) -> None:
    assert outcome(replace(verdict, required=required)) == expected


def test_counts_are_those_of_the_cases() -> None:
    root = xml.fromstring(to_junit([ANSWER, HOSTILE]))
    suites = root.findall("testsuite")
    assert len(suites) == 2
    for tag, counted in (("testcase", "tests"), ("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert [int(suite.attrib[counted]) for suite in suites] == [len(list(suite.iter(tag))) for suite in suites]
        assert int(root.attrib[counted]) == len(list(root.iter(tag)))


def test_a_failure_tells_the_trace() -> None:
    failure = xml.fromstring(to_junit([ANSWER])).find(".//failure")
    assert failure is not None
    assert failure.attrib["type"] == "violated"
    assert failure.attrib["message"].startswith("no-acked-loss is violated by {kill} and 2 other smallest fault sets")
    assert failure.text is not None
    assert "  3 brokers: FAULT kill: broker 1 is killed\n" in failure.text
    assert failure.text.endswith("Fails: " + samples.KILL_TRACE.failure)


def test_a_blamed_setting_stands_beside_its_line() -> None:
    case = xml.fromstring(to_junit([ANSWER])).find(".//testcase[@name='no-acked-loss']")
    assert case is not None
    assert (case.attrib["file"], case.attrib["line"]) == ("orders.yaml", "12")
    failure = str(case.findtext("failure"))
    assert "\nThe violation may depend on acks=1; --explain computes which settings matter.\n" in failure
    nobody = replace(ANSWER, result=replace(samples.RESULT, preventions=()))
    case = xml.fromstring(to_junit([nobody])).find(".//testcase[@name='no-acked-loss']")
    assert case is not None
    assert case.attrib["line"] == "12", "the first line about the producer"
    assert NOBODY_TO_BLAME in str(case.findtext("failure"))


def test_suite_has_the_question() -> None:
    suite = xml.fromstring(to_junit([ANSWER])).find("testsuite")
    assert suite is not None
    told = {one.attrib["name"]: one.attrib["value"] for one in suite.findall("properties/property")}
    assert told["command"] == samples.COMMAND
    assert told["z3"] == "4.13.0"
    case = {one.attrib["name"]: one.attrib["value"] for one in suite.findall("testcase[1]/properties/property")}
    assert case["id"] == samples.VIOLATED.id


def test_a_failure_tells_the_outcome_of_a_replay() -> None:
    answer = replace(ANSWER, result=replace(ANSWER.result, reproductions=(samples.REPRODUCED,)))
    failure = xml.fromstring(to_junit([answer])).find(".//failure")
    assert failure is not None and failure.text is not None
    said = f"✓ reproduced on Apache Kafka 4.0.2, 2026-11-27 (java 4.0.2, 14 s): {samples.REPRODUCED.evidence[0]}"
    assert said in failure.text.splitlines()


def test_input_breaks_nothing() -> None:
    """The input adds neither markup nor illegal characters, and none of its lines looks like a line of the report."""
    bad = "a\x00b\x1bc\ud800d\ufffee]]>&<\n  1 producer: x"
    step = replace(samples.SEND, text=bad)
    verdict = replace(samples.VIOLATED, traces=(replace(samples.KILL_TRACE, steps=(step,)),), statement=bad)
    answer = Answer(replace(samples.DEPLOYMENT, name=bad), Result((verdict,), samples.ENGINE, (), {bad: bad}), bad)
    (suite,) = xml.fromstring(to_junit([answer]))
    shown = "a\\x00b\\x1bc\\ud800d\\ufffee]]>&<\\n  1 producer: x"
    assert suite.attrib["name"] == shown
    failure = suite.find(".//failure")
    assert failure is not None
    assert failure.text is not None
    assert failure.text.split("\n")[0] == shown
    assert len(failure.text.split("\n")) == 9
    xml.fromstring(to_junit([HOSTILE]))


def test_a_vacuous_pass_is_not_green() -> None:
    vacuous = replace(samples.VACUOUS, required=True)
    root = xml.fromstring(to_junit([replace(ANSWER, result=replace(samples.RESULT, verdicts=(vacuous,)))]))
    error = root.find(".//error")
    assert error is not None
    assert error.attrib == {
        "type": Status.VACUOUS.value,
        "message": "read-stability is vacuous: never reached: an offset read twice, with a leader change in between",
    }
