"""What becomes of a group's committed offsets if the brokers' topic of them loses something (semantics 11.4, 12)."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from model.deployment.choices import Group
from model.faults import Fault
from model.language import Action
from model.state import EXPIRED, Pipeline


def lose_offsets(pipeline: Pipeline, *, kept: bool) -> Action:
    """The group's partition of ``__consumer_offsets`` loses its end, or all that it had (semantics 11.4, 12 C8).

    Only a consumer that starts asks for what is committed, so that the loss is shown right before. ``kept``: what the
    group had committed before the first record is still there. A later commit would repeat less, and skip no more.
    """
    consumer = pipeline.consumer
    least, left = (0, 0) if kept else (-1, EXPIRED)
    lost = "the latest commits" if kept else "every commit"
    return Action(
        "lose_offsets",
        "brokers",
        lane="brokers",
        arguments={"kept": int(kept)},
        guard=z3.And(z3.Not(consumer.running.is_set), consumer.committed.term > least),
        updates={consumer.committed: z3.IntVal(left), consumer.committed_epoch: z3.IntVal(0)},
        sentence=lambda before, after: (
            f"the brokers lose {lost} of the group: its committed offset is "
            + (f"{after[consumer.committed.name]} again" if kept else "gone")
        ),
        semantics="11.4",
        fault=Fault.LOST_OFFSETS,
    )


def actions(pipeline: Pipeline) -> Iterator[Action]:
    """Every way to lose what a group committed, where that is asked about."""
    if pipeline.deployment.offsets_may_be_lost:
        if pipeline.deployment.group is Group.ESTABLISHED:
            yield lose_offsets(pipeline, kept=True)
        yield lose_offsets(pipeline, kept=False)
