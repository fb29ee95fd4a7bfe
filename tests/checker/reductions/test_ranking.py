"""Ranked epochs: accepted only where nothing but their order matters, and then no answer changes."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.kernel.layout import lay_out
from proofka.checker.kernel.native import compile_kernel
from proofka.checker.questions import Group, Prepared, group, prepare
from proofka.checker.reductions.ranking import NotRankable, check_ranked, rankings, ranks_needed
from proofka.model.deployment import Deployment
from proofka.model.faults import ENDS_PRODUCER, ONCE, Fault
from proofka.model.language import Action, Ranked, TransitionSystem, Variable
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from tests.checker.asking import MOST_KINDS, SMALL, example
from tests.checker.plain_evaluator import holds, successors
from tests.checker.reductions.reference import action, by_rank, expand, reachable, unpacked

EPOCHS = 12
WITHOUT_PRODUCER_CRASHES = tuple(
    fault for fault in Fault if fault not in ENDS_PRODUCER | ONCE | {Fault.FAILURE_ELSEWHERE}
)
DEPLOYMENTS = {
    "idempotent": ("acks-all-min-isr-1-unclean", WITHOUT_PRODUCER_CRASHES, {}),
    "idempotent, resending": ("idempotent-resend", WITHOUT_PRODUCER_CRASHES, {"sends": 2}),
    "idempotent, producer crashes": ("orders", MOST_KINDS, {}),
    "acks=1": ("acks-1", MOST_KINDS, {}),
    "acks=0": ("acks-0", (Fault.KILL, Fault.CONSUMER_CRASH), {}),
}


def deployment(name: str) -> Deployment:
    source, faults, bounds = DEPLOYMENTS[name]
    larger = replace(SMALL, records=2, epochs=EPOCHS, producer_epochs=6, **bounds)
    return replace(example(source, faults), bounds=larger)


@cache
def prepared(name: str) -> tuple[Prepared, Group]:
    """Prepare a deployment's system for all of its properties, as the checker does."""
    model = build(deployment(name))
    ready = prepare(model)
    return ready, group(ready, properties_of(model.pipeline))[0]


@cache
def families(name: str) -> tuple[Ranked, ...]:
    ready, asked = prepared(name)
    return rankings(asked.system, asked.question.predicates, ready.constants).families


@pytest.mark.slow
@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_epochs_of_deployments_are_ranked(name: str) -> None:
    """Leader epochs always, with the first one kept apart by witnesses; producer epochs unless the producer crashes."""
    ready, asked = prepared(name)
    found = rankings(asked.system, asked.question.predicates, ready.constants)
    crashes = "producer crashes" in name
    assert [(family.name, family.reserved) for family in found.families] == [
        ("leader epoch", 1),
        *([("producer epoch", 0)] if "idempotent" in name and not crashes else []),
    ]
    assert bool(found.refused) == crashes
    if crashes:
        assert "producer_epoch may be no newer" in found.refused["producer epoch"]
        assert "crash_producer()" in found.refused["producer epoch"]


def test_no_more_is_reserved_than_is_spoken_of() -> None:
    """Values that no term compares with or assigns have no meaning of their own, whatever is declared."""
    for asks, reserved in ((A.term < B.term, 0), (A.term > 0, 0), (A.term > 1, 1), (A.term == 1, 1)):
        found = check(NEXT, COPY, asks=asks)
        assert found is not None and found.reserved == reserved
    found = check(NEXT, action("first", FLAG.term == 0, {A: 1}))
    assert found is not None and found.reserved == 1


@pytest.mark.slow
def test_every_epoch_of_the_model_is_declared() -> None:
    """A variable that is forgotten in the declaration is found by what is assigned to it."""
    asked = prepared("idempotent")[1]
    (declared, *_) = asked.system.ranked
    assert len(declared.variables) == 14
    for missing in set(declared.variables) & set(asked.system.variables) - {declared.newest}:
        less = replace(declared, variables=tuple(v for v in declared.variables if v != missing))
        with pytest.raises(NotRankable):
            check_ranked(less, asked.system, asked.question.predicates)


