"""Fault sets that a timed re-exploration for one property excludes for other properties that see the same part."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.checker.combinations import smaller
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.questions import VIOLATED
from proofka.properties.verdict import CutSet


def not_violated(exploration: EmbeddedExploration) -> Iterator[tuple[str, CutSet]]:
    """Yield the observed properties, each with the fault sets whose runs, also those with part of the faults, were all
    explored and do not violate the property.
    """
    if exploration.wanted.tables:
        # States from which the other properties can be violated were perhaps left out.
        return
    first = len(exploration.question.invariants)
    observed = [
        (name.removeprefix(VIOLATED), 1 << bit)
        for bit, name in enumerate(exploration.question.observations, first)
        if name.startswith(VIOLATED)
    ]
    for combination in exploration.shards:
        shards = [exploration.shards.get(part) for part in [*smaller(combination), combination]]
        found = [shard for shard in shards if shard is not None and shard.closed]
        if len(found) == len(shards):
            for name, bit in observed:
                if not any(shard.seen & bit for shard in found):
                    yield name, exploration.named(combination)
