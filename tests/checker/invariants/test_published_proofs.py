"""Leader completeness for any number of epochs and records: proved of KIP-320, and of no protocol that lacks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proofka.checker.invariants.confirming import confirmed
from proofka.checker.invariants.proof import NO_INVARIANT, Proof, Subject, prove
from proofka.checker.invariants.published import COMPLETENESS, protocol_subject
from proofka.model.language import Action
from proofka.model.published.cluster import Cluster
from proofka.model.published.constants import PublishedProtocolError
from proofka.model.published.invariants import violated
from proofka.model.published.leader_completeness import candidates
from proofka.model.published.protocols import PROTOCOLS
from proofka.model.published.unbounded import opened
from tests.model.published.test_mutations import EVERYWHERE, IN_THREE_EPOCHS, Change

HARMFUL = (
    "anyone is elected",
    "anyone writes",
    "zombies shrink the ISR",
    "a leader keeps its old ISR",
    "nothing is truncated",
    "a leader that is not ready is followed",
    "fetches across epochs",
    "progress across epochs",
)
"""The mutations of KIP-320 that lose a committed record, or that leave the leader's logs without order."""
MUTATIONS = EVERYWHERE | {what: change for name, what, change in IN_THREE_EPOCHS if name == "kip-320"}


def proof(name: str, replicas: int = 2, log_size: int = 1) -> Proof:
    return prove(protocol_subject(name, replicas=replicas, log_size=log_size))


def mutated(what: str) -> Proof:
    """Return the search for a proof of KIP-320 with a mutation, with two replicas."""
    change: Change = MUTATIONS[what]

    def actions(cluster: Cluster) -> Iterator[Action]:
        return (change(cluster, action) for action in PROTOCOLS["kip-320"].actions(cluster))

    protocol = opened("kip-320", actions, 2, 1)
    terms = violated(protocol.cluster)
    return prove(Subject(protocol.system, tuple(candidates(protocol)), {one: terms[one] for one in COMPLETENESS}))


@pytest.mark.parametrize(("replicas", "log_size"), [(2, 1), (2, 2), (3, 1)])
def test_kip_320_is_proved_with_all_candidates(replicas: int, log_size: int) -> None:
    found = proof("kip-320", replicas, log_size)
    assert found.proved == COMPLETENESS
    assert not found.dropped
    assert not found.reasons
    assert not found.idle
    within = f"{replicas} replicas, {log_size} log slots"
    assert found.scope == f"any number of steps, leader epochs and records written; {within}"


def test_cvc5_agrees_to_every_obligation() -> None:
    found = proof("kip-320")
    assert len(found.obligations) == 1 + len(found.subject.system.actions) + len(COMPLETENESS)
    answers = confirmed(found.obligations, second=True)
    assert "both answer unsat to all 21 obligations" in answers.line
    assert not list(answers.disputes())
    assert not list(answers.left_open())


@pytest.mark.parametrize("name", sorted(PROTOCOLS.keys() - {"kip-320"}))
def test_other_protocols_are_not_proved(name: str) -> None:
    found = proof(name)
    assert found.reasons == dict.fromkeys(COMPLETENESS, NO_INVARIANT)
    assert not found.proved
    assert not found.obligations
    assert found.dropped


@pytest.mark.parametrize("what", HARMFUL)
def test_mutations_that_break_the_protocol_are_not_proved(what: str) -> None:
    found = mutated(what)
    assert not found.proved
    assert found.dropped


@pytest.mark.parametrize("what", ["the leader is elected again", "elect_leader never happens"])
def test_mutations_that_keep_leader_completeness_are_proved(what: str) -> None:
    assert mutated(what).proved == COMPLETENESS


def test_steps_that_a_mutation_prevents_are_named() -> None:
    assert {step.name for step in mutated("become_leader never happens").idle} == {"become_leader"}


def test_leader_in_isr_is_false_where_nobody_leads() -> None:
    found = prove(protocol_subject("kip-320", replicas=2, log_size=1, properties=["LeaderInIsr"]))
    assert found.reasons == {"LeaderInIsr": NO_INVARIANT}


def test_unknown_names_are_refused() -> None:
    with pytest.raises(PublishedProtocolError, match="no property 'TypeOk' of published protocols: choose WeakIsr"):
        protocol_subject("kip-320", replicas=2, log_size=1, properties=["TypeOk"])
    with pytest.raises(PublishedProtocolError, match="no published protocol 'kip-1'"):
        protocol_subject("kip-1", replicas=2, log_size=1)


def test_the_search_without_time_proves_nothing() -> None:
    found = prove(protocol_subject("kip-320", replicas=2, log_size=1), seconds=0)
    assert not found.proved
    assert found.reasons == dict.fromkeys(COMPLETENESS, "the time was over before Z3 was asked about the initial state")