@pytest.mark.slow
def test_no_other_variable_of_the_model_may_be_declared() -> None:
    """Every other variable in the family is refused, unless it only ever gets constants."""
    asked = prepared("idempotent")[1]
    (declared, *_) = asked.system.ranked
    for extra in set(asked.system.variables) - set(declared.variables):
        if extra.high > 1:
            with pytest.raises(NotRankable):
                more = replace(declared, variables=(*declared.variables, extra))
                check_ranked(more, asked.system, asked.question.predicates)


E_, A, B = Variable("newest", 0, 6, 1), Variable("a", 0, 6, 0), Variable("b", 0, 6, 0)
C, FLAG = Variable("c", 0, 6, 0), Variable("flag", 0, 1, 0)
TRUE = z3.BoolVal(True)
FAMILY = Ranked("epoch", (E_, A, B), E_, reserved=1)
NEXT = action("next", E_.term < 6, {E_: E_.term + 1})
COPY = action("copy", A.term < E_.term, {A: E_.term, FLAG: z3.If(A.term > B.term, 1, 0)})


def system(*actions: Action, family: Ranked = FAMILY) -> TransitionSystem:
    return TransitionSystem("epochs", (E_, A, B, C, FLAG), actions, ranked=(family,))


def check(*actions: Action, asks: z3.BoolRef = TRUE, family: Ranked = FAMILY) -> Ranked | None:
    return check_ranked(family, system(*actions, family=family), [asks])


COMPARED = {
    "less": A.term < B.term,
    "at most": A.term <= B.term,
    "difference": A.term - B.term <= 0,
    "strict difference": A.term - B.term <= -1,
    "difference of three": A.term + -1 * B.term + 1 <= 0,
    "greater difference": B.term - A.term >= 1,
    "strictly greater": B.term - A.term > 0,
    "negated": -A.term >= -B.term,
    "equal difference": A.term - E_.term == 0,
    "distinct": z3.Distinct(A.term, B.term, E_.term),
    "none": z3.Or(A.term == 0, B.term != 0, E_.term >= 1, A.term <= 1),
    "choice": z3.If(FLAG.term == 1, A.term, z3.If(B.term > A.term, E_.term, 0)) < B.term,
    "bound": z3.And(E_.term < 6, z3.Not(E_.term >= 6), E_.term <= 5, E_.term != 6, E_.term < 6),
}


@pytest.mark.parametrize("name", COMPARED)
def test_comparing_is_allowed(name: str) -> None:
    """In every form that it can be written in, and that Z3 may rewrite it to."""
    term = COMPARED[name]
    forms = [term, z3.simplify(term), z3.simplify(term, arith_lhs=True), z3.simplify(term, arith_lhs=True, som=True)]
    for form in forms:
        guarded = action("guarded", form, {B: z3.If(form, A.term, E_.term)})
        assert check(NEXT, COPY, guarded, asks=form) is not None


BEYOND = {
    "a distance": A.term - B.term <= 1,
    "the successor": A.term == B.term + 1,
    "the sum": A.term + B.term <= E_.term,
    "twice": A.term * 2 <= B.term,
    "three": A.term + B.term - E_.term <= 0,
    "a number": A.term <= 2,
    "equal to a number": E_.term == 3,
    "another variable": A.term < C.term,
    "a choice with another variable": z3.If(FLAG.term == 1, A.term, C.term) == B.term,
    "the bound of another": A.term < 6,
    "far from the bound": E_.term < 5,
    "the one after the next": A.term < E_.term + 2,
    "the remainder": A.term % 2 == 0,
    "a function": z3.Function("f", z3.IntSort(), z3.BoolSort())(A.term),
}


@pytest.mark.parametrize("name", BEYOND)
def test_arithmetic_is_refused(name: str) -> None:
    """In a guard, within an assigned value, in a predicate, however deep: with the place and the term."""
    term = BEYOND[name]
    for form in (term, z3.simplify(term), z3.simplify(term, arith_lhs=True)):
        deep = z3.And(FLAG.term == 1, z3.Or(FLAG.term == 0, z3.Not(form)))
        with pytest.raises(NotRankable, match=r"the guard of culprit\(\)"):
            check(NEXT, COPY, action("culprit", deep, {FLAG: 1}))
        with pytest.raises(NotRankable, match=r"what culprit\(\) assigns to flag"):
            check(NEXT, COPY, action("culprit", z3.BoolVal(True), {FLAG: z3.If(form, 1, 0)}))
        with pytest.raises(NotRankable, match="predicate 0"):
            check(NEXT, COPY, asks=deep)


