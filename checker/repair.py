"""Which changes of settings and of the application make properties hold, cheapest first.

An implicit hitting set: each run that is known to violate a property is a clause, of the changes that may get rid of
it. The cheapest set that satisfies all clauses is tried next. First the known runs are replayed with it: those that are
still possible refuse it, and none of its changes gets rid of them. Only then is it explored: with the faults that are
known to violate something, and then as the deployment itself is. What that finds are further runs.

Before that search, a few sets of likely changes (:mod:`properties.likely_settings`) are tried: the first repair that
they give is shown soon, and need not be the cheapest. A deployment with many states is first explored in part for that:
each violation found in part of the states is one of the whole.

That a repair is the cheapest rests on one assumption: of what a set of changes leaves possible, none of them alone gets
rid together with others. Changes that do nothing without another one are known (``companions``), and before nothing is
found at all everything is tried at once. That a repair holds rests on nothing but the check.
Reference: E. Moreno-Centeno, R. Karp, "The implicit hitting set approach to solve combinatorial optimization problems",
Operations Research 61 (2), 2013.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from checker.budget import ANSWERED_TO, Budget
from checker.check import Run
from checker.clauses import Chosen, Clause, Offered
from checker.survival import Counterexample, run_along
from checker.trial import Trial
from model.deployment.changing import Change, changed, changes_of, companions, upgrades_of
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError
from model.deployment.explored import FaultBudget
from properties.likely_settings import LikelySetting, likely_for
from properties.verdict import CutSet, Result, Status, Verdict

NOTHING: Chosen = frozenset()
MODELS_KEPT = 8
"""The same changes may be asked about for other properties soon after."""
LIKELY_SETS = 6
"""The number of sets of likely changes to try before the search for the cheapest begins."""

FIRST_LOOK = 100_000
"""The number of states after which the first exploration of the deployment as it is stops: a second or two."""


@dataclass(frozen=True)
class Repair:
    """A set of changes with which no property of ``mends`` is violated, and what was found of all required ones then.

    ``needed``: without any one of the changes one of these would be violated; not known where the time ran out.
    """

    changes: tuple[Change, ...]
    deployment: Deployment
    result: Result
    mends: tuple[str, ...]
    needed: bool

    @property
    def cost(self) -> int:
        """The sum of what its changes cost."""
        return sum(change.cost for change in self.changes)


@dataclass(frozen=True)
class Repairs:
    """What was found: repairs with which no ``wanted`` property is violated, cheapest first, or else a Pareto front.

    Then each has a set of them to which none can be added, at the least cost. ``hopeless``: those that no repair here
    mends. ``explored`` sets of changes were explored, ``refuted`` ones refused because a known run is possible with
    them; ``stopped``: the search ended before it was over, so that there may be cheaper ones. ``undecided``: properties
    that some set of changes was not shown to mend, and not to violate either.
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
        """The repairs with which none of the wanted properties is violated."""
        return tuple(repair for repair in self.found if set(repair.mends) >= set(self.wanted))


def violated(result: Result) -> tuple[str, ...]:
    """The properties that a result says to be violated."""
    return tuple(verdict.property for verdict in result.verdicts if verdict.status is Status.VIOLATED)


def _is_cut_short(verdict: Verdict) -> bool:
    """Tell whether a limit of states left a property undecided."""
    return verdict.status is Status.UNKNOWN and verdict.coverage.stopped == "states"


class Watch(Protocol):
    """Is told how a search goes on."""

    def trying(self, changes: Sequence[Change]) -> None:
        """A set of changes is about to be tried; none: the deployment as it is."""

    def tried(self, changes: Sequence[Change], wrong: Collection[str]) -> None:
        """A set of changes was tried, with which these properties do not hold."""

    def found(self, repair: Repair) -> None:
        """A repair was found, of all properties or of some; a better one may follow."""


class Unwatched:
    """A watch that does nothing."""

    def trying(self, changes: Sequence[Change]) -> None:
        """Do nothing."""

    def tried(self, changes: Sequence[Change], wrong: Collection[str]) -> None:
        """Do nothing."""

    def found(self, repair: Repair) -> None:
        """Do nothing."""


