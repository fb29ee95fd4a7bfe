"""The fuzzer of certificates, for a while, and its judge."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.certificates.checkers import Answer, plain
from tests.certificates.forged_evidence import EARLY, LOSS
from tests.certificates.forging import with_claim
from tests.certificates.fuzz import ARGUMENTS, tries
from tests.certificates.proving import LIMITS, toy_certificate
from tests.certificates.reading import false_claims
from tests.certificates.writing import Certificate, certificate_file


def outcomes(count: int, seed: int, folder: Path) -> Counter[str]:
    """Return how often each outcome occurs."""
    return Counter(outcome for _, outcome, _ in tries(count, seed, plain, folder))


def test_random_changes_are_refused_or_harmless(tmp_path: Path) -> None:
    found = outcomes(150, 0, tmp_path)
    assert not [outcome for outcome in found if outcome.startswith("WRONG")]
    assert found[f"accepted: {ARGUMENTS[0]}"] > 10
    assert sum(count for outcome, count in found.items() if outcome.startswith("refused")) > 50


@pytest.mark.slow
def test_many_random_changes_are_refused_or_harmless(tmp_path: Path) -> None:
    found = outcomes(2000, 1000, tmp_path)
    assert not [outcome for outcome in found if outcome.startswith("WRONG")]
    assert len([outcome for outcome in found if outcome.startswith("refused")]) > 10


def test_a_checker_that_accepts_everything_is_found_out(tmp_path: Path) -> None:
    found = [outcome for _, outcome, _ in tries(40, 0, lambda arguments: Answer(0, ""), tmp_path)]
    assert [outcome for outcome in found if outcome.startswith("WRONG: accepted")]


def test_a_checker_that_refuses_everything_is_found_out(tmp_path: Path) -> None:
    found = [outcome for _, outcome, _ in tries(40, 0, lambda arguments: Answer(2, ""), tmp_path)]
    assert [outcome for outcome in found if outcome.startswith("WRONG: refused, and the change is harmless")]


def test_two_checkers_that_differ_are_found_out(tmp_path: Path) -> None:
    found = [outcome for _, outcome, _ in tries(40, 0, plain, tmp_path, lambda arguments: Answer(2, ""))]
    assert [outcome for outcome in found if outcome.startswith("WRONG: status 0, the other checker's 2")]


@pytest.mark.parametrize(
    ("certificate", "wrong"),
    [
        (toy_certificate(), 0),
        (with_claim(toy_certificate(), LOSS, smallest=[]), 1),
        (with_claim(toy_certificate(), EARLY, name="no-loss"), 1),
        (replace(toy_certificate(), limits={**LIMITS, "erase": 1}), 3),
    ],
    ids=["honest", "a smallest fault set is left out", "another property", "a limit is larger"],
)
def test_the_judge_finds_false_claims(certificate: Certificate, wrong: int) -> None:
    assert len(false_claims(certificate_file(certificate))) == wrong
