"""The weakest simple rule over the settings of a matrix that guarantees a property.

A rule is a disjunction of clauses, and a clause is a conjunction of conditions on one setting each: ``=``, ``in``,
``>=``, ``<=``. A clause is possible if every deployment that it allows has the property. Of all rules with at most the
given numbers of clauses and conditions, the search returns one that allows the most deployments which have the
property, and of these one with the fewest conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import or_

from proofka.checker.policies.expression import (
    AllOf,
    Among,
    AnyOf,
    Compare,
    Expression,
    Literal,
    Order,
    Read,
    whole_number,
)
from proofka.checker.policies.members import Audited, Member
from proofka.checker.policies.seen import Seen, View
from proofka.properties.verdict import Status

MOST_CONDITIONS = 4
"""Largest number of conditions of a clause."""

MOST_LISTED = 4
"""Largest number of values in a condition ``in``."""

MOST_STEPS = 2_000_000
"""Largest number of sets of clauses that the exact choice looks at; beyond, the choice is greedy."""


@dataclass(frozen=True)
class Clause:
    """A conjunction of conditions, with the deployments that it allows as a set of bits."""

    conditions: tuple[Expression, ...]
    allows: int

    @property
    def expression(self) -> Expression:
        """The clause as a condition."""
        return self.conditions[0] if len(self.conditions) == 1 else AllOf(self.conditions)


@dataclass(frozen=True)
class Derived:
    """A derived rule.

    ``covered`` of ``having`` deployments with the property are allowed. ``is_weakest``: every set of clauses was
    compared, so no rule of this form allows more. ``settings``: the settings that conditions can name.
    """

    clauses: tuple[Clause, ...]
    covered: int
    having: int
    is_weakest: bool
    settings: tuple[Read, ...]

    @property
    def expression(self) -> Expression:
        """The rule as a condition."""
        parts = tuple(clause.expression for clause in self.clauses)
        return parts[0] if len(parts) == 1 else AnyOf(parts)


def derive(
    audited: Audited,
    prop: str,
    *,
    most_clauses: int,
    scopes: Sequence[str] | None = None,
    view: View = View.EFFECTIVE,
) -> Derived | None:
    """Return the weakest simple rule that guarantees a property; None if no rule of this form allows a deployment.

    ``scopes``: the components whose settings the rule can name; None: all.
    """
    members = audited.members.members
    settings = tuple(dict.fromkeys(read for read in audited.members.varied if scopes is None or read.scope in scopes))
    good = _bits(audited.of(member, prop).status is Status.HOLDS for member in members)
    bad = ~good & ((1 << len(members)) - 1)
    clauses = _weakest(_clauses(members, settings, view, good, bad))
    if not clauses:
        return None
    chosen, exact = _choose(clauses, most_clauses)
    allowed = reduce(or_, (one.allows for one in chosen))
    return Derived(chosen, allowed.bit_count(), good.bit_count(), exact, settings)


def conditions_on(read: Read, values: Sequence[str]) -> Iterator[tuple[Expression, frozenset[str]]]:
    """Yield each condition on a setting that some of its values meet and some do not, with the values that meet it."""
    numbers = {value: number for value in values if (number := whole_number(value)) is not None}
    met: dict[frozenset[str], Expression] = {}
    if len(numbers) == len(values):
        ordered = sorted(set(numbers.values()))
        for number in ordered:
            at_least = frozenset(value for value in values if numbers[value] >= number)
            at_most = frozenset(value for value in values if numbers[value] <= number)
            met.setdefault(at_least, Compare(Order.AT_LEAST, read, Literal(number)))
            met.setdefault(at_most, Compare(Order.AT_MOST, read, Literal(number)))
    for count in range(1, min(MOST_LISTED, len(values) - 1) + 1):
        for some in combinations(values, count):
            literals = tuple(_literal(value) for value in some)
            condition: Expression = Among(read, literals)
            if count == 1:
                condition = Compare(Order.EQUAL, read, literals[0])
            met.setdefault(frozenset(some), condition)
    yield from ((condition, some) for some, condition in met.items() if some < frozenset(values))


def _literal(value: str) -> Literal:
    if value in ("true", "false"):
        return Literal(value == "true")
    number = whole_number(value)
    return Literal(value if number is None else number)


def _clauses(members: Sequence[Member], settings: Sequence[Read], view: View, good: int, bad: int) -> Iterator[Clause]:
    """Yield every possible clause: it allows some deployment with the property, and no other."""
    seen = [Seen(member.deployment, view) for member in members]
    every: list[list[tuple[Expression, int]]] = []
    for read in settings:
        values = [one.value(read) for one in seen]
        there = [value for value in dict.fromkeys(values) if value is not None]
        if len(there) < len(set(values)):
            continue  # a setting without a value in some deployment has no condition that a rule could state for all
        every.append(
            [(condition, _bits(value in some for value in values)) for condition, some in conditions_on(read, there)]
        )
    if not bad and good:
        yield Clause((), good)
    for count in range(1, min(MOST_CONDITIONS, len(every)) + 1):
        for some in combinations(every, count):
            yield from _narrowed((), good | bad, some, bad)


def _narrowed(
    so_far: tuple[Expression, ...], allowed: int, rest: Sequence[Sequence[tuple[Expression, int]]], bad: int
) -> Iterator[Clause]:
    if not rest:
        if allowed and not allowed & bad:
            yield Clause(so_far, allowed)
        return
    for condition, meets in rest[0]:
        if narrower := allowed & meets:
            yield from _narrowed((*so_far, condition), narrower, rest[1:], bad)


def _weakest(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """Return the clauses that no other clause contains, each set of deployments once, with the fewest conditions.

    Clauses come with few conditions first.
    """
    first: dict[int, Clause] = {}
    for clause in clauses:
        first.setdefault(clause.allows, clause)
    sets = sorted(first, key=int.bit_count, reverse=True)
    kept: list[int] = []
    for one in sets:
        if not any(one & larger == one for larger in kept):
            kept.append(one)
    return tuple(first[one] for one in kept)


def _choose(clauses: Sequence[Clause], most: int) -> tuple[tuple[Clause, ...], bool]:
    """Return the best set of clauses, and whether every set was compared."""
    exact = _number_of_sets(len(clauses), most) <= MOST_STEPS
    if exact:
        sets = (chosen for count in range(1, most + 1) for chosen in combinations(clauses, count))
        return min(sets, key=_cost), True
    chosen: tuple[Clause, ...] = ()
    while len(chosen) < most:
        more = min(((*chosen, clause) for clause in clauses), key=_cost)
        if chosen and _covered(more) == _covered(chosen):
            break
        chosen = more
    return chosen, False


def _cost(chosen: Sequence[Clause]) -> tuple[int, int, int]:
    return -_covered(chosen), sum(len(one.conditions) for one in chosen), len(chosen)


def _covered(chosen: Sequence[Clause]) -> int:
    return reduce(or_, (one.allows for one in chosen), 0).bit_count()


def _number_of_sets(clauses: int, most: int) -> int:
    total, sets = 0, 1
    for count in range(1, most + 1):
        sets = sets * (clauses - count + 1) // count
        total += max(sets, 0)
    return total


def _bits(flags: Iterable[bool]) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)
