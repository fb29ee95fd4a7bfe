"""What is explored of a deployment: how large it is, and which faults can happen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from model.faults import ONCE, Fault


@dataclass(frozen=True)
class Bounds:
    """How large a pipeline is explored.

    ``records``: records the application sends; ``log``: slots of each replica's log (records);
    ``sends``: how often the application may send the same record (1 = never again);
    ``epochs``: leader epochs, and ``producer_epochs``: producer epochs within one producer session.
    """

    records: int = 2
    log: int = 3
    sends: int = 2
    epochs: int = 7
    producer_epochs: int = 2


MOST_OF_A_KIND = 9
"""How many faults of a kind can happen when nothing limits them: more than any exploration of combinations reaches."""


def most_of(kind: Fault) -> int:
    """How many faults of this kind can happen when nothing limits them."""
    return 1 if kind in ONCE else MOST_OF_A_KIND


@dataclass(frozen=True)
class FaultBudget:
    """Which faults are assumed possible.

    ``total``: faults altogether, or None to raise the total layer by layer until time runs out;
    ``at_most``: fault kind -> how many of it (kinds that are absent cannot happen at all); ``any_number``: kinds that
    can happen any number of times, which is decided where the state space closes (then there is no total).
    """

    total: int | None
    at_most: tuple[tuple[str, int], ...]
    any_number: tuple[str, ...] = ()

    @property
    def is_open_ended(self) -> bool:
        """Whether nobody named a total: each property is explored as far as its answer asks for."""
        return self.total is None and not self.any_number

    @classmethod
    def allowing(cls, sets: Iterable[tuple[tuple[str, int], ...]]) -> FaultBudget:
        """The smallest budget with which each of these sets of faults (kind and count) can happen."""
        most: dict[str, int] = {}
        total = 0
        for one in sets:
            total = max(total, sum(count for _, count in one))
            for kind, count in one:
                most[kind] = max(count, most.get(kind, 0))
        return cls(total, tuple(sorted(most.items())))

    def allows(self, faults: Iterable[tuple[str, int]]) -> bool:
        """Whether these faults (kind and count) can happen together."""
        counts, most = dict(faults), dict(self.at_most)
        few = self.total is None or sum(counts.values()) <= self.total
        return few and all(count <= most.get(kind, 0) for kind, count in counts.items())

    def up_to(self, total: int | None) -> FaultBudget:
        """Return the same kinds with another total of faults; None: no total is named."""
        return FaultBudget(total, self.at_most)

    def without_limits(self) -> FaultBudget:
        """The same kinds, each any number of times."""
        kinds = tuple(kind for kind, _ in self.at_most)
        return FaultBudget(None, tuple((kind, MOST_OF_A_KIND) for kind in kinds), kinds)

    def __post_init__(self) -> None:
        if problem := self.problem(self.total, self.at_most, self.any_number):
            raise ValueError(problem)

    @staticmethod
    def problem(total: int | None, at_most: tuple[tuple[str, int], ...], any_number: tuple[str, ...]) -> str | None:
        """Why these make no budget, or None. A kind that a model is to allow any number of must not have a limit."""
        if any_number and total is not None:
            return f"any number of {', '.join(any_number)} goes with no total"
        limited = [kind for kind in any_number if dict(at_most).get(kind) != MOST_OF_A_KIND]
        return f"any number of {', '.join(limited)} goes with no limit of its own" if limited else None
