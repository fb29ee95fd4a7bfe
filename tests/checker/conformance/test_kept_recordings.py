"""The kept recordings of real clusters (docs/conformance/recordings), checked again: a sample of each archive."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from proofka.checker.conformance.archives import SUFFIX, recordings_in
from proofka.checker.conformance.coverage import checked_together
from proofka.checker.conformance.tracker import Answer
from scripts.conformance_runs import KEPT, RUNS, Row, key_of, read

ARCHIVES = sorted(KEPT.glob(f"*{SUFFIX}"))
SAMPLE = 12
"""The number of recordings of an archive of which one is checked."""


@cache
def rows() -> dict[tuple[str, ...], Row]:
    """Return the rows of the table of recordings, by what names a recording."""
    return {key_of(row): row for row in read(RUNS)}


def test_all_archives_together_are_small() -> None:
    assert ARCHIVES
    assert sum(path.stat().st_size for path in ARCHIVES) < 3_000_000


@pytest.mark.slow
@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.name.removesuffix(SUFFIX))
def test_a_recording_has_the_answer_of_its_row(path: Path) -> None:
    recordings = [recording for _, recording in recordings_in(path)]
    for run in checked_together(recordings[::SAMPLE], 0, 0):
        about = run.recording.about
        names = (run.recording.deployment.name, str(about["kafka"]), str(about["seed"]), str(about["producer"]))
        decided = run.outcome.answer in (Answer.ACCEPTED, Answer.REJECTED)
        answer = run.outcome.answer.value if decided else f"undecided: {run.outcome.answer.value}"
        assert (names, answer) == (names, rows()[names]["outcome"])


def test_each_kept_recording_has_a_row() -> None:
    for path in ARCHIVES:
        for name, recording in recordings_in(path):
            about = recording.about
            names = (recording.deployment.name, str(about["kafka"]), str(about["seed"]), str(about["producer"]))
            assert names in rows(), name
