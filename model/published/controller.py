"""The controller: it takes replicas out of the ISR and elects leaders, each decision in a leader epoch of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import z3

from proofka.model.language import Action, Effect, State
from proofka.model.language.terms import And, If, IntVal, Not, Or
from proofka.model.published.cluster import NOBODY, Cluster, Replica
from proofka.model.published.sentences import members, replica_name


def decide(cluster: Cluster, leader: z3.ArithRef | int, isr: Mapping[int, z3.ArithRef]) -> Effect:
    """Return the effect of the next leader epoch's request; nobody has received it yet, so its ISR is the quorum's."""
    effect = Effect()
    for request in cluster.requests:
        next_one = cluster.next_epoch.term == request.epoch
        effect.set_when(next_one, request.leader, leader)
        for number, inside in isr.items():
            effect.set_when(next_one, request.isr[number], inside)
    effect[cluster.next_epoch] = cluster.next_epoch.term + 1
    return effect


def shrink(cluster: Cluster, replica: Replica) -> Action:
    """Declare a replica dead: it leaves the ISR, and the leadership where it led.

    A leader that is the last of its ISR stays in the ISR. The ISR can become empty all the same, if it loses its last
    replica while nobody leads. The quorum's leader is always in the ISR.
    """
    leads = cluster.quorum_leader == replica.number
    others = Or(*(cluster.in_quorum_isr(other) for other in cluster.others(replica)))
    isr = dict(cluster.quorum_isr)
    isr[replica.number] = If(And(leads, Not(others)), IntVal(1), IntVal(0))
    leader = If(leads, IntVal(NOBODY), cluster.quorum_leader)
    return Action(
        "controller_shrinks_isr",
        "controller",
        lane="controller",
        arguments={"replica": replica.number},
        guard=And(cluster.epoch_left, cluster.in_quorum_isr(replica)),
        updates=decide(cluster, leader, isr).updates,
        sentence=lambda before, after: (
            f"the controller considers {replica.name} dead; {_decision(cluster, before, after)}"
        ),
        semantics="published, controller",
    )


def elect(cluster: Cluster, replica: Replica) -> Action:
    """Elect a member of the ISR, at any moment and for any reason: a failure or a planned move."""
    return Action(
        "elect_leader",
        "controller",
        lane="controller",
        arguments={"replica": replica.number},
        guard=And(cluster.epoch_left, cluster.in_quorum_isr(replica), cluster.quorum_leader != replica.number),
        updates=decide(cluster, replica.number, cluster.quorum_isr).updates,
        sentence=lambda before, after: f"the controller elects {replica.name}; {_decision(cluster, before, after)}",
        semantics="published, controller",
    )


def _decision(cluster: Cluster, before: State, after: State) -> str:
    request = cluster.requests[before[cluster.next_epoch.name]]
    leader = replica_name(after[request.leader.name])
    return f"{leader} leads in epoch {request.epoch}, ISR {members(after, request.isr)}"


def actions(cluster: Cluster) -> Iterator[Action]:
    """Yield the controller's decisions."""
    for replica in cluster.replicas:
        yield shrink(cluster, replica)
        yield elect(cluster, replica)
