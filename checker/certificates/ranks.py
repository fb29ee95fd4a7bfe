"""Ranks of states: a step without a fault leads to a state of smaller rank, and the goal holds where the rank is 0.

An exploration that keeps the steps toward the goal gives most states their ranks. The other states are expanded again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.kernel.components import Dictionaries, decode, encode_like
from proofka.checker.kernel.memory import call_expand, call_inspect, load_byte, load_half, load_word
from proofka.checker.kernel.table import hash_of, home
from proofka.checker.kernel.visited import (
    GOAL_HOLDS,
    GOOD,
    LEADS_TO,
    NO_STEP,
    PARTITION_BITS,
    PARTITIONS,
    SLOTS,
    STATES,
    TABLE,
    Places,
    find,
    half_hash_of,
    partition_of,
)
from proofka.checker.shard import Shard

UNRANKED = 0xFFFF
"""The mark of a state without a rank."""

Ranks = list[NDArray[np.uint16]]
"""The ranks of a shard's states, by partition."""


class NotRanked(Exception):
    """A state from which no steps without a fault lead to the goal."""


def ranks_of(exploration: EmbeddedExploration, shard: Shard, parts: Sequence[tuple[Shard, Ranks]]) -> Ranks:
    """Return the ranks of a shard's states. ``parts``: the shards of contained combinations, with their ranks.

    Raise :class:`NotRanked` if some state does not reach the goal.
    """
    assert exploration.goal_bit >= 0, "a question without a goal"
    everything = [shard, *(part for part, _ in parts)]
    counts = [[int(count) for count in one.counts] for one in everything]
    starts = np.zeros((len(everything), PARTITIONS), dtype=np.int64)
    starts.ravel()[1:] = np.cumsum(np.array(counts, dtype=np.int64).ravel())[:-1]
    ranks = np.full(sum(map(sum, counts)), UNRANKED, dtype=np.uint16)
    for number, (_, known) in enumerate(parts, 1):
        for part in range(PARTITIONS):
            ranks[starts[number, part] : starts[number, part] + counts[number][part]] = known[part]
    places = np.array([one.places for one in everything], dtype=np.int64)
    kernel, levels = exploration.kernel, shard.level_starts()
    scratch = np.empty((kernel.most + 2) * (exploration.layout.words + 1), dtype=np.uint64)

    def rank(*, ends_only: bool) -> int:
        return int(
            _rank(
                kernel.addresses["step"],
                kernel.addresses["inspect"],
                1 << exploration.goal_bit,
                exploration.layout.words,
                exploration.components.dictionaries,
                scratch,
                places,
                starts,
                levels,
                ranks,
                ends_only,
            )
        )

    if shard.has_goal:
        rank(ends_only=True)
        _rank_along_steps(shard.places, starts[0], levels, ranks)
    left = rank(ends_only=False)
    if left:
        raise NotRanked(f"{left} states do not reach the goal")
    return [ranks[starts[0, part] : starts[0, part] + counts[0][part]] for part in range(PARTITIONS)]


@njit(cache=True, nogil=True)
def _rank_along_steps(
    shard: Places, starts: NDArray[np.int64], levels: NDArray[np.int64], ranks: NDArray[np.uint16]
) -> None:
    """Give ranks to states in which the goal holds, and along the remembered steps, until nothing changes.

    ``starts``: for each partition, the first of its places in ``ranks``.
    """
    unranked = np.uint16(UNRANKED)
    changed = True
    while changed:
        changed = False
        for depth in range(levels.shape[0] - 2, -1, -1):
            for part in range(PARTITIONS):
                good, leads_to = shard[part, GOOD], shard[part, LEADS_TO]
                for row in range(levels[depth, part], levels[depth + 1, part]):
                    own = starts[part] + row
                    if ranks[own] != unranked:
                        continue
                    if load_byte(good + row) == np.uint8(GOAL_HOLDS):
                        ranks[own] = np.uint16(0)
                        changed = True
                        continue
                    step = np.int64(load_half(leads_to + row * 4))
                    if step == NO_STEP:
                        continue
                    after = ranks[starts[(step - 1) & (PARTITIONS - 1)] + ((step - 1) >> PARTITION_BITS)]
                    if after < unranked - np.uint16(1):
                        ranks[own] = after + np.uint16(1)
                        changed = True


@njit(cache=True, nogil=True)
def _rank(
    step: int,
    inspect: int,
    goal: int,
    words: int,
    dictionaries: Dictionaries,
    scratch: NDArray[np.uint64],
    places: NDArray[np.int64],
    starts: NDArray[np.int64],
    levels: NDArray[np.int64],
    ranks: NDArray[np.uint16],
    ends_only: bool,
) -> int:
    """Rank the states of the first shard, deepest level first, until nothing changes; return the number left.

    A state has one more than the first successor with a rank, which need not be the smallest rank. ``starts``: for each
    shard and partition, the first of its places in ``ranks``. ``ends_only``: pass once, over the states without a
    remembered step, whose steps all lead into other shards.
    """
    packed = scratch.ctypes.data
    out = packed + words * 8
    unranked = np.uint16(UNRANKED)
    left = 1
    changed = True
    while changed and left > 0:
        changed = False
        left = 0
        for depth in range(levels.shape[0] - 2, -1, -1):
            for part in range(PARTITIONS):
                states = places[0, part, STATES]
                for row in range(levels[depth, part], levels[depth + 1, part]):
                    own = starts[0, part] + row
                    if ranks[own] != unranked:
                        continue
                    if ends_only and load_half(places[0, part, LEADS_TO] + row * 4) != np.uint32(NO_STEP):
                        continue
                    before = load_word(states + row * 8)
                    decode(dictionaries, before, packed)
                    if call_inspect(inspect, packed) & np.uint64(goal):
                        ranks[own] = np.uint16(0)
                        changed = True
                        continue
                    found = unranked
                    for number in range(call_expand(step, packed, out)):
                        state = out + number * (words + 1) * 8
                        into = partition_of(hash_of(state, words))
                        word = encode_like(dictionaries, state, packed, before)
                        half = half_hash_of(word)
                        for shard in range(places.shape[0]):
                            place = places[shard, into]
                            if place[SLOTS] == 0:
                                continue
                            index = find(
                                word, half, home(half, place[SLOTS]), place[STATES], place[TABLE], place[SLOTS]
                            )
                            if index >= 0:
                                found = ranks[starts[shard, into] + index]
                                break
                        if found != unranked:
                            break
                    if found < unranked - np.uint16(1):
                        ranks[own] = found + np.uint16(1)
                        changed = True
                    else:
                        left += 1
        if ends_only:
            break
    return left
