"""Figures of an audit of many deployments, as plain values for reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from proofka.properties.verdict import CutSet, Status


class Stage(StrEnum):
    """The stages of an audit, in order."""

    STARTING = "starting"
    READING = "reading"
    SIGNING = "signing"
    EXPLORING = "exploring"
    SPREADING = "exploring what needs all of them"
    WRITING = "writing"


@dataclass(frozen=True)
class AuditProgress:
    """Progress of a running audit: ``done`` of ``total`` questions or systems, 0 of 0 in a stage without a count.

    ``violated``: number of systems that violate a property which one of their deployments requires. ``seconds_left``:
    estimated seconds to the end of the stage, or None.
    """

    stage: Stage
    done: int = 0
    total: int = 0
    violated: int = 0
    seconds_left: float | None = None


@dataclass(frozen=True)
class PropertyCount:
    """Number of deployments by verdict on a property. ``required``: number of deployments that require the property.

    ``cut_sets``: the most common smallest fault sets, each with the number of deployments that it violates. ``more``:
    number of further smallest fault sets.
    """

    property: str
    statuses: Mapping[Status, int]
    required: int
    cut_sets: Sequence[tuple[CutSet, int]]
    more: int


@dataclass(frozen=True)
class AuditSummary:
    """The figures of an audit.

    ``reasons``: reasons for rejected rows, the most common first, with their numbers of rows. ``more_reasons``: number
    of further reasons. ``systems``: number of distinct systems of all ``deployments``; ``explored`` of them were
    explored now, the others were already known. ``worst``: number of deployments by the worst status of a required
    property. ``with_known_defects``: number of deployments with a required property that holds, and that a known defect
    of their releases could violate.
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
    with_known_defects: int = 0


@dataclass(frozen=True)
class Portion:
    """A portion of the deployments of an audit, with their number by status for each property.

    ``values``: the values that the deployments share, as pairs (setting, value); or one pair ``("", name)``.
    """

    values: tuple[tuple[str, str], ...]
    deployments: int
    statuses: Mapping[str, Mapping[Status, int]]

    def share(self, name: str, status: Status) -> float:
        """Return the share of the deployments with this status on a property, from 0 to 1."""
        counts = self.statuses.get(name, {})
        return counts.get(status, 0) / (sum(counts.values()) or 1)


@dataclass(frozen=True)
class Tolerance:
    """The number of faults that some deployments tolerate.

    ``group`` and ``label`` name the deployments, or a property of all deployments. ``fewest``: number of violated
    deployments by size of the smallest fault set. ``undecided``, ``safe``, ``vacuous``: numbers of deployments that
    are undecided, not violated within the bounds, and not violated only because a witness was not reached.
    """

    group: str
    label: str
    fewest: Mapping[int, int]
    safe: int
    vacuous: int
    undecided: int


@dataclass(frozen=True)
class Influence:
    """The influence of settings on verdicts, for figures. ``required``: properties that some deployment requires.

    ``by_value``: a portion for each value of each setting that changes a verdict, the most influential setting first.
    These portions count only deployments that occur with every value, all other settings equal. ``without``: settings
    that change no verdict. ``apart``: settings without such comparable deployments. ``by_combination``: a portion for
    each combination of values of a few settings, which explain most verdicts. ``by_outcome``: a portion for each set
    of verdicts, the most common first, if no settings are known.
    """

    required: Sequence[str]
    by_value: Sequence[Portion]
    without: Sequence[str]
    apart: Sequence[str]
    by_combination: Sequence[Portion]
    by_outcome: Sequence[Portion]
    tolerance: Sequence[Tolerance]
