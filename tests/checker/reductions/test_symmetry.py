"""Symmetry: accepted only where a permutation is an automorphism, and then no answer changes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker.cone import propagate_constants, specialise
from proofka.checker.kernel.canonical import Canonical
from proofka.checker.kernel.layout import lay_out
from proofka.checker.kernel.native import compile_kernel, optimise
from proofka.checker.questions import group, prepare
from proofka.checker.reductions.ranking import rankings
from proofka.checker.reductions.symmetry import NotSymmetric, prove_symmetry
from proofka.model.faults import Fault
from proofka.model.language import Action, Permutation, Ranked, Symmetry, TransitionSystem, Variable
from proofka.model.pipeline import build
from proofka.model.published.interchange import interchangeable_replicas
from proofka.model.published.protocols import PROTOCOLS, protocol
from proofka.properties.catalogue import properties_of
from tests.checker.asking import MOST_KINDS, SMALL, example
from tests.checker.naive import freeze
from tests.checker.plain_evaluator import holds
from tests.checker.reductions.reference import action, by_rank, image, reachable, reachable_by_kernel, smallest

NAMES = (1, 2, 3)
STATES = {name: Variable(f"state_{name}", 0, 2, 0) for name in NAMES}
HOLDER = Variable("holder", 0, 3, 1)
VARIABLES = (*STATES.values(), HOLDER)


def exchange(one: int, other: int) -> Permutation:
    """Exchange the names of two of the three processes."""
    names = {one: other, other: one}
    places = {STATES[name]: STATES[names.get(name, name)] for name in NAMES}
    return Permutation(f"{one} and {other} exchanged", places, {HOLDER: names}, {"who": names, "to": names})


PROCESSES = Symmetry("processes", tuple(exchange(one, other) for one, other in pairwise(NAMES)))


def token(extra: Callable[[int], list[Action]] = lambda name: []) -> TransitionSystem:
    """Build three equal processes that pass a token round; the first process has the token at the start."""
    actions = []
    for name in NAMES:
        holds_it = HOLDER.term == name
        actions.append(action("work", z3.And(holds_it, STATES[name].term < 2), work(name), who=name))
        actions.append(action("drop", z3.And(holds_it, STATES[name].term == 2), {HOLDER: 0}, who=name))
        actions.append(action("take", z3.And(HOLDER.term == 0, STATES[name].term > 0), {HOLDER: name}, who=name))
        actions += extra(name)
        for other in NAMES:
            if other != name:
                idle = STATES[other].term == 0
                actions.append(action("pass", z3.And(holds_it, idle), {HOLDER: other}, who=name, to=other))
    return TransitionSystem("token", VARIABLES, tuple(actions))


def work(name: int) -> dict[Variable, z3.ArithRef]:
    return {STATES[name]: z3.If(HOLDER.term == name, STATES[name].term + 1, 0)}


NOBODY_ELSE_WORKS = z3.And(*(z3.Implies(STATES[n].term == 1, HOLDER.term == n) for n in NAMES))


def test_alike_processes_can_be_exchanged() -> None:
    """Six permutations; the initial state, where the first has the token, is not fixed, and need not be."""
    elements = prove_symmetry(PROCESSES, token(), [NOBODY_ELSE_WORKS])
    assert len(elements) == 5
    initial = token().initial
    assert {freeze(image(one, initial)) for one in elements} == {freeze(initial | {"holder": n}) for n in NAMES}


def test_orbits_of_processes() -> None:
    """The orbits reachable by orbit are the images of all reachable states."""
    system, layout = token(), lay_out(VARIABLES)
    elements = prove_symmetry(PROCESSES, system, [NOBODY_ELSE_WORKS])
    canonical = smallest(elements, layout)
    images = {freeze(canonical(dict(state))) for state in reachable(system)}
    assert reachable(system, canonical) == images
    kernel = compile_kernel(layout, {"step": list(enumerate(system.actions))}, [], Canonical((), elements))
    assert reachable_by_kernel(system, layout, kernel) == images
    assert len(images) < len(reachable(system)) / 4


def written_otherwise(name: int) -> list[Action]:
    """Write the same condition for each process, in another form for the second; only Z3 can tell that both are
    equal."""
    first = z3.And(HOLDER.term == name, STATES[name].term > 0)
    guard = z3.Not(z3.Or(STATES[name].term < 1, HOLDER.term != name)) if name == 2 else first
    update = z3.If(HOLDER.term == 2, z3.IntVal(0), STATES[2].term) if name == 2 else z3.IntVal(0)
    return [action("restart", guard, {STATES[name]: update}, who=name)]


def test_terms_that_are_written_differently() -> None:
    assert len(prove_symmetry(PROCESSES, token(written_otherwise), [])) == 5


Extra = Callable[[int], list[Action]]
REFUSED: dict[str, tuple[Extra, str]] = {
    "a guard that prefers one": (
        lambda name: [action("skip", STATES[name].term >= int(name == 2), {HOLDER: name}, who=name)],
        r"skip\(who=.\) is not skip\(who=.\) with other names, when it can happen, for example where state_.* = 0",
    ),
    "an update that prefers one": (
        lambda name: [action("skip", HOLDER.term == name, {HOLDER: 2 if name == 1 else 1}, who=name)],
        r"skip\(who=.\) is not skip\(who=.\) with other names, in holder after it",
    ),
    "the first that is ready": (
        lambda name: [action("elect", HOLDER.term == name, {HOLDER: first_ready(name)}, who=name)],
        r"elect\(who=3\) is not elect\(who=3\) with other names, in holder after it, .* state_1 = 1, state_2 = 1",
    ),
    "an order among names": (
        lambda name: [action("skip", HOLDER.term < name, {STATES[name]: 0}, who=name)],
        r"skip\(who=.\) is not skip\(who=.\) with other names, when it can happen",
    ),
    "names as numbers": (
        lambda name: [action("skip", HOLDER.term == STATES[name].term, {HOLDER: 0}, who=name)],
        r"skip\(who=.\) is not skip\(who=.\) with other names, when it can happen",
    ),
    "a sum of names": (
        lambda name: [action("skip", HOLDER.term + STATES[name].term > 3, {STATES[name]: 0}, who=name)],
        r"skip\(who=.\) is not skip\(who=.\) with other names, when it can happen",
    ),
    "a number as a name": (
        lambda name: [action("skip", HOLDER.term == name, {HOLDER: STATES[name].term}, who=name)],
        r"skip\(who=.\) is not skip\(who=.\) with other names, in holder after it",
    ),
    "a counterpart that is missing": (
        lambda name: [action("skip", HOLDER.term == 1, {HOLDER: 0}, who=1)] if name == 1 else [],
        r"skip\(who=1\) has no counterpart",
    ),
    "another kind of fault": (
        lambda name: [
            replace(action("die", HOLDER.term == name, {HOLDER: 0}, who=name), fault=Fault.KILL if name == 1 else None)
        ],
        r"die\(who=1\) has no counterpart",
    ),
    "something else assigned": (
        lambda name: [
            action("reset", HOLDER.term == name, {HOLDER: 0} | ({STATES[1]: 0} if name == 1 else {}), who=name)
        ],
        r"reset\(who=.\) is not reset\(who=.\) with other names, in state_. after it",
    ),
}


def first_ready(name: int) -> z3.ArithRef:
    chosen = z3.IntVal(0)
    for other in reversed(NAMES):
        if other != name:
            chosen = z3.If(STATES[other].term == 1, z3.IntVal(other), chosen)
    return chosen


@pytest.mark.parametrize("name", REFUSED)
def test_symmetry_refuses_an_action_that_prefers_one_process(name: str) -> None:
    """With the action, and with a state in which it makes a difference."""
    extra, words = REFUSED[name]
    with pytest.raises(NotSymmetric, match=words):
        prove_symmetry(PROCESSES, token(extra), [])


def test_predicates_that_see_names_are_refused() -> None:
    for sees in (HOLDER.term == 1, STATES[2].term == 2, HOLDER.term >= 2):
        with pytest.raises(NotSymmetric, match="predicate 1 sees it"):
            prove_symmetry(PROCESSES, token(), [NOBODY_ELSE_WORKS, sees])
    blind = z3.And(HOLDER.term >= 0, HOLDER.term <= 3, z3.Or(*(STATES[n].term == 2 for n in NAMES)))
    assert prove_symmetry(PROCESSES, token(), [blind])


NARROW = Variable("state_3", 0, 1, 0)
WRONG: dict[str, tuple[Permutation, str]] = {
    "two to one place": (Permutation("p", {STATES[1]: STATES[2]}), "two variables go to one place"),
    "an unknown place": (Permutation("p", {STATES[1]: Variable("x", 0, 2, 0)}), "state_1 goes to x, which the system"),
    "an unknown origin": (Permutation("p", {Variable("x", 0, 2, 0): STATES[1]}), "x, which the system does not have"),
    "other domains": (
        Permutation("p", {STATES[1]: HOLDER, HOLDER: STATES[1]}),
        "state_1 and holder have different domains",
    ),
    "values lost": (Permutation("p", {}, {HOLDER: {1: 2}}), "the values of holder are not exchanged"),
    "values out of range": (Permutation("p", {}, {HOLDER: {3: 4, 4: 3}}), "the values of holder are not exchanged"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mapping_that_is_no_permutation_is_refused(name: str) -> None:
    permutation, words = WRONG[name]
    with pytest.raises(NotSymmetric, match=words):
        prove_symmetry(Symmetry("wrong", (permutation,)), token(), [])


def test_groups_too_large_are_refused() -> None:
    parts = [Variable(f"part_{number}", 0, 1, 0) for number in range(6)]
    exchanges = [Permutation(one.name, {one: other, other: one}) for one, other in pairwise(parts)]
    system = TransitionSystem("parts", tuple(parts), ())
    assert len(prove_symmetry(Symmetry("five", tuple(exchanges[:4])), system, [])) == 119
    with pytest.raises(NotSymmetric, match="more than 120 permutations"):
        prove_symmetry(Symmetry("six", tuple(exchanges)), system, [])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "epochs"), [*((name, 0) for name in PROTOCOLS), ("kip-320-first-try", 1)])
def test_replicas_of_published_protocols(name: str, epochs: int) -> None:
    """Any replicas can be exchanged; what is reachable by orbit is the image of everything reachable."""
    published = protocol(name, replicas=3, log_size=1, records=1, epochs=epochs)
    symmetry = interchangeable_replicas(published.constants)
    assert len(prove_symmetry(symmetry, published.system, list(published.violated.values()))) == 5
    system, constants = propagate_constants(published.system)
    violated = {key: specialise(term, constants) for key, term in published.violated.items()}
    elements = prove_symmetry(symmetry, system, list(violated.values()))
    layout = lay_out(system.variables)
    labelled = {"step": list(enumerate(system.actions))}
    plain = reachable_by_kernel(system, layout, compile_kernel(layout, labelled, []))
    kernel = compile_kernel(layout, labelled, [], Canonical((), elements))
    orbits = reachable_by_kernel(system, layout, kernel)
    canonical = smallest(elements, layout)
    assert orbits == {freeze(canonical(dict(state))) for state in plain}
    sizes = [len({freeze(dict(one)), *(freeze(image(p, dict(one))) for p in elements)}) for one in orbits]
    assert sum(sizes) == len(plain)
    for term in violated.values():
        assert any(holds(term, dict(state)) for state in orbits) == any(holds(term, dict(state)) for state in plain)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acks-all-min-isr-2", "acks-1"])
def test_followers_cannot_be_exchanged(name: str) -> None:
    """An election prefers the first in assignment order; nothing else tells the followers apart."""
    model = build(replace(example(name, MOST_KINDS), bounds=SMALL))
    ready = prepare(model)
    asked = group(ready, properties_of(model.pipeline))[0]
    predicates = [*asked.question.invariants.values(), *asked.question.observations.values()]
    (followers,) = asked.system.symmetries
    words = r"(\w+)\(broker=1\) is not \1\(broker=1\) with other names, in leader after it, .*isr_2 = 1, isr_3 = 1"
    electing = {f"{name}(broker=1)" for name in ("fence", "begin_shutdown", "fail_log_dir")}
    with pytest.raises(NotSymmetric, match=words):
        prove_symmetry(followers, asked.system, predicates)
    rest = tuple(one for one in asked.system.actions if str(one) not in electing)
    elements = prove_symmetry(followers, replace(asked.system, actions=rest), predicates)
    assert [one.name for one in elements] == ["brokers 2 and 3 exchanged"]
    # The exchange leaves the ranks of epochs alone, so that both could be used together.
    assert Canonical(rankings(asked.system, predicates, ready.constants).families, elements)


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[Variable], tuple[Permutation, ...], Ranked]:
    """Build parts with variables of random domains, variables that hold a part's number, and other variables."""
    parts = draw(st.integers(2, 4))
    shapes = draw(st.lists(st.integers(1, 40), min_size=1, max_size=4))
    own = [[Variable(f"own_{part}_{i}", -1, high, 0) for i, high in enumerate(shapes)] for part in range(parts)]
    epochs = [Variable(f"epoch_{part}", 0, 12, 0) for part in range(parts)]
    newest = Variable("newest", 0, 12, 0)
    first, spare = draw(st.integers(-1, 2)), draw(st.integers(0, 20))
    numbers = [Variable(f"number_{i}", first, first + parts + spare, first) for i in range(draw(st.integers(0, 3)))]
    others = [Variable(f"other_{i}", 0, 300, 0) for i in range(draw(st.integers(0, 6)))]
    elements = []
    for order in permutations(range(parts)):
        if list(order) != list(range(parts)):
            places = {own[part][i]: own[order[part]][i] for part in range(parts) for i in range(len(shapes))}
            places |= {epochs[part]: epochs[order[part]] for part in range(parts)}
            names = {first + part: first + order[part] for part in range(parts)}
            elements.append(Permutation(str(order), places, dict.fromkeys(numbers, names)))
    variables = [variable for part in own for variable in part] + epochs + [newest] + numbers + others
    return draw(st.permutations(variables)), tuple(elements), Ranked("epoch", (newest, *epochs), newest)


