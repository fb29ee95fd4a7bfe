"""Transfer from memory to files: the result of an embedded exploration becomes the beginning of a distributed one.

Complete combinations are handed over. The combination without faults is also handed over if its search was incomplete,
with its unexpanded rows. An incomplete combination with faults begins again, because its search depends on the faults
of smaller combinations, not only on its own rows.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proofka.checker.combinations import Combination, without_one
from proofka.checker.distributed.exploration import DistributedExploration
from proofka.checker.distributed.plan import Plan, Report
from proofka.checker.distributed.region import Region
from proofka.checker.distributed.spread import ROW_BITS, SpreadStates
from proofka.checker.distributed.superstep import Commit, too_deep
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.kernel import closing
from proofka.checker.kernel.closing import DEPTH_SHIFT, MOST_DEPTH, SOURCE_SHIFT
from proofka.checker.kernel.visited import PARTITION_BITS, PARTITIONS
from proofka.checker.shard import INITIAL_STATE, Shard

BEGUN = 0
"""The superstep whose result the handed-over states are."""


@dataclass(frozen=True)
class _Renumbered:
    """The new places of the rows of a shard: the new reference of each row, by its partition in the shard.

    ``ends[d]`` holds the number of rows less deep than ``d`` in each new partition.
    """

    places: list[NDArray[np.uint64]]
    ends: NDArray[np.int64]

    def reference(self, reference: int) -> int:
        """Return the new reference of a state."""
        return int(self.places[reference % PARTITIONS][reference >> PARTITION_BITS])


def hand_over(embedded: EmbeddedExploration, distributed: DistributedExploration) -> None:
    """Let ``distributed``, which has the same question and has not begun, continue from the last layer of ``embedded``.

    The transfer takes another eight bytes of memory for each state. Raise OSError if there is no room for the files,
    and :class:`checker.distributed.region.RegionError` if path lengths or numbers of states are too large.
    """
    places: dict[Combination, _Renumbered] = {}
    last = len(embedded.layers) - 1
    with distributed.folder.handing_over():
        for combination in sorted(embedded.shards, key=lambda one: (sum(one), one)):
            shard = embedded.shards[combination]
            if not shard.complete and (any(combination) or not shard.segments):
                continue
            places[combination] = _renumber(shard, distributed.plan)
            states = _write(shard, places, distributed.plan)
            if not shard.complete:
                distributed.folder.note(BEGUN, {combination: states})
            else:
                distributed.folder.keep(states)
                if sum(combination) < last:
                    distributed.adopt(states)
    for name, violations in embedded.violations.items():
        distributed.violations[name] += [
            replace(violation, reference=places[violation.combination].reference(violation.reference))
            for violation in violations
            if sum(violation.combination) < last
        ]
    distributed.undecided |= embedded.undecided
    distributed.aside |= embedded.aside
    distributed.layers += embedded.layers[:last]
    distributed.go_on()


def _renumber(shard: Shard, plan: Plan) -> _Renumbered:
    """Number rows again, in the order of their depth, in the partition that owns them."""
    mask = np.array(plan.mask, dtype=np.uint64)
    places = [np.empty(int(count), dtype=np.uint64) for count in shard.counts]
    counts = np.zeros(plan.partitions, dtype=np.int64)
    ends = [counts.copy()]
    for begin, end in pairwise(shard.level_starts()):
        for part in range(PARTITIONS):
            these = slice(int(begin[part]), int(end[part]))
            closing.number_by_owner(shard.packed(part, these), mask, counts, places[part][these])
        ends.append(counts.copy())
    return _Renumbered(places, np.array(ends))


def _write(shard: Shard, places: dict[Combination, _Renumbered], plan: Plan) -> SpreadStates:
    """Write the rows of each partition in their order, and commit them."""
    with _many_open_files(3 * plan.partitions):
        return _write_all(shard, places, plan)


@contextmanager
def _many_open_files(count: int) -> Iterator[None]:
    """Allow ``count`` more open files within the block, as far as the system permits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = soft + count if hard == resource.RLIM_INFINITY else min(soft + count, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _write_all(shard: Shard, places: dict[Combination, _Renumbered], plan: Plan) -> SpreadStates:
    mine = places[shard.combination]
    regions = [Region(plan.place(shard.combination, partition), plan.words) for partition in range(plan.partitions)]
    for region, count in zip(regions, mine.ends[-1], strict=True):
        region.reserve(int(count))
    targets = np.array([region.place for region in regions])
    own = len(plan.own_functions)
    parts = list(without_one(shard.combination))
    for depth, source, slices in _segments(shard):
        if depth + 1 >= MOST_DEPTH:
            raise too_deep()
        kind, smaller = parts[source - own] if source >= own else (-1, shard.combination)
        common = depth << DEPTH_SHIFT | (own + kind if kind >= 0 else source) << SOURCE_SHIFT
        for part, these in enumerate(slices):
            if these.start == these.stop:
                continue
            _, found_from = shard.rows(part)
            origins = _origins(found_from[these], places[smaller], common)
            closing.scatter(shard.packed(part, these), origins, mine.places[part][these], targets)
    reports = tuple(_commit(shard, mine, plan, region, partition) for partition, region in enumerate(regions))
    cut_short = shard.complete and not shard.closed
    return SpreadStates(shard.combination, shard.complete, 0, reports, cut_short)


def _segments(shard: Shard) -> Iterator[tuple[int, int, list[slice]]]:
    """Yield depth and source of each segment, and its rows by partition of the shard."""
    starts = [segment.starts for segment in shard.segments]
    for segment, end in zip(shard.segments, [*starts, shard.counts][1:], strict=True):
        yield (
            segment.depth,
            segment.source,
            [slice(int(first), int(after)) for first, after in zip(segment.starts, end, strict=True)],
        )


def _origins(found_from: NDArray[np.uint32], parents: _Renumbered, common: int) -> NDArray[np.uint64]:
    """Return the origins of rows that have depth and source in ``common``."""
    origins = np.full(len(found_from), common, dtype=np.uint64)
    for part in range(PARTITIONS):
        is_here = (found_from & np.uint32(PARTITIONS - 1) == part) & (found_from != np.uint32(INITIAL_STATE))
        these = np.flatnonzero(is_here)
        origins[these] |= parents.places[part][found_from[these] >> np.uint32(PARTITION_BITS)]
    return origins


def _commit(shard: Shard, renumbered: _Renumbered, plan: Plan, region: Region, partition: int) -> Report:
    """Commit the rows of one partition. The first partition reports the totals of all partitions."""
    ends = renumbered.ends[:, partition].tolist()
    region.adopt(ends[-1])
    segments = [(depth, first, after) for depth, (first, after) in enumerate(pairwise(ends)) if after > first]
    pending = [] if shard.complete else [segment for segment in segments if segment[0] >= shard.depth_done]
    made = shard.transition_count if shard.complete else shard.transitions_done
    report = Report(
        combination=shard.combination,
        partition=partition,
        states=region.states,
        bytes=region.size,
        entered=region.count,
        replaced=0,
        expanded=0,
        sent=(0,) * plan.partitions,
        sent_from=None,
        levels=tuple(after - first for first, after in pairwise(ends)),
        transitions=(made,) if partition == 0 else (),
        first=tuple(_first(shard, renumbered, bit, partition) for bit in range(plan.predicates)),
        held=tuple(shard.held_in(bit) * (partition == 0) for bit in range(plan.predicates * plan.counted)),
        seconds=0.0,
        peak=0,
        waiting=bool(pending),
    )
    Commit(
        BEGUN,
        plan.run,
        region.commit(),
        segments,
        pending,
        list(report.levels),
        list(report.transitions),
        list(report.first),
        list(report.held),
        vars(report),
    ).write(region.folder)
    region.close(committed=True)
    return report


def _first(shard: Shard, renumbered: _Renumbered, predicate: int, partition: int) -> tuple[int, int]:
    """Return depth and row of a state of least depth in which a predicate held, if this partition has the state."""
    reference = shard.first_with(predicate)
    owner, row = (-1, -1) if reference is None else divmod(renumbered.reference(reference), 1 << ROW_BITS)
    return (shard.depth_of(reference), row) if reference is not None and owner == partition else (0, -1)
