"""Which bits of a packed state say who owns it: those of the control plane, which few steps change.

If the owner depends on what changes rarely, most successors of a state stay with it, and a partition can close over
long ways on its own. What changes rarely is measured, on random walks: variables are taken one by one, each time the
one that makes the work of the largest partition least, until none makes it less. Whatever is chosen, the search finds
the same; only its cost depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.kernel import closing
from checker.kernel.layout import Layout, Words
from checker.kernel.native import Kernel

WALKS, STEPS = 250, 100
"""Random walks from the initial state, and how many steps each takes at most."""
A_FAULT = 0.05
"""How often a walk takes a fault instead of a step."""
MOVING = 4.0
"""What a step that leaves its partition costs, as a multiple of one that does not."""


@dataclass(frozen=True)
class ControlPlane:
    """The variables that decide who owns a state, and their bits, a word for each of a packed state."""

    variables: tuple[str, ...]
    mask: tuple[int, ...]


def control_plane(
    layout: Layout, kernel: Kernel, own: Sequence[str], faults: Sequence[str], initial: Words, partitions: int
) -> ControlPlane:
    """The variables that together make the work of the largest partition least, as far as taking one by one finds them.

    ``own`` and ``faults`` name the kernel's functions: a search takes a fault once, and then steps of its own.
    """
    states, differences = _walk(kernel, own, faults, initial)

    def cost(names: Sequence[str]) -> float:
        """The work of the largest partition, as a multiple of its share if no step left its partition."""
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
    """The different states of some random walks, and which bits the own steps from them change."""
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
