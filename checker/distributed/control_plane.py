"""Which bits of a packed state say who owns it: those of the control plane, which few steps change.

If the owner depends on what changes rarely, most successors of a state stay with it, and a partition can close over
long ways on its own. What changes rarely is measured, on random walks: variables are taken in the order of how many
steps change them, as many of them as make the work of the largest partition least. Whatever is chosen, the search finds
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
MOVING = 4.0
"""What a step that leaves its partition costs, as a multiple of one that does not."""


@dataclass(frozen=True)
class ControlPlane:
    """The variables that decide who owns a state, and their bits, a word for each of a packed state."""

    variables: tuple[str, ...]
    mask: tuple[int, ...]


def control_plane(
    layout: Layout, kernel: Kernel, functions: Sequence[str], initial: Words, partitions: int
) -> ControlPlane:
    """As many of the variables that change least often as make the work of the largest partition least."""
    states, differences = _walk(kernel, functions, initial)
    changed = {
        name: int(np.count_nonzero(differences[:, field.word] & np.uint64(field.mask)))
        for name, field in layout.fields.items()
    }
    by_rarity = sorted((name for name in changed if changed[name]), key=lambda name: (changed[name], name))
    candidates = [by_rarity[:count] for count in range(1, len(by_rarity) + 1)]

    def cost(names: Sequence[str]) -> float:
        """The share of the largest partition, and how many steps leave theirs."""
        mask = _mask(layout, names)
        owned = closing.count_by_owner(states, mask, partitions)
        leaving = np.count_nonzero((differences & mask).any(axis=1)) / max(len(differences), 1)
        return float(owned.max() * partitions / len(states) * (1 + MOVING * leaving))

    best = min(candidates, key=cost, default=[])
    return ControlPlane(tuple(best), tuple(int(word) for word in _mask(layout, best)))


def _walk(kernel: Kernel, functions: Sequence[str], initial: Words) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The different states of some random walks, and which bits the steps from them change."""
    random = np.random.default_rng(0)
    words = len(initial)
    room = np.empty((sum(kernel.most_successors[name] for name in functions), words + 1), dtype=np.uint64)
    visited: dict[bytes, Words] = {}
    differences = []
    for _ in range(WALKS):
        state = initial
        for _ in range(STEPS):
            count = 0
            for function in functions:
                count += kernel.expand(function, state, room[count:])
            if not count:
                break
            successors = room[:count, :words]
            if state.tobytes() not in visited:
                visited[state.tobytes()] = state
                differences.append(successors ^ state)
            state = successors[random.integers(count)].copy()
    return np.array(list(visited.values())), np.concatenate([np.empty((0, words), np.uint64), *differences])


def _mask(layout: Layout, names: Sequence[str]) -> NDArray[np.uint64]:
    mask = np.zeros(layout.words, dtype=np.uint64)
    for name in names:
        field = layout.fields[name]
        mask[field.word] |= np.uint64(field.mask)
    return mask
