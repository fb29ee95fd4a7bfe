"""What changed between two results, and which change of a setting made the difference to which verdict.

Causes are computed: the old deployment is checked again with one change at a time, then with two, within the faults of
the fault sets concerned. A change is a cause if with it alone the old deployment gives what the new one gave: within
these faults, and then within all kinds of faults as well. Before that both deployments have to give what their results
say, or nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from checker.budget import Budget
from checker.check import Run
from checker.questions import fingerprints, group, prepare
from checker.variants import Between, between, settings_changed
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError
from model.deployment.explored import FaultBudget
from model.deployment.rebuilding import Place
from model.pipeline import VERSION, build
from properties.catalogue import properties_of
from properties.difference import Cause, Difference, VerdictChange
from properties.verdict import CutSet, Result, Status, Verdict, differ_in_size

MOST_CHANGES = 40
"""With more changes than this, only all but one are tried, and not each alone."""
MOST_TOGETHER = 2
"""So many changes together are tried in every combination; beyond that changes are left out one at a time."""
MOST_CHECKS = 120
"""So many deployments between two are checked at most."""
SECONDS_EACH = 30.0
"""How long each may take."""
CONFIRMED_WITH = 2
"""Up to so many faults of any kind, what turns a verdict has to give what the new deployment gives."""
FAULTS_OF_PASSES = 1
"""Up to so many faults passes are compared of which one means nothing (vacuous)."""

Reading = tuple[Status | None, tuple[CutSet, ...]] | None
"""What a check says of a property, as far as it is compared; None where it was not decided, or not asked."""

Tried = frozenset[Place]
_Concerned = tuple[FaultBudget, bool]


@dataclass
class Search:
    """The checks of deployments between two within some faults, each done once, and how many are left."""

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
        """What the old deployment gives with these changes; nothing where there is no such deployment."""
        if places not in self.found:
            try:
                self.found[places] = self._checked(self.between.with_changes(places))
            except DeploymentError:
                self.found[places] = {}
            except (ValueError, KeyError, AssertionError):
                if self.between.separated:
                    raise
                self.found[places] = {}  # fields that do not go together are no deployment
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
    """Compare two results of deployments, and find the causes of what changed.

    ``on_check`` hears how many deployments between the two were checked, ``on_cause`` of each cause once it is found.
    ``budget`` limits each check.
    """
    changes, unchanged = _verdict_changes(old[1], new[1])
    whole = between(old[0], new[0])
    remarks: list[str] = []
    if causes and any(_is_asked(change) for change in changes):
        limits = budget or Budget(seconds=SECONDS_EACH)
        changes = _with_causes(changes, whole, (old[1], new[1]), limits, on_check=on_check, on_cause=on_cause)
        what = "setting" if whole.separated else "field of the model"
        remarks.append(
            f"causes: the old deployment was checked again with each changed {what} alone, then with "
            f"{MOST_TOGETHER} at once where none alone suffices, within the faults of the fault sets concerned; what "
            f"gave the new verdict there had to give it within all kinds of faults as well (up to {CONFIRMED_WITH}, or "
            "as many as a fault set concerned has)"
        )
        if not whole.separated:
            remarks.append(
                "the effects of single settings cannot be separated (the deployments cannot be built again from what "
                "was said of them): what changed are fields of the model, which settings and releases decide; "
                "nobody may be able to configure each combination of them"
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
    """What was covered; not how far the layer of faults came in which time ran out."""
    one = verdict.coverage
    return one.complete_to, one.total, one.kinds, one.bounds_reached, one.any_number


def asks_for_causes(found: Difference) -> bool:
    """Tell whether there is a change whose cause is looked for."""
    return any(_is_asked(change) for change in found.verdicts)


def _is_asked(change: VerdictChange) -> bool:
    """Whether a cause is looked for."""
    return "status" in change.of or "fault sets" in change.of


def _concerned(change: VerdictChange) -> tuple[_Concerned, ...]:
    """The faults within which a change shows, and whether the status is compared; nothing where that is undecided.

    First only those of the fault sets concerned; then as many of any kind, as the model may depend on what is possible.
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
    # Where a set was not found, it must have been looked for.
    if any(_size(one) > other.coverage.complete_to for other in verdicts for one in sets - set(other.cut_sets)):
        return ()
    narrow = FaultBudget.allowing(sets)
    total = max(map(_size, sets))
    wider = FaultBudget(total, tuple((kind, max(total, 1)) for kind in kinds))
    return (narrow, False), (wider, False)


def _widened(change: VerdictChange) -> _Concerned:
    """The faults within which a cause is confirmed: any kind, as many as the new result covers, within limits."""
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
    """The faults of a deployment, as far as they concern a change."""
    most = dict(concerned.at_most)
    kinds = tuple((kind, min(count, most[kind])) for kind, count in faults.at_most if kind in most)
    assert concerned.total is not None
    return FaultBudget(concerned.total if faults.total is None else min(faults.total, concerned.total), kinds)


def reading(verdict: Verdict, faults: FaultBudget, *, with_status: bool) -> Reading:
    """What a verdict says, as far as these faults go."""
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
        return Cause(unknown=f"no setting: model {VERSION} says the same of both deployments, so the model's version")
    if None in (is_before, is_after) or search.budget.stop.is_set():
        return Cause(unknown=_why_not(search))
    if is_before != before or is_after != after or before == after:
        which = "old" if is_before != before else "new"
        because = ", which another model checked" if other_model else ""
        return Cause(
            unknown=f"within these faults alone the {which} deployment does not give its verdict again{because}"
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
    """Why nothing was found out about a verdict."""
    if search.budget.stop.is_set():
        return "interrupted"
    if not search.may_go_on:
        return f"{MOST_CHECKS} deployments between the two were checked for others"
    return "within these faults one of the two deployments is not decided again in time"
