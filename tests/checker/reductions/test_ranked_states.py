"""Exploring by rank: kernel and plain dictionaries find the ranked forms of all reachable states, and no others."""

from __future__ import annotations

import operator
import random
from dataclasses import replace

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.kernel.canonical import Canonical
from proofka.checker.kernel.layout import lay_out
from proofka.checker.kernel.native import compile_kernel, optimise
from proofka.checker.questions import group, prepare
from proofka.checker.reductions.ranking import ranked_state, rankings, ranks_needed
from proofka.model.faults import Fault
from proofka.model.language import Ranked, TransitionSystem, Variable
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from tests.checker.asking import SMALL, assuming, example
from tests.checker.naive import freeze
from tests.checker.reductions.reference import action, by_rank, reachable, reachable_by_kernel
from tests.deployments import changed

FLAG = Variable("flag", 0, 1, 0)


def random_system(chance: random.Random) -> TransitionSystem:
    """Build a random system with an ordered scalarset of three and a flag, and enough values for every order."""
    members = [Variable("newest", 0, 9, 1), Variable("a", 0, 9, 0), Variable("b", 0, 9, 0)]
    newest = members[0]
    family = Ranked("epoch", tuple(members), newest, reserved=chance.randrange(2))

    def value(depth: int) -> z3.ArithRef:
        if depth == 0:
            return chance.choice([*(v.term for v in members), z3.IntVal(chance.randint(0, family.reserved))])
        return z3.If(condition(depth - 1), value(depth - 1), value(depth - 1))

    def condition(depth: int) -> z3.BoolRef:
        compare = chance.choice((operator.lt, operator.le, operator.eq, operator.ne))
        term: z3.BoolRef = compare(value(depth), chance.choice(members).term)
        return z3.And(term, FLAG.term == chance.randrange(2)) if chance.random() < 0.3 else term

    room = newest.term < newest.high
    actions = [action("next", z3.And(room, condition(0)), {newest: newest.term + 1, FLAG: chance.randrange(2)})]
    for number in range(chance.randint(2, 5)):
        target = chance.choice(members[1:])
        updates = {target: value(chance.randrange(2)), FLAG: z3.If(condition(1), z3.IntVal(1), FLAG.term)}
        if chance.random() < 0.5:
            updates = {member: updates.get(member, value(0)) for member in members[1:]}
        actions.append(action("copy", condition(chance.randrange(2)), updates, number=number))
    return TransitionSystem("random", (*members, FLAG), tuple(actions), ranked=(family,))


@pytest.mark.slow
@settings(max_examples=40, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_ranked_exploration_of_random_systems(chance: random.Random) -> None:
    """The states reachable by rank are the ranked reachable states, for the kernel as for dictionaries."""
    system = random_system(chance)
    (family,) = rankings(system, []).families
    rank = by_rank(family)
    ranked = reachable(system, rank)
    assert ranked == {freeze(rank(dict(state))) for state in reachable(system)}
    assert max(dict(state)["newest"] for state in ranked) < ranks_needed(family)
    layout = lay_out(system.variables)
    kernel = compile_kernel(layout, {"step": list(enumerate(system.actions))}, [], Canonical((family,)))
    assert reachable_by_kernel(system, layout, kernel) == ranked


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acks-all-min-isr-2", "acks-1"])
def test_ranked_exploration_of_deployments(name: str) -> None:
    """A whole deployment, with and without ranks: the same states but for labels."""
    small = changed(assuming(example(name), [Fault.KILL], 1), bounds=replace(SMALL, log=1), replicas=2)
    small = changed(small, min_insync_replicas=1)
    ready = prepare(build(small))
    asked = group(ready, properties_of(ready.model.pipeline))[0]
    predicates = [*asked.question.invariants.values(), *asked.question.observations.values()]
    families = rankings(asked.system, predicates, ready.constants).families
    layout = lay_out(asked.system.variables)
    labelled = {"step": list(enumerate(asked.system.actions))}
    plain = compile_kernel(layout, labelled, [])
    ranked = compile_kernel(layout, labelled, [], Canonical(families))
    images = {freeze(ranked_state(dict(state), families)) for state in reachable_by_kernel(asked.system, layout, plain)}
    found = reachable_by_kernel(asked.system, layout, ranked)
    assert images <= found
    assert all(ranked_state(dict(state), families) == dict(state) for state in found)


domains = st.lists(st.tuples(st.integers(-2, 1), st.integers(2, 40)), min_size=1, max_size=30)


@pytest.mark.slow
@settings(max_examples=60)
@given(domains, st.integers(0, 1), st.data())
def test_ranks_by_machine_code(ranges: list[tuple[int, int]], reserved: int, data: st.DataObject) -> None:
    """On any state over any domains machine code, reference and the reduction's own form agree; twice is once."""
    members = tuple(Variable(f"m{i}", low, high, high) for i, (low, high) in enumerate(ranges))
    others = tuple(Variable(f"o{i}", 0, 1000, 0) for i in range(8))
    family = Ranked("family", members, members[0], reserved)
    variables = data.draw(st.permutations([*members, *others]))
    state = {v.name: data.draw(st.integers(v.low, v.high)) for v in variables}
    layout = lay_out(variables)
    quick = compile_kernel(layout, {}, [], Canonical((family,)))
    form = quick.canonical(layout.pack(state))
    assert layout.unpack(form) == by_rank(family)(state) == ranked_state(state, [family])
    assert np.array_equal(quick.canonical(form), form)
    assert np.array_equal(optimise(quick).canonical(layout.pack(state)), form)
    stretched = {
        name: value + data.draw(st.just(value)) if name[0] == "m" and value > reserved else value
        for name, value in state.items()
    }
    assert by_rank(family)(stretched) == by_rank(family)(state)


def test_a_kernel_without_canonical_form() -> None:
    """Without one a state is its own form."""
    layout = lay_out([FLAG])
    row = layout.pack({"flag": 1})
    assert np.array_equal(compile_kernel(layout, {}, []).canonical(row), row)


def test_too_many_values_for_a_word() -> None:
    wide = Variable("wide", 0, 63, 0)
    with pytest.raises(ValueError, match="at most 62 values"):
        compile_kernel(lay_out([wide]), {}, [], Canonical((Ranked("wide", (wide,), wide),)))
