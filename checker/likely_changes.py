"""The order in which changes are tried: the likeliest to prevent a violation first (properties/likely_settings.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from proofka.model.deployment.changing import Change
from proofka.properties.likely_settings import LikelySetting, likely_for
from proofka.properties.verdict import Status, Verdict

Rank = tuple[bool, float]
"""The rank of a change for a violation: required properties first, then the rows of the table from the top."""

_LAST: Rank = (True, inf)
"""The rank of a change that no row of the table names."""


def may_prevent(change: Change, row: LikelySetting) -> bool:
    """Tell whether a change sets the row's setting to a value that is not known to allow violations."""
    values = (value for name, (_, _, value) in zip(change.settings, change.values, strict=True) if name == row.name)
    return any(not row.safe or row.is_safe(value) for value in values)


def likeliest_first(changes: Sequence[Change], verdicts: Sequence[Verdict]) -> list[int]:
    """Return the positions of all changes, the likeliest to prevent a violation first; equals keep their order."""
    violated = [verdict for verdict in verdicts if verdict.status is Status.VIOLATED]
    return sorted(range(len(changes)), key=lambda number: _rank(changes[number], violated))


def _rank(change: Change, violated: Sequence[Verdict]) -> Rank:
    return min((one for verdict in violated for one in _ranks(change, verdict)), default=_LAST)


def _ranks(change: Change, verdict: Verdict) -> Iterator[Rank]:
    """Yield the ranks of a change by the rows about the first fault set of a violated property."""
    for number, row in enumerate(likely_for(verdict.property, verdict.cut_sets[0])):
        if may_prevent(change, row):
            yield not verdict.required, number
