"""The evidence of a toy certificate, from runs of the naive explorer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from tests.certificates.toy import (
    TOY,
    Combination,
    Runs,
    System,
    Term,
    Values,
    contained,
    distances,
    explore,
    smallest_sets,
)
from tests.certificates.writing import Certificate, Claim, Part, Set, Smallest

LIMITS = {"erase": 0, "kill": 2, "power-loss": 2}
TOTAL = 2
KEPT = ("log_a", "log_b", "up_a", "up_b", "answer", "seen")
"""The cone of influence of every property of the toy."""
LAYOUT = (("log_a", "up_b", "log_b"), ("seen", "answer", "up_a"))
"""The kept variables of each word of a row."""

LEMMA_SUM = 9000 - 5 - 120000 + 1000
BOUNDS = '(least "a wait" 120000) (most "a session" 9000) (most "b" (- 5)) (least "c" (- 1000))'
LEMMA = f'(lemma "time") {BOUNDS}'


def cut(system: System, kept: Collection[str], values: Values) -> Values:
    """Return the values of the kept variables."""
    return tuple(value for name, value in zip(system.variables, values, strict=True) if name in kept)


def least(system: System, runs: Runs, faults: Combination) -> list[Values]:
    """Return the states, cut down to kept variables, of a combination that no smaller combination reaches."""
    smaller = [one for one in runs if one != faults and contained(one, faults)]
    known = {cut(system, KEPT, values) for one in smaller for values in runs[one]}
    return sorted({cut(system, KEPT, values) for values in runs[faults]} - known)


def sets(system: System, runs: Runs, wanted: Sequence[Combination], ranks: Mapping[Values, int] | None) -> list[Set]:
    """Return the sets of some combinations; every other one is split into two members."""
    found: list[Set] = []
    for faults in wanted:
        states = least(system, runs, faults)
        of_states = [ranks[state] for state in states] if ranks is not None else []
        found.append(Set(faults, states, of_states, len(states) // 3 if len(found) % 2 else 0))
    return found


def shortest(system: System, runs: Runs, term: Term) -> tuple[int, ...]:
    """Return a short run to a state in which a term holds."""
    found = [run for reached in runs.values() for values, run in reached.items() if system.holds(term, values)]
    return min(found, key=len)


def after_many_kills(term: Term) -> tuple[int, ...]:
    """Return a run to a state in which a term holds, with more kills than the limit."""
    names = [action.name for action in TOY.actions]
    kill = [names.index("kill a"), names.index("restart a")]
    return (*kill * (LIMITS["kill"] + 1), *shortest(TOY, explore(TOY, LIMITS, 0), term))


@cache
def toy_certificate() -> Certificate:
    """Return the certificate of the toy.

    One part has every set, one has a goal, one has a covered kind, and one an unlimited kind.
    """
    runs = explore(TOY, LIMITS, TOTAL)
    loss, early, readable = TOY.properties
    small = {one.name: smallest_sets(TOY, one, runs) for one in TOY.properties}
    near = distances(TOY, {values for reached in runs.values() for values in reached}, readable.term)
    ranks = {cut(TOY, KEPT, values): distance for values, distance in near.items()}
    safe = [faults for faults in runs if faults not in small["no-loss"]]
    assert small["readable"].keys() == small["no-loss"].keys() and not small[early.name]
    stuck = [Smallest(faults, run) for faults, run in small["readable"].items()]
    witness = shortest(TOY, runs, loss.witness)
    traces = [Smallest(faults, run) for faults, run in small["no-loss"].items()]
    any_kills = explore(TOY, LIMITS, TOTAL, ["kill"])
    assert smallest_sets(TOY, readable, any_kills).keys() == small["readable"].keys()
    after_kills = [(), (("power-loss", 1),)]
    far = distances(TOY, {values for reached in any_kills.values() for values in reached}, readable.term)
    ranks_after_kills = {cut(TOY, KEPT, values): distance for values, distance in far.items()}
    covering = [(), (("power-loss", 1),), (("power-loss", 2),)]
    return Certificate(
        TOY,
        LIMITS,
        [
            Part(LAYOUT, sets(TOY, runs, safe, None), [Claim(loss.name, TOTAL, traces, witness)]),
            Part(LAYOUT, sets(TOY, runs, safe, ranks), [Claim(readable.name, TOTAL, stuck, witness, "77aa")]),
            Part(
                LAYOUT,
                sets(TOY, runs, covering, None),
                [Claim(early.name, TOTAL, [], shortest(TOY, runs, early.witness))],
                {"kill": "power-loss"},
                lemmas=LEMMA,
                system="system.1.smt2",
            ),
            Part(
                LAYOUT,
                sets(TOY, any_kills, after_kills, ranks_after_kills),
                [Claim(readable.name, TOTAL, stuck, after_many_kills(readable.witness), "88bb")],
                unlimited=["kill"],
            ),
        ],
    )
