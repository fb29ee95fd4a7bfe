"""Violations that are possible in time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proofka.checker.timing.fault_sets import Faults, named
from proofka.checker.timing.schedule import Schedule
from proofka.model.faults import Fault
from proofka.model.language import Action, State
from proofka.properties.verdict import CutSet


@dataclass(frozen=True)
class Timely:
    """A violation that is possible in time: the run that leads to it, and the time of each step.

    ``is_shortest``: all shorter runs are known not to violate the property in time.
    """

    combination: Faults
    actions: Sequence[Action]
    states: Sequence[State] | None
    schedule: Schedule
    is_shortest: bool = True

    @property
    def faults(self) -> CutSet:
        """The faults of the run, by name."""
        return named(self.combination)


def in_order(found: Iterable[Timely]) -> list[Timely]:
    """Sort violations: fewer faults first, then shorter runs, then by the order of the fault kinds."""
    return sorted(found, key=lambda one: (sum(one.combination.values()), len(one.actions), _by_kind(one)))


def _by_kind(one: Timely) -> tuple[int, ...]:
    return tuple(-one.combination.get(kind, 0) for kind in Fault)
