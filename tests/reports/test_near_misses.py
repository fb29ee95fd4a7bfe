"""Near misses, and the line about a search that did not take place."""

from __future__ import annotations

from dataclasses import replace

from proofka.properties.verdict import Result, Sensitivity, Status, Threshold, TimingLemma
from proofka.reports.document import result_from_document, to_document
from proofka.reports.near_misses import near_misses
from tests.reports import samples

TRIED = replace(samples.HARMLESS, others_tried=True)


def of(result: Result) -> list[str]:
    return list(near_misses(samples.HOLDS, result))


def test_other_values_that_violate_it() -> None:
    sensitive = replace(TRIED, sensitivities=samples.SENSITIVITIES)
    assert of(sensitive) == ["with processing=handed-off, no-skip is violated by {consumer-crash}"]
    other = replace(samples.SENSITIVITIES[0], property="no-loss")
    assert of(replace(TRIED, sensitivities=(other,)))[0].startswith("none found")


def test_missing_search_for_near_misses_is_reported() -> None:
    assert of(samples.HARMLESS) == ["not searched: other values of assumptions and durations were not tried"]
    some = of(replace(samples.HARMLESS, sensitivities=samples.SENSITIVITIES))
    assert some[-1] == "not searched: other values of assumptions and durations were not all tried"
    assert len(some) == 2


def test_search_without_near_misses_is_reported() -> None:
    assert of(TRIED) == ["none found: with up to one fault, no other value of an assumption that was tried violates it"]


def test_undecided_assumption_is_no_pass() -> None:
    undecided = Sensitivity("sink", "plain", "no-skip", Status.UNKNOWN, ())
    assert of(replace(TRIED, sensitivities=(undecided,))) == ["undecided with sink=plain: no time was left"]
    assert list(near_misses(samples.UNKNOWN, TRIED)) == ["not known: the property itself is undecided"]


def test_lemmas_and_thresholds() -> None:
    lemmas = tuple(TimingLemma((), (), f"{number} > 1") for number in (2, 3))
    (line,) = near_misses(replace(samples.HOLDS, lemmas=lemmas), TRIED)
    assert line == (
        "a run without clocks violates the property; these durations (in ms) leave no time for it: 2 > 1; "
        "the tightest of 2 such inequalities"
    )
    threshold = Threshold("no-skip", "retention.ms", 100, 50, 49, "")
    assert of(replace(TRIED, thresholds=(threshold,)))[0].startswith("no-skip holds iff retention.ms >= 50 (now 100)")


def test_result_keeps_the_search_for_near_misses() -> None:
    for tried in (True, False, None):
        document = to_document(samples.DEPLOYMENT, replace(samples.RESULT, others_tried=tried))
        assert result_from_document(document).others_tried is tried
    earlier = replace(samples.HARMLESS, others_tried=None)
    assert of(earlier) == ["this result does not say whether other values of assumptions and durations were tried"]
