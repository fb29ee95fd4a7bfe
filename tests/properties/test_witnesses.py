"""Every property has a witness: a pass that does not reach the witness is vacuous."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from proofka.model.deployment.choices import Processing
from proofka.model.deployment.explored import Bounds
from proofka.model.faults import Fault
from proofka.model.pipeline import build
from proofka.properties.catalogue import FAMILIES, properties_of
from proofka.properties.property import Property
from proofka.properties.verdict import Status, Verdict
from tests.checker.asking import SMALL, ask, example
from tests.deployments import changed

K, R, M = Fault.KILL, Fault.LOST_RESPONSE, Fault.LEADER_MOVE
C, P = Fault.CONSUMER_CRASH, Fault.PRODUCER_CRASH
PAIR = replace(SMALL, records=2)

VACUOUS = {
    "no-acked-loss": ("acks-all-min-isr-2", (C,)),
    "no-silent-loss": ("acks-all-min-isr-2", (C,)),
    "no-skip": ("auto-commit", (K,)),
    "no-loss": ("auto-commit", ()),
    "no-dropped-record": ("acks-all-min-isr-2", (C,)),
    "no-failed-send": ("acks-all-min-isr-2", (C,)),
    "no-stored-failure": ("acks-all-min-isr-2", (C,)),
    "no-failed-read": ("acks-all-min-isr-2", (C,)),
    "enough-copies": ("acks-all-min-isr-2", (C,)),
    "no-log-duplicate": ("idempotent", (C,)),
    "no-reprocessing": ("idempotent", ()),
    "exactly-once-effect": ("manual-commit-idempotent-sink", ()),
    "log-order": ("idempotent", (C,)),
    "processing-order": None,  # its witness is that every record is processed, which needs no fault
    "read-stability": ("acks-all-min-isr-2", (C,)),
    "replica-agreement": ("acks-all-min-isr-2", (C,)),
    "recoverability": ("acks-all-min-isr-2", ()),
}
"""A deployment for each property, with faults (if any) that do not reach the witness."""

REACHED = {
    "no-acked-loss": ("acks-all-min-isr-2", (K,)),
    "no-silent-loss": ("acks-all-min-isr-2", (R,)),
    "no-skip": ("auto-commit", (C,)),
    "no-loss": ("auto-commit", (C,)),
    "no-dropped-record": ("acks-all-min-isr-2", (P,)),
    "no-failed-send": ("idempotent", (R,)),
    "no-stored-failure": ("acks-all-min-isr-2", (Fault.FULL_BUFFER,)),
    "no-failed-read": ("acks-all-min-isr-2", (Fault.FULL_BUFFER,)),
    "enough-copies": ("acks-all-min-isr-2", (K,)),
    "no-log-duplicate": ("idempotent", (R,)),
    "no-reprocessing": ("idempotent", (R,)),
    "exactly-once-effect": ("manual-commit-idempotent-sink", (C,)),
    "log-order": ("idempotent", (R,)),
    "processing-order": ("auto-commit", (C,)),
    "read-stability": ("acks-all-min-isr-2", (M,)),
    "replica-agreement": ("acks-all-min-isr-2", (M,)),
    "recoverability": ("acks-all-min-isr-2", (K,)),
}
"""A deployment and a fault for each property with which the property holds and the witness is reached."""

ALL = sorted(REACHED)


@cache
def verdicts(name: str, kinds: tuple[Fault, ...], bounds: Bounds) -> dict[str, Verdict]:
    deployment = changed(example(name, kinds, 1), bounds=bounds, replicas=2, min_insync_replicas=1, require=tuple(ALL))
    asked = {prop for prop in ALL if (name, kinds) in (VACUOUS[prop], REACHED[prop])}
    return ask(deployment, *sorted(asked))


@cache
def catalogue() -> tuple[Property, ...]:
    return properties_of(build(replace(example("orders"), bounds=SMALL, require=tuple(ALL))).pipeline)


def test_every_property_is_here() -> None:
    assert {prop.name for prop in catalogue()} == VACUOUS.keys() == REACHED.keys()


@pytest.mark.parametrize("prop", [name for name in ALL if VACUOUS[name]])
def test_vacuous(prop: str) -> None:
    found = VACUOUS[prop]
    assert found is not None
    verdict = verdicts(*found, PAIR)[prop]
    assert not verdict.witness_reached
    assert verdict.status is Status.VACUOUS
    assert not verdict.cut_sets


@pytest.mark.parametrize("prop", ALL)
def test_reached(prop: str) -> None:
    verdict = verdicts(*REACHED[prop], PAIR)[prop]
    assert verdict.status is Status.HOLDS, verdict.cut_sets
    assert verdict.witness_reached


@pytest.mark.slow
def test_processing_order_without_a_reader() -> None:
    """Without a reader nothing can be out of order, and the pass is vacuous."""
    deployment = changed(
        example("auto-commit", (), 0), bounds=PAIR, max_poll_records=1, processing=Processing.POLL_THREAD
    )
    model = build(deployment)
    deaf = tuple(action for action in model.system.actions if action.name != "poll")
    verdict = ask(replace(model, system=replace(model.system, actions=deaf)), "processing-order")["processing-order"]
    assert verdict.status is Status.VACUOUS


def test_properties_have_statement_guarantee_and_witness() -> None:
    """Each property has a statement (a sentence), a guarantee, a witness, and the reported name and family."""
    families = {family.__name__.rpartition(".")[2] for family in FAMILIES}
    for prop in catalogue():
        assert prop.statement[0].isupper() and prop.statement.endswith(".")
        assert prop.guarantee and prop.witness_words
        assert prop.family in families
        assert prop.name == prop.name.lower() and " " not in prop.name
