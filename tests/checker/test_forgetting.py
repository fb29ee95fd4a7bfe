"""Properties that a forgetful coordinator of transactions breaks, by release (semantics 11.4)."""

from __future__ import annotations

import pytest

from proofka.checker.modelling_assumptions import COORDINATOR_LASTS
from proofka.model.deployment import Deployment
from proofka.model.deployment.explored import Bounds
from proofka.model.deployment.required_properties import OF_TRANSACTIONS
from proofka.model.deployment.transactional import Transactional
from proofka.model.faults import Fault
from proofka.properties.verdict import Status
from tests.checker.asking import ask, cut, example
from tests.checker.test_transactions import BEFORE, VERIFIED, VERSION_2
from tests.deployments import changed

LOST = Fault.LOST_TRANSACTION_STATE
BROKEN = (*OF_TRANSACTIONS, "no-silent-loss")


def writing(rules: Transactional, *kinds: Fault, records: int = 3, **settings: object) -> Deployment:
    """Read a producer with transactions: record 1 in the first, the others in the second."""
    bounds = Bounds(records=records, log=5, sends=1, epochs=3, producer_epochs=6)
    deployment = changed(example("idempotent", kinds, len(kinds)), bounds=bounds, require=BROKEN, transactional=rules)
    return changed(deployment, replicas=1, min_insync_replicas=1, **settings)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("rules", [BEFORE, VERIFIED, VERSION_2])
def test_lost_transaction_state_breaks_all_promises_of_transactions(rules: Transactional) -> None:
    verdicts = ask(writing(rules, LOST), *BROKEN)
    assert {name: verdict.cut_sets for name, verdict in verdicts.items()} == dict.fromkeys(BROKEN, (cut(LOST),))


def test_promises_of_transactions_hold_without_the_fault() -> None:
    verdicts = ask(writing(VERSION_2, records=2), *BROKEN)
    assert {verdict.status for verdict in verdicts.values()} <= {Status.HOLDS, Status.VACUOUS}
    assert COORDINATOR_LASTS.where(writing(VERSION_2)) and not COORDINATOR_LASTS.where(writing(VERSION_2, LOST))


@pytest.mark.slow
def test_one_transaction_is_lost_or_left_open_but_not_torn() -> None:
    """With one transaction there is no next one that its markers could end, or that could end it."""
    verdicts = ask(writing(VERSION_2, LOST, records=2), *BROKEN)
    assert verdicts["no-silent-loss"].cut_sets == (cut(LOST),)
    assert verdicts["no-hanging-transaction"].cut_sets == (cut(LOST),)
    assert verdicts["atomicity"].status is Status.HOLDS
