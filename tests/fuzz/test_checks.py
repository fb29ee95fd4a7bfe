"""Random questions to ``proofka check`` end with a documented exit status, and no error escapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.checks import Asked, Ended, ask, question

QUICK = range(5)
SLOW = range(1_000, 1_200)


def complaints(seeds: range, folder: Path) -> dict[int, tuple[str, Asked]]:
    """Return the questions that end wrongly, with the reason, by seed."""
    found = {}
    for seed in seeds:
        asked, place = question(seed), folder / str(seed)
        place.mkdir()
        if (complaint := ask(asked, place).complaint) is not None:
            found[seed] = complaint, asked
    return found


def test_questions_end_as_documented(tmp_path: Path) -> None:
    assert complaints(QUICK, tmp_path) == {}


@pytest.mark.slow
def test_many_questions_end_as_documented(tmp_path: Path) -> None:
    assert complaints(SLOW, tmp_path) == {}


@pytest.mark.parametrize(
    "ended",
    [
        Ended(1, "", KeyError("max.compaction.lag.ms")),
        Ended(70, "proofka: internal error", None),
        Ended(0, "Traceback (most recent call last):", None),
        Ended(3, "proofka: no verdict: kernel and solver disagree", None),
        Ended(2, " \n", None),
    ],
)
def test_wrong_endings_are_noticed(ended: Ended) -> None:
    assert ended.complaint is not None


@pytest.mark.parametrize("status", [0, 1, 3, 4])
def test_documented_endings_are_accepted(status: int) -> None:
    assert Ended(status, "", SystemExit(status)).complaint is None


def test_a_question_depends_on_its_seed_alone() -> None:
    assert [question(seed) for seed in QUICK] == [question(seed) for seed in QUICK]
    assert len({question(seed).arguments for seed in QUICK}) > 3
