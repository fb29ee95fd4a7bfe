"""What an audit of many deployments came to, in figures: plain values that reports print and draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from properties.verdict import CutSet, Status


class Stage(StrEnum):
    """What an audit does, in this order."""

    STARTING = "starting"
    READING = "reading"
    SIGNING = "signing"
    EXPLORING = "exploring"
    SPREADING = "exploring what needs all of them"
    WRITING = "writing"


@dataclass(frozen=True)
class AuditProgress:
    """A live reading of a running audit: ``done`` of ``total`` questions or systems, 0 of 0 where nobody counts.

    ``violated``: how many systems violate a property that one of their deployments requires. ``seconds_left`` of this
    stage, an estimate; None while there is none.
    """

    stage: Stage
    done: int = 0
    total: int = 0
    violated: int = 0
    seconds_left: float | None = None


@dataclass(frozen=True)
class PropertyCount:
    """How many deployments have which verdict on a property. ``required``: how many require it.

    ``cut_sets``: the most common smallest fault sets, each with the number of deployments that it violates;
    ``more``: how many others there are.
    """

    property: str
    statuses: Mapping[Status, int]
    required: int
    cut_sets: Sequence[tuple[CutSet, int]]
    more: int


@dataclass(frozen=True)
class AuditSummary:
    """An audit in figures. ``reasons``: why rows were rejected, the most common first, with their numbers of rows;
    ``more_reasons``: how many others there are.

    ``systems`` distinct systems stand for all ``deployments``; ``explored`` of them were explored now, the others were
    known. ``worst``: how many deployments have which status as the worst of those on the properties they require.
    """

    deployments: int
    rejected: int
    reasons: Sequence[tuple[str, int]]
    more_reasons: int
    systems: int
    explored: int
    properties: Sequence[PropertyCount]
    worst: Mapping[Status, int]
    seconds: float


@dataclass(frozen=True)
class Portion:
    """Some deployments of an audit, and how many of them have which status on each property.

    ``values``: what they share, as settings with values; or one pair of nothing and a name.
    """

    values: tuple[tuple[str, str], ...]
    deployments: int
    statuses: Mapping[str, Mapping[Status, int]]

    def share(self, name: str, status: Status) -> float:
        """The part of them with this status on a property, from 0 to 1."""
        counts = self.statuses.get(name, {})
        return counts.get(status, 0) / (sum(counts.values()) or 1)


@dataclass(frozen=True)
class Tolerance:
    """How many faults some deployments stand: ``group`` and ``label`` say which ones, or which property of all.

    ``fewest``: with how many faults how many of them are violated; ``undecided``: how many may be; ``safe``: how many
    are not, within the bounds; ``vacuous``: how many are not because what is spoken of never happened.
    """

    group: str
    label: str
    fewest: Mapping[int, int]
    safe: int
    vacuous: int
    undecided: int


@dataclass(frozen=True)
class Influence:
    """What makes the difference between deployments, for figures. ``required``: the properties that some require.

    ``by_value``: a portion for each value of each setting that changes a verdict, the one that does so most often
    first; only of deployments that are there with every value, all else alike. ``without``: settings that change no
    verdict; ``apart``: settings for which nothing can be compared so. ``by_combination``: a portion for each
    combination of values of a few settings, which tell most of the verdicts; ``by_outcome``: a portion for each set of
    verdicts that some deployment has, the most common first, where no settings are known.
    """

    required: Sequence[str]
    by_value: Sequence[Portion]
    without: Sequence[str]
    apart: Sequence[str]
    by_combination: Sequence[Portion]
    by_outcome: Sequence[Portion]
    tolerance: Sequence[Tolerance]
