"""The brokers that take part in the partition, where a replica can be moved to another broker (semantics 6.8)."""

from __future__ import annotations

import z3

from proofka.model.language.terms import And, Not, Or
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.model.state.reassignment import Reassignment


def takes_part(reassignment: Reassignment, replica: Replica) -> z3.BoolRef:
    """Tell whether the broker has a replica, or does not know yet that it has none and leads or follows as before."""
    return Or(reassignment.assigned(replica.number), And(replica.up.is_set, replica.leader.term != 0))


def while_it_takes_part(pipeline: Pipeline, replica: Replica, condition: z3.BoolRef) -> z3.BoolRef:
    """Restrict a condition of a broker's action to brokers that take part; without reassignment all do."""
    reassignment = pipeline.controller.reassignment
    return condition if reassignment is None else And(condition, takes_part(reassignment, replica))


def waits_for_registration(replica: Replica) -> tuple[z3.BoolRef, ...]:
    """Return the condition that the broker runs and waits until its old session is over; nothing where none does."""
    return () if replica.unregistered is None else (replica.unregistered.is_set,)


def while_registered(replica: Replica, condition: z3.BoolRef) -> z3.BoolRef:
    """Restrict a condition to brokers that do not wait until their old session is over (semantics 6.4)."""
    return condition if replica.unregistered is None else And(condition, Not(replica.unregistered.is_set))


def while_it_is_answered(pipeline: Pipeline, follower: Replica, leader: Replica, condition: z3.BoolRef) -> z3.BoolRef:
    """Restrict a condition of a fetch to followers that the leader answers.

    A leader that knows of the removal answers no fetch of a broker without a replica.
    """
    reassignment = pipeline.controller.reassignment
    if reassignment is None:
        return condition
    unaware = leader.epoch.term != pipeline.controller.epoch.term
    return And(condition, Or(reassignment.assigned(follower.number), unaware))
