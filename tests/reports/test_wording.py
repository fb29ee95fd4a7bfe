"""Sentences that reports share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.model.deployment.setting import Origin
from proofka.properties.verdict import CutSet, Status, Threshold, Verdict
from proofka.reports import wording
from tests.reports import samples
from tests.reports.samples import verdict


@pytest.mark.parametrize(
    ("cut_set", "text", "sentence"),
    [
        ((), "{}", "no fault at all"),
        ((("kill", 1),), "{kill}", "1 kill"),
        (
            (("power-loss", 1), ("slow-follower", 2)),
            "{power-loss, 2 slow-follower}",
            "1 power-loss and 2 slow-follower",
        ),
    ],
)
def test_fault_sets(cut_set: CutSet, text: str, sentence: str) -> None:
    assert wording.fault_set(cut_set) == text
    assert wording.faults_needed(cut_set) == sentence


def test_an_answer_without_bounds_below_states_the_narrowest() -> None:
    one = replace(samples.HOLDS, required=True)
    verdicts = [
        replace(one, property=name, coverage=replace(one.coverage, complete_to=most, combinations=0))
        for name, most in (("no-skip", 3), ("no-loss", 1))
    ]
    assert "hold within at least any 1 fault (" in wording.answer(verdicts, bounds_below=False)
    assert "hold within any 1 fault (" in wording.answer([verdicts[1], verdicts[1]], bounds_below=False)


@pytest.mark.parametrize(
    ("complete_to", "combinations", "text"),
    [
        (-1, 0, "not complete"),
        (0, 0, "no fault"),
        (1, 0, "any 1 fault"),
        (2, 31, "any 2 faults, 31 of 286 combinations of 3"),
    ],
)
def test_bounds(complete_to: int, combinations: int, text: str) -> None:
    coverage = replace(samples.COVERAGE, complete_to=complete_to, combinations=combinations)
    assert wording.bounds(replace(samples.HOLDS, coverage=coverage)) == text


@pytest.mark.parametrize(
    ("complete_to", "in_a_row", "in_full"),
    [
        (0, "more possible", "more fault sets possible, 31 of 286 combinations of 1"),
        (1, "more possible", "any 1 fault, more fault sets possible, 31 of 286 combinations of 2"),
        (2, "any 2 faults", "any 2 faults, 31 of 286 combinations of 3"),
    ],
)
def test_bounds_of_a_violation_tell_of_unexplored_sets_of_the_same_size(
    complete_to: int, in_a_row: str, in_full: str
) -> None:
    coverage = replace(samples.COVERAGE, complete_to=complete_to)
    two = replace(samples.VIOLATED, cut_sets=((("kill", 1),), (("kill", 1), ("power-loss", 1))), coverage=coverage)
    assert wording.any_faults(two) == in_a_row
    assert wording.bounds(two) == in_full


@pytest.mark.parametrize(
    ("complete_to", "told"),
    [
        (-1, "nothing, not even runs without faults"),
        (0, "only runs without faults"),
        (1, "all fault sets of at most 1 fault"),
        (2, "all fault sets of at most 2 faults"),
    ],
)
def test_a_stopped_search_says_which_fault_sets_are_complete(complete_to: int, told: str) -> None:
    coverage = replace(samples.COVERAGE, complete_to=complete_to)
    stopped = wording.stopped_at(replace(samples.HOLDS, coverage=coverage))
    assert stopped == f"the time limit was reached, at 98,123 states; complete: {told}"


def test_limits_of_fault_kinds_are_named_if_they_bind() -> None:
    coverage = replace(samples.COVERAGE, kinds=(("cut-off", 1), ("disk-loss", 1), ("kill", 9), ("leader-move", 2)))
    assert wording.fault_kinds(coverage) == "kill; cut-off, disk-loss (at most 1 each); leader-move (at most 2)"
    assert wording.fault_kinds(replace(coverage, complete_to=0)) == "cut-off, disk-loss, kill, leader-move"
    assert wording.fault_kinds(replace(coverage, kinds=())) == "none"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (Origin("file", file="orders.yaml", line=12), "orders.yaml:12"),
        (Origin("option", "--assume"), "option --assume"),
        (Origin("default", "Kafka 4.0"), "default of Kafka 4.0"),
        (Origin("rule", "acks=1 turns idempotence off"), "rule: acks=1 turns idempotence off"),
        (Origin("assumption"), "assumed"),
    ],
)
def test_origins(source: Origin, text: str) -> None:
    assert wording.origin(source) == text


def test_the_brief_answer_counts_the_violated_properties() -> None:
    three = [replace(OTHER, property=name) for name in ("no-loss", "no-skip", "log-order")]
    assert wording.brief_answer(three[:2]) == "No: both required properties can fail: no-loss and no-skip."
    assert wording.brief_answer(three).startswith("No: all 3 required properties can fail: ")
    assert wording.brief_answer([*three[:2], samples.HOLDS]).startswith("No: 2 of the 3 required properties can fail: ")


def test_the_brief_answer_counts_properties_without_evidence_where_it_does_not_name_them() -> None:
    violated = replace(OTHER, property="no-loss")
    others = [replace(one, property=f"p{place}") for place, one in enumerate((EMPTY, EMPTY, UNDECIDED, samples.HOLDS))]
    told = "No: 1 of the 5 required properties can fail: no-loss; of the others 2 without evidence and 1 undecided."
    assert wording.brief_answer([violated, *others]) == told


OTHER = verdict("no-loss", Status.VIOLATED, required=True, cut_sets=((),))
UNDECIDED = verdict("no-skip", Status.UNKNOWN, required=True)
EMPTY = verdict("log-order", Status.VACUOUS, required=True)


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        ((samples.VIOLATED, samples.HOLDS), "No: no-acked-loss can fail with 1 kill."),
        (
            (samples.VIOLATED, OTHER, UNDECIDED),
            "No: 2 of the 3 required properties can fail: no-acked-loss with 1 kill; no-loss with no fault at all; "
            "no-skip is undecided.",
        ),
        (
            (samples.VIOLATED, OTHER),
            "No: both required properties can fail: no-acked-loss with 1 kill; no-loss with no fault at all.",
        ),
        (
            (UNDECIDED, EMPTY),
            "Undecided: the time limit was reached (--time SECONDS raises the limit) before no-skip could be decided.",
        ),
        (
            (EMPTY, samples.HOLDS),
            "No evidence: log-order holds only because its witness was not reached within the bounds.",
        ),
        (
            (EMPTY, replace(EMPTY, property="no-skip")),
            "No evidence: log-order and no-skip hold only because their witnesses were not reached within the bounds.",
        ),
        ((samples.HOLDS,), "Yes: the required property, no-skip, holds within the bounds below."),
        ((samples.SAME_TRACE, samples.VACUOUS), "Nothing is required; 1 of the 2 checked properties can fail."),
        ((), "Nothing is required; 0 of the 0 checked properties can fail."),
    ],
)
def test_answer(verdicts: tuple[Verdict, ...], text: str) -> None:
    assert wording.answer(verdicts) == text


def test_two_properties_that_hold_are_both() -> None:
    two = (samples.HOLDS, replace(samples.HOLDS, property="no-loss"))
    assert wording.answer(two).startswith("Yes: both required properties hold within ")
    assert wording.answer((*two, replace(samples.HOLDS, property="log-order"))).startswith("Yes: all 3 required ")


def test_an_answer_that_stands_alone_says_its_bounds() -> None:
    alone = wording.answer((samples.HOLDS,), bounds_below=False)
    bounds = f"{wording.bounds(samples.HOLDS)} ({wording.sizes(samples.HOLDS.coverage)})"
    assert alone == f"Yes: the required property, no-skip, holds within {bounds}."


def test_plain_shows_control_characters() -> None:
    assert wording.plain("a\x1b[1m\r\nb\u202e\u00e9") == "a\\x1b[1m\\r\\nb\\u202eé"


@pytest.mark.parametrize(
    ("holds_at", "violated_at", "text"),
    [
        (
            300,
            299,
            "no-loss holds iff retention.ms >= 300 (now 200), with all other durations anywhere in their bounds: a > b",
        ),
        (
            300,
            250,
            "no-loss holds with retention.ms=300, is violated with 250, undecided between (now 200), with all other "
            "durations anywhere in their bounds: a > b",
        ),
    ],
)
def test_thresholds(holds_at: int, violated_at: int, text: str) -> None:
    assert wording.threshold(Threshold("no-loss", "retention.ms", 200, holds_at, violated_at, "a > b")) == text


@pytest.mark.parametrize(
    ("number", "clause"),
    [
        (0, ""),
        (1, ", under 1 assumption that no file states"),
        (2, ", under 2 assumptions that no file states"),
    ],
)
def test_an_answer_that_stands_alone_counts_the_assumptions(number: int, clause: str) -> None:
    alone = wording.answer((samples.HOLDS,), bounds_below=False)
    counted = wording.answer((samples.HOLDS,), bounds_below=False, assumptions=number)
    assert counted == f"{alone.removesuffix('.')}{clause}."