@pytest.mark.slow
@settings(max_examples=60)
@given(groups(), st.data())
def test_canonical_form_by_machine_code(
    declared: tuple[list[Variable], tuple[Permutation, ...], Ranked], data: st.DataObject
) -> None:
    """On any state machine code and reference agree; twice is once; every image has the same form."""
    variables, elements, family = declared
    layout = lay_out(variables)
    kernel = compile_kernel(layout, {}, [], Canonical((family,), elements))
    state = {v.name: data.draw(st.integers(v.low, v.high)) for v in variables}
    form = kernel.canonical(layout.pack(state))
    assert layout.unpack(form) == smallest(elements, layout)(by_rank(family)(state))
    assert np.array_equal(kernel.canonical(form), form)
    assert np.array_equal(optimise(kernel).canonical(layout.pack(state)), form)
    for element in elements:
        assert np.array_equal(kernel.canonical(layout.pack(image(element, state))), form)
        assert np.array_equal(kernel.canonical(layout.pack(by_rank(family)(image(element, state)))), form)


def test_ranks_that_a_permutation_touches() -> None:
    """Ranking and exchanging must not get in each other's way."""
    family = Ranked("state", (STATES[1], STATES[2]), STATES[1])
    with pytest.raises(ValueError, match="2 and 3 exchanged does not leave the ranks of the states alone"):
        Canonical((family,), (exchange(2, 3),))
    with pytest.raises(ValueError, match="does not leave the ranks of the holders alone"):
        Canonical((Ranked("holder", (HOLDER,), HOLDER),), (exchange(2, 3),))
    assert Canonical((family,), (exchange(1, 2),))


