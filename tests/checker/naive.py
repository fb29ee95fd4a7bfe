"""A naive explorer over Python dictionaries: exploration by fault layers, written as its definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import z3

from proofka.checker.exploration import Question
from proofka.model.faults import Fault
from proofka.model.language import State, TransitionSystem
from tests.checker.plain_evaluator import holds, successors

Frozen = tuple[tuple[str, int], ...]
Faults = tuple[int, ...]
"""The number of faults of each kind, in the order of the kinds."""


def freeze(state: State) -> Frozen:
    return tuple(sorted(state.items()))


@dataclass
class Naive:
    """Breadth-first search over (state, faults so far), up to ``total`` faults, at most ``most[i]`` of kind ``i``."""

    system: TransitionSystem
    kinds: Sequence[Fault]
    most: Sequence[int]
    total: int
    depth: dict[Faults, dict[Frozen, int]] = field(default_factory=dict)
    steps: dict[Frozen, list[tuple[Fault | None, Frozen]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        level = [((0,) * len(self.kinds), freeze(self.system.initial))]
        depth = 0
        self.depth = {level[0][0]: {level[0][1]: 0}}
        while level:
            depth += 1
            following = []
            for faults, state in level:
                for fault, after in self.successors(state):
                    spent = self._spend(faults, fault)
                    if spent is not None and after not in self.depth.setdefault(spent, {}):
                        self.depth[spent][after] = depth
                        following.append((spent, after))
            level = following

    def successors(self, state: Frozen) -> list[tuple[Fault | None, Frozen]]:
        """Return every step from a state, with the step's fault."""
        if state not in self.steps:
            found = successors(self.system.actions, dict(state))
            by_name = {str(action): action for action in self.system.actions}
            self.steps[state] = [(by_name[name].fault, freeze(after)) for name, after in found.items()]
        return self.steps[state]

    def _spend(self, faults: Faults, fault: Fault | None) -> Faults | None:
        if fault is None:
            return faults
        if fault not in self.kinds:
            return None
        kind = self.kinds.index(fault)
        spent = (*faults[:kind], faults[kind] + 1, *faults[kind + 1 :])
        return spent if sum(spent) <= self.total and spent[kind] <= self.most[kind] else None

    def own(self, faults: Faults) -> set[Frozen]:
        """Return the states reached with exactly these faults and with no smaller multiset of them."""
        smaller = [reached for other, reached in self.depth.items() if other != faults and contained(other, faults)]
        return set(self.depth.get(faults, {})).difference(*smaller)

    def minimal(self, bad: set[Frozen]) -> dict[Faults, int]:
        """Return the minimal multisets of faults that reach a bad state, with the length of a shortest run."""
        reaching = {
            faults: min(reached[state] for state in reached.keys() & bad)
            for faults, reached in self.depth.items()
            if reached.keys() & bad
        }
        return {
            faults: length
            for faults, length in reaching.items()
            if not any(other != faults and contained(other, faults) for other in reaching)
        }

    def where(self, term: z3.BoolRef) -> set[Frozen]:
        """Return the reachable states in which a term holds."""
        return {state for state in self.states if holds(term, dict(state))}

    @property
    def states(self) -> set[Frozen]:
        return set().union(*self.depth.values())

    def stuck(self, goal: z3.BoolRef) -> set[Frozen]:
        """Return the reachable states from which no steps without a fault lead to the goal."""
        good = self.where(goal)
        while True:
            more = {
                state
                for state in self.states - good
                if any(fault is None and after in good for fault, after in self.successors(state))
            }
            if not more:
                return self.states - good
            good |= more

    def cut_sets(self, question: Question) -> Mapping[str, Mapping[Faults, int]]:
        """Return the minimal cut sets of everything that a question asks, with the lengths of shortest runs."""
        found = {name: self.minimal(self.where(term)) for name, term in question.invariants.items()}
        if question.goal is not None:
            found[question.goal[0]] = self.minimal(self.stuck(question.goal[1]))
        return found


def contained(part: Faults, whole: Faults) -> bool:
    return all(one <= other for one, other in zip(part, whole, strict=True))
