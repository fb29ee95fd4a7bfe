"""The answer by fault: failures, the smallest fault sets that cause them, and the part that could prevent them.

The module produces data for every report. Properties that the same faults break are grouped, and a consequence that
another one implies is left out. :mod:`model.deployment.known_properties` has the meaning of a broken property and
:mod:`model.faults` the likelihood of a fault. :mod:`reports.inherent` has the failures that the best deployment of
the same client and release has as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.known_properties import known_properties
from proofka.model.faults import FAULT_ROWS
from proofka.properties.verdict import CutSet, Result, Status, Verdict
from proofka.reports import wording
from proofka.reports.explained import preventions_of
from proofka.reports.inherent import NO_FAULT, Known, known

MOST_LIKELY = 6
"""Likelihood of ordinary operation, higher than the likelihood of every fault."""


class Behind(StrEnum):
    """The part of a pipeline that could prevent a failure."""

    CONFIGURATION = "configuration"
    """Settings of this client and release are known that prevent the failure."""

    UNKNOWN = "unknown"
    """The answer was not computed."""

    APPLICATION = "application"
    """No setting of this client and release prevents the failure; the application can."""

    NOTHING = "nothing"
    """No setting of this client and release prevents the failure, and no application is known to prevent it."""


@dataclass(frozen=True)
class Broken:
    """A property that the faults break, with the length of the shortest trace and the changes that prevent this.

    ``number`` counts the traces of the property, from 0. ``prevented_by``: single changes, cheapest first, or None if
    no search for changes took place.
    """

    property: str
    required: bool
    number: int
    steps: int
    behind: Behind
    prevented_by: tuple[str, ...] | None


@dataclass(frozen=True)
class Happening:
    """A failure with a smallest fault set: ``consequences`` in words, the worst first, and the broken properties.

    ``consequences`` is empty if the failure of the required properties with the same faults implies all of them.
    """

    faults: CutSet
    behind: Behind
    consequences: tuple[str, ...]
    broken: tuple[Broken, ...]

    @property
    def required(self) -> bool:
        """True if a required property breaks."""
        return any(one.required for one in self.broken)

    def is_also(self, other: Happening) -> bool:
        """Tell whether these faults break some property that another failure breaks by the same faults."""
        names = {one.property for one in self.broken}
        return self.faults == other.faults and any(one.property in names for one in other.broken)

    @property
    def steps(self) -> int:
        """Number of steps of the trace of the worst consequence."""
        return self.broken[0].steps

    @property
    def prevented_by(self) -> tuple[str, ...] | None:
        """Changes that prevent the worst consequence, cheapest first; None if no search took place."""
        return self.broken[0].prevented_by

    @property
    def sentence(self) -> str:
        """``One power loss of a broker: acknowledged records can be lost (11 steps)``."""
        return self.sentence_of(len(self.consequences))

    def sentence_of(self, most: int) -> str:
        """Return :attr:`sentence` with at most ``most`` consequences."""
        steps, more = wording.counted(self.steps, "step"), len(self.consequences) - most
        told = [*self.consequences[:most], *([wording.counted(more, "more failure")] if more > 0 else [])]
        return f"{faults_in_words(self.faults)}: {wording.listed(told)} ({steps})"


POSSIBLE = {True: "Required properties that can fail", False: "Other properties that can fail"}
"""Headings for required properties and for others, without the part that could prevent the failures."""

_NOT_COMPUTED = "; whether settings prevent this was not computed"
_HEADINGS = {
    (True, Behind.CONFIGURATION): "Required properties that can fail because of this configuration",
    (True, Behind.UNKNOWN): POSSIBLE[True] + _NOT_COMPUTED,
    (True, Behind.APPLICATION): "Required properties that only the application can protect",
    (True, Behind.NOTHING): "Required properties that can fail even with the best settings of this client and release",
    (False, Behind.CONFIGURATION): "Other properties that can fail because of this configuration",
    (False, Behind.UNKNOWN): POSSIBLE[False] + _NOT_COMPUTED,
    (False, Behind.APPLICATION): "Other properties that only the application can protect",
    (False, Behind.NOTHING): "Other properties that can fail even with the best settings of this client and release",
}
"""Heading of a group, by whether a required property breaks and by the part that could prevent the failure."""


@dataclass(frozen=True)
class Group:
    """Failures of required properties, or of others, that the same part of the pipeline could prevent."""

    heading: str
    required: bool
    behind: Behind
    happenings: tuple[Happening, ...]


def grouped(happenings: Sequence[Happening]) -> tuple[Group, ...]:
    """Group failures under headings, required properties first; failures without consequences are left out."""
    told = [one for one in happenings if one.consequences]
    groups = (
        Group(heading, required, behind, tuple(one for one in told if (one.required, one.behind) == (required, behind)))
        for (required, behind), heading in _HEADINGS.items()
    )
    return tuple(group for group in groups if group.happenings)


def by_fault(deployment: Deployment, result: Result) -> tuple[Happening, ...]:
    """Return all failures, those of required properties first, then the worst and likeliest."""
    groups: dict[tuple[CutSet, bool, Behind], list[Broken]] = {}
    for verdict in result.verdicts:
        if verdict.status is Status.VIOLATED:
            for number, (cut_set, trace) in enumerate(zip(verdict.cut_sets, verdict.traces, strict=True)):
                prevented_by = _prevented(result, verdict, cut_set)
                behind = lies_behind(deployment, verdict.property, cut_set)
                if prevented_by and behind is Behind.UNKNOWN:
                    behind = Behind.CONFIGURATION
                one = Broken(verdict.property, verdict.required, number, len(trace.steps), behind, prevented_by)
                groups.setdefault((cut_set, verdict.required, behind), []).append(one)
    told = {cut_set: _says_also(broken) for (cut_set, required, _), broken in groups.items() if required}
    found = [
        _happening(cut_set, behind, broken, frozenset() if required else told.get(cut_set, frozenset()))
        for (cut_set, required, behind), broken in groups.items()
    ]
    return tuple(sorted(found, key=_rank))


_BEHIND = {
    Known.SETTINGS: Behind.CONFIGURATION,
    Known.UNKNOWN: Behind.UNKNOWN,
    Known.APPLICATION: Behind.APPLICATION,
    Known.UNDECIDED: Behind.NOTHING,
    Known.NOTHING: Behind.NOTHING,
}


def lies_behind(deployment: Deployment, name: str, cut_set: CutSet) -> Behind:
    """Return the part that could prevent these faults from violating a property; unknown for several faults."""
    if sum(count for _, count in cut_set) > 1:
        return Behind.UNKNOWN
    return _BEHIND[known(deployment, name, cut_set[0][0] if cut_set else NO_FAULT)]


def faults_in_words(cut_set: CutSet) -> str:
    """Return faults in words: ``One power loss of a broker``, ``Two broker crashes and one slow follower``."""
    if not cut_set:
        return "No fault at all"
    words = [_counted(kind, count) for kind, count in cut_set]
    said = wording.listed(words)
    return said[0].upper() + said[1:]


_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four"}


def _counted(kind: str, count: int) -> str:
    row = FAULT_ROWS.get(kind)
    one, several = (row["one"], row["several"]) if row else (kind.replace("-", " "), wording.plural(kind))
    if count == 1:
        return one.replace("a ", "one ", 1) if one.startswith("a ") else one.replace("an ", "one ", 1)
    return f"{_NUMBERS.get(count, str(count))} {several}"


def _happening(cut_set: CutSet, behind: Behind, broken: Sequence[Broken], told: frozenset[str]) -> Happening:
    """Build a failure, the worst property first.

    A consequence is left out if a worse broken property or a property of ``told`` implies it.
    """
    worst_first = sorted(broken, key=lambda one: -_severity(one.property))
    said = set(told)
    consequences: list[str] = []
    for one in worst_first:
        if one.property not in said:
            consequences.append(_consequence(one.property))
        said |= _says_also([one])
    return Happening(cut_set, behind, tuple(consequences), tuple(worst_first))


def _says_also(broken: Iterable[Broken]) -> frozenset[str]:
    """Return the properties whose failure these broken properties imply."""
    return frozenset(name for one in broken for name in _says_also_of(one.property))


def _rank(one: Happening) -> tuple[bool, int, int, int, CutSet]:
    """Return the sort key: required first, then settings can prevent, then severity, then likelihood."""
    likely = sum(_likelihood(kind) - MOST_LIKELY for kind, count in one.faults for _ in range(count)) + MOST_LIKELY
    severity = max(_severity(broken.property) for broken in one.broken)
    return not one.required, list(Behind).index(one.behind), -severity, -likely, one.faults


def _prevented(result: Result, verdict: Verdict, cut_set: CutSet) -> tuple[str, ...] | None:
    if result.preventions is None or cut_set != verdict.cut_sets[0]:
        return None
    tried = preventions_of(result, verdict.property, cut_set)
    found = tuple(one.change for one in tried if one.decided)
    # Where a change is undecided, a search without a finding says nothing yet.
    return None if not found and tried else found


def _severity(name: str) -> int:
    return known_properties()[name].severity if name in known_properties() else 1


def _likelihood(kind: str) -> int:
    row = FAULT_ROWS.get(kind)
    return int(row["likelihood"]) if row else 1


def _consequence(name: str) -> str:
    return known_properties()[name].consequence if name in known_properties() else f"{name} is violated"


def _says_also_of(name: str) -> frozenset[str]:
    return known_properties()[name].says_also if name in known_properties() else frozenset()