def test_variables_of_another_domain() -> None:
    """A permutation of variables that are packed otherwise is refused, not ignored."""
    layout = lay_out([STATES[1], STATES[2], NARROW, HOLDER])
    with pytest.raises(ValueError, match="moves state_3 with another domain"):
        compile_kernel(layout, {}, [], Canonical((), (exchange(2, 3),)))


def random_symmetric_system(chance: random.Random) -> TransitionSystem:
    """Build three equal processes with random actions, each the same for every process and every pair of processes."""
    templates = []
    for number in range(chance.randint(2, 5)):
        levels = [chance.randrange(3) for _ in range(4)]
        asks_holder, gives, about_two = chance.randrange(4), chance.randrange(4), chance.random() < 0.5
        templates.append((number, levels, asks_holder, gives, about_two))
    actions = []
    for number, levels, asks_holder, gives, about_two in templates:
        for one in NAMES:
            for other in NAMES if about_two else (one,):
                if about_two and other == one:
                    continue
                mine, theirs = STATES[one].term, STATES[other].term
                asked = [HOLDER.term == one, HOLDER.term != other, HOLDER.term == 0, z3.BoolVal(True)][asks_holder]
                guard = z3.And(asked, mine != levels[0], theirs >= levels[1] % 2)
                given_to = [z3.IntVal(one), z3.IntVal(other), z3.IntVal(0), HOLDER.term][gives]
                updates = {HOLDER: given_to, STATES[one]: z3.If(theirs == levels[2], z3.IntVal(levels[3]), mine)}
                actions.append(action(f"a{number}", guard, updates, who=one, to=other))
    return TransitionSystem("random", VARIABLES, tuple(actions))


