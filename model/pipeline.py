"""The whole system of one deployment: all state machines, composed, with the faults that are possible."""

from __future__ import annotations

from dataclasses import dataclass

import z3

from proofka.model import relabelling
from proofka.model.compaction import aborted, cleaner
from proofka.model.consuming import (
    consumer,
    failing,
    membership,
    offsets_topic,
    overlapping_offsets,
    overrun,
    reading,
    restarting,
    retention,
    saved_memory,
)
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.outages import ends_of_producer
from proofka.model.displays import displays
from proofka.model.language import TransitionSystem
from proofka.model.language.terms import And, Not, Or
from proofka.model.log import early_expiry, id_expiry, log_starts, replica
from proofka.model.producing import produce, producer, splitting, stopping
from proofka.model.producing.application import resend_due
from proofka.model.producing.choosing import sending_of
from proofka.model.recovery.choosing import recovery_of
from proofka.model.replication import (
    announced_ends,
    answering_late,
    broker,
    controller,
    fetching,
    forging,
    isr,
    mixing_fetches,
    moving_replicas,
    starting_early,
)
from proofka.model.sequencing import idempotence, network
from proofka.model.state.pipeline import Pipeline, declare
from proofka.model.timing import clocks_and_needs
from proofka.model.transactions import coordinator, ending, forgetting, split_transactions

VERSION = "20"
"""The model's version, part of every verdict's id. It changes whenever a verdict can change."""


@dataclass(frozen=True)
class Model:
    """A deployment's transition system, and the pipeline that declares its variables."""

    pipeline: Pipeline
    system: TransitionSystem


def declared(deployment: Deployment) -> Pipeline:
    """Return the pipeline of ``deployment``, with the recovery of its client and the way of sending of its producer."""
    return declare(deployment, recovery_of(deployment), sending_of(deployment))


def build(deployment: Deployment) -> Model:
    """Build the model of ``deployment``: one producer, one partition, one consumer group."""
    pipeline = declared(deployment)
    possible = deployment.faults.possible
    of_fetches = (fetching, answering_late, forging, mixing_fetches)
    of_brokers = (*of_fetches, replica, isr, controller, broker, starting_early, announced_ends, moving_replicas)
    of_failures = (pipeline.recovery, id_expiry)
    of_clients = (producer, stopping, network, produce, splitting, *of_failures)
    of_transactions = (ending, split_transactions, early_expiry, coordinator, forgetting, pipeline.sending)
    of_consumers = (consumer, saved_memory, restarting, failing, membership, overrun)
    of_offsets = (offsets_topic, overlapping_offsets)
    of_readers = (*of_consumers, retention, log_starts, *of_offsets, cleaner, aborted, reading)
    optional = of_transactions if deployment.producer.transactional is not None else ()
    machines = (*of_clients, *optional, *of_brokers, *of_readers)
    actions = tuple(
        action
        for machine in machines
        for action in machine.actions(pipeline)
        if action.fault is None or action.fault in possible
    )
    clocks, needs = clocks_and_needs(pipeline, actions)
    system = TransitionSystem(
        deployment.name,
        pipeline.variables,
        actions,
        displays(pipeline),
        limits=_limits(pipeline),
        ranked=relabelling.ranked(pipeline),
        symmetries=relabelling.symmetries(pipeline),
        clocks=clocks,
        needs=needs,
        history=pipeline.history.variables,
        unread=relabelling.unread(pipeline),
    )
    return Model(pipeline, system)


def _limits(pipeline: Pipeline) -> dict[str, z3.BoolRef]:
    """Return, by the bound's name, the condition that the bound stops a behaviour that a larger one would allow."""
    batches, replicas = pipeline.producer.batches, pipeline.replicas
    appending = (produce.appendable, produce.delayed_appendable)
    full = [
        And(Or(*(appendable(pipeline, batch, leader) for appendable in appending)), Not(produce.has_room(leader)))
        for batch in batches
        for leader in replicas
    ]
    full += [And(due, Not(produce.has_room(leader))) for leader, due in pipeline.sending.markers_due(pipeline)]
    last_sends = [pipeline.producer.of_record(record)[-1] for record in range(pipeline.deployment.bounds.records)]
    limits = {
        "log": Or(*full),
        "sends": Or(*(resend_due(pipeline, batch) for batch in last_sends)),
        "epochs": Not(controller.epoch_left(pipeline)),
    }
    if ends_of_producer(pipeline.deployment) > pipeline.producer.session.high:
        limits["producer_sessions"] = pipeline.producer.session.term == pipeline.producer.session.high
    if pipeline.deployment.producer.idempotence:
        wanted = Or(*pipeline.recovery.bumps_due(pipeline))
        limits["producer_epochs"] = And(wanted, Not(idempotence.epoch_left(pipeline)))
    return limits
