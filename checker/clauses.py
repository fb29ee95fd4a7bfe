"""Known facts about sets of changes, as clauses, and the cheapest set that satisfies all clauses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from proofka.model.deployment.changing import Change

Chosen = frozenset[int]
"""A set of changes, by their places in the list of all changes."""


@dataclass(frozen=True)
class Clause:
    """A condition that removes a problem: one of the changes ``by``, or giving up one of ``without``."""

    by: Chosen
    without: Chosen

    def after(self, chosen: Chosen) -> Clause:
        """Return the clause that remains once the problem is known to persist with the chosen changes."""
        return Clause(self.by - chosen, self.without & chosen)


class Offered:
    """The possible changes. ``companions``: changes that need others, and the sets of which each needs one."""

    def __init__(self, changes: Sequence[Change], companions: Mapping[Change, Iterable[Collection[Change]]]) -> None:
        self.changes = tuple(changes)
        self._needs = {
            self.changes.index(change): [[self.changes.index(one) for one in ones] for ones in sets]
            for change, sets in companions.items()
        }
        self._rivals = [
            pair
            for pair in combinations(range(len(self.changes)), 2)
            if self.changes[pair[0]].places & self.changes[pair[1]].places
        ]

    def named(self, chosen: Chosen) -> tuple[Change, ...]:
        """Return the changes of a set."""
        return tuple(self.changes[number] for number in sorted(chosen))

    def other_than(self, chosen: Chosen) -> Clause:
        """Return a clause that excludes this set of changes."""
        return Clause(frozenset(range(len(self.changes))) - chosen, chosen)

    def has_rival(self, number: int, chosen: Chosen) -> bool:
        """Tell whether a change sets the same value as a change in the set."""
        return any(number in pair and not chosen.isdisjoint(pair) for pair in self._rivals)

    def goes_with(self, number: int, chosen: Chosen) -> bool:
        """Tell whether a set allows a change: the set has no rival of the change, and has the changes needed by it."""
        needs = self._needs.get(number)
        return not self.has_rival(number, chosen) and (needs is None or any(chosen.issuperset(ones) for ones in needs))

    def costliest_first(self, chosen: Chosen) -> list[int]:
        """Return the changes of a set, the highest cost first."""
        return sorted(chosen, key=lambda number: (-self.changes[number].cost, number))

    def cheapest(self, clauses: Iterable[Clause], but: Iterable[Chosen] = ()) -> Chosen | None:
        """Return the cheapest set that satisfies all clauses and contains no set of ``but``; None if no set does."""
        import z3

        taken = [z3.Bool(f"change_{number}") for number in range(len(self.changes))]
        solver = z3.Optimize()
        for first, second in self._rivals:
            solver.add(z3.Not(z3.And(taken[first], taken[second])))
        for number, sets in self._needs.items():
            together = [z3.And(*(taken[one] for one in ones)) for ones in sets]
            solver.add(z3.Implies(taken[number], z3.Or(*together)))
        for clause in dict.fromkeys(clauses):
            ways = [taken[number] for number in sorted(clause.by)]
            solver.add(z3.Or(*ways, *(z3.Not(taken[number]) for number in sorted(clause.without))))
        for chosen in but:
            solver.add(z3.Or(*(z3.Not(taken[number]) for number in sorted(chosen))))
        costs = [z3.If(one, change.cost, 0) for one, change in zip(taken, self.changes, strict=True)]
        solver.minimize(z3.Sum(*costs, 0))
        if solver.check() != z3.sat:
            return None
        model = solver.model()
        return frozenset(n for n, one in enumerate(taken) if z3.is_true(model.eval(one, model_completion=True)))