ASSIGNED = {
    "a number": (A, z3.IntVal(2)),
    "a predecessor": (A, A.term - 1),
    "a fresh value elsewhere": (A, E_.term + 1),
    "a successor of an old one": (E_, A.term + 1),
    "two more": (E_, E_.term + 2),
    "an old value as the newest": (E_, A.term),
    "a reset": (E_, z3.IntVal(0)),
    "a choice with a reset": (E_, z3.If(FLAG.term == 1, E_.term + 1, z3.IntVal(1))),
    "another variable": (A, C.term),
    "a member to another variable": (C, A.term),
    "a fresh value to another variable": (C, z3.If(FLAG.term == 1, E_.term + 1, C.term)),
    "a distance to another variable": (C, E_.term - A.term),
}


@pytest.mark.parametrize("name", ASSIGNED)
def test_other_assigned_values_are_refused(name: str) -> None:
    variable, value = ASSIGNED[name]
    with pytest.raises(NotRankable, match=rf"what culprit\(\) assigns to {variable.name}"):
        check(NEXT, COPY, action("culprit", FLAG.term == 0, {variable: value}))


def test_ranking_refuses_an_epoch_newer_than_the_newest_at_the_start() -> None:
    newer = Variable("a", 0, 6, 2)
    with pytest.raises(NotRankable, match="a is newer than newest at the start"):
        family = replace(FAMILY, variables=(E_, newer))
        check_ranked(family, TransitionSystem("epochs", (E_, newer), (NEXT,)), [])


def test_constants_newer_than_the_newest_are_refused() -> None:
    """The first fresh value must be newer than any that is assigned as a constant."""
    newest = replace(E_, initial=0)
    family = Ranked("epoch", (newest, A), newest, reserved=1)
    first = action("first", A.term == 0, {A: 1})
    with pytest.raises(NotRankable, match="1 may be newer than newest"):
        check_ranked(family, TransitionSystem("epochs", (newest, A), (first,)), [])


def test_ranks_outside_a_domain_are_refused() -> None:
    narrow = Variable("a", 3, 6, 3)
    newest = replace(E_, initial=3)
    with pytest.raises(NotRankable, match="a cannot hold rank 1"):
        family = Ranked("epoch", (newest, narrow), newest, reserved=1)
        check_ranked(family, TransitionSystem("epochs", (newest, narrow), ()), [])


def test_nothing_to_rank_where_nothing_is_made() -> None:
    """Without the newest variable no values are made, so there is nothing to gain."""
    without = TransitionSystem("epochs", (A, B), (action("copy", A.term > 0, {B: A.term}),), ranked=(FAMILY,))
    assert rankings(without, []).families == ()
    assert rankings(without, []).refused == {}


RESET = action("reset", FLAG.term == 0, {E_: 0, FLAG: 1})
GUARDED = replace(NEXT, guard=z3.And(E_.term < 6, FLAG.term == 0))
SETTLED = replace(FAMILY, settled=FLAG.term == 1)


