"""Producers that a starting broker knows from its log: of each only the last batch (semantics 3.5).

The broker takes these from a snapshot, which has room for one batch of each producer, and does not read again what the
snapshot covers.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from proofka.model.language import Effect, State
from proofka.model.language.terms import And, BoolVal, If, Not, Or
from proofka.model.log.log_starts import forgets_in_words, own_start
from proofka.model.state.pipeline import Pipeline, Replica


def is_remembered(
    replica: Replica, these: Sequence[z3.BoolRef], ours: Sequence[z3.BoolRef], *, remembers_one: bool = False
) -> z3.BoolRef:
    """Tell whether the broker knows a batch that ``these`` name: per offset, whether it stands there.

    ``ours``: per offset, whether a batch of the producer stands there. ``remembers_one``: brokers of 0.11, restarted or
    not, know only the producer's last batch.
    """
    if replica.restored is None and not remembers_one:
        return Or(*(And(this) for this in these))
    known = []
    for offset, this in enumerate(these):
        later = ours[offset + 1 :]
        if replica.restored is not None and not remembers_one:
            started = [replica.restored.term > place for place in range(offset + 1, len(ours))]
            later = [And(one, two) for one, two in zip(started, later, strict=True)]
        known.append(And(this, *(Not(one) for one in later)))
    return Or(*known)


def restore_numbers(pipeline: Pipeline, effect: Effect, replica: Replica) -> None:
    """Start a broker, and keep that it forgot something where somebody can ask for that again."""
    own_start(replica).forget_deleted(effect)
    if replica.restored is None:
        return
    batches = pipeline.producer.batches
    # Two records can get the same number: then the number of a record that is over matters as well.
    any_number = pipeline.recovery.numbers_come_again
    forgotten = []
    for offset, slot in enumerate(replica.log.slots):
        for later in range(offset + 1, replica.log.capacity):
            other = replica.log.slots[later]["batch"].term
            pairs = [
                And(
                    slot["batch"].term == one.number,
                    BoolVal(True) if any_number else one.incomplete,
                    *pipeline.sending.is_of_one_id(pipeline, other, one),
                )
                for one in batches
            ]
            forgotten.append(And(replica.log.has(later), Or(*pairs)))
    effect[replica.restored] = If(Or(*forgotten), replica.log.end.term, 0)


def numbers_in_words(replica: Replica, before: State, after: State) -> str:
    """Return the words for what a starting broker has forgotten; empty if it forgot nothing."""
    if forgets_in_words(replica, before, after):
        return ", knowing no producer by what it has deleted"
    forgets = replica.restored is not None and after[replica.restored.name]
    return ", knowing of each producer no batch but the last" if forgets else ""
