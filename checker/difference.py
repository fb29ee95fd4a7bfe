"""Changed verdicts between two results, and the change of a setting that caused each.

Causes are computed. The old deployment is checked again with one change at a time, then with two, within the faults of
the fault sets concerned. A change is a cause if the old deployment with this change alone gives the verdict of the new
deployment. The verdicts must agree within these faults, and then within all kinds of faults. Before the search, both
deployments must give the verdicts of their results, or no cause is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from proofka.checker.budget import Budget
from proofka.checker.check import Run
from proofka.checker.questions import fingerprints, group, prepare
from proofka.checker.variants import Between, between, settings_changed
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.explored import FaultBudget
from proofka.model.deployment.rebuilding import Place
from proofka.model.pipeline import VERSION, build
from proofka.properties.catalogue import properties_of
from proofka.properties.difference import Cause, Difference, VerdictChange
from proofka.properties.verdict import CutSet, Result, Status, Verdict, differ_in_size

MOST_CHANGES = 40
"""Number of changes above which changes are not tried one by one, but only left out one by one."""
MOST_TOGETHER = 2
"""Largest number of changes that are tried together in every combination. Beyond this number, changes are left out one
at a time."""
MOST_CHECKS = 120
"""Largest number of deployments between two that are checked."""
SECONDS_EACH = 30.0
"""Seconds for each check."""
CONFIRMED_WITH = 2
"""Largest number of faults of any kind within which a cause must give the verdict of the new deployment."""
FAULTS_OF_PASSES = 1
"""Largest number of faults within which passes are compared if one of them is vacuous."""

Reading = tuple[Status | None, tuple[CutSet, ...]] | None
"""The compared part of a verdict on a property; None if the property was undecided or not checked."""

Tried = frozenset[Place]
_Concerned = tuple[FaultBudget, bool]


@dataclass
class Search:
    """The checks of deployments between two within some faults, each done once, and the number of checks left."""

    between: Between
    names: tuple[str, ...]
    faults: FaultBudget
    with_status: bool
    budget: Budget
    on_check: Callable[[int], None]
    left: list[int]
    found: dict[Tried, Mapping[str, Reading]] = field(default_factory=dict)
    known: dict[bytes, Reading] = field(default_factory=dict)

    def of(self, places: Tried) -> Mapping[str, Reading]:
        """Return the readings of the old deployment with these changes; an empty mapping if no such deployment
        exists.
        """
        if places not in self.found:
            try:
                self.found[places] = self._checked(self.between.with_changes(places))
            except DeploymentError:
                self.found[places] = {}
            except (ValueError, KeyError, AssertionError):
                if self.between.separated:
                    raise
                self.found[places] = {}  # no deployment has this combination of field values
        return self.found[places]

    @property
    def may_go_on(self) -> bool:
        return self.left[0] > 0 and not self.budget.stop.is_set()

    def _checked(self, deployment: Deployment) -> Mapping[str, Reading]:
        self.left[0] -= 1
        self.on_check(MOST_CHECKS - self.left[0])
        asked = replace(deployment, faults=_within(deployment.faults, self.faults))
        model = build(asked)
        prepared = prepare(model)
        properties = [prop for prop in properties_of(model.pipeline) if prop.name in self.names]
        prints = fingerprints(prepared, group(prepared, properties))
        keys = {prop.name: prints[prop.name] + repr(asked.faults).encode() for prop in properties}
        unlike = [prop for prop in properties if keys[prop.name] not in self.known]
        if unlike:
            run = Run(asked, prepared, group(prepared, unlike), self.budget)
            run.explore(None)
            for verdict in run.verdicts():
                self.known[keys[verdict.property]] = reading(verdict, self.faults, with_status=self.with_status)
        return {prop.name: self.known[keys[prop.name]] for prop in properties}


def difference(
    old: tuple[Deployment, Result],
    new: tuple[Deployment, Result],
    *,
    causes: bool = True,
    budget: Budget | None = None,
    on_check: Callable[[int], None] = lambda checks: None,
    on_cause: Callable[[VerdictChange], None] = lambda change: None,
) -> Difference:
    """Compare two results of deployments, and find the causes of the changes.

    ``on_check`` receives the number of deployments checked so far, ``on_cause`` each cause when it is found. ``budget``
    limits each check.
    """
    changes, unchanged = _verdict_changes(old[1], new[1])
    whole = between(old[0], new[0])
    remarks: list[str] = []
    if causes and any(_is_asked(change) for change in changes):
        limits = budget or Budget(seconds=SECONDS_EACH)
        changes = _with_causes(changes, whole, (old[1], new[1]), limits, on_check=on_check, on_cause=on_cause)
        what = "setting" if whole.separated else "field of the model"
        remarks.append(
            f"causes: the old deployment was checked again with each changed {what} alone, and with "
            f"{MOST_TOGETHER} together if none alone suffices, within the faults of the fault sets concerned; a cause "
            f"had to give the new verdict also within all kinds of faults (up to {CONFIRMED_WITH}, or the number in a "
            "fault set concerned)"
        )
        if not whole.separated:
            remarks.append(
                "the effects of single settings cannot be separated (the deployments cannot be built again from their "
                "files): the changes shown are fields of the model, which depend on settings and releases; some "
                "combinations of fields may be impossible to configure"
            )
    return Difference(
        tuple(changes),
        unchanged,
        settings_changed(old[0], new[0]),
        _versions(old[1].versions, new[1].versions),
        whole.separated,
        tuple(remarks),
    )


def _versions(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[tuple[str, str | None, str | None], ...]:
    names = sorted(old.keys() | new.keys())
    return tuple((name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name))


def _verdict_changes(old: Result, new: Result) -> tuple[list[VerdictChange], int]:
    before = {verdict.property: verdict for verdict in old.verdicts}
    after = {verdict.property: verdict for verdict in new.verdicts}
    changes, unchanged = [], 0
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        of = ("asked",) if one is None or other is None else tuple(_changed(one, other))
        if of:
            changes.append(VerdictChange(name, one, other, of))
        else:
            unchanged += 1
    return changes, unchanged


def _changed(old: Verdict, new: Verdict) -> Iterator[str]:
    if old.status is not new.status:
        yield "status"
    if set(old.cut_sets) != set(new.cut_sets):
        yield "fault sets"
    if differ_in_size(old, new) or _covered(old) != _covered(new):
        yield "bounds"


def _covered(verdict: Verdict) -> object:
    """Return the covered bounds, without the progress inside the layer of faults in which the time ran out."""
    one = verdict.coverage
    return one.complete_to, one.total, one.kinds, one.bounds_reached, one.any_number


def asks_for_causes(found: Difference) -> bool:
    """Tell whether the difference has a change whose cause can be searched for."""
    return any(_is_asked(change) for change in found.verdicts)


def _is_asked(change: VerdictChange) -> bool:
    """Tell whether the cause of a change can be searched for."""
    return "status" in change.of or "fault sets" in change.of


def _concerned(change: VerdictChange) -> tuple[_Concerned, ...]:
    """Return the faults within which a change shows, and whether the status is compared; nothing if undecided.

    First come only the faults of the fault sets concerned. Then comes the same number of faults of any kind, because
    the model can depend on the possible faults.
    """
    assert change.old is not None
    assert change.new is not None
    verdicts = (change.old, change.new)
    kinds = sorted({kind for verdict in verdicts for kind, _ in verdict.coverage.kinds})
    sets = set(change.old.cut_sets) ^ set(change.new.cut_sets)
    if not sets:
        if Status.UNKNOWN in (change.old.status, change.new.status):
            return ()
        return ((FaultBudget(FAULTS_OF_PASSES, tuple((kind, FAULTS_OF_PASSES) for kind in kinds)), True),)
    # A fault set missing on one side must have been searched for there.
    if any(_size(one) > other.coverage.complete_to for other in verdicts for one in sets - set(other.cut_sets)):
        return ()
    narrow = FaultBudget.allowing(sets)
    total = max(map(_size, sets))
    wider = FaultBudget(total, tuple((kind, max(total, 1)) for kind in kinds))
    return (narrow, False), (wider, False)


def _widened(change: VerdictChange) -> _Concerned:
    """Return the faults within which a cause is confirmed: any kind, and the number covered by the new result, within
    limits.
    """
    assert change.old is not None
    assert change.new is not None
    sets = set(change.old.cut_sets) ^ set(change.new.cut_sets)
    covered = min(change.new.coverage.complete_to, CONFIRMED_WITH)
    total = max((covered, *map(_size, sets)))
    kinds = sorted({kind for verdict in (change.old, change.new) for kind, _ in verdict.coverage.kinds})
    return FaultBudget(total, tuple((kind, max(total, 1)) for kind in kinds)), not sets


def _size(cut_set: CutSet) -> int:
    return sum(count for _, count in cut_set)


def _within(faults: FaultBudget, concerned: FaultBudget) -> FaultBudget:
    """Return the faults of a deployment, limited to the faults that concern a change."""
    most = dict(concerned.at_most)
    kinds = tuple((kind, min(count, most[kind])) for kind, count in faults.at_most if kind in most)
    assert concerned.total is not None
    return FaultBudget(concerned.total if faults.total is None else min(faults.total, concerned.total), kinds)


def reading(verdict: Verdict, faults: FaultBudget, *, with_status: bool) -> Reading:
    """Return the compared part of a verdict, limited to these faults."""
    fitting = sorted(one for one in verdict.cut_sets if faults.allows(one))
    if verdict.status is Status.UNKNOWN and not fitting:
        return None
    return verdict.status if with_status else None, tuple(fitting)


def _with_causes(
    changes: Sequence[VerdictChange],
    whole: Between,
    results: tuple[Result, Result],
    budget: Budget,
    *,
    on_check: Callable[[int], None],
    on_cause: Callable[[VerdictChange], None],
) -> list[VerdictChange]:
    left = [MOST_CHECKS]
    other_model = any(result.versions.get("model") != VERSION for result in results)
    concerned = {change.property: _concerned(change) for change in changes if _is_asked(change)}
    widened = {change.property: _widened(change) for change in changes if concerned.get(change.property)}
    names: dict[_Concerned, tuple[str, ...]] = {}
    for name, attempts in concerned.items():
        for attempt in dict.fromkeys((*attempts, *([widened[name]] if attempts else []))):
            names[attempt] = (*names.get(attempt, ()), name)
    searches = {
        attempt: Search(whole, together, *attempt, budget, on_check, left) for attempt, together in names.items()
    }

    def cause_of(change: VerdictChange) -> Cause | None:
        if not _is_asked(change):
            return None
        cause = Cause(unknown="one of the two is undecided within these faults")
        for attempt in concerned[change.property]:
            wide = searches[widened[change.property]]
            cause = _cause(change, searches[attempt], wide, other_model=other_model)
            if not cause.unknown:
                break
        return cause

    found = []
    for change in changes:
        found.append(replace(change, cause=cause_of(change)))
        if found[-1].cause is not None:
            on_cause(found[-1])
    return found


def _cause(change: VerdictChange, search: Search, wide: Search, *, other_model: bool) -> Cause:
    assert change.old is not None
    assert change.new is not None
    name, places = change.property, search.between.places
    before, after = (
        reading(verdict, search.faults, with_status=search.with_status) for verdict in (change.old, change.new)
    )
    if not search.may_go_on:
        return Cause(unknown=_why_not(search))
    none, every = frozenset[Place](), frozenset(places)
    is_before, is_after = search.of(none).get(name), search.of(every).get(name)
    if other_model and is_before == is_after and is_before is not None:
        return Cause(
            unknown=f"no setting: model {VERSION} gives both deployments the same verdict, so the model's version"
        )
    if None in (is_before, is_after) or search.budget.stop.is_set():
        return Cause(unknown=_why_not(search))
    if is_before != before or is_after != after or before == after:
        which = "old" if is_before != before else "new"
        because = ", which another model checked" if other_model else ""
        return Cause(
            unknown=f"within these faults alone, the {which} deployment does not give its verdict again{because}"
        )

    expected = reading(change.new, wide.faults, with_status=wide.with_status)
    unconfirmed: set[Tried] = set()

    def turns(tried: Tried) -> bool:
        if not search.may_go_on or search.of(tried).get(name) != after:
            return False
        confirmed = wide.of(tried).get(name)
        if confirmed is None:
            unconfirmed.add(tried)
        return confirmed in (None, expected)

    def cause(found: Sequence[Tried], *, smallest: bool) -> Cause:
        sets = tuple(tuple(search.between.changed(place) for place in places if place in tried) for tried in found)
        return Cause(sets, smallest, confirmed=unconfirmed.isdisjoint(found))

    if len(places) <= MOST_CHANGES:
        for size in range(1, MOST_TOGETHER + 1):
            found = [tried for tried in map(frozenset, combinations(places, size)) if turns(tried)]
            if found:
                return cause(found, smallest=search.may_go_on)
    needed = every
    for place in places:
        if turns(needed - {place}):
            needed -= {place}
    return cause([needed], smallest=False)


def _why_not(search: Search) -> str:
    """Return the reason why no cause was found."""
    if search.budget.stop.is_set():
        return "interrupted"
    if not search.may_go_on:
        return f"the limit of {MOST_CHECKS} checks was reached by other changes"
    return "time limit reached: within these faults one of the two deployments was not decided again"
