"""Fault combinations: multisets of fault kinds, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product

Combination = tuple[int, ...]
"""The number of faults of each kind, in the order of the kinds."""


def layer(size: int, most: Sequence[int]) -> Iterator[Combination]:
    """Yield every fault combination of ``size`` faults with at most ``most[i]`` of kind ``i``."""
    kinds = range(len(most))
    for chosen in combinations_with_replacement(kinds, size):
        counts = tuple(chosen.count(kind) for kind in kinds)
        if all(count <= limit for count, limit in zip(counts, most, strict=True)):
            yield counts


def smaller(combination: Combination) -> Iterator[Combination]:
    """Yield every fault combination strictly contained in this one."""
    for counts in product(*(range(count + 1) for count in combination)):
        if counts != combination:
            yield counts


def without_one(combination: Combination) -> Iterator[tuple[int, Combination]]:
    """Yield each kind in the combination, with the combination that has one fault of this kind less."""
    for kind, count in enumerate(combination):
        if count:
            yield kind, (*combination[:kind], count - 1, *combination[kind + 1 :])


def is_contained(part: Sequence[int], whole: Combination) -> bool:
    """Tell whether each fault kind occurs in ``part`` at most as often as in ``whole``."""
    return all(count <= most for count, most in zip(part, whole, strict=True))
