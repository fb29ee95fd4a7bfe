"""Failures of the same producer at another partition, which end the numbers of this one (semantics 3.4, 4.1 to 4.3).

A producer has one id and one epoch for all its partitions. A failure at one of them can take the producer to a new
epoch or a new id. What that means here depends on the client.
"""

from __future__ import annotations

import z3

from proofka.model.faults import Fault
from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, Not, Or
from proofka.model.state.pipeline import Fate, Pipeline

NUMBERS_BEGIN_AGAIN = 1
"""The value of ``moved_on`` that says: the producer's epoch has gone on, and this partition follows when none of its
numbered batches is in flight."""


def fail_elsewhere(pipeline: Pipeline, effect: Effect, goes_on: z3.BoolRef, then: str) -> Action:
    """Fail a record of another partition permanently, or as out of order: all partitions get a new epoch (3.4).

    ``goes_on``: the client can do what it does then, which ``then`` says.
    """
    return Action(
        "fail_elsewhere",
        "producer",
        lane="producer",
        arguments={},
        guard=And(_has_something_to_send(pipeline), goes_on),
        updates=effect.updates,
        sentence=lambda before, after: f"a record of another partition fails: the producer, the same for both, {then}",
        semantics="3.4, 4.1 to 4.3",
        fault=Fault.FAILURE_ELSEWHERE,
    )


def stop_elsewhere(pipeline: Pipeline, effect: Effect) -> Action:
    """Refuse another partition's next record due as out of order, where that is a fatal error (4.1, 4.3)."""
    return Action(
        "stop_elsewhere",
        "producer",
        lane="producer",
        arguments={},
        guard=And(_has_something_to_send(pipeline), Not(pipeline.recovery.has_stopped(pipeline))),
        updates=effect.updates,
        sentence=lambda before, after: (
            "another partition's next record is refused as out of order: the producer, the same for both, stops "
            "permanently (a fatal error)"
        ),
        semantics="4.1, 4.3",
        fault=Fault.FAILURE_ELSEWHERE,
    )


def _has_something_to_send(pipeline: Pipeline) -> z3.BoolRef:
    return Or(*(Or(batch.is_(Fate.UNSENT), batch.incomplete) for batch in pipeline.producer.batches))
