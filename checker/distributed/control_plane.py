"""The bits of a packed state that determine its owner: the bits of the control plane, which few steps change.

If the owner depends on rarely changing variables, most successors of a state stay in its partition. Then a partition
can search long paths alone. Random walks measure the changes. Variables are chosen one by one, each time the variable
that minimises the work of the largest partition, until no variable reduces this work. The choice affects only the cost
of the search, never its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofka.checker.kernel import closing
from proofka.checker.kernel.layout import Layout, Words
from proofka.checker.kernel.native import Kernel

WALKS, STEPS = 250, 100
"""Number of random walks from the initial state, and the largest number of steps of each."""
A_FAULT = 0.05
"""Probability that a walk takes a fault instead of a step."""
MOVING = 4.0
"""Cost of a step that leaves its partition, as a multiple of the cost of a step that stays."""


@dataclass(frozen=True)
class ControlPlane:
    """The variables that determine the owner of a state, and their bits, a word for each word of a packed state."""

    variables: tuple[str, ...]
    mask: tuple[int, ...]


def control_plane(
    layout: Layout, kernel: Kernel, own: Sequence[str], faults: Sequence[str], initial: Words, partitions: int
) -> ControlPlane:
    """Return variables that together minimise the work of the largest partition, found by choosing one at a time.

    ``own`` and ``faults`` name the kernel's functions: a search takes a fault once, and then steps of its own.
    """
    states, differences = _walk(kernel, own, faults, initial)

    def cost(names: Sequence[str]) -> float:
        """Return the work of the largest partition, as a multiple of its share if no step left its partition."""
        mask = _mask(layout, names)
        owned = closing.count_by_owner(states, mask, partitions)
        leaving = np.count_nonzero((differences & mask).any(axis=1)) / max(len(differences), 1)
        return float(owned.max() * partitions / len(states) * (1 + MOVING * leaving))

    chosen: list[str] = []
    least = cost(chosen)
    others = [name for name in layout.fields if len(np.unique(states & _mask(layout, [name]), axis=0)) > 1]
    while others:
        costs = {name: cost([*chosen, name]) for name in others}
        best = min(others, key=lambda name: (costs[name], name))
        if costs[best] >= least:
            break
        least = costs[best]
        chosen.append(best)
        others.remove(best)
    return ControlPlane(tuple(chosen), tuple(int(word) for word in _mask(layout, chosen)))


def _walk(
    kernel: Kernel, own: Sequence[str], faults: Sequence[str], initial: Words
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the different states of some random walks, and the bits that the own steps from these states change."""
    random = np.random.default_rng(0)
    words = len(initial)
    room = np.empty((sum(kernel.most_successors[name] for name in (*own, *faults)), words + 1), dtype=np.uint64)
    visited: dict[bytes, Words] = {}
    differences = []

    def successors(functions: Sequence[str], state: Words) -> NDArray[np.uint64]:
        count = 0
        for function in functions:
            count += kernel.expand(function, state, room[count:])
        return room[:count, :words]

    for _ in range(WALKS):
        state = initial
        for _ in range(STEPS):
            following = successors(own, state)
            if state.tobytes() not in visited:
                visited[state.tobytes()] = state
                differences.append(following ^ state)
            if faults and (not len(following) or random.random() < A_FAULT):
                following = successors(faults, state)
            if not len(following):
                break
            state = following[random.integers(len(following))].copy()
    return np.array(list(visited.values())), np.concatenate([np.empty((0, words), np.uint64), *differences])


def _mask(layout: Layout, names: Sequence[str]) -> NDArray[np.uint64]:
    mask = np.zeros(layout.words, dtype=np.uint64)
    for name in names:
        field = layout.fields[name]
        mask[field.word] |= np.uint64(field.mask)
    return mask
