"""A consumer that brokers keep from reading while the cleaner counts the time of a tombstone (semantics 10, D4)."""

from __future__ import annotations

import z3

from proofka.model.language import Effect
from proofka.model.language.terms import And, Not, Or
from proofka.model.state.pipeline import Pipeline
from proofka.model.state.shared_terms import shared


@shared
def is_unserved(pipeline: Pipeline) -> z3.BoolRef:
    """Tell whether the consumer waits for an outage of brokers, whose end nothing limits, while a tombstone ages.

    The outage is one of these: there is no leader; some broker is cut off, and can mislead whoever asks it; a leader
    waits for its ISR before it shows what is committed (from 3.7 on; semantics 2), or for a transaction to end.
    """
    reasons = [pipeline.controller.leader.term == 0, *(broker.cut_off.is_set for broker in pipeline.replicas)]
    if pipeline.deployment.cluster.high_watermark_needs_min_isr:
        for leader in pipeline.replicas:
            reasons.append(And(leader.presumes_leadership, Not(pipeline.enough_in_sync(leader))))
    for leader in pipeline.replicas:
        for waits_for_end in pipeline.sending.is_left_open(pipeline, leader):
            reasons.append(And(leader.presumes_leadership, waits_for_end))
    waits = Or(*reasons)
    marked = None if pipeline.compacted is None else pipeline.compacted.marked
    return waits if marked is None else And(marked.is_set, waits)


def note_unserved(pipeline: Pipeline, effect: Effect) -> None:
    """Remember that the consumer has to wait, if it does so after the assignments so far.

    Every action that such an outage can begin with calls this last.
    """
    unserved = None if pipeline.compacted is None else pipeline.compacted.unserved
    if unserved is not None:
        after = ((variable.term, value) for variable, value in effect.updates.items())
        effect.set_when(z3.substitute(is_unserved(pipeline), *after), unserved, 1)
