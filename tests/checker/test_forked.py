"""Questions that a fork answers half of: the answers are those of one process, and nothing goes wrong unseen."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

import pytest

from proofka.checker import forked
from proofka.checker.forked import WORTH_A_FORK, in_two_processes

MANY = range(2 * WORTH_A_FORK)


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "processors", lambda: 2)


def odd(questions: Sequence[int]) -> list[int]:
    return [one for one in questions if one % 2]


def test_answers_are_those_of_one_process() -> None:
    assert sorted(in_two_processes(odd, MANY)) == odd(MANY)
    assert in_two_processes(odd, range(5)) == [1, 3]


def test_half_of_the_questions_are_asked_elsewhere() -> None:
    here: list[int] = []

    def ask(questions: Sequence[int]) -> list[int]:
        here.extend(questions)
        return odd(questions)

    assert sorted(in_two_processes(ask, MANY)) == odd(MANY)
    assert len(here) == WORTH_A_FORK


@pytest.mark.parametrize("wrong", [MANY[0], MANY[-1]])
def test_error_of_a_forked_process_is_raised_here(wrong: int) -> None:
    def ask(questions: Sequence[int]) -> list[int]:
        if wrong in questions:
            raise ValueError(wrong)
        return odd(questions)

    with pytest.raises(ValueError, match=str(wrong)):
        in_two_processes(ask, MANY)


def test_a_fork_that_is_killed_changes_nothing() -> None:
    us = os.getpid()

    def ask(questions: Sequence[int]) -> list[int]:
        if os.getpid() != us:
            os.kill(os.getpid(), signal.SIGKILL)
        return odd(questions)

    assert sorted(in_two_processes(ask, MANY)) == odd(MANY)


def test_nothing_is_forked_where_no_process_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse)
    assert in_two_processes(odd, MANY) == odd(MANY)
