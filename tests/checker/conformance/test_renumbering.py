"""Brokers by their places in the order of a topic's replicas."""

from __future__ import annotations

from dataclasses import replace

from proofka.checker.conformance.observations import BrokerDecision, Done, Look, PartitionDecision, Request
from proofka.checker.conformance.recording import events_of
from proofka.checker.conformance.renumbering import by_place
from tests.checker.conformance.test_recording import NOTHING, SENT

ORDER = (2, 3, 1)
"""A topic's replicas, whose first leader is broker 2."""


def test_every_number_of_a_broker_becomes_its_place() -> None:
    seen = replace(
        NOTHING,
        first=PartitionDecision(1, 0.0, 0.0, 2, 4, (2, 3, 1)),
        decisions=(PartitionDecision(2, 1.0, 1.0, 0, 5, (3,)), BrokerDecision(3, 1.0, 1.0, 1, True)),
        requests=(Request(7, 2, (0,), arrived=1.0, left=1.0, given_up=None, answered=None, error=None),),
        looks=(Look(3, (1.0, 1.1), ()),),
        done=(Done("kill", 1, (1.0, 1.1)), Done("send", 0, (1.0, 1.1))),
        changes_passed={2: (4.0,)},
        changes_proposed={2: (3.0,)},
    )
    found = by_place(seen, ORDER)
    assert (found.first.leader, found.first.isr) == (1, (1, 2, 3))
    assert found.decisions == (PartitionDecision(2, 1.0, 1.0, 0, 5, (2,)), BrokerDecision(3, 1.0, 1.0, 3, True))
    assert [request.broker for request in found.requests] == [1]
    assert [look.broker for look in found.looks] == [2]
    assert [done.broker for done in found.done] == [3, 0]
    assert found.changes_passed == {1: (4.0,)} and found.changes_proposed == {1: (3.0,)}
    assert found.brokers == (1, 2, 3)


def test_a_run_with_another_first_leader_has_the_same_events() -> None:
    back = (3, 1, 2)
    moved = by_place(SENT, back)
    assert moved != SENT and events_of(by_place(moved, ORDER)) == events_of(SENT)
