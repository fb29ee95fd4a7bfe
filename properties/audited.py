"""What an audit of many deployments came to, in figures: plain values that reports print and draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from properties.verdict import CutSet, Status


class Stage(StrEnum):
    """What an audit does, in this order."""

    READING = "reading"
    SIGNING = "signing"
    EXPLORING = "exploring"
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

    ``cut_sets``: the most common smallest fault sets, each with the number of deployments that it violates.
    """

    property: str
    statuses: Mapping[Status, int]
    required: int
    cut_sets: Sequence[tuple[CutSet, int]]


@dataclass(frozen=True)
class AuditSummary:
    """An audit in figures. ``reasons``: why rows were rejected, the most common first, with their numbers of rows.

    ``systems`` distinct systems stand for all ``deployments``; ``explored`` of them were explored now, the others were
    known. ``worst``: how many deployments have which status as the worst of those on the properties they require.
    """

    deployments: int
    rejected: int
    reasons: Sequence[tuple[str, int]]
    systems: int
    explored: int
    properties: Sequence[PropertyCount]
    worst: Mapping[Status, int]
    seconds: float
