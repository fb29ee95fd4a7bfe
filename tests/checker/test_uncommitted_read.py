"""Reads of transactions before their commit: what ``isolation.level`` prevents, and what a late request still shows."""

from __future__ import annotations

import pytest

from proofka.model.deployment.errors import DeploymentError
from proofka.properties.verdict import Status
from tests.checker.test_answers import asked, steps

PROPERTY = "no-uncommitted-read"
LATE = {"delayed-request": 1}
WRITING = {"producer__transactional__id": "orders", "bounds__records": 2, "bounds__log": 5}
ALONE = {**WRITING, "topic__replicas": 1, "topic__min__insync__replicas": 1}
COMMITTED = {"consumer__isolation__level": "read_committed"}


def test_read_uncommitted_shows_a_record_of_an_open_transaction() -> None:
    found = asked(PROPERTY, {}, **WRITING)
    assert found.cut_sets == ((),)
    said = "the application has not committed transaction 1, and the consumer can be given record 1 of it"
    assert found.traces[0].failure == said
    assert steps(found) == ["send", "transmit", "append", "fetch", "fetch"]


def test_read_committed_waits_for_the_commit() -> None:
    assert asked(PROPERTY, {}, **WRITING, **COMMITTED).status is Status.HOLDS


def test_a_late_commit_shows_the_transaction_after_it() -> None:
    """Without a new epoch for each transaction, the coordinator takes a late request for one of this transaction."""
    found = asked(PROPERTY, LATE, **ALONE, **COMMITTED, kafka="3.9")
    assert found.cut_sets == (tuple(LATE.items()),)
    assert steps(found)[-2:] == ["execute_late_end", "write_marker"]
    assert not any(step.action == "acknowledge" for step in found.traces[0].steps)


def test_a_decision_whose_answer_is_lost_is_a_commit() -> None:
    """Of version 2 no late request ends another transaction; the own request, executed late, commits all that was
    sent.
    """
    assert asked(PROPERTY, LATE, **ALONE, **COMMITTED).status is Status.HOLDS


def test_the_property_needs_transactions_and_a_name() -> None:
    with pytest.raises(DeploymentError, match="needs transactions"):
        asked(PROPERTY, {})
