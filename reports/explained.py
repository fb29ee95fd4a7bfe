"""Why a property breaks, in plain words, and which single change would have prevented it."""

from __future__ import annotations

from collections.abc import Iterator

from properties.verdict import CutSet, Result, Status, Verdict
from reports import wording


def explained(result: Result) -> Iterator[tuple[str, str]]:
    """Of each violated property: why it breaks with its first fault set, and what would have prevented that."""
    for verdict in result.verdicts:
        if verdict.status is Status.VIOLATED:
            yield why(verdict), prevented(result, verdict.property, verdict.cut_sets[0])


def why(verdict: Verdict) -> str:
    """What the property promises, and how its first trace breaks that."""
    faults = wording.faults_needed(verdict.cut_sets[0])
    failure = verdict.traces[0].failure
    return f"{verdict.property} ({verdict.guarantee}) breaks with {faults}: {failure}"


def prevented(result: Result, name: str, cut_set: CutSet) -> str:
    """The changes with which these faults do not violate the property."""
    tried = [one for one in result.preventions or () if (one.property, one.cut_set) == (name, cut_set)]
    changes, left = ([one.change for one in tried if one.decided is decided] for decided in (True, False))
    if changes:
        said = f"prevented by {'any of ' if len(changes) > 1 else ''}{'; '.join(changes)}"
    elif left:
        said = "no change is known to prevent it alone"
    else:
        said = "none of the known changes prevents it alone (proofka repair looks for several)"
    return f"{said}; not decided in time: {'; '.join(left)}" if left else said
