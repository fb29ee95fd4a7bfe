"""Windows of fault sets in a diagram: active occurrences by their age, in bands between the windows.

The occurrences of a source with ages in disjoint bands are independent Poisson variables, so each band is a source of
the diagram. A fault also counts as a *recent* fault for each window that its whole band lies within, and a fault set
with a window asks for recent faults. The faults of a common cause come at any time while it lasts, so they are always
recent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from proofka.checker.risk.criticality import Critical
from proofka.checker.risk.sources import Source


@dataclass(frozen=True)
class Banded:
    """The sources as occurrences that arrive, and by age as occurrences that are active, with what is critical."""

    arriving: tuple[Source, ...]
    active: tuple[Source, ...]
    critical: Critical


def banded(sources: Sequence[Source], critical: Critical) -> Banded:
    """Return the bands of these sources for the windows of the critical sets."""
    windows = {one: window for one, window in critical.windows.items() if one in critical.sets}
    recent = {(kind, window): _recent(kind, window) for one, window in windows.items() for kind, _ in one}
    sets = tuple(
        tuple((recent[kind, windows[one]], count) for kind, count in one) if one in windows else one
        for one in critical.sets
    )
    names = frozenset(recent.values())
    return Banded(
        tuple(_aged(source, 0.0, recent) for source in sources),
        tuple(band for source in sources for band in _bands(source, recent)),
        replace(critical, sets=sets, kinds=critical.kinds | names, uncounted=critical.uncounted | names),
    )


def _recent(kind: str, window: float) -> str:
    return f"{kind} within {window!r} years"


def _bands(source: Source, recent: Mapping[tuple[str, float], str]) -> Iterable[Source]:
    """Yield the active occurrences of a source by age; the name of each band is that of the source."""
    if source.is_cause:
        yield _aged(source, 0.0, recent)
        return
    ends = {window for kind, window in recent if kind in source.faults and window < source.lasts}
    start = 0.0
    for end in (*sorted(ends), source.lasts):
        yield replace(_aged(source, end, recent), lasts=end - start)
        start = end


def _aged(source: Source, age: float, recent: Mapping[tuple[str, float], str]) -> Source:
    """Return the source with faults that are recent for each window of at least this age."""
    counts = {
        name: source.faults[kind] for (kind, window), name in recent.items() if kind in source.faults and age <= window
    }
    return replace(source, faults={**source.faults, **counts})
