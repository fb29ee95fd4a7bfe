"""The broker that the producer considers the leader, perhaps before the broker itself does (3.1 P2; choice 25)."""

from __future__ import annotations

import z3

from model.language.terms import And, If, Not, Or
from model.state.pipeline import Pipeline, Replica
from model.state.taking_part import while_registered


def is_considered_leader(pipeline: Pipeline, broker: Replica) -> z3.BoolRef:
    """Tell whether the producer can consider this broker the leader: the broker itself does, or others say so.

    The client's metadata never goes back to an older leader epoch, where brokers tell epochs (KIP-320).
    """
    return Or(_says_itself(pipeline, broker), _others_say(pipeline, broker))


def epoch_heard_of(pipeline: Pipeline, broker: Replica) -> z3.ArithRef:
    """Return the leader epoch in which the producer considers this broker the leader: its own, or what others say."""
    others_say = And(Not(_says_itself(pipeline, broker)), _others_say(pipeline, broker))
    return If(others_say, pipeline.controller.epoch.term, broker.epoch.term)


def _says_itself(pipeline: Pipeline, broker: Replica) -> z3.BoolRef:
    """Tell whether the broker considers itself the leader, in no older epoch than the producer knows."""
    if not pipeline.deployment.producer.sender.knows_epochs:
        return broker.presumes_leadership
    return And(broker.presumes_leadership, broker.epoch.term >= pipeline.producer.leader_epoch.term)


def _others_say(pipeline: Pipeline, broker: Replica) -> z3.BoolRef:
    """Tell whether the controller has elected this broker, which has not heard of the election.

    Any other broker of the cluster, also one without a replica, can have heard and told the producer.
    """
    controller = pipeline.controller
    elected = And(controller.leader.term == broker.number, controller.epoch.term > broker.epoch.term)
    return while_registered(broker, And(broker.up.is_set, elected))