def _may_prevent(change: Change, row: LikelySetting) -> bool:
    """Tell whether a change sets what the row names, to a value that is not known to allow violations."""
    values = (value for name, (_, _, value) in zip(change.settings, change.values, strict=True) if name == row.name)
    return any(not row.safe or row.is_safe(value) for value in values)


@dataclass
class _Known:
    """A run that violates a property with some faults, and what may get rid of it."""

    counterexample: Counterexample
    faults: CutSet
    clause: Clause


class _Stopped(Exception):
    """The time is over, or somebody interrupted."""


class Search:
    """The search for repairs of one deployment, within a budget whose ``stop`` ends it.

    Raises :class:`model.deployment.changing.Unchangeable` for a deployment that was not read from files.
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
        self._as_it_is = Trial(deployment)
        self._trial = lru_cache(MODELS_KEPT)(self._made)

    def repairs(self, most: int = 3) -> Repairs:
        """The cheapest repairs, at most so many, for all required properties, or the front of what can be had.

        What was not decided, or passed only vacuously, counts as mended where it is not violated.
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
        """Search for likely repairs first, then for the cheapest. Raises :class:`_Stopped`."""
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
        """Explore the deployment as it is, and learn what violates it within the budget.

        A property that a first look was too short for is taken to hold: nothing less counts as mended then.
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
            # A second look that was stopped early may have found less than the first.
            self._wholes[NOTHING] = result

    def _judge_again(self) -> None:
        """Judge what was tried before the deployment as it is was known as a whole."""
        wholes = {chosen: result for chosen, result in self._wholes.items() if chosen}
        self._clauses = {name: clauses for name, clauses in self._clauses.items() if not name}
        for chosen, result in wholes.items():
            self._judge(chosen, result)

    def _soon(self, names: frozenset[str]) -> None:
        """Look for a repair of the likeliest changes, or of an upgrade: soon found, and not known to be the cheapest.

        A set of changes that mends a part, and breaks nothing, is kept until one mends more.
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
        """Try a set of changes, and tell of it where it mends more than what was found so far; whether it mends all."""
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
        """For each known run the likeliest change that may get rid of the run; None where a run has none."""
        chosen = NOTHING
        for one in self._known:
            if one.counterexample.property not in names or chosen & one.clause.by:
                continue
            likely = likely_for(one.counterexample.property, one.faults)
            possible = [n for n in sorted(one.clause.by) if self._offered.goes_with(n, chosen)]
            ways = (n for row in likely for n in possible if _may_prevent(self._offered.changes[n], row))
            way = next(ways, None)
            if way is None:
                return None
            chosen |= {way}
        return chosen

    def _list_cheapest(self, names: frozenset[str], most: int, found: list[Repair]) -> None:
        """The cheapest repairs, of which none has a part in another. After an upgrade no other upgrade is told."""
        taken: list[Chosen] = []
        while len(found) < most and (chosen := self._cheapest(names, taken)) is not None:
            chosen, needed = self._without_needless(chosen, names)
            taken.append(chosen)
            found.append(self._repair(chosen, needed=needed))
            self._watch.found(found[-1])
            if any(change.is_upgrade for change in found[-1].changes):
                return

    def _list_front(self, names: frozenset[str], found: list[Repair]) -> None:
        """The cheapest repair of each largest set of properties that can hold together."""
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
        """As few of these as are known not to hold together."""
        for name in sorted(names):
            if self._next(names - {name}, ()) is None:
                names -= {name}
        return names

    def _next(self, names: frozenset[str], but: Sequence[Chosen]) -> Chosen | None:
        """The cheapest set of changes that may get rid of all that is known to violate these properties."""
        runs = [one.clause for one in self._known if one.counterexample.property in names]
        return self._offered.cheapest([*runs, *(c for name in ("", *sorted(names)) for c in self._of(name))], but)

    def _of(self, name: str) -> list[Clause]:
        """The sets of changes with which a property was not seen to be violated, nor to hold; "": that are refused."""
        return self._clauses.setdefault(name, [])

    def _cheapest(self, names: frozenset[str], but: Sequence[Chosen]) -> Chosen | None:
        while (chosen := self._next(names, but)) is not None:
            if not self._wrong(chosen, names):
                return chosen
        everything = self._everything()
        return None if but or self._wrong(everything, names) else everything

    def _everything(self) -> Chosen:
        """As many changes at once as go together, the cheapest first."""
        chosen = NOTHING
        changes = self._offered.changes
        for number in sorted(range(len(changes)), key=lambda one: changes[one].cost):
            if not self._offered.has_rival(number, chosen) and self._changed(chosen | {number}) is not None:
                chosen |= {number}
        return chosen

    def _without_needless(self, chosen: Chosen, names: frozenset[str]) -> tuple[Chosen, bool]:
        """Without what it does not need after all, and whether it is known to need the rest."""
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
        """Whether one of these properties does not hold with these changes. What it takes to change that is learnt."""
        if chosen not in self._wholes:
            self._watch.trying(self._offered.named(chosen))
            known = [one for one in self._known if one.counterexample.property in names]
            trial = self._trial(chosen, FaultBudget.allowing(one.faults for one in known))
            if trial is None:
                self._of("").append(self._offered.other_than(chosen))
                return True
            wrong = self._still_possible(trial, chosen, known)
            if not wrong and self.deployment.faults.total != ANSWERED_TO:
                # Of single faults the whole is hardly larger than those that are known to violate something.
                wrong = self._violated_by_known_faults(trial, chosen, names)
            if not wrong:
                self._check_whole(chosen)
        if chosen in self._wholes:
            wrong = {v.property for v in self._wholes[chosen].verdicts if not self._is_mended(v)} & names
        self._watch.tried(self._offered.named(chosen), sorted(wrong))
        return bool(wrong)

    def _still_possible(self, trial: Trial, chosen: Chosen, known: Sequence[_Known]) -> set[str]:
        """What known runs violate with these changes too: then none of these gets rid of them."""
        wrong = set()
        for one in known:
            self._go_on()
            if trial.has(one.counterexample):
                one.clause = one.clause.after(chosen)
                wrong.add(one.counterexample.property)
        if wrong:
            self._refuted.add(chosen)
        return wrong

    def _violated_by_known_faults(self, trial: Trial, chosen: Chosen, names: frozenset[str]) -> set[str]:
        """What the faults violate that are known to violate something."""
        self._go_on()
        run = trial.explored(names, self._budget)
        self._explored.add(chosen)
        wrong = self._learn(run, chosen)
        if not wrong:
            self._go_on()
        return wrong

    def _check_whole(self, chosen: Chosen) -> None:
        """Check as the deployment itself is checked."""
        made = self._changed(chosen)
        assert made is not None
        run = Trial(made).explored(self.deployment.require, self._budget)
        self._explored.add(chosen)
        self._learn(run, chosen)
        self._go_on()
        self._wholes[chosen] = run.result()
        self._judge(chosen, self._wholes[chosen])

    def _judge(self, chosen: Chosen, result: Result) -> None:
        """Refuse a set of changes with which something is not violated, and not mended either."""
        for verdict in result.verdicts:
            if verdict.status is not Status.VIOLATED and not self._is_mended(verdict):
                self._of(verdict.property).append(self._offered.other_than(chosen))

    def _learn(self, run: Run, chosen: Chosen) -> set[str]:
        """Keep the runs that violate something, and say what they violate.

        A run that is not one of the deployment as it is may be due to a change: giving that up is another way out.
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
        """The deployment with these changes; None where clients or brokers refuse them, or no model has that."""
        try:
            return changed(self.deployment, self._offered.named(chosen))
        except DeploymentError:
            return None

    def _made(self, chosen: Chosen, faults: FaultBudget) -> Trial | None:
        made = self._changed(chosen)
        return None if made is None else Trial(replace(made, faults=faults))

    def _go_on(self) -> None:
        """Raises :class:`_Stopped` once the budget says so."""
        if self._budget.stop.is_set():
            raise _Stopped
