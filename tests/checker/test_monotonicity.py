"""Strengthening one setting alone creates no violation of loss properties that was not there.

Random deployments of Kafka 4.0 with its own client, one record each, small enough to be explored whole under two
faults: no stronger setting makes something worse there. Where one does (other clients, two records) is in
docs/findings.md. Eligible leader replicas are none of these settings: with acks=1 they can (semantics 9).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from proofka.model.deployment import Deployment
from proofka.model.deployment.choices import Acks, Commit, Processing
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.faults import Fault
from proofka.properties.verdict import CutSet, Status
from tests.checker.asking import ask, example
from tests.deployments import changed

DURABILITY = ("no-acked-loss", "no-silent-loss", "no-skip")
BOUNDS = Bounds(records=1, log=2, sends=1, epochs=4, producer_epochs=2)
KINDS = (Fault.KILL, Fault.POWER_LOSS, Fault.SLOW_FOLLOWER, Fault.LEADER_MOVE, Fault.LOST_REQUEST, Fault.CONSUMER_CRASH)


@st.composite
def deployments(draw: st.DrawFn) -> Deployment:
    """Return random deployments with one replica or two and two kinds of faults."""
    replicas = draw(st.integers(1, 2))
    acks = draw(st.sampled_from(list(Acks)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=2, unique=True))
    return changed(
        example("acks-1"),
        bounds=BOUNDS,
        faults=FaultBudget(2, tuple((kind.value, 2) for kind in kinds)),
        replicas=replicas,
        min_insync_replicas=draw(st.integers(1, replicas)),
        unclean_leader_election=draw(st.booleans()),
        eligible_leader_replicas=draw(st.booleans()),
        flush_messages=draw(st.sampled_from([None, 1])),
        acks=acks,
        idempotence=acks is Acks.ALL and draw(st.booleans()),
        retries=2**31 - 1,
        commit=draw(st.sampled_from([Commit.BEFORE, Commit.AFTER, Commit.AUTO, Commit.DELIVERED])),
        processing=draw(st.sampled_from(Processing)),
    )


def raise_acks(one: Deployment) -> Deployment | None:
    if one.producer.acks is Acks.ALL:
        return None
    return changed(one, acks=Acks.LEADER if one.producer.acks is Acks.NONE else Acks.ALL)


def raise_min_isr(one: Deployment) -> Deployment | None:
    if one.producer.acks is not Acks.ALL or one.cluster.min_insync_replicas == one.cluster.replicas:
        return None
    return changed(one, min_insync_replicas=one.cluster.min_insync_replicas + 1)


def flush(one: Deployment) -> Deployment | None:
    return None if one.cluster.flush_messages == 1 else changed(one, flush_messages=1)


def clean_elections(one: Deployment) -> Deployment | None:
    return changed(one, unclean_leader_election=False) if one.cluster.unclean_leader_election else None


def idempotence(one: Deployment) -> Deployment | None:
    return None if one.producer.idempotence or one.producer.acks is not Acks.ALL else changed(one, idempotence=True)


def commit_later(one: Deployment) -> Deployment | None:
    later = {Commit.BEFORE: Commit.AFTER, Commit.DELIVERED: Commit.AUTO, Commit.AUTO: Commit.AFTER}
    return changed(one, commit=later[one.application.commit]) if one.application.commit in later else None


STRONGER: tuple[Callable[[Deployment], Deployment | None], ...] = (
    raise_acks,
    raise_min_isr,
    flush,
    clean_elections,
    idempotence,
    commit_later,
)


@dataclass(frozen=True)
class Worse:
    """A property that a stronger setting violates with faults with which the weaker one does not."""

    name: str
    faults: CutSet


def worse(weaker: Deployment, stronger: Deployment) -> list[Worse] | None:
    """Return violations of the stronger deployment only, with these faults or fewer; None: unknown."""
    before, after = ask(weaker, *DURABILITY), ask(stronger, *DURABILITY)
    if any(Status.UNKNOWN in (before[name].status, after[name].status) for name in DURABILITY):
        return None
    return [
        Worse(name, faults)
        for name in DURABILITY
        for faults in after[name].cut_sets
        if not any(contained(known, faults) for known in before[name].cut_sets)
    ]


def contained(part: CutSet, whole: CutSet) -> bool:
    return all(count <= dict(whole).get(kind, 0) for kind, count in part)


def is_monotone(change: Callable[[Deployment], Deployment | None], weaker: Deployment) -> None:
    stronger = change(weaker)
    assume(stronger is not None)
    assert stronger is not None
    found = worse(weaker, stronger)
    assume(found is not None)
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("change", STRONGER)
@given(weaker=deployments())
@settings(max_examples=4, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_stronger_setting_makes_nothing_worse(
    change: Callable[[Deployment], Deployment | None], weaker: Deployment
) -> None:
    is_monotone(change, weaker)


@pytest.mark.slow
@pytest.mark.parametrize("change", STRONGER)
@given(weaker=deployments())
@settings(max_examples=40, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_stronger_setting_makes_nothing_worse_in_many(
    change: Callable[[Deployment], Deployment | None], weaker: Deployment
) -> None:
    is_monotone(change, weaker)


def test_comparison_finds_a_weaker_setting_worse() -> None:
    """The comparison can fail: the other way round it finds what acks=1 loses."""
    stronger = changed(example("acks-all-min-isr-2", (Fault.KILL,), 1), bounds=BOUNDS, replicas=2)
    weaker = changed(stronger, acks=Acks.LEADER, idempotence=False)
    assert Worse("no-acked-loss", (("kill", 1),)) in (worse(stronger, weaker) or [])
