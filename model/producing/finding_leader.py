"""The broker that the producer considers the leader, perhaps before the broker itself does (3.1 P2; choice 25)."""

from __future__ import annotations

import z3

from proofka.model.language.terms import And, If, Or
from proofka.model.state.pipeline import Pipeline, Replica


def is_considered_leader(pipeline: Pipeline, broker: Replica) -> z3.BoolRef:
    """Tell whether the producer can consider this broker the leader: the broker itself does, or has been elected.

    The client's metadata never goes back to an older leader epoch, where brokers tell epochs (KIP-320).
    """
    known, itself = pipeline.producer.leader_epoch.term, broker.presumes_leadership
    if pipeline.deployment.producer.sender.knows_epochs:
        itself = And(itself, broker.epoch.term >= known)
    # The newest decision is never older than what the client knows; the clocks of a send need to see what it knows.
    told = And(_has_not_heard_of_election(pipeline, broker), pipeline.controller.epoch.term >= known)
    return Or(itself, told)


def epoch_heard_of(pipeline: Pipeline, broker: Replica) -> z3.ArithRef:
    """Return the leader epoch in which the producer considers this broker the leader: its own, or the controller's."""
    unaware = _has_not_heard_of_election(pipeline, broker)
    return If(unaware, pipeline.controller.epoch.term, broker.epoch.term)


def _has_not_heard_of_election(pipeline: Pipeline, broker: Replica) -> z3.BoolRef:
    """Tell whether the broker runs, and the controller has elected the broker without its knowledge.

    Any other broker of the cluster can tell a client of the election, also one without a replica of the partition.
    """
    elected = pipeline.controller.leader.term == broker.number
    return And(broker.up.is_set, elected, pipeline.controller.epoch.term > broker.epoch.term)
