"""Fault sets by kind, for all explorations: containment, and the smallest of several fault sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from proofka.checker.exploration import AnyExploration, Violation
from proofka.model.faults import Fault
from proofka.properties.verdict import CutSet

Faults = Mapping[Fault, int]

One = TypeVar("One")


def smallest(found: Sequence[One], faults_in: Callable[[One], Faults]) -> list[One]:
    """Return the items whose fault sets contain no other item's fault set."""
    faults = [faults_in(one) for one in found]
    return [
        one
        for one, mine in zip(found, faults, strict=True)
        if not any(is_part(other, mine) and other != mine for other in faults)
    ]


def faults_of(exploration: AnyExploration, violation: Violation) -> Faults:
    """Count the faults of a violation, by kind."""
    pairs = zip(exploration.kinds, violation.combination, strict=True)
    return Counter({kind: count for kind, count in pairs if count})


def is_part(part: Faults, whole: Faults) -> bool:
    """Tell whether each fault occurs in ``part`` at most as often as in ``whole``."""
    return all(count <= whole.get(kind, 0) for kind, count in part.items())


def named(faults: Faults) -> CutSet:
    """Return a fault set in the form used in verdicts."""
    return tuple(sorted((kind.value, count) for kind, count in faults.items() if count))
