"""The time until a coordinator of transactions serves again after a fault (semantics 11.1; docs/semantics.md, Time)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from model.language import Duration
from model.state.pipeline import Pipeline
from model.timing.part import until_dropped
from model.transactions.coordinator import coordinator_returns


@dataclass(frozen=True)
class Return:
    """A situation in which a coordinator serves again in time.

    ``name`` ends the names of clocks. ``answers``: the longest time from the begin of the situation until a coordinator
    answers what it has in memory, and every broker knows which one does. ``writes``: the same until what it writes is
    replicated.
    """

    name: str
    holds: z3.BoolRef
    answers: Duration
    writes: Duration


def returns_of_coordinator(pipeline: Pipeline) -> Iterator[Return]:
    """Yield the situations after a fault in which a coordinator serves again in time.

    While a follower is slow, what the coordinator writes waits until its leader has dropped this follower from the ISR.
    """
    times = pipeline.deployment.durations
    answers = Duration.of(times.coordinator) + Duration.of(times.metadata)
    dropped = answers + until_dropped(pipeline)
    for name, beside_slow, writes in (("after_fault", False, answers), ("beside_slow", True, dropped)):
        holds = coordinator_returns(pipeline, beside_slow=beside_slow)
        if not z3.is_false(holds):
            yield Return(name, holds, answers, writes)
