"""News in verdicts, beside verdicts that were known before: of another commit, or of a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from proofka.properties.verdict import CutSet, Result, Status, Verdict


class Kind(StrEnum):
    """The change of a verdict. ``worse``: a violation, or a smallest fault set, that was not known."""

    WORSE = "worse"
    UNDECIDED = "undecided"
    NO_EVIDENCE = "no-evidence"
    BETTER = "better"
    SAME = "same"


IS_NEWS = frozenset({Kind.WORSE, Kind.UNDECIDED, Kind.NO_EVIDENCE})
"""The changes that can make a check fail."""


@dataclass(frozen=True)
class Known:
    """A verdict that was known before, without its traces. ``where``: the commit or file, for a sentence."""

    status: Status
    cut_sets: tuple[CutSet, ...]
    where: str


@dataclass(frozen=True)
class News:
    """The change of the verdict on one property. ``cut_sets``: the smallest fault sets that were not known."""

    verdict: Verdict
    kind: Kind
    known: Known | None
    cut_sets: tuple[CutSet, ...] = ()

    @property
    def is_news(self) -> bool:
        """Tell whether the change can make a check fail."""
        return self.kind in IS_NEWS


KnownVerdicts = Mapping[str, Known]
"""The verdicts known before from one place, by property."""


def news_of(result: Result, known: Iterable[KnownVerdicts]) -> tuple[News, ...]:
    """Return the change of each verdict. A verdict is the same as before if one of the places knows it."""
    places = list(known)
    return tuple(
        _least([news(verdict, one.get(verdict.property)) for one in places or [{}]]) for verdict in result.verdicts
    )


def _least(those: list[News]) -> News:
    """Return a change that is no news, if there is one; the first place is the one that reports name."""
    return next((one for one in those if not one.is_news), those[0])


def news(verdict: Verdict, known: Known | None) -> News:
    """Return the change of a verdict beside what was known."""
    match verdict.status:
        case Status.VIOLATED:
            return _of_violated(verdict, known)
        case Status.UNKNOWN:
            is_known = known is not None and known.status is Status.UNKNOWN
            return News(verdict, Kind.SAME if is_known else Kind.UNDECIDED, known)
        case Status.VACUOUS:
            if known is None or known.status in (Status.HOLDS, Status.UNKNOWN):
                return News(verdict, Kind.NO_EVIDENCE, known)
        case Status.HOLDS:
            pass
    was_violated = known is not None and known.status is Status.VIOLATED
    return News(verdict, Kind.BETTER if was_violated else Kind.SAME, known)


def _of_violated(verdict: Verdict, known: Known | None) -> News:
    if known is None or known.status is not Status.VIOLATED:
        return News(verdict, Kind.WORSE, known, verdict.cut_sets)
    new = tuple(one for one in verdict.cut_sets if not any(covers(old, one) for old in known.cut_sets))
    if new:
        return News(verdict, Kind.WORSE, known, new)
    return News(verdict, Kind.SAME if set(verdict.cut_sets) == set(known.cut_sets) else Kind.BETTER, known)


def covers(known: CutSet, other: CutSet) -> bool:
    """Tell whether a known fault set is another one, or part of it: then the other one is no new danger."""
    counts = dict(other)
    return all(counts.get(kind, 0) >= count for kind, count in known)


def known_of(result: Result, where: str, names: Iterable[str]) -> KnownVerdicts:
    """Return the verdicts of a result on these properties as known before, except those that are undecided."""
    asked = set(names)
    decided = [one for one in result.verdicts if one.status is not Status.UNKNOWN and one.property in asked]
    return {one.property: Known(one.status, one.cut_sets, where) for one in decided}


@dataclass(frozen=True)
class Compared:
    """The sides of a comparison, for reports. ``since``: the commit in words; ``baseline``: the file.

    ``pipelines``: number of all pipelines. ``gone``: names of the pipelines that only the commit has.
    """

    since: str = ""
    baseline: str = ""
    pipelines: int = 0
    gone: tuple[str, ...] = ()
