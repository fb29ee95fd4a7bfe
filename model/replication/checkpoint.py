"""The high watermark that a broker wrote down last before it ended (semantics 5, L5 L7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import z3

from proofka.model.language import Effect, State
from proofka.model.language.terms import And
from proofka.model.state.pipeline import Pipeline, Replica


class Checkpoint:
    """The checkpoint where its value decides nothing: the broker's end keeps the known high watermark."""

    @property
    def arguments(self) -> Mapping[str, int]:
        """The arguments that the checkpoint adds to the end of a broker."""
        return {}

    def while_known(self, effect: Effect, replica: Replica, guard: z3.BoolRef) -> z3.BoolRef:
        """Return the guard of a broker's end, which has ``effect`` so far: the broker has known the checkpoint."""
        return guard

    def write_down(self, effect: Effect, replica: Replica) -> None:
        """Leave the checkpoint as the high watermark of the broker that ends."""

    def in_words(self, replica: Replica, before: State, after: State) -> str:
        """Return the words for a checkpoint older than the high watermark; empty if the checkpoint is as new."""
        return ""


@dataclass(frozen=True)
class Checkpointed(Checkpoint):
    """The checkpoint ``value``, which can be any high watermark that the broker has known."""

    value: int

    @property
    def arguments(self) -> Mapping[str, int]:
        return {"checkpointed": self.value}

    def while_known(self, effect: Effect, replica: Replica, guard: z3.BoolRef) -> z3.BoolRef:
        return And(guard, effect[replica.high_watermark] >= self.value)

    def write_down(self, effect: Effect, replica: Replica) -> None:
        effect[replica.high_watermark] = self.value

    def in_words(self, replica: Replica, before: State, after: State) -> str:
        known = min(before[replica.high_watermark.name], after[replica.log.end.name])
        return f", with the high watermark {self.value} written down" if self.value < known else ""


def checkpoints(pipeline: Pipeline, replica: Replica) -> Sequence[Checkpoint]:
    """Return the checkpoints that a broker can end with."""
    if pipeline.deployment.cluster.truncation.high_watermark_decides:
        return [Checkpointed(value) for value in range(replica.log.capacity + 1)]
    return [Checkpoint()]
