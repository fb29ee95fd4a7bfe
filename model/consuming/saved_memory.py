"""Saves of what the consumer has in memory, which the application makes at any time, apart from offsets (12.1)."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.language import Action, Effect
from proofka.model.language.terms import And, Or
from proofka.model.state.pipeline import Pipeline
from proofka.model.state.sink import Applied


def save(pipeline: Pipeline, applied: Applied) -> Action:
    """Save what was processed so far, with which the next process begins; the committed offset stays (12.1)."""
    effect = Effect()
    for count, saved in zip(applied.effects, applied.saved, strict=True):
        effect[saved] = count.term
    something_new = Or(*(saved.term != count.term for count, saved in zip(applied.effects, applied.saved, strict=True)))
    return Action(
        "save_memory",
        "consumer",
        lane="consumer",
        arguments={},
        guard=And(pipeline.consumer.running.is_set, something_new),
        updates=effect.updates,
        sentence=lambda before, after: "the application saves what its consumer has in memory, without the offset",
        semantics="12.1",
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the saves of an application that keeps results in memory and saves them."""
    if pipeline.applied is not None and pipeline.applied.saved:
        yield save(pipeline, pipeline.applied)