def test_a_reset_once_nothing_fresh_is_made() -> None:
    """Z3 proves that no fresh value follows a reset; any way around that is refused with the action."""
    assert check(GUARDED, RESET, family=SETTLED) is not None
    open_again = action("again", FLAG.term == 1, {FLAG: 0})
    too_early = action("early", FLAG.term == 0, {E_: 0})
    for culprit in (NEXT, open_again, too_early):
        with pytest.raises(NotRankable, match=rf"{culprit.name}\(\) does not keep to it"):
            check(RESET, culprit, family=SETTLED)
    with pytest.raises(NotRankable, match="nothing is declared"):
        check(GUARDED, RESET)
    with pytest.raises(NotRankable, match="elsewhere cannot be seen"):
        check(GUARDED, RESET, family=replace(FAMILY, settled=z3.Int("elsewhere") == 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_no_epoch_is_newer_than_the_newest(name: str) -> None:
    """Z3 proves the premise of the argument again: an inductive invariant, except for settled epochs."""
    ready, asked = prepared(name)
    for family in families(name):
        settled = z3.BoolVal(False) if family.settled is None else ready.specialise(family.settled)
        newest = family.newest.term
        none_newer = z3.And(newest >= family.newest.initial, *(member.term <= newest for member in family.variables))
        invariant = z3.Or(settled, none_newer)
        initial = [(variable.term, z3.IntVal(variable.initial)) for variable in asked.system.variables]
        assert z3.is_true(z3.simplify(z3.substitute(invariant, *initial)))
        solver = z3.Solver()
        solver.add(asked.system.domain, invariant)
        for one in asked.system.actions:
            after = z3.substitute(invariant, *((v.term, value) for v, value in one.updates.items()))
            answer = solver.check(one.guard, z3.Not(after))
            assert answer == z3.unsat, str(one)


def relabelled(family: Ranked, state: dict[str, int], chance: random.Random) -> dict[str, int]:
    """Return the state under a random order-preserving relabelling that leaves the newest room to grow."""
    names = [variable.name for variable in family.variables]
    free = sorted({state[name] for name in names if state[name] > family.reserved})
    last = min(variable.high for variable in family.variables) - 1
    labels = sorted(chance.sample(range(family.reserved + 1, last + 1), len(free)))
    label = dict(zip(free, labels, strict=True))
    return state | {name: label.get(state[name], state[name]) for name in names}


@cache
def along_random_runs(name: str) -> list[dict[str, int]]:
    """Return states along random runs, with epochs well below the bound."""
    asked = prepared(name)[1]
    layout = lay_out(asked.system.variables)
    kernel = compile_kernel(layout, {"any": list(enumerate(asked.system.actions))}, [])
    chance, states = random.Random(name), []
    for _ in range(20):
        row = kernel.canonical(layout.pack(asked.system.initial)).tolist()
        for _ in range(40):
            states.append(unpacked(layout, row))
            following = expand(kernel, layout, row, "any")
            row = chance.choice(following)[0] if following else row
    return [state for state in states if all(state[f.newest.name] < f.newest.high - 1 for f in families(name))]


def possible_state(name: str, chance: random.Random) -> dict[str, int]:
    """Return a state along a random run, with some variables changed at random and no epoch newer than the newest."""
    asked = prepared(name)[1]
    state = dict(chance.choice(along_random_runs(name)))
    for variable in chance.sample(asked.system.variables, chance.randrange(6)):
        state[variable.name] = chance.randint(variable.low, variable.high)
    for family in families(name):
        for variable in chance.sample(family.variables, chance.randrange(len(family.variables))):
            state[variable.name] = chance.randint(0, family.reserved + 4)
        newest = max(state[variable.name] for variable in family.variables)
        state[family.newest.name] = min(max(newest, family.newest.initial), family.newest.high - 1)
        for variable in family.variables:
            state[variable.name] = min(state[variable.name], state[family.newest.name])
    return state


@pytest.mark.slow
@pytest.mark.parametrize("name", DEPLOYMENTS)
@settings(max_examples=15, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_relabelling_commutes_with_every_action(name: str, chance: random.Random) -> None:
    """The bisimulation itself, state by state: the same actions, the same predicates, and equal but for labels."""
    _, asked = prepared(name)
    state = possible_state(name, chance)
    other = state
    for family in families(name):
        other = relabelled(family, other, chance)

    def ranked(one: dict[str, int]) -> dict[str, int]:
        for family in families(name):
            one = by_rank(family)(one)
        return one

    assert ranked(state) == ranked(other)
    here, there = (successors(asked.system.actions, one) for one in (state, other))
    assert {key: ranked(after) for key, after in here.items()} == {key: ranked(after) for key, after in there.items()}
    for predicate in asked.question.predicates:
        assert holds(predicate, state) == holds(predicate, other)


def test_ranks_needed() -> None:
    """However many values are made, so many ranks suffice; with fewer the bound can be hit."""
    (family,) = (check(NEXT, COPY, action("keep", A.term > B.term, {B: A.term})),)
    assert family is not None
    assert ranks_needed(family) == 4
    highest = max(dict(state)["newest"] for state in reachable(system(NEXT, COPY), by_rank(family)))
    assert highest < ranks_needed(family)
