"""The reason for each violation in words, and the single changes that would have prevented the violation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofka.properties.verdict import CutSet, Prevention, Result, Status, Verdict
from proofka.reports import wording


def explained(result: Result) -> Iterator[tuple[str, str]]:
    """Yield for each violated property the reason with its first fault set, and the changes that prevent this.

    Undecided changes follow at the end, because many properties can share them.
    """
    violated = [verdict for verdict in result.verdicts if verdict.status is Status.VIOLATED]
    undecided: dict[str, None] = {}
    for verdict in violated:
        changes, left = tried(result, verdict.property, verdict.cut_sets[0])
        yield why(verdict), _found(changes, left)
        undecided |= dict.fromkeys(left)
    if undecided:
        yield "changes that were not decided before the time limit, for some of these properties:", "; ".join(undecided)


def why(verdict: Verdict) -> str:
    """Return the guarantee of the property, and the failure at the end of its first trace."""
    faults = wording.faults_needed(verdict.cut_sets[0])
    failure = verdict.traces[0].failure
    return f"{verdict.property} ({verdict.guarantee}) breaks with {faults}: {failure}"


def prevented(result: Result, name: str, cut_set: CutSet) -> str:
    """Return the changes that prevent the violation with these faults, and the changes that are undecided."""
    changes, left = tried(result, name, cut_set)
    said = _found(changes, left)
    return f"{said}; not decided before the time limit: {'; '.join(left)}" if left else said


def tried(result: Result, name: str, cut_set: CutSet) -> tuple[list[str], list[str]]:
    """Return the changes that prevent the violation, and the changes that are undecided, in words."""
    tried = preventions_of(result, name, cut_set)
    changes, left = ([in_words(one) for one in tried if one.decided is decided] for decided in (True, False))
    return changes, left


def _found(changes: Sequence[str], left: Sequence[str]) -> str:
    """Return the preventing ``changes`` as a sentence; ``left``: the undecided changes."""
    if changes:
        return f"prevented by {'any of ' if len(changes) > 1 else ''}{'; '.join(changes)}"
    if left:
        return f"no single change is known to prevent this; {wording.counted(len(left), 'change')} not decided"
    return "no single known change was found to prevent this (proofka repair searches for several changes)"


def preventions_of(result: Result, name: str, cut_set: CutSet) -> list[Prevention]:
    """List the changes that prevent the violation with these faults, or are undecided, cheapest first.

    The list is empty if no search for changes took place.
    """
    those = [one for one in result.preventions or () if (one.property, one.cut_set) == (name, cut_set)]
    return [one for one in those if not any(_is_part(other, one) for other in those)]


def _is_part(one: Prevention, other: Prevention) -> bool:
    """Tell whether ``one`` is a part of ``other`` and changes the same settings."""
    return one.settings == other.settings and set(one.change.split(" and ")) < set(other.change.split(" and "))


def in_words(prevention: Prevention) -> str:
    """Return a change and the settings that follow from the change, which can be what prevents the violation."""
    if not prevention.brings:
        return prevention.change
    return f"{prevention.change}, which brings {wording.listed(prevention.brings)}"
