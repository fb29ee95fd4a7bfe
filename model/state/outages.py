"""Traces of faults in the state: the coordinator can have moved, and readers can have had to wait."""

from __future__ import annotations

from proofka.model.language import Effect
from proofka.model.state.pipeline import Pipeline


def note_disturbance(pipeline: Pipeline, effect: Effect) -> None:
    """Remember that some broker was away, slow or replaced: the coordinator of transactions can be another one now."""
    pipeline.sending.note_disturbance(pipeline, effect)


def note_outage_of_brokers(pipeline: Pipeline, effect: Effect) -> None:
    """Remember that some broker was away or no longer leads, so that clients have to find out whom to ask."""
    note_disturbance(pipeline, effect)
    effect[pipeline.history.brokers_were_out] = True


def note_outage_of_consumer(pipeline: Pipeline, effect: Effect) -> None:
    """Remember that the group was without its consumer, where that decides whether a record is read in time."""
    effect[pipeline.history.consumer_was_out] = True
