"""The group's committed offsets when the brokers' offsets topic loses something (semantics 11.4, 12)."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.model.deployment.choices import Group
from proofka.model.deployment.implied.commits import offsets_may_be_lost
from proofka.model.faults import Fault
from proofka.model.language import Action
from proofka.model.language.terms import And, IntVal, Not
from proofka.model.state.consumer import EXPIRED
from proofka.model.state.pipeline import Pipeline


def lose_offsets(pipeline: Pipeline, *, kept: bool) -> Action:
    """Let the group's partition of ``__consumer_offsets`` lose its end, or everything (semantics 11.4, 12 C8).

    Only a consumer that starts asks for committed offsets, so the loss is shown right before a start. ``kept``: what
    the group had committed before the first record is still there. If a later commit survived, the group would repeat
    less, and skip no more.
    """
    consumer = pipeline.consumer
    least, left = (0, 0) if kept else (-1, EXPIRED)
    lost = "the latest commits" if kept else "every commit"
    return Action(
        "lose_offsets",
        "brokers",
        lane="brokers",
        arguments={"kept": int(kept)},
        guard=And(Not(consumer.running.is_set), consumer.committed.term > least),
        updates={consumer.committed: IntVal(left), consumer.committed_epoch: IntVal(0)},
        sentence=lambda before, after: (
            f"the brokers lose {lost} of the group: its committed offset is "
            + (f"{after[consumer.committed.name]} again" if kept else "gone")
        ),
        semantics="11.4",
        fault=Fault.LOST_OFFSETS,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Yield the losses of committed offsets, where the deployment names that fault."""
    if offsets_may_be_lost(pipeline.deployment):
        if pipeline.deployment.application.group is Group.ESTABLISHED:
            yield lose_offsets(pipeline, kept=True)
        yield lose_offsets(pipeline, kept=False)
