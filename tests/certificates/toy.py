"""A toy system with a term language and a naive explorer of its own, which share nothing with a checker.

Two replicas store one record. A kill ends a process; a power loss also loses what was not flushed, or nothing, so that
power losses cover kills. The fault ``erase`` has the limit 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, mul, ne

Term = int | str | tuple["Term", ...]
"""A numeral, a name (of a variable, of a term, `true`, `false`), or an operator with its parts."""
State = Mapping[str, int]
Values = tuple[int, ...]
"""A state as the values of the variables in their order."""
Combination = tuple[tuple[str, int], ...]
"""Kinds of faults with their numbers, in alphabetical order."""

PAIRS: Mapping[str, Callable[[int, int], int]] = {
    "=": eq,
    "distinct": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "*": mul,
    "=>": lambda one, other: not one or other,
}


@dataclass(frozen=True)
class Action:
    """An action of the toy, whose guard and next values are terms."""

    name: str
    kind: str
    guard: Term
    updates: Mapping[str, Term]


@dataclass(frozen=True)
class Property:
    """A property: the term that violates it, or its goal."""

    name: str
    term: Term
    witness: Term
    is_goal: bool = False


@dataclass(frozen=True)
class System:
    """A transition system: lowest, highest and initial value of each variable; terms with names and sorts."""

    variables: Mapping[str, tuple[int, int, int]]
    terms: Mapping[str, tuple[str, Term]]
    actions: Sequence[Action]
    properties: Sequence[Property]

    @property
    def initial(self) -> Values:
        """The initial state."""
        return tuple(first for _, _, first in self.variables.values())

    @property
    def kinds(self) -> list[str]:
        """The kinds of faults."""
        return sorted({action.kind for action in self.actions} - {"none"})

    def holds(self, term: Term, values: Values) -> bool:
        """Tell whether a term holds in a state."""
        return bool(value(term, dict(zip(self.variables, values, strict=True)), self.terms))

    def steps(self, values: Values) -> Iterator[tuple[int, Values]]:
        """Yield each enabled action with the state after it; a value outside its domain is kept as it is."""
        state = dict(zip(self.variables, values, strict=True))
        for number, action in enumerate(self.actions):
            if value(action.guard, state, self.terms):
                after = {name: value(term, state, self.terms) for name, term in action.updates.items()}
                yield number, tuple({**state, **after}.values())


def value(term: Term, state: State, terms: Mapping[str, tuple[str, Term]]) -> int:
    """Return the value of a term in a state; truth values are numbers."""
    if isinstance(term, int):
        return term
    if isinstance(term, str):
        if term in ("true", "false"):
            return term == "true"
        return state[term] if term in state else value(terms[term][1], state, terms)
    operator, *parts = term
    if operator == "ite":
        return value(parts[1] if value(parts[0], state, terms) else parts[2], state, terms)
    if operator in ("and", "or"):
        return (all if operator == "and" else any)(value(part, state, terms) for part in parts)
    numbers = [value(part, state, terms) for part in parts]
    if operator == "not":
        return not numbers[0]
    if operator == "+":
        return sum(numbers)
    if operator == "-":
        return -numbers[0] if len(numbers) == 1 else numbers[0] - numbers[1]
    return PAIRS[str(operator)](*numbers)


def contained(one: Combination, other: Combination) -> bool:
    """Tell whether a combination is contained in another one."""
    return all(dict(other).get(kind, 0) >= number for kind, number in one)


def more(combination: Combination, kind: str, number: int = 1) -> Combination:
    """Return a combination with more (or fewer) faults of a kind."""
    counts = {**dict(combination), kind: dict(combination).get(kind, 0) + number}
    return tuple(sorted((one, count) for one, count in counts.items() if count))


def combinations(limits: Mapping[str, int], total: int) -> list[Combination]:
    """Return the combinations within limits and a total, small ones first."""
    found: list[Combination] = [()]
    for one in found:
        wider = [more(one, kind) for kind, most in limits.items() if dict(one).get(kind, 0) < most]
        found += [other for other in wider if other not in found and sum(dict(other).values()) <= total]
    return sorted(found, key=lambda one: (sum(dict(one).values()), one))


Runs = Mapping[Combination, Mapping[Values, tuple[int, ...]]]
"""For each combination, the states that runs with exactly these faults reach, each with one such run."""

MOST_STATES = 20_000
"""The number of states at which an exploration gives up."""


class TooLarge(Exception):
    """An exploration that reached its largest number of states."""


def explore(system: System, limits: Mapping[str, int], total: int, unlimited: Collection[str] = ()) -> Runs:
    """Explore naively, breadth first; the runs are not always the shortest ones. Unlimited kinds are not counted."""
    found: dict[Combination, dict[Values, tuple[int, ...]]] = {(): {system.initial: ()}}
    todo: list[tuple[Combination, Values]] = [((), system.initial)]
    for faults, values in todo:
        if len(todo) > MOST_STATES:
            raise TooLarge
        for number, after in system.steps(values):
            kind = system.actions[number].kind
            spent = faults if kind == "none" or kind in unlimited else more(faults, kind)
            if sum(dict(spent).values()) > total or any(count > limits[one] for one, count in spent):
                continue
            if after not in found.setdefault(spent, {}):
                found[spent][after] = (*found[faults][values], number)
                todo.append((spent, after))
    return found


def harmless(system: System, values: Values) -> list[Values]:
    """Return the states to which steps without a fault lead."""
    return [after for number, after in system.steps(values) if system.actions[number].kind == "none"]


def closed(system: System, values: Values) -> list[Values]:
    """Return the states that steps without a fault reach from a state."""
    found = [values]
    for one in found:
        found += [after for after in dict.fromkeys(harmless(system, one)) if after not in found]
    return found


def distances(system: System, states: Iterable[Values], goal: Term) -> dict[Values, int]:
    """Return the least number of steps without a fault to a goal, for the states that can reach one."""
    all_states = list(states)
    after = {one: harmless(system, one) for one in all_states}
    found = {one: 0 for one in all_states if system.holds(goal, one)}
    while True:
        nearer = {
            one: 1 + min(found[other] for other in after[one] if other in found)
            for one in all_states
            if one not in found and any(other in found for other in after[one])
        }
        if not nearer:
            return found
        found |= nearer


def smallest_sets(system: System, one: Property, runs: Runs) -> dict[Combination, tuple[int, ...]]:
    """Return the smallest combinations that suffice to violate a property, each with a run to a violation."""
    states = {values for reached in runs.values() for values in reached}
    near = distances(system, states, one.term) if one.is_goal else {}
    bad = {values for values in states if (values not in near if one.is_goal else system.holds(one.term, values))}
    reaching = {
        faults: min((run for values, run in reached.items() if values in bad), key=len)
        for faults, reached in runs.items()
        if bad.intersection(reached)
    }
    return {
        faults: run
        for faults, run in reaching.items()
        if not any(other != faults and contained(other, faults) for other in reaching)
    }


def both(name: str, guard: Term, updates: Mapping[str, Term], kind: str = "none") -> list[Action]:
    """Return an action for each replica; `x` stands for the replica, `y` for the other one."""
    found = []
    for x, y in (("a", "b"), ("b", "a")):
        names = {"x": f"log_{x}", "y": f"log_{y}", "up_x": f"up_{x}", "up_y": f"up_{y}"}
        new = {names.get(target, target): renamed(term, names) for target, term in updates.items()}
        found.append(Action(f"{name} {x}", kind, renamed(guard, names), new))
    return found


def renamed(term: Term, names: Mapping[str, str]) -> Term:
    """Return a term with other names of variables."""
    if isinstance(term, tuple):
        return tuple(renamed(part, names) for part in term)
    return names.get(term, term) if isinstance(term, str) else term


TOY = System(
    variables={
        "log_a": (0, 2, 0),  # 0: empty, 1: in the page cache, 2: on disk
        "log_b": (0, 2, 0),
        "up_a": (0, 1, 1),
        "up_b": (0, 1, 1),
        "answer": (-1, 1, -1),  # -1: nothing sent, 0: no answer yet, 1: acknowledged
        "seen": (0, 1, 0),
        "drift": (-1, 1, 0),  # no other variable depends on this one
    },
    terms={
        "stored": ("Int", ("+", ("ite", (">", "log_a", 0), 1, 0), ("ite", (">", "log_b", 0), 1, 0))),
        "a.serves": ("Bool", ("and", ("=", "up_a", 1), (">=", "log_a", 1))),
        "b.serves": ("Bool", ("not", ("or", ("distinct", "up_b", 1), ("<", "log_b", 1)))),
    },
    actions=[
        Action(
            "write",
            "none",
            ("and", ("=", "up_a", 1), ("=", "log_a", 0), ("<=", "answer", 0)),
            {"log_a": 1, "answer": 0},
        ),
        *both(
            "copy to",
            ("and", ("=", "up_x", "up_y"), ("=", "up_x", 1), ("=", "x", 0), (">", "y", 0)),
            {"x": 1},
        ),
        *both("flush", ("and", ("=", "up_x", 1), ("=", "x", 1)), {"x": ("*", 2, "x")}),
        Action(
            "acknowledge",
            "none",
            ("and", ("=", "stored", 2), ("=", "answer", 0), ("=", "up_a", 1)),
            {"answer": ("-", "stored", 1)},
        ),
        Action(
            "read", "none", ("and", ("=", "answer", 1), ("or", "a.serves", "b.serves"), ("=", "seen", 0)), {"seen": 1}
        ),
        *both(
            "restart", ("=", "up_x", 0), {"up_x": 1, "drift": ("ite", ("<", "drift", 1), ("+", "drift", 1), "drift")}
        ),
        Action("turn", "none", ("=", 0, 0), {"drift": ("-", "drift")}),
        *both("kill", ("=", "up_x", 1), {"up_x": 0}, "kill"),
        *both("power loss without loss at", ("=", "up_x", 1), {"up_x": ("-", "up_x", 1)}, "power-loss"),
        *both(
            "power loss at",
            ("and", ("=", "up_x", 1), ("=>", ("=", "x", 0), "false")),
            {"up_x": 0, "x": ("ite", ("=", "x", 1), 0, "x")},
            "power-loss",
        ),
        Action("erase", "erase", ("=", "seen", 0), {"log_a": 0, "log_b": 0}),
    ],
    properties=[
        Property("no-loss", ("and", ("=", "answer", 1), ("=", "stored", 0)), ("=", "answer", 1)),
        Property('no "early" read', ("and", ("=", "seen", 1), ("<", "answer", 1)), ("=", "seen", 1)),
        Property("readable", ("=", "seen", 1), ("=", "answer", 1), is_goal=True),
    ],
)
