"""Transactions of a replay: the coordinator's states, and the application's knowledge of each transaction."""

from __future__ import annotations

import pytest

from proofka.checker.reproduction.expected import coordinator_states_of
from proofka.checker.reproduction.transacting import ABORTED, COMMITTED, LOST, Asked, SentTransaction, Transacting


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("no transaction", "Empty"),
        ("no transaction", "TRANSACTIONAL_ID_NOT_FOUND"),
        ("transaction 1: ongoing", "Ongoing"),
        ("transaction 1 (attempt 2): to be committed", "PrepareCommit"),
        ("transaction 2: to be aborted", "PrepareAbort"),
        ("an earlier transaction: committed", "CompleteCommit"),
        ("transaction 1: aborted", "CompleteAbort"),
        ("transaction 1: aborted", "Empty"),
    ],
)
def test_the_models_words_have_kafkas_states(words: str, state: str) -> None:
    assert state in coordinator_states_of({"coordinator": words})


def test_a_decision_is_not_its_completion() -> None:
    assert "CompleteCommit" not in coordinator_states_of({"coordinator": "transaction 1: to be committed"})
    assert "CompleteCommit" not in coordinator_states_of({"coordinator": "transaction 1: aborted"})


def transacting(*outcomes: str) -> Transacting:
    """Return transactions with these outcomes, without gates."""
    return Transacting("id", None, [SentTransaction([1], outcome) for outcome in outcomes])  # type: ignore[arg-type]


def test_the_end_of_a_transaction_ends_the_current_one_and_the_call() -> None:
    each = transacting(COMMITTED, "open")
    each.asked = Asked("abort", 0)
    each.end(ABORTED)
    assert [one.outcome for one in each.each] == [COMMITTED, ABORTED]
    assert each.asked is None
    assert each.current is None


def test_a_program_that_ends_loses_only_the_open_transaction() -> None:
    each = transacting(COMMITTED, "open")
    each.forget_program()
    assert [one.outcome for one in each.each] == [COMMITTED, LOST]
    assert not each.is_started
    each.forget_program()
    assert [one.outcome for one in each.each] == [COMMITTED, LOST]
