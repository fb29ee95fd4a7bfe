"""The explored part of a deployment: its size and its possible faults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from proofka.model.faults import OF_SOME_RELEASES, ONCE, Fault


@dataclass(frozen=True)
class Bounds:
    """The sizes of the explored pipeline.

    ``records``: number of records that the application sends. ``log``: slots of each replica's log (records).
    ``sends``: number of sends of the same record (1 = never again). ``epochs``: number of leader epochs.
    ``producer_epochs``: number of producer epochs within one producer session.
    """

    records: int = 2
    log: int = 3
    sends: int = 2
    epochs: int = 7
    producer_epochs: int = 2


MOST_OF_A_KIND = 9
"""The number of faults of a kind when nothing limits them; no exploration of combinations reaches it."""


def most_of(kind: Fault) -> int:
    """Return the number of faults of this kind when nothing limits them."""
    return 1 if kind in ONCE else MOST_OF_A_KIND


@dataclass(frozen=True)
class FaultBudget:
    """The faults that are assumed possible.

    ``total``: number of faults altogether, or None to raise the total layer by layer until time runs out. ``at_most``:
    fault kinds with their limits; absent kinds cannot happen. ``any_number``: kinds that can happen any number of
    times, which a fixed point decides (``total`` is None then).
    """

    total: int | None
    at_most: tuple[tuple[str, int], ...]
    any_number: tuple[str, ...] = ()

    @cached_property
    def possible(self) -> frozenset[Fault]:
        """The kinds of fault that can happen at least once."""
        return frozenset(Fault(kind) for kind, _ in self.at_most if self.limit_of(Fault(kind)))

    def limit_of(self, kind: Fault) -> int:
        """Return the number of faults of a kind that can happen."""
        most = dict(self.at_most).get(kind, 0)
        return most if self.total is None else min(most, self.total)

    @property
    def is_open_ended(self) -> bool:
        """Tell whether nobody named a total, so that each property is explored as deep as its answer needs."""
        return self.total is None and not self.any_number

    @classmethod
    def allowing(cls, sets: Iterable[tuple[tuple[str, int], ...]]) -> FaultBudget:
        """Return the smallest budget that allows each of these fault sets (kind and count)."""
        most: dict[str, int] = {}
        total = 0
        for one in sets:
            total = max(total, sum(count for _, count in one))
            for kind, count in one:
                most[kind] = max(count, most.get(kind, 0))
        return cls(total, tuple(sorted(most.items())))

    def allows(self, faults: Iterable[tuple[str, int]]) -> bool:
        """Tell whether these faults (kind and count) can happen together."""
        counts, most = dict(faults), dict(self.at_most)
        few = self.total is None or sum(counts.values()) <= self.total
        return few and all(count <= most.get(kind, 0) for kind, count in counts.items())

    def of_release(self, release: FaultBudget) -> FaultBudget:
        """Return these faults without those kinds that only some releases suffer and that ``release`` lacks."""
        lacking = OF_SOME_RELEASES - {Fault(kind) for kind, _ in release.at_most}
        left = tuple((kind, most) for kind, most in self.at_most if kind not in lacking)
        return replace(self, at_most=left, any_number=tuple(kind for kind in self.any_number if kind not in lacking))

    def up_to(self, total: int | None) -> FaultBudget:
        """Return the same kinds with another total of faults; None: no total."""
        return FaultBudget(total, self.at_most)

    def without_limits(self) -> FaultBudget:
        """Return the same kinds, each any number of times."""
        kinds = tuple(kind for kind, _ in self.at_most)
        return FaultBudget(None, tuple((kind, MOST_OF_A_KIND) for kind in kinds), kinds)

    def __post_init__(self) -> None:
        if problem := self.problem(self.total, self.at_most, self.any_number):
            raise ValueError(problem)

    @staticmethod
    def problem(total: int | None, at_most: tuple[tuple[str, int], ...], any_number: tuple[str, ...]) -> str | None:
        """Return the reason for which the values make no budget, or None. A kind with any number of faults must have no
        limit."""
        if any_number and total is not None:
            return f"any number of {', '.join(any_number)} excludes a total; remove one of the two"
        limited = [kind for kind in any_number if dict(at_most).get(kind) != MOST_OF_A_KIND]
        return f"any number of {', '.join(limited)} excludes a limit for this kind" if limited else None
