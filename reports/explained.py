"""Why a property breaks, in plain words, and which single change would have prevented it."""

from __future__ import annotations

from collections.abc import Iterator

from properties.verdict import CutSet, Prevention, Result, Status, Verdict
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
    """The changes with which these faults do not violate the property, and those of which that is not known."""
    tried = preventions_of(result, name, cut_set)
    changes, left = ([in_words(one) for one in tried if one.decided is decided] for decided in (True, False))
    if changes:
        said = f"prevented by {'any of ' if len(changes) > 1 else ''}{'; '.join(changes)}"
    elif left:
        said = "no single change is known to prevent this"
    else:
        said = "no single known change was found to prevent this (proofka repair searches for several changes)"
    return f"{said}; not decided before the time limit: {'; '.join(left)}" if left else said


def preventions_of(result: Result, name: str, cut_set: CutSet) -> list[Prevention]:
    """What prevents that these faults violate the property, or may, cheapest first; nothing where nobody looked."""
    those = [one for one in result.preventions or () if (one.property, one.cut_set) == (name, cut_set)]
    return [one for one in those if not any(_is_part(other, one) for other in those)]


def _is_part(one: Prevention, other: Prevention) -> bool:
    """A change says less than another one, and turns the same settings: what else the other says was so before."""
    return one.settings == other.settings and set(one.change.split(" and ")) < set(other.change.split(" and "))


def in_words(prevention: Prevention) -> str:
    """A change, with what follows from it: that may be what prevents the violation, and not what somebody writes."""
    if not prevention.brings:
        return prevention.change
    return f"{prevention.change}, which brings {wording.listed(prevention.brings)}"
