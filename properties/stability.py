"""Stability of verdicts: the verdict on a property at other sizes of the explored pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proofka.properties.verdict import CutSet, Status


@dataclass(frozen=True)
class AtSize:
    """The verdict on a property where the size ``size`` (records, log or replicas) has the value ``value``.

    ``with_log``: the log size that comes with this number of records; None if no other size changes. ``status``: None
    if the exploration was not finished in time. ``refused``: the reason why the deployment cannot have this size, or
    ``""``. ``is_own``: the value is that of the deployment. Fault sets have at most ``faults`` faults.
    """

    property: str
    size: str
    value: int
    faults: int
    status: Status | None
    cut_sets: tuple[CutSet, ...] = ()
    with_log: int | None = None
    refused: str = ""
    is_own: bool = False

    def is_decided(self) -> bool:
        """Tell whether the verdict at this size is known."""
        return self.status not in (None, Status.UNKNOWN)

    def is_the_same_as(self, other: AtSize) -> bool:
        """Tell whether two sizes give one verdict with the same fault sets."""
        return self.status is other.status and set(self.cut_sets) == set(other.cut_sets)


def by_size(rows: Sequence[AtSize]) -> Iterator[tuple[AtSize, ...]]:
    """Yield the rows of each property and size together, by rising values."""
    groups: dict[tuple[str, str], list[AtSize]] = {}
    for row in rows:
        groups.setdefault((row.property, row.size), []).append(row)
    for group in groups.values():
        yield tuple(sorted(group, key=lambda row: row.value))


def unchanged_from(rows: Sequence[AtSize]) -> AtSize | None:
    """Return the row with the least value from which all decided rows up to the largest agree.

    ``rows`` are those of one property and size. An undecided row ends the agreement. The result is None if fewer than
    two rows agree.
    """
    ordered = sorted((row for row in rows if not row.refused), key=lambda row: row.value)
    while ordered and not ordered[-1].is_decided():
        ordered.pop()
    agreeing: list[AtSize] = []
    for row in reversed(ordered):
        if not row.is_decided() or not row.is_the_same_as(ordered[-1]):
            break
        agreeing.append(row)
    return agreeing[-1] if len(agreeing) > 1 else None


def falls(rows: Sequence[AtSize]) -> Iterator[tuple[AtSize, AtSize]]:
    """Yield each own row that holds (or is vacuous), with the least larger size at which the property is violated."""
    for group in by_size(rows):
        own = next((row for row in group if row.is_own), None)
        if own is None or own.status not in (Status.HOLDS, Status.VACUOUS):
            continue
        worse = next((row for row in group if row.value > own.value and row.status is Status.VIOLATED), None)
        if worse is not None:
            yield own, worse
