"""Agreement: readable records stay readable, and replicas agree on them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import z3

from proofka.model.language import State
from proofka.model.language.terms import And, BoolVal, Not, Or
from proofka.model.replication.moving_replicas import was_removed
from proofka.model.state.pipeline import Pipeline, Replica
from proofka.properties.property import Property
from proofka.properties.situations import on_serving_leader, serving_leader


def taken_back(pipeline: Pipeline, offset: int) -> z3.BoolRef:
    """Build the condition that a record was readable at ``offset``, and the serving leader lacks this record there."""
    exposed = pipeline.exposed[offset]

    def gone(leader: Replica) -> z3.BoolRef:
        record = pipeline.record_of(leader.log.slots[offset]["batch"].term) + 1
        return Or(Not(leader.log.has(offset)), record != exposed.term)

    return And(exposed.term > 0, on_serving_leader(pipeline, gone))


def disagree(pipeline: Pipeline, one: Replica, other: Replica, offset: int) -> z3.BoolRef:
    """Build the condition that two replicas have different records at ``offset`` below both high watermarks.

    A replica that a reassignment has removed does not count, even if its broker does not know this yet.
    """
    mine, theirs = one.log.slots[offset], other.log.slots[offset]
    same = And(mine["batch"].term == theirs["batch"].term, mine["epoch"].term == theirs["epoch"].term)
    below = And(one.high_watermark.term > offset, other.high_watermark.term > offset)
    reassignment = pipeline.controller.reassignment
    moved = () if reassignment is None else (reassignment.removed(one.number), reassignment.removed(other.number))
    return And(below, Not(same), *(Not(one_of_them) for one_of_them in moved))


def properties(pipeline: Pipeline) -> Iterator[Property]:
    """Yield the agreement properties of a pipeline."""
    offsets = range(pipeline.deployment.bounds.log)
    pairs = list(combinations(pipeline.replicas, 2))
    replaced = on_serving_leader(pipeline, lambda leader: leader.epoch.term > 1)

    def explain_stability(state: State) -> str:
        leader = serving_leader(pipeline, state)
        for offset in offsets:
            record = state[pipeline.exposed[offset].name]
            if leader is None or not record:
                continue
            entries = leader.log.entries(state)
            number = entries[offset]["batch"] if offset < len(entries) else None
            batches = pipeline.producer.batches
            now = batches[number].record + 1 if number is not None and number < len(batches) else 0
            if now != record:
                has = "has nothing" if number is None else f"has record {now}" if now else "has a marker"
                return f"record {record} could be read at offset {offset}; {leader.name}, which leads, {has} there"
        return "a record that could be read is gone"

    yield Property(
        "read-stability",
        "agreement",
        "A record that could be read at an offset stays there.",
        "consumers never read a record that disappears later",
        Or(*(taken_back(pipeline, offset) for offset in offsets)),
        And(pipeline.exposed[0].term > 0, replaced),
        "the leader was replaced after a record could be read",
        explain_stability,
    )

    def explain_agreement(state: State) -> str:
        for one, other in pairs:
            if was_removed(pipeline, state, one) or was_removed(pipeline, state, other):
                continue
            shared = min(state[one.high_watermark.name], state[other.high_watermark.name])
            for offset in range(shared):
                mine, theirs = one.log.entries(state)[offset], other.log.entries(state)[offset]
                if (mine["batch"], mine["epoch"]) != (theirs["batch"], theirs["epoch"]):
                    return (
                        f"{one.name} and {other.name} hold different records at offset {offset}, "
                        "below both high watermarks"
                    )
        return "two replicas disagree below their high watermarks"

    yield Property(
        "replica-agreement",
        "agreement",
        "Replicas hold the same records below their high watermarks.",
        "log matching",
        Or(*(disagree(pipeline, one, other, offset) for one, other in pairs for offset in offsets)),
        And(Or(*(And(a.high_watermark.term > 0, b.high_watermark.term > 0) for a, b in pairs)), replaced)
        if pairs
        else BoolVal(True),
        "two replicas have a high watermark above 0 and the leader was replaced",
        explain_agreement,
    )
