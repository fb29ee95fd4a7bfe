"""Which changes of settings and of the application make properties hold, cheapest first.

An implicit hitting set: every set of changes that was tried and failed leaves a counterexample, and what would get rid
of that is a clause. The cheapest set that satisfies all clauses is tried next, until one has no counterexample left.
That it is the cheapest rests on one assumption, that a change does not undo what another one prevents (docs/findings.md
has where that is not so); that it holds rests on nothing but the check, which is a whole one.
Reference: E. Moreno-Centeno, R. Karp, "The implicit hitting set approach to solve combinatorial optimization problems",
Operations Research 61 (2), 2013.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from checker.processes import in_processes
from checker.survival import Counterexample, run_of, survivors
from model.deployment.changing import Change, changed, changes_of, companions
from model.deployment.deployment import Deployment
from model.deployment.errors import DeploymentError
from model.deployment.explored import FaultBudget
from properties.verdict import Result, Status, Verdict

Chosen = frozenset[int]
"""A set of changes, by their places in the list of all."""

Checks = Callable[[Deployment], Result]
"""Explores a deployment as far as the user asked for."""

OnTried = Callable[[Sequence[Change], Collection[str]], None]
"""Told of each set of changes that was tried, and which of the properties in question do not hold with it."""


@dataclass(frozen=True)
class Repair:
    """A set of changes with which the properties ``holds`` hold, and what was found of the deployment then.

    ``needed``: without any one of the changes one of these would not hold.
    """

    changes: tuple[Change, ...]
    deployment: Deployment
    result: Result
    holds: tuple[str, ...]
    needed: bool

    @property
    def cost(self) -> int:
        """The sum of what its changes cost."""
        return sum(change.cost for change in self.changes)


@dataclass(frozen=True)
class Repairs:
    """What was found: repairs with which all ``wanted`` properties hold, cheapest first, or else a Pareto front.

    Then each holds a set of them to which none can be added, at the least cost. ``hopeless``: those that no repair
    here mends. ``tried``: how many sets of changes were explored; ``stopped``: the time ran out before the search was
    over, so that there may be cheaper ones.
    """

    wanted: tuple[str, ...]
    found: tuple[Repair, ...]
    hopeless: tuple[str, ...]
    tried: int
    stopped: bool


@dataclass(frozen=True)
class _Clause:
    """What gets rid of a counterexample: one of these changes, or giving up one of those."""

    by: Chosen
    without: Chosen


class _Stopped(Exception):
    """The time is over."""


class Search:
    """The search for repairs of one deployment, whose result is known.

    Raises :class:`model.deployment.changing.Unchangeable` for a deployment that was not read from files.
    """

    def __init__(
        self,
        deployment: Deployment,
        result: Result,
        checks: Checks,
        *,
        seconds: float | None = None,
        on_tried: OnTried | None = None,
    ) -> None:
        self.deployment = deployment
        offered = changes_of(deployment)
        with_others = companions(deployment, offered)
        self.changes = [*offered, *with_others]
        self._companions = {
            self.changes.index(change): [[self.changes.index(one) for one in ones] for ones in sets]
            for change, sets in with_others.items()
        }
        self._until = None if seconds is None else time.monotonic() + seconds
        self._checks = checks
        self._on_tried = on_tried
        self._held = {v.property for v in result.verdicts if v.status is Status.HOLDS}
        self._whole: dict[Chosen, Result | None] = {frozenset(): result}
        self._quick: dict[tuple[Chosen, FaultBudget], Result | None] = {}
        self._clauses: dict[str, list[_Clause]] = {}
        self._rivals = [
            pair
            for pair in combinations(range(len(self.changes)), 2)
            if self.changes[pair[0]].places & self.changes[pair[1]].places
        ]

    def repairs(self, wanted: Sequence[str], most: int = 3) -> Repairs:
        """The cheapest repairs, at most so many, for all ``wanted`` properties, or the front of what can be had."""
        found: list[Repair] = []
        stopped = False
        try:
            everything = frozenset(wanted)
            while len(found) < most and (repair := self._cheapest(everything, found)) is not None:
                found.append(repair)
            if not found:
                found = self._front(everything)
        except _Stopped:
            stopped = True
        mended = {name for repair in found for name in repair.holds}
        hopeless = () if stopped else tuple(name for name in wanted if name not in mended)
        tried = len({*self._whole, *(chosen for chosen, _ in self._quick)}) - 1
        return Repairs(tuple(wanted), tuple(found), hopeless, tried, stopped)

    @staticmethod
    def nothing(wanted: Sequence[str]) -> Repairs:
        """What there is to say where nothing has to be repaired."""
        return Repairs(tuple(wanted), (), (), 0, stopped=False)

    def _front(self, wanted: frozenset[str]) -> list[Repair]:
        """The cheapest repair of each largest set of properties that can hold together."""
        found: list[Repair] = []
        level = [wanted - {name} for name in sorted(wanted)]
        seen: set[frozenset[str]] = set()
        while level:
            smaller: list[frozenset[str]] = []
            for names in level:
                if not names or names in seen or any(names <= set(repair.holds) for repair in found):
                    continue
                seen.add(names)
                repair = self._cheapest(names, ())
                if repair is None:
                    smaller += [names - {name} for name in sorted(names)]
                elif repair.changes:
                    found.append(repair)
            level = smaller
        return sorted(found, key=lambda repair: (-len(repair.holds), repair.cost))

    def _cheapest(self, wanted: frozenset[str], known: Sequence[Repair]) -> Repair | None:
        while (chosen := self._hitting(wanted, known)) is not None:
            if not self._wrong(chosen, wanted):
                return self._repair(chosen, wanted)
        return None

    def _repair(self, chosen: Chosen, wanted: frozenset[str]) -> Repair:
        """Without what it does not need after all."""
        for number in sorted(chosen, key=lambda one: -self.changes[one].cost):
            if not self._wrong(chosen - {number}, wanted):
                return self._repair(chosen - {number}, wanted)
        result = self._whole[chosen]
        assert result is not None
        changes = tuple(self.changes[number] for number in sorted(chosen))
        holding = tuple(v.property for v in result.verdicts if v.property in wanted)
        return Repair(changes, changed(self.deployment, changes), result, holding, needed=True)

    def _wrong(self, chosen: Chosen, wanted: frozenset[str]) -> bool:
        """Whether a wanted property does not hold with these changes. What it takes to get rid of that is learnt."""
        quick = self._quickly(chosen, wanted)
        wrong = _not_holding(quick, wanted, violated=True)
        if quick is not None and not wrong:
            wrong = _not_holding(self._wholly(chosen), wanted, violated=False)
        if quick is None or wrong is None:
            self._clauses.setdefault("", []).append(self._other_than(chosen))
            return True
        if self._on_tried is not None:
            self._on_tried([self.changes[number] for number in sorted(chosen)], [v.property for v in wrong])
        self._learn(chosen, wrong)
        return bool(wrong)

    def _quickly(self, chosen: Chosen, wanted: frozenset[str]) -> Result | None:
        """What the faults that are known to violate something do; None where no such deployment can be made."""
        if chosen in self._whole:
            return self._whole[chosen]
        every = [result for result in (*self._whole.values(), *self._quick.values()) if result is not None]
        sets = [one for result in every for v in result.verdicts if v.property in wanted for one in v.cut_sets]
        most: dict[str, int] = {}
        for kind, count in (fault for one in sets for fault in one):
            most[kind] = max(count, most.get(kind, 0))
        total = max((sum(count for _, count in one) for one in sets), default=0)
        budget = FaultBudget(total, tuple(sorted(most.items())))
        if (chosen, budget) not in self._quick:
            self._quick[chosen, budget] = self._explored(chosen, budget)
        return self._quick[chosen, budget]

    def _wholly(self, chosen: Chosen) -> Result | None:
        if chosen not in self._whole:
            self._whole[chosen] = self._explored(chosen, None)
        return self._whole[chosen]

    def _explored(self, chosen: Chosen, faults: FaultBudget | None) -> Result | None:
        if self._until is not None and time.monotonic() > self._until:
            raise _Stopped
        try:
            deployment = changed(self.deployment, [self.changes[number] for number in sorted(chosen)])
        except DeploymentError:
            return None
        return self._checks(deployment if faults is None else replace(deployment, faults=faults))

    def _learn(self, chosen: Chosen, wrong: Sequence[Verdict]) -> None:
        """What gets rid of the first counterexample of each; where there is none, anything else may."""
        told = [verdict for verdict in wrong if verdict.traces]
        for verdict in wrong:
            if not verdict.traces:
                self._clauses.setdefault(verdict.property, []).append(self._other_than(chosen))
        if not told:
            return
        others = frozenset(range(len(self.changes))) - chosen
        possible = [number for number in sorted(others) if not self._has_rival(number, chosen)]
        given_up = sorted(chosen) if self._held.intersection(verdict.property for verdict in told) else []
        variants = [chosen | {number} for number in possible] + [chosen - {number} for number in given_up]
        counterexamples = [Counterexample(verdict.property, run_of(verdict.traces[0].steps)) for verdict in told]
        sets = [[self.changes[number] for number in sorted(variant)] for variant in variants]
        stays = list(in_processes(partial(_possible_with, self.deployment, counterexamples), sets))
        for at, verdict in enumerate(told):
            surviving = {number for number, kept in zip(possible, stays, strict=False) if kept[at]}
            useless = {number for number, kept in zip(given_up, stays[len(possible) :], strict=True) if kept[at]}
            # What held without any change may be broken by one: giving that up is another way out.
            without = frozenset(given_up) - useless if verdict.property in self._held else frozenset()
            self._clauses.setdefault(verdict.property, []).append(_Clause(others - surviving, without))

    def _other_than(self, chosen: Chosen) -> _Clause:
        """Any other set of changes."""
        return _Clause(frozenset(range(len(self.changes))) - chosen, chosen)

    def _has_rival(self, number: int, chosen: Chosen) -> bool:
        return any(number in pair and not chosen.isdisjoint(pair) for pair in self._rivals)

    def _hitting(self, wanted: frozenset[str], known: Sequence[Repair]) -> Chosen | None:
        """The cheapest set that all clauses of these properties allow and that holds none of the known repairs."""
        import z3

        taken = [z3.Bool(f"change_{number}") for number in range(len(self.changes))]
        solver = z3.Optimize()
        for first, second in self._rivals:
            solver.add(z3.Not(z3.And(taken[first], taken[second])))
        for number, sets in self._companions.items():
            together = [z3.And(*(taken[one] for one in ones)) for ones in sets]
            solver.add(z3.Implies(taken[number], z3.Or(*together)))
        for name in ("", *sorted(wanted)):
            for clause in self._clauses.get(name, ()):
                ways = [taken[number] for number in clause.by] + [z3.Not(taken[number]) for number in clause.without]
                solver.add(z3.Or(*ways))
        for repair in known:
            solver.add(z3.Or(*(z3.Not(taken[self.changes.index(change)]) for change in repair.changes)))
        solver.minimize(
            z3.Sum(*(z3.If(one, change.cost, 0) for one, change in zip(taken, self.changes, strict=True)), 0)
        )
        if solver.check() != z3.sat:
            return None
        model = solver.model()
        return frozenset(
            number for number, one in enumerate(taken) if z3.is_true(model.eval(one, model_completion=True))
        )


def _not_holding(result: Result | None, wanted: Collection[str], *, violated: bool) -> list[Verdict] | None:
    """The verdicts of wanted properties that are violated, or are anything but a pass; None without a result."""
    if result is None:
        return None
    asked = [verdict for verdict in result.verdicts if verdict.property in wanted]
    return [v for v in asked if v.status is Status.VIOLATED or (not violated and v.status is not Status.HOLDS)]


def _possible_with(
    deployment: Deployment, counterexamples: Sequence[Counterexample], changes: Sequence[Change]
) -> list[bool]:
    try:
        return survivors(changed(deployment, changes), counterexamples)
    except DeploymentError:
        return [False] * len(counterexamples)  # with others it may be had, and get rid of all of them
