"""A model whose consumer is also given records by followers that leaders name (semantics 6.1, KIP-392).

The model itself has no such steps (docs/semantics.md says why): tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import z3

from proofka.model.consuming.consumer import crash_while_processing, hand_off, parts_done, poll, reaches
from proofka.model.consuming.position import agreed_prefix
from proofka.model.deployment.choices import Processing
from proofka.model.language import Action, Variable
from proofka.model.pipeline import Model
from proofka.model.state.pipeline import Replica


class FollowerReads:
    """The broker that the consumer reads from (0: the leader), and the leader epoch in which it was named.

    ``kept``: a consumer that keeps what was named when the leader epoch changes, as no client of Kafka's does.
    """

    def __init__(self, model: Model, *, kept: bool = False) -> None:
        pipeline = model.pipeline
        self._model, self._pipeline, self._kept = model, pipeline, kept
        self._named = Variable("named", 0, len(pipeline.replicas), 0)
        self._epoch = Variable("named_epoch", 0, pipeline.deployment.bounds.epochs, 0)

    def added(self) -> Model:
        """Return the model with these steps."""
        system = self._model.system
        actions = (*(self._forgetting(action) for action in system.actions), *self._naming(), *self._reading())
        variables = (*system.variables, self._named, self._epoch)
        # What clocks limit is left out: it is the same for both.
        changed = replace(system, variables=variables, actions=actions, clocks=(), needs={})
        return replace(self._model, system=changed)

    def _forgetting(self, action: Action) -> Action:
        """Forget the named follower at each read from a leader and at each new start."""
        consumer = self._pipeline.consumer
        if not {consumer.position, consumer.running} & action.updates.keys():
            return action
        return replace(action, updates={**action.updates, self._named: z3.IntVal(0), self._epoch: z3.IntVal(0)})

    def _naming(self) -> Iterator[Action]:
        for leader in self._pipeline.replicas:
            for follower in self._pipeline.followers_of(leader):
                yield self._name(leader, follower)

    def _name(self, leader: Replica, follower: Replica) -> Action:
        """Let a leader name a follower in its ISR that, as the leader knows, has the records before the consumer's
        position."""
        consumer = self._pipeline.consumer
        position = consumer.position.term
        valid = agreed_prefix(self._pipeline, leader, consumer.position_epoch.term) >= position
        known = leader.fetched[follower.number].term - 1 >= position
        return Action(
            "name_replica",
            leader.name,
            lane="brokers",
            arguments={"leader": leader.number, "follower": follower.number},
            guard=z3.And(reaches(self._pipeline, leader), valid, leader.isr[follower.number].is_set, known),
            updates={
                self._named: z3.IntVal(follower.number),
                self._epoch: leader.epoch.term,
                consumer.leader_epoch: leader.epoch.term,
            },
            sentence=lambda before, after: f"{leader.name} tells the consumer to read from {follower.name}",
            semantics="6.1",
        )

    def _reading(self) -> Iterator[Action]:
        pipeline, deployment = self._pipeline, self._pipeline.deployment
        for follower in pipeline.replicas:
            if deployment.application.processing is Processing.HANDED_OFF:
                yield self._from(hand_off(pipeline, follower), follower, 1)
                continue
            for count in range(1, min(deployment.consumer.max_poll_records, deployment.bounds.log) + 1):
                yield self._from(poll(pipeline, follower, count), follower, count)
                for done in parts_done(deployment, count):
                    yield self._from(crash_while_processing(pipeline, follower, count, done), follower, count)

    def _from(self, action: Action, follower: Replica, count: int) -> Action:
        """Build the same action from a follower: the follower takes over the consumer's epoch and has so much below its
        watermark."""
        pipeline, consumer = self._pipeline, self._pipeline.consumer
        position = consumer.position.term
        follows = z3.And(follower.up.is_set, follower.leader.term != 0, follower.leader.term != follower.number)
        named = z3.And(consumer.running.is_set, self._named.term == follower.number, follows)
        if self._kept:
            at_leader = (
                z3.And(
                    leader.presumes_leadership,
                    leader.epoch.term == follower.epoch.term,
                    agreed_prefix(pipeline, leader, consumer.position_epoch.term) >= position,
                )
                for leader in pipeline.followers_of(follower)
            )
            known = z3.Or(
                follower.epoch.term == consumer.leader_epoch.term,
                z3.And(follower.epoch.term > consumer.leader_epoch.term, z3.Or(*at_leader)),
            )
        else:
            known = z3.And(follower.epoch.term == self._epoch.term, consumer.leader_epoch.term == self._epoch.term)
        has = position + count <= follower.high_watermark.term
        gone = consumer.running in action.updates
        forgotten = {self._named: z3.IntVal(0), self._epoch: z3.IntVal(0)} if gone else {}
        return replace(
            action,
            name=f"{action.name}_from_follower",
            guard=z3.And(named, known, has),
            updates={**action.updates, **forgotten},
        )
