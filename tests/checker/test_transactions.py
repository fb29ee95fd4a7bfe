"""Guarantees of transactions, by release, and the faults that break them (semantics 11, 13)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import OnProcessingError, OnRestart, OnSendError, Sink
from proofka.model.deployment.explored import Bounds
from proofka.model.deployment.required_properties import OF_TRANSACTIONS
from proofka.model.deployment.transactional import Transactional
from proofka.model.durations import Quantity
from proofka.model.faults import Fault
from proofka.properties.verdict import CutSet, Status
from tests.checker.asking import ask, cut, example
from tests.deployments import changed

BOUNDS = Bounds(records=3, log=6, sends=1, epochs=4, producer_epochs=6)
BEFORE = Transactional(2, verified=False, epoch_each=False, first_is_zero=False, read_committed=True)
VERIFIED = replace(BEFORE, verified=True)
VERSION_2 = replace(VERIFIED, epoch_each=True)
ALL = replace(VERSION_2, read_committed=False)
"""Of transactions of version 2, a consumer that reads everything."""

D, K, T = Fault.DELAYED_REQUEST, Fault.KILL, Fault.TRANSACTION_TIMEOUT
P, R, X = Fault.PRODUCER_CRASH, Fault.LOST_RESPONSE, Fault.REFUSED_RECORD
C, E, F = Fault.CONSUMER_CRASH, Fault.EVICTION, Fault.FAILED_PROCESSING
ATOMICITY, ABORTED_READ, HANGING = OF_TRANSACTIONS


def writing(rules: Transactional, *kinds: Fault, total: int = 1, **settings: Any) -> Deployment:
    """Read a producer with transactions."""
    asked = (*OF_TRANSACTIONS, "no-log-duplicate", "no-silent-loss", "recoverability")
    deployment = changed(example("idempotent", kinds, total), bounds=BOUNDS, require=asked, transactional=rules)
    return changed(deployment, **settings)


@pytest.mark.parametrize(
    ("rules", "kinds", "violated"),
    [
        # A request to commit that is executed late ends the next transaction; what is written to it then hangs.
        pytest.param(BEFORE, (D,), {ATOMICITY: cut(D), HANGING: cut(D), ABORTED_READ: None}, marks=pytest.mark.slow),
        # A leader that asks the coordinator appends nothing to a transaction that is over (KIP-890, first part).
        pytest.param(VERIFIED, (D,), {ATOMICITY: cut(D), HANGING: None, ABORTED_READ: None}, marks=pytest.mark.slow),
        # With an epoch for each transaction nothing late is taken for part of the next (second part).
        pytest.param(VERSION_2, (D,), {ATOMICITY: None, HANGING: None, ABORTED_READ: None}, marks=pytest.mark.slow),
        pytest.param(BEFORE, (T, P, X), {ATOMICITY: None, HANGING: None, ABORTED_READ: None}, marks=pytest.mark.slow),
        pytest.param(
            VERIFIED, (T, P, X, R), {ATOMICITY: None, HANGING: None, ABORTED_READ: None}, marks=pytest.mark.slow
        ),
        pytest.param(
            VERSION_2, (T, P, X, R), {ATOMICITY: None, HANGING: None, ABORTED_READ: None}, marks=pytest.mark.slow
        ),
        # isolation.level=read_uncommitted shows transactions in part, and aborted ones.
        pytest.param(ALL, (), {ATOMICITY: cut()}, marks=pytest.mark.slow),
        pytest.param(ALL, (X,), {ATOMICITY: cut(), ABORTED_READ: cut(X)}, marks=pytest.mark.slow),
    ],
)
def test_faults_that_break_transactions(
    rules: Transactional, kinds: tuple[Fault, ...], violated: dict[str, CutSet | None]
) -> None:
    verdicts = ask(writing(rules, *kinds, total=len(kinds) and 1), *violated)
    for name, expected in violated.items():
        found = verdicts[name]
        assert list(found.cut_sets) == ([] if expected is None else [expected]), name
        assert found.status in ((Status.HOLDS, Status.VACUOUS) if expected is None else (Status.VIOLATED,)), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "hangs", "joins"), [(BEFORE, True, True), (VERIFIED, False, True), (VERSION_2, False, False)]
)
def test_a_record_that_comes_after_its_abort(rules: Transactional, hangs: bool, joins: bool) -> None:
    """A record that waits for its coordinator until its transaction is aborted hangs, and joins the next (KIP-890).

    A leader that asks the coordinator takes it all the same while the next is going on in the same epoch, as it is
    where the send failed during commitTransaction(). The coordinator takes minutes to load its state here.
    """
    killed = writing(rules, K)
    late = replace(killed, durations=replace(killed.durations, coordinator=Quantity("coordinator", 0, 300_000)))
    verdicts = ask(late, ABORTED_READ, HANGING)
    assert list(verdicts[HANGING].cut_sets) == ([cut(K)] if hangs else [])
    assert list(verdicts[ABORTED_READ].cut_sets) == ([cut(K)] if joins else [])


@pytest.mark.slow
def test_a_hanging_transaction_lasts_until_the_producer_sends_another() -> None:
    """Readers wait for whatever comes next of the same transactional id: for good, if nothing does."""
    verdicts = ask(writing(BEFORE, D), HANGING, "recoverability")
    assert verdicts[HANGING].status is Status.VIOLATED
    assert verdicts["recoverability"].status is Status.HOLDS


@pytest.mark.slow
def test_a_transaction_is_written_once_unless_the_application_forgets_it() -> None:
    """Records that are sent again after a crash may have been committed: transactions alone do not tell."""
    bounds = replace(BOUNDS, records=2, sends=2)
    resending: dict[str, Any] = {"bounds": bounds, "on_send_error": OnSendError.RESEND}
    aborted = writing(VERSION_2, X, R, D, **resending)
    assert ask(aborted, "no-log-duplicate")["no-log-duplicate"].status is Status.HOLDS
    crashed = writing(VERSION_2, P, on_restart=OnRestart.RESEND, **resending)
    assert list(ask(crashed, "no-log-duplicate")["no-log-duplicate"].cut_sets) == [cut(P)]


@pytest.mark.slow
def test_a_committed_record_is_never_lost_silently() -> None:
    verdict = ask(writing(VERSION_2, X, R, D, T), "no-silent-loss")["no-silent-loss"]
    assert verdict.status is Status.HOLDS


def reading(*kinds: Fault, total: int = 2, **settings: Any) -> Deployment:
    """Read a consumer that writes its results and offsets in one transaction."""
    return changed(example("manual-commit-plain-sink", kinds, total), **({"sink": Sink.KAFKA} | settings))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "kinds", "broken"),
    [
        ({}, (C, E), None),
        # Only the group's name is passed: brokers cannot tell a member that was thrown out (KIP-447).
        ({"late_results_count": True}, (E,), ("no-reprocessing", E)),
        ({"late_results_count": True}, (C,), None),
        # Aborting does not take the position back.
        ({"on_processing_error": OnProcessingError.ABORT}, (F, C), ("no-skip", F)),
        ({"on_processing_error": OnProcessingError.RETRY}, (F, C), None),
        ({"on_processing_error": OnProcessingError.CLOSE}, (F, C), None),
        ({"sink": Sink.PLAIN}, (C,), ("no-reprocessing", C)),
    ],
)
def test_results_and_offsets_in_one_transaction(
    settings: dict[str, Any], kinds: tuple[Fault, ...], broken: tuple[str, Fault] | None
) -> None:
    verdicts = ask(reading(*kinds, **settings), "no-skip", "no-reprocessing", "exactly-once-effect")
    for name, verdict in verdicts.items():
        expected = [cut(broken[1])] if broken is not None and name in (broken[0], "exactly-once-effect") else []
        assert list(verdict.cut_sets) == expected, name
        assert verdict.status is (Status.VIOLATED if expected else Status.HOLDS)
