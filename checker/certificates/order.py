"""The lexicographic order of packed states, from the order of their halves: one sort of one word for each state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofka.checker.kernel.components import NUMBER_BITS, Components
from proofka.checker.kernel.table import LOW_HALF


@dataclass(frozen=True)
class Order:
    """The order of the states of an exploration, by their words (checker/kernel/components.py).

    ``places``: for each dictionary, the place of each half among the sorted halves. States without a dictionary are
    their words.
    """

    places: tuple[NDArray[np.uint64], ...]

    @classmethod
    def of(cls, components: Components) -> Order:
        """Return the order of all states that an exploration has found."""
        return cls(
            tuple(
                _places(components.halves(number, 0, count).reshape(count, -1))
                for number, count in enumerate(components.counts)
            )
        )

    def sort(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the indexes of the words of states, in the order of the states."""
        keys = words
        if self.places:
            first, second = self.places
            keys = first[words & np.uint64(LOW_HALF)] << np.uint64(NUMBER_BITS)
            keys |= second[words >> np.uint64(NUMBER_BITS)]
        return np.argsort(keys).astype(np.int64, copy=False)


def _places(halves: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the place of each half among the sorted halves, by number; all 0 for halves without words."""
    places = np.zeros(len(halves), dtype=np.uint64)
    if halves.shape[1]:
        places[np.lexsort(halves.T[::-1])] = np.arange(len(halves), dtype=np.uint64)
    return places
