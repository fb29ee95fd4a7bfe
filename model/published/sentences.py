"""The words of a trace for the steps and states of a published protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import z3

from proofka.model.language import Display, State, Variable
from proofka.model.language.terms import IntVal
from proofka.model.published.cluster import NO_EPOCH, Cluster, Replica, Request


def replica_name(number: int) -> str:
    """Return a replica's name, or "nobody"."""
    return f"r{number}" if number else "nobody"


def members(state: State, isr: Mapping[int, Variable], leader: Replica | None = None) -> str:
    """Return the words for the members of an ISR, with the leader that the ISR belongs to."""
    numbers = {number for number, variable in isr.items() if state[variable.name]}
    if leader is not None:
        numbers.add(leader.number)
    return _names(sorted(numbers))


def _names(numbers: Sequence[int]) -> str:
    return "{" + ", ".join(replica_name(number) for number in numbers) + "}"


def dropped(before: State, after: State, replica: Replica) -> str:
    """Return the words for the records that a replica lost in a step, as the end of a sentence; empty if none."""
    kept = len(replica.log.records(after))
    lost = replica.log.records(before)[kept:]
    return " and drops " + ", ".join(f"record {record}" for record in lost) if lost else ""


def displays(cluster: Cluster) -> tuple[Display, ...]:
    """Return the displays of the whole state, in the order in which a trace shows them."""
    return (
        *(replace(shown, owner="controller") for shown in _quorum(cluster)),
        *(replace(_request(request, cluster.next_epoch), owner="controller") for request in cluster.requests),
        *(replace(shown, owner=one.name) for one in cluster.replicas for shown in _replica(cluster, one)),
        Display(
            "records written",
            lambda state: str(state[cluster.records_written.name]),
            (cluster.records_written,),
        ),
    )


def _value(cluster: Cluster, term: z3.ArithRef, state: State) -> int:
    """Return the value of a derived term in a concrete state."""
    constants = [(variable.term, IntVal(state[variable.name])) for variable in cluster.variables]
    value = z3.simplify(z3.substitute(term, *constants))
    assert z3.is_int_value(value)
    return int(value.as_long())


def _quorum(cluster: Cluster) -> Iterator[Display]:
    requests = [variable for one in cluster.requests for variable in (one.leader, *one.isr.values())]
    epochs = [replica.epoch for replica in cluster.replicas]
    own = [variable for replica in cluster.replicas for variable in replica.isr.values()]

    def epoch(state: State) -> str:
        newest = state[cluster.next_epoch.name] - 1
        return "none" if newest == NO_EPOCH else str(newest)

    def leader(state: State) -> str:
        return replica_name(_value(cluster, cluster.quorum_leader, state))

    def isr(state: State) -> str:
        return _names([number for number, inside in cluster.quorum_isr.items() if _value(cluster, inside, state)])

    yield Display("leader", leader, (cluster.next_epoch, *requests))
    yield Display("leader epoch", epoch, (cluster.next_epoch,))
    yield Display("ISR", isr, (cluster.next_epoch, *requests, *epochs, *own))


def _request(request: Request, next_epoch: Variable) -> Display:
    def render(state: State) -> str:
        if state[next_epoch.name] <= request.epoch:
            return "none"
        return f"leader {replica_name(state[request.leader.name])}, ISR {members(state, request.isr)}"

    variables = (next_epoch, request.leader, *request.isr.values())
    return Display(f"request of epoch {request.epoch}", render, variables)


def _replica(cluster: Cluster, replica: Replica) -> Iterator[Display]:
    leaders = [request.leader for request in cluster.requests]

    def role(state: State) -> str:
        epoch = state[replica.epoch.name]
        if epoch == NO_EPOCH:
            return "none"
        leader = _value(cluster, cluster.leader_of(replica), state)
        if leader == replica.number:
            return f"leader in epoch {epoch}, ISR {members(state, replica.isr, replica)}"
        return f"follower of {replica_name(leader)} in epoch {epoch}"

    def entries(state: State) -> tuple[str, ...]:
        epochs = [state[variable.name] for variable in cluster.record_epochs]
        return tuple(f"record {record} @{epochs[record - 1]}" for record in replica.log.records(state))

    def log(state: State) -> str:
        return "[" + ", ".join(entries(state)) + "]"

    name, high_watermark = replica.name, replica.high_watermark
    yield Display(f"{name}'s role", role, (replica.epoch, *leaders, *replica.isr.values()))
    yield Display(f"{name}'s log", log, (*replica.log.slots, *cluster.record_epochs), entries=entries)
    yield Display(f"{name}'s high watermark", lambda state: str(state[high_watermark.name]), (high_watermark,))
