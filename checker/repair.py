"""Changes of settings and of the application that make properties hold, cheapest first.

The search is an implicit hitting set. Each known run that violates a property is a clause: the set of changes that can
remove the run. The cheapest set that satisfies all clauses is tried next. First the known runs are replayed with this
set. A run that is still possible refuses the set, and shows that none of the set's changes removes the run. A set
without such a run is explored: first with the faults known to violate something, then like the deployment itself. Each
violation found adds a run.

Before this search, a few sets of likely changes (:mod:`properties.likely_settings`) are tried. Their first repair is
shown soon, and is not always the cheapest. For this purpose, a deployment with many states is first explored in part:
each violation found there is a violation of the whole.

The claim that a repair is the cheapest rests on one assumption: if a run is possible with a set of changes, no change
of the set removes the run in combination with others. The same is assumed of the changes beside a set with which a
property is vacuous or undecided, if they leave the property so. Changes that do nothing without another change are
known (``companions``). If no repair is found, all changes are tried at once. The claim that a repair holds rests on the
check alone.

Reference: E. Moreno-Centeno, R. Karp, "The implicit hitting set approach to solve combinatorial optimization problems",
Operations Research 61 (2), 2013.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from proofka.checker.budget import ANSWERED_TO, Budget
from proofka.checker.candidate import Candidate
from proofka.checker.check import Run
from proofka.checker.clauses import Chosen, Clause, Offered
from proofka.checker.likely_changes import may_prevent
from proofka.checker.repair_watch import Unwatched, Watch
from proofka.checker.run_transfer import Counterexample, run_along
from proofka.model.deployment.changing import Change, changed, changes_of, companions, upgrades_of
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.explored import FaultBudget
from proofka.properties.likely_settings import likely_for
from proofka.properties.verdict import CutSet, Result, Status, Verdict

NOTHING: Chosen = frozenset()
MODELS_KEPT = 8
"""Number of models that are kept, because the same changes can be tried for other properties soon after."""
LIKELY_SETS = 6
"""Number of sets of likely changes to try before the search for the cheapest set begins."""

FIRST_LOOK = 100_000
"""Number of states after which the first exploration of the original deployment stops, after a second or two."""


@dataclass(frozen=True)
class Repair:
    """A set of changes with which no property of ``mends`` is violated, and the result for all required properties.

    ``needed``: without any one of the changes a property of ``mends`` would be violated; False if unknown because of a
    limit.
    """

    changes: tuple[Change, ...]
    deployment: Deployment
    result: Result
    mends: tuple[str, ...]
    needed: bool

    @property
    def cost(self) -> int:
        """Total cost of the changes."""
        return sum(change.cost for change in self.changes)


@dataclass(frozen=True)
class Repairs:
    """The result of a search: repairs with which no ``wanted`` property is violated, cheapest first, or else a Pareto
    front.

    In a Pareto front, each repair mends a set of properties to which none can be added, at the least cost.
    ``hopeless``: properties that no repair here mends. ``explored``: number of explored sets of changes. ``refuted``:
    number of sets refused because a known run stays possible. ``stopped``: the search ended early, so cheaper repairs
    are possible. ``undecided``: properties that some set of changes was shown neither to mend nor to violate.
    """

    before: Result
    wanted: tuple[str, ...]
    found: tuple[Repair, ...]
    hopeless: tuple[str, ...]
    explored: int
    refuted: int
    stopped: bool
    undecided: tuple[str, ...] = ()

    @property
    def violated(self) -> tuple[str, ...]:
        """The required properties that were violated before."""
        return violated(self.before)

    @property
    def whole(self) -> tuple[Repair, ...]:
        """The repairs with which no wanted property is violated."""
        return tuple(repair for repair in self.found if set(repair.mends) >= set(self.wanted))


def violated(result: Result) -> tuple[str, ...]:
    """Return the properties that a result reports as violated."""
    return tuple(verdict.property for verdict in result.verdicts if verdict.status is Status.VIOLATED)


def _is_cut_short(verdict: Verdict) -> bool:
    """Tell whether a limit of states left a property undecided."""
    return verdict.status is Status.UNKNOWN and verdict.coverage.stopped == "states"


@dataclass
class _Known:
    """A run that violates a property with some faults, and the clause of changes that can remove the run."""

    counterexample: Counterexample
    faults: CutSet
    clause: Clause


class _Stopped(Exception):
    """The time is over, or the user interrupted."""


class Search:
    """The search for repairs of one deployment, within a budget whose ``stop`` ends the search.

    Raise :class:`model.deployment.changing.Unchangeable` for a deployment that was not read from files.
    """

    def __init__(self, deployment: Deployment, budget: Budget, watch: Watch | None = None) -> None:
        self.deployment = deployment
        offered = [*changes_of(deployment), *upgrades_of(deployment)]
        with_others = companions(deployment, offered)
        self._offered = Offered([*offered, *with_others], with_others)
        self._budget = budget
        self._watch = watch or Unwatched()
        self._before: Mapping[str, Status] = {}
        self._known: list[_Known] = []
        self._clauses: dict[str, list[Clause]] = {}
        self._wholes: dict[Chosen, Result] = {}
        self._explored: set[Chosen] = set()
        self._refuted: set[Chosen] = set()
        self._likely: Repair | None = None
        self._as_it_is = Candidate(deployment)
        self._candidate = lru_cache(MODELS_KEPT)(self._made)

    def repairs(self, most: int = 3) -> Repairs:
        """Return at most ``most`` repairs for all required properties, cheapest first, or else the Pareto front.

        A property that was undecided or vacuous before counts as mended if it is not violated.
        """
        wanted = self.deployment.require
        found: list[Repair] = []
        stopped = False
        try:
            self._search(frozenset(wanted), most, found)
        except _Stopped:
            stopped = True
            if self._likely is not None and not found:
                found.append(self._likely)
        mended = {name for repair in found for name in repair.mends}
        hopeless = () if stopped or not found else tuple(name for name in wanted if name not in mended)
        found.sort(key=lambda repair: (-len(repair.mends), repair.cost))
        before = self._wholes[NOTHING]
        figures = len(self._explored), len(self._refuted)
        return Repairs(before, wanted, tuple(found), hopeless, *figures, stopped, self._undecided())

    def _undecided(self) -> tuple[str, ...]:
        tried = (verdict for chosen, one in self._wholes.items() if chosen for verdict in one.verdicts)
        return tuple(dict.fromkeys(verdict.property for verdict in tried if verdict.status is Status.UNKNOWN))

    def _search(self, wanted: frozenset[str], most: int, found: list[Repair]) -> None:
        """Search for likely repairs first, then for the cheapest. Raise :class:`_Stopped`."""
        self._look(replace(self._budget, states=FIRST_LOOK))
        self._go_on()
        if any(verdict.coverage.stopped == "states" for verdict in self._wholes[NOTHING].verdicts):
            self._soon(wanted)
            self._go_on()
            self._look(self._budget)
            self._judge_again()
            self._go_on()
        if violated(self._wholes[NOTHING]):
            self._soon(wanted)
            self._list_cheapest(wanted, most, found)
            if not found:
                self._list_front(wanted, found)

    def _look(self, budget: Budget) -> None:
        """Explore the original deployment within the budget, and record its violations.

        A property undecided by a too short first exploration is assumed to hold, so a repair must make it hold.
        """
        is_first = budget is not self._budget
        self._watch.trying(())
        run = self._as_it_is.explored(self.deployment.require, budget)
        result = run.result()
        self._before = {
            verdict.property: Status.HOLDS if is_first and _is_cut_short(verdict) else verdict.status
            for verdict in result.verdicts
        }
        self._learn(run, NOTHING)
        if NOTHING not in self._wholes or len(violated(self._wholes[NOTHING])) <= len(violated(result)):
            # A later exploration that was stopped early can have found fewer violations than the first.
            self._wholes[NOTHING] = result
            self._watch.unchanged(result)

    def _judge_again(self) -> None:
        """Judge again the sets that were tried before the original deployment was explored completely."""
        wholes = {chosen: result for chosen, result in self._wholes.items() if chosen}
        self._clauses = {name: clauses for name, clauses in self._clauses.items() if not name}
        for chosen, result in wholes.items():
            self._judge(chosen, result)

    def _soon(self, names: frozenset[str]) -> None:
        """Search for a repair by the likeliest changes, or by an upgrade; the result is quick, and perhaps not the
        cheapest.

        A set of changes that mends a part, and breaks nothing, is kept until a set mends more.
        """
        if not self._known or (self._likely is not None and names <= set(self._likely.mends)):
            return
        tried: set[Chosen] = set()
        while len(tried) < LIKELY_SETS:
            chosen = self._likeliest(names)
            if chosen is None or chosen in tried:
                break
            tried.add(chosen)
            if self._mends_soon(chosen, names):
                return
        upgrades = (number for number, change in enumerate(self._offered.changes) if change.is_upgrade)
        any(self._mends_soon(frozenset({number}), names) for number in upgrades)

    def _mends_soon(self, chosen: Chosen, names: frozenset[str]) -> bool:
        """Try a set of changes, and report the set if it mends more than all before; return whether it mends all
        properties.
        """
        wrong = self._wrong(chosen, names)
        if chosen in self._wholes:
            repair = self._repair(chosen, needed=False)
            mends = set(repair.mends)
            held = {name for name, status in self._before.items() if status is Status.HOLDS}
            if held < mends and (self._likely is None or len(self._likely.mends) < len(mends)):
                self._likely = repair
                self._watch.found(repair)
        return not wrong

    def _likeliest(self, names: frozenset[str]) -> Chosen | None:
        """Return the likeliest change that can remove each known run, as a set; None if a run has no such change."""
        chosen = NOTHING
        for one in self._known:
            if one.counterexample.property not in names or chosen & one.clause.by:
                continue
            likely = likely_for(one.counterexample.property, one.faults)
            possible = [n for n in sorted(one.clause.by) if self._offered.goes_with(n, chosen)]
            ways = (n for row in likely for n in possible if may_prevent(self._offered.changes[n], row))
            way = next(ways, None)
            if way is None:
                return None
            chosen |= {way}
        return chosen

    def _list_cheapest(self, names: frozenset[str], most: int, found: list[Repair]) -> None:
        """List the cheapest repairs, none contained in another. After one upgrade, no further repair is listed."""
        taken: list[Chosen] = []
        while len(found) < most and (chosen := self._cheapest(names, taken)) is not None:
            chosen, needed = self._without_needless(chosen, names)
            taken.append(chosen)
            found.append(self._repair(chosen, needed=needed))
            self._watch.found(found[-1])
            if any(change.is_upgrade for change in found[-1].changes):
                return

    def _list_front(self, names: frozenset[str], found: list[Repair]) -> None:
        """List the cheapest repair of each largest set of properties that can hold together."""
        level, seen, mended = [names], set[frozenset[str]](), list[set[str]]()
        while level:
            smaller: list[frozenset[str]] = []
            for one in level:
                if not one or one in seen or any(one <= known for known in mended):
                    continue
                seen.add(one)
                chosen = self._cheapest(one, ())
                if chosen is None:
                    smaller += [one - {name} for name in sorted(self._conflict(one))]
                    continue
                chosen, needed = self._without_needless(chosen, one)
                repair = self._repair(chosen, needed=needed)
                mended.append(set(repair.mends))
                if chosen:
                    found.append(repair)
                    self._watch.found(repair)
            level = smaller

    def _conflict(self, names: frozenset[str]) -> frozenset[str]:
        """Return a minimal subset of these properties that is known not to hold together."""
        for name in sorted(names):
            if self._next(names - {name}, ()) is None:
                names -= {name}
        return names

    def _next(self, names: frozenset[str], but: Sequence[Chosen]) -> Chosen | None:
        """Return the cheapest set of changes that can remove all known violations of these properties."""
        runs = [one.clause for one in self._known if one.counterexample.property in names]
        return self._offered.cheapest([*runs, *(c for name in ("", *sorted(names)) for c in self._of(name))], but)

    def _of(self, name: str) -> list[Clause]:
        """Return clauses for the sets with which a property neither holds nor is violated; for "", the refused sets."""
        return self._clauses.setdefault(name, [])

    def _cheapest(self, names: frozenset[str], but: Sequence[Chosen]) -> Chosen | None:
        while (chosen := self._next(names, but)) is not None:
            if not self._wrong(chosen, names):
                return chosen
        everything = self._everything()
        return None if but or self._wrong(everything, names) else everything

    def _everything(self) -> Chosen:
        """Return as many compatible changes as possible, choosing the cheapest first."""
        chosen = NOTHING
        changes = self._offered.changes
        for number in sorted(range(len(changes)), key=lambda one: changes[one].cost):
            if not self._offered.has_rival(number, chosen) and self._changed(chosen | {number}) is not None:
                chosen |= {number}
        return chosen

    def _without_needless(self, chosen: Chosen, names: frozenset[str]) -> tuple[Chosen, bool]:
        """Return a set without its needless changes, and whether the remaining changes are known to be needed."""
        try:
            while (fewer := self._with_one_less(chosen, names)) is not None:
                chosen = fewer
        except _Stopped:
            return chosen, False
        return chosen, True

    def _with_one_less(self, chosen: Chosen, names: frozenset[str]) -> Chosen | None:
        sets = (chosen - {number} for number in self._offered.costliest_first(chosen))
        return next((one for one in sets if not self._wrong(one, names)), None)

    def _repair(self, chosen: Chosen, *, needed: bool) -> Repair:
        result = self._wholes[chosen]
        made = self._changed(chosen)
        assert made is not None
        mends = tuple(verdict.property for verdict in result.verdicts if self._is_mended(verdict))
        return Repair(self._offered.named(chosen), made, result, mends, needed)

    def _is_mended(self, verdict: Verdict) -> bool:
        if verdict.status is Status.HOLDS:
            return True
        was_open = self._before[verdict.property] in (Status.VACUOUS, Status.UNKNOWN)
        return was_open and verdict.status is not Status.VIOLATED

    def _wrong(self, chosen: Chosen, names: frozenset[str]) -> bool:
        """Tell whether one of these properties does not hold with these changes, and record the clauses that follow."""
        if chosen not in self._wholes:
            self._watch.trying(self._offered.named(chosen))
            known = [one for one in self._known if one.counterexample.property in names]
            candidate = self._candidate(chosen, FaultBudget.allowing(one.faults for one in known))
            if candidate is None:
                self._exclude("", chosen)
                return True
            wrong = self._still_possible(candidate, chosen, known)
            if not wrong and self.deployment.faults.total != ANSWERED_TO:
                # With single faults, the whole exploration is hardly larger than one with the known faults only.
                wrong = self._violated_by_known_faults(candidate, chosen, names)
            if not wrong:
                self._check_whole(chosen)
        if chosen in self._wholes:
            wrong = {v.property for v in self._wholes[chosen].verdicts if not self._is_mended(v)} & names
        self._watch.tried(self._offered.named(chosen), sorted(wrong))
        return bool(wrong)

    def _still_possible(self, candidate: Candidate, chosen: Chosen, known: Sequence[_Known]) -> set[str]:
        """Return the properties that known runs still violate with these changes, and weaken the clauses of these
        runs.
        """
        wrong = set()
        for one in known:
            self._go_on()
            if candidate.has(one.counterexample):
                one.clause = one.clause.after(chosen)
                wrong.add(one.counterexample.property)
        if wrong:
            self._refuted.add(chosen)
        return wrong

    def _violated_by_known_faults(self, candidate: Candidate, chosen: Chosen, names: frozenset[str]) -> set[str]:
        """Return the properties that are violated within the faults of known violations."""
        self._go_on()
        run = candidate.explored(names, self._budget)
        self._explored.add(chosen)
        wrong = self._learn(run, chosen)
        if not wrong:
            self._go_on()
        return wrong

    def _check_whole(self, chosen: Chosen) -> None:
        """Check the changed deployment like the deployment itself."""
        made = self._changed(chosen)
        assert made is not None
        run = Candidate(made).explored(self.deployment.require, self._budget)
        self._explored.add(chosen)
        self._learn(run, chosen)
        self._go_on()
        self._wholes[chosen] = run.result()
        self._judge(chosen, self._wholes[chosen])

    def _judge(self, chosen: Chosen, result: Result) -> None:
        """Refuse a set of changes if some property is neither violated nor mended."""
        for verdict in result.verdicts:
            if verdict.status is not Status.VIOLATED and not self._is_mended(verdict):
                self._exclude(verdict.property, chosen)

    def _exclude(self, name: str, chosen: Chosen) -> None:
        """Record that a property neither holds nor is violated with a set of changes; for "", that the set is refused.

        Where the same is known of a part of the set, the other changes of the set do not help this part.
        """
        clauses = self._of(name)
        parts = [number for number, clause in enumerate(clauses) if clause.without <= chosen]
        for number in parts:
            clauses[number] = clauses[number].after(chosen)
        if not parts:
            clauses.append(self._offered.other_than(chosen))

    def _learn(self, run: Run, chosen: Chosen) -> set[str]:
        """Record the violating runs, and return the violated properties.

        A run that the original deployment does not have can result from a change, so giving up this change can also
        remove the run.
        """
        wrong = set()
        anything = self._offered.other_than(chosen)
        for name in (prop.name for group in run.groups for prop in group.properties):
            for one in run.in_time(name).timely:
                counterexample = Counterexample(name, run_along(one.actions))
                known = next((known for known in self._known if known.counterexample == counterexample), None)
                if known is None:
                    is_older = not chosen or self._as_it_is.has(counterexample)
                    clause = Clause(anything.by, NOTHING) if is_older else anything
                    self._known.append(_Known(counterexample, one.faults, clause))
                else:
                    known.clause = known.clause.after(chosen)
                wrong.add(name)
        return wrong

    def _changed(self, chosen: Chosen) -> Deployment | None:
        """Return the deployment with these changes; None if clients or brokers refuse them, or if the result is not
        modelled.
        """
        try:
            return changed(self.deployment, self._offered.named(chosen))
        except DeploymentError:
            return None

    def _made(self, chosen: Chosen, faults: FaultBudget) -> Candidate | None:
        made = self._changed(chosen)
        return None if made is None else Candidate(replace(made, faults=faults))

    def _go_on(self) -> None:
        """Raise :class:`_Stopped` once the budget is stopped."""
        if self._budget.stop.is_set():
            raise _Stopped
