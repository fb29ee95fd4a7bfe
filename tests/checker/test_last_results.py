"""Kept results: the one that was not asked for the longest goes first."""

from __future__ import annotations

from proofka.checker.cli.last_results import LastResults


def test_result_that_was_not_asked_for_the_longest_goes_first() -> None:
    kept: LastResults[str, int] = LastResults(2)
    kept.keep("a", 1)
    kept.keep("b", 2)
    assert kept.get("a") == 1
    kept.keep("c", 3)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (1, None, 3)


def test_newer_result_of_a_question_replaces_the_older() -> None:
    kept: LastResults[str, int] = LastResults(2)
    kept.keep("a", 1)
    kept.keep("a", 2)
    assert kept.get("a") == 2