@pytest.mark.slow
@settings(max_examples=30, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_random_symmetric_systems(chance: random.Random) -> None:
    """The orbits reachable by orbit are the images of all reachable states, for the kernel as for dictionaries."""
    system, layout = random_symmetric_system(chance), lay_out(VARIABLES)
    elements = prove_symmetry(PROCESSES, system, [])
    canonical = smallest(elements, layout)
    images = {freeze(canonical(dict(state))) for state in reachable(system)}
    assert reachable(system, canonical) == images
    kernel = compile_kernel(layout, {"step": list(enumerate(system.actions))}, [], Canonical((), elements))
    assert reachable_by_kernel(system, layout, kernel) == images


@pytest.mark.slow
@settings(max_examples=60, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_a_proof_is_never_wrong(chance: random.Random) -> None:
    """A random change of one action of a symmetric system: accepted only if every state agrees."""
    system = random_symmetric_system(chance)
    culprit = chance.choice(system.actions)
    other = chance.choice(system.actions)
    changed = replace(culprit, guard=other.guard) if chance.random() < 0.5 else replace(culprit, updates=other.updates)
    actions = tuple(changed if one is culprit else one for one in system.actions)
    mutated = replace(system, actions=actions)
    try:
        elements = prove_symmetry(PROCESSES, mutated, [])
    except NotSymmetric:
        return
    layout = lay_out(VARIABLES)
    canonical = smallest(elements, layout)
    assert reachable(mutated, canonical) == {freeze(canonical(dict(state))) for state in reachable(mutated)}
