"""Leader elections: membership of the ISR and the eligible leader replicas (ELR), and the choice among them (6.2, 6.3).

With ELR (KIP-966) the ISR can be empty. A replica that leaves an ISR of fewer than ``min.insync.replicas`` members
stays eligible, because the high watermark does not move from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import z3

from proofka.model.language import Effect
from proofka.model.language.terms import And, BoolVal, If, IntVal, Not, Or, Sum
from proofka.model.state.pipeline import Pipeline, Replica

Members = Mapping[int, z3.BoolRef]
"""The condition of membership, by broker number."""


@dataclass(frozen=True)
class Membership:
    """The members of the ISR and the eligible leader replicas (none where there is no ELR)."""

    isr: Members
    elr: Members


def current(pipeline: Pipeline) -> Membership:
    """Return the membership that the controller has recorded."""
    controller = pipeline.controller
    return Membership(
        {number: member.is_set for number, member in controller.isr.items()},
        {number: member.is_set for number, member in controller.elr.items()},
    )


def with_isr(pipeline: Pipeline, isr: Members) -> Membership:
    """Return the membership after a change of the ISR: below ``min.insync.replicas`` who leaves stays eligible (6.3).

    With enough members no other replica is eligible.
    """
    before = current(pipeline)
    if not before.elr:
        return Membership(isr, {})
    enough = Sum(*(If(member, 1, 0) for member in isr.values())) >= pipeline.deployment.cluster.min_insync_replicas
    elr = {
        number: And(Not(enough), Or(eligible, before.isr[number]), Not(isr[number]))
        for number, eligible in before.elr.items()
    }
    return Membership(isr, elr)


def without(pipeline: Pipeline, number: int) -> Membership:
    """Return the membership after a broker was fenced: it leaves the ISR; only with ELR can that become empty (I5)."""
    isr = dict(current(pipeline).isr)
    stays = BoolVal(False)
    if not pipeline.controller.elr:
        stays = Not(Or(*(member for other, member in isr.items() if other != number)))
    isr[number] = And(isr[number], stays)
    return with_isr(pipeline, isr)


def after_stop(pipeline: Pipeline, replica: Replica) -> Membership:
    """Return the membership after a broker registered: without an orderly stop it is not eligible any more (6.3, 6.4).

    The broker registers after it was fenced. So it is not in the ISR, or is its only member where there is no ELR.
    """
    found = current(pipeline)
    if not found.elr:
        return found
    stays = BoolVal(False) if replica.stopped_in_order is None else replica.stopped_in_order.is_set
    eligible = found.elr[replica.number]
    return Membership(found.isr, {**found.elr, replica.number: And(eligible, stays)})


def chosen(pipeline: Pipeline, among: Membership, alive: Members) -> z3.ArithRef:
    """Return the leader: the first ``alive`` in assignment order, of the ISR, or of the ELR if that is empty (E1, E2).

    If both are empty, the last known leader leads (E3), even where unclean election is off. 0: there is none (E8).
    """
    empty = Not(Or(*among.isr.values()))
    leader = IntVal(0)
    last_known = pipeline.controller.last_known_leader
    if last_known is not None:
        nobody = Not(Or(*among.elr.values()))
        is_alive = Or(*(And(last_known.term == number, there) for number, there in alive.items()))
        leader = If(And(empty, nobody, is_alive), last_known.term, leader)
    for number, here in reversed(_places(pipeline)):
        electable = among.isr[number]
        if among.elr:
            electable = Or(electable, And(empty, among.elr[number]))
        leader = If(And(electable, alive[number], *here), IntVal(number), leader)
    return leader


def _places(pipeline: Pipeline) -> list[tuple[int, tuple[z3.BoolRef, ...]]]:
    """Return the brokers in assignment order, each with the conditions under which it has that place.

    A broker that a replica is moved to takes the place of the old broker, which then has the last place (6.8, M1).
    """
    reassignment = pipeline.controller.reassignment
    if reassignment is None:
        return [(replica.number, ()) for replica in pipeline.replicas]
    places: list[tuple[int, tuple[z3.BoolRef, ...]]] = []
    numbers = [replica.number for replica in pipeline.replicas if replica.number != reassignment.to]
    for number in numbers:
        moved = reassignment.takes_from(number)
        places += [(reassignment.to, (moved,)), (number, (Not(moved),))]
    return [*places, *((number, (reassignment.takes_from(number),)) for number in numbers)]


def elect(pipeline: Pipeline, effect: Effect, leader: z3.ArithRef | int, when: z3.BoolRef) -> None:
    """Record a leader, or that there is none (0), in a new leader epoch."""
    controller = pipeline.controller
    effect.set_when(when, controller.leader, leader)
    effect.set_when(when, controller.epoch, controller.epoch.term + 1)


def record(pipeline: Pipeline, effect: Effect, membership: Membership, leader: z3.ArithRef, when: z3.BoolRef) -> None:
    """Record the ISR and the eligible replicas, and the chosen leader if ``when`` says that there is an election.

    The leader is in the ISR from then on, and is no longer one of the other eligible replicas.
    """
    controller = pipeline.controller
    elect(pipeline, effect, leader, when)
    for number, member in membership.isr.items():
        effect[controller.isr[number]] = member
    for number, eligible in membership.elr.items():
        leads = And(when, leader == number)
        effect[controller.isr[number]] = Or(membership.isr[number], leads)
        effect[controller.elr[number]] = And(eligible, Not(leads))
    if controller.last_known_leader is not None:
        # The partition had a leader before, or still has none.
        known = If(controller.leader.term != 0, controller.leader.term, controller.last_known_leader.term)
        effect.set_when(when, controller.last_known_leader, If(leader == 0, known, 0))
