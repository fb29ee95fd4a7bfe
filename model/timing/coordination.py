"""The time until a coordinator of transactions serves again after a fault (semantics 11.1; docs/semantics.md, Time)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import z3

from proofka.model.language import Duration
from proofka.model.state.pipeline import Pipeline
from proofka.model.timing.part import until_dropped
from proofka.model.transactions.coordinator import coordinator_returns


@dataclass(frozen=True)
class Return:
    """A situation in which a coordinator serves again in time.

    ``name`` ends the names of clocks. ``within``: the longest time from the begin of the situation until every broker
    knows a coordinator that serves, and what it writes is replicated. A question by a leader waits for that as well:
    brokers ask for several producers at once, and the answer waits for partitions that are added (11.5).
    """

    name: str
    holds: z3.BoolRef
    within: Duration


def returns_of_coordinator(pipeline: Pipeline) -> Iterator[Return]:
    """Yield the situations after a fault in which a coordinator serves again in time.

    While a follower is slow, what the coordinator writes waits until its leader has dropped this follower from the ISR.
    """
    times = pipeline.deployment.durations
    serves = Duration.of(times.coordinator) + Duration.of(times.metadata)
    dropped = serves + until_dropped(pipeline)
    for name, beside_slow, within in (("after_fault", False, serves), ("beside_slow", True, dropped)):
        holds = coordinator_returns(pipeline, beside_slow=beside_slow)
        if not z3.is_false(holds):
            yield Return(name, holds, within)
