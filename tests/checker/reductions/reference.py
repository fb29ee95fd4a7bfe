"""Canonical forms and exploration over dictionaries, sharing nothing with the kernel or the reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import z3

from proofka.checker.kernel.layout import Layout
from proofka.checker.kernel.native import Kernel
from proofka.model.language import Action, Permutation, Ranked, State, TransitionSystem
from tests.checker.naive import Frozen, freeze
from tests.checker.plain_evaluator import successors

Canonicaliser = Callable[[State], dict[str, int]]


def action(name: str, guard: z3.BoolRef, updates: Mapping[object, object], **arguments: int) -> Action:
    """Build an action without text; updates may be plain numbers."""
    terms = {v: z3.IntVal(value) if isinstance(value, int) else value for v, value in updates.items()}
    return Action(
        name,
        "somebody",
        lane="brokers",
        arguments=arguments,
        guard=guard,
        updates=terms,
        sentence=lambda before, after: name,
        semantics="",
    )  # type: ignore[arg-type]


def by_rank(family: Ranked) -> Canonicaliser:
    """Replace values by their ranks: reserved values stay, other values become one more than the number of smaller
    ones."""

    def canonical(state: State) -> dict[str, int]:
        names = {variable.name for variable in family.variables}
        free = {state[name] for name in names if state[name] > family.reserved}
        return {
            name: family.reserved + len([other for other in free if other <= value])
            if name in names and value in free
            else value
            for name, value in state.items()
        }

    return canonical


def image(permutation: Permutation, state: State) -> dict[str, int]:
    """Return the state under a permutation."""
    moved = dict(state)
    for source in {*permutation.variables, *permutation.values}:
        target = permutation.variables.get(source, source)
        value = state[source.name]
        moved[target.name] = permutation.values.get(source, {}).get(value, value)
    return moved


def smallest(permutations: Iterable[Permutation], layout: Layout) -> Canonicaliser:
    """Return the image of a state whose packed words come first."""
    group = list(permutations)

    def canonical(state: State) -> dict[str, int]:
        images = [dict(state), *(image(permutation, state) for permutation in group)]
        return min(images, key=lambda one: tuple(layout.pack(one)))

    return canonical


def reachable(system: TransitionSystem, canonical: Canonicaliser = dict) -> set[Frozen]:
    """Return every state that can be reached where each state is replaced by its canonical form."""
    found = {freeze(canonical(system.initial))}
    frontier = list(found)
    while frontier:
        following = successors(system.actions, dict(frontier.pop())).values()
        fresh = {freeze(canonical(state)) for state in following} - found
        found |= fresh
        frontier += fresh
    return found


def reachable_by_kernel(system: TransitionSystem, layout: Layout, kernel: Kernel, group: str = "step") -> set[Frozen]:
    """Return every state that a kernel's ``expand`` leads to from the canonical form of the initial state."""
    first = tuple(int(word) for word in kernel.canonical(layout.pack(system.initial)))
    found = {first}
    frontier = [first]
    while frontier:
        fresh = {row for row, _ in expand(kernel, layout, frontier.pop(), group)} - found
        found |= fresh
        frontier += fresh
    return {freeze(unpacked(layout, row)) for row in found}


def expand(kernel: Kernel, layout: Layout, row: Sequence[int], group: str) -> list[tuple[tuple[int, ...], int]]:
    """Return the successors of a packed state, with the labels of the actions."""
    rows = kernel.successors(group, np.array(row, dtype=np.uint64)).tolist()
    return [(tuple(one[:-1]), one[-1]) for one in rows]


def unpacked(layout: Layout, row: Sequence[int]) -> dict[str, int]:
    """Return the concrete state of packed words."""
    return layout.unpack(np.array(row, dtype=np.uint64))
