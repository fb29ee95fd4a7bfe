"""Exploration by fault layers: every fault combination on its own, smaller combinations first.

Faults are not monotone: one more crash can prevent the acknowledgement, and so the loss. So each combination is
explored, never inferred from a larger one. A state that a smaller combination also reaches belongs to the smaller
combination, because its continuations need no further faults. So the first trace found for a combination without a
sufficient part is a shortest trace, and the combination is a smallest fault set.

This module holds the parts common to all engines: the choice and order of combinations, and the recorded results.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import z3

from proofka.checker.budget import Meter
from proofka.checker.combinations import Combination, is_contained, layer, without_one
from proofka.checker.kernel.canonical import Canonical
from proofka.checker.kernel.layout import Layout, Words, lay_out, written_by_clients
from proofka.checker.kernel.monitored import Monitors, monitored, widened
from proofka.checker.kernel.native import Kernel, compile_kernel
from proofka.checker.kernel.part import Part, whole
from proofka.checker.kernel.wanted import Wanted
from proofka.model.faults import COVERED_BY, Fault
from proofka.model.language import Action, TransitionSystem
from proofka.properties.verdict import CutSet

MOST_PREDICATES = 63


@dataclass(frozen=True)
class Question:
    """The question about a system: ``invariants`` are names with the violating term; ``goal`` must stay reachable.

    ``observations`` are further predicates whose reachability is reported (witnesses, limits). ``limits`` names the
    observations at which a bound stops a behaviour. A state that gets only that far does not violate the goal.
    """

    invariants: Mapping[str, z3.BoolRef]
    goal: tuple[str, z3.BoolRef] | None
    observations: Mapping[str, z3.BoolRef]
    limits: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of everything that can be violated."""
        return (*self.invariants, *(() if self.goal is None else (self.goal[0],)))

    @property
    def predicates(self) -> list[z3.BoolRef]:
        """The terms to evaluate, in the order of their bits: invariants, observations, the goal."""
        goal = [] if self.goal is None else [self.goal[1]]
        return [*self.invariants.values(), *self.observations.values(), *goal]


@dataclass(frozen=True)
class Violation:
    """A state that violates ``name``, reached with ``combination`` after ``depth`` steps."""

    name: str
    combination: Combination
    reference: int
    depth: int


@dataclass
class LayerReport:
    """Progress of a layer: completely explored combinations, their number in total, and the reason for stopping."""

    size: int
    explored: int = 0
    of: int = 0
    stopped: str | None = None

    @property
    def complete(self) -> bool:
        """Tell whether every combination that could give new results was explored completely."""
        return self.explored == self.of and self.stopped is None


class Found(Protocol):
    """The states of one fault combination. A *reference* names a state."""

    combination: Combination
    complete: bool

    @property
    def count(self) -> int:
        """Number of states."""

    @property
    def depth(self) -> int:
        """Depth of the deepest state."""

    @property
    def transition_count(self) -> int:
        """Number of steps from and into these states."""

    @property
    def seen(self) -> int:
        """The predicates that held in some of the states, as bits."""

    @property
    def bytes(self) -> int:
        """Bytes used by the states, in memory or in files."""

    def first_with(self, predicate: int) -> int | None:
        """Return the reference of a state of least depth in which a predicate held, or None."""

    def depth_of(self, reference: int) -> int:
        """Return the length of a shortest path to a state."""

    def level_sizes(self) -> list[int]:
        """Return the number of states at each depth."""

    def held_in(self, predicate: int) -> int:
        """Return the number of states in which a predicate held, if counted."""


States = TypeVar("States", bound=Found)
OnProgress = Callable[[Combination], None]


@dataclass
class Exploration(ABC, Generic[States]):
    """One question about one system, answered layer by layer.

    With ``counted`` everything is explored, violations or not, and the states in which each predicate held are counted.
    ``optimised``: the best machine code is used from the beginning, for systems known to be large. Faults of
    ``unlimited`` kinds are steps that are not counted. Of the states with the same ``canonical`` form one is kept.
    ``monitors`` exclude some successors. ``part``: existing machine code of a whole system that this system is a part
    of. Combinations that ``only`` rejects are explored only as parts of others. Only ``wanted`` states are entered.
    ``shards`` is never changed in place, only replaced: a thread that reads it sees the combinations of one moment.
    """

    system: TransitionSystem
    question: Question
    at_most: Mapping[Fault, int]
    meter: Meter
    threads: int = 1
    infer: bool = True
    counted: bool = False
    optimised: bool = False
    unlimited: frozenset[Fault] = frozenset()
    canonical: Canonical | None = None
    monitors: Monitors | None = None
    part: Part | None = None
    only: Callable[[Any, Combination], bool] | None = None
    wanted: Wanted = field(default_factory=Wanted)
    shards: Mapping[Combination, States] = field(default_factory=dict)
    violations: dict[str, list[Violation]] = field(default_factory=dict)
    layers: list[LayerReport] = field(default_factory=list)

    def __post_init__(self) -> None:
        present = {action.fault for action in self.system.actions if action.fault is not None}
        self.kinds: tuple[Fault, ...] = tuple(
            kind for kind in Fault if kind in present - self.unlimited and self.at_most.get(kind, 0) > 0
        )
        self.most = tuple(self.at_most[kind] for kind in self.kinds)
        self._predicates = self.question.predicates
        self.goal_bit = -1 if self.question.goal is None else len(self._predicates) - 1
        if len(self._predicates) > MOST_PREDICATES:
            raise ValueError(f"{len(self._predicates)} predicates in one exploration; at most {MOST_PREDICATES}")
        self.part = self._compiled() if self.part is None else self.part
        self.kernel: Kernel = self.part.kernel
        self.layout: Layout = self.part.layout
        if self.monitors is not None:
            self.kernel = monitored(self.part, self.monitors)
            self.layout = widened(self.layout, self.monitors)
        self.violations = {name: [] for name in self.question.names}
        self.undecided: set[str] = set()
        self.aside: set[tuple[str, Combination]] = set()
        self.own_functions = ("step", *(kind.value for kind in Fault if kind in present & self.unlimited))
        self._lock = threading.Lock()

    def _compiled(self) -> Part:
        """Make machine code of this system alone."""
        layout = lay_out(self.system.variables, written_by_clients(self.system.actions))
        clocks = None if self.monitors is None else self.monitors.clocks
        kernel = compile_kernel(
            layout, self._groups(), self._predicates, self.canonical, clocks=clocks, optimised=self.optimised
        )
        return whole(kernel, layout, self._predicates)

    def _groups(self) -> dict[str, list[tuple[int, Action]]]:
        labelled = list(enumerate(self.system.actions))
        groups = {"step": [pair for pair in labelled if pair[1].fault is None]}
        for kind in (*self.kinds, *self.unlimited):
            groups[kind.value] = [pair for pair in labelled if pair[1].fault is kind]
        return groups

    def initial_row(self) -> Words:
        """Return the initial state, packed, in canonical form, with the flags of the monitors."""
        assert self.part is not None
        row = self.part.initial_row(self.system)
        flags = () if self.monitors is None else self.monitors.initial
        return np.concatenate([row, np.array(flags, dtype=np.uint64)])

    @property
    def states(self) -> int:
        """Distinct states stored so far."""
        return sum(shard.count for shard in self.shards.values())

    @property
    def state_bytes(self) -> int:
        """Bytes that name a state."""
        return self.layout.words * 8

    @property
    def shared_bytes(self) -> int:
        """Bytes of memory that the shards share."""
        return 0

    @property
    def transitions(self) -> int:
        return sum(shard.transition_count for shard in self.shards.values())

    @property
    def depth(self) -> int:
        """Largest distance of any state from the initial state."""
        return max((shard.depth for shard in self.shards.values()), default=0)

    def observed(self) -> set[str]:
        """Return the observations that held in some explored state."""
        bits = 0
        for shard in self.shards.values():
            bits |= shard.seen
        first = len(self.question.invariants)
        return {name for bit, name in enumerate(self.question.observations, first) if bits >> bit & 1}

    def first_observed(self, name: str) -> list[Violation]:
        """Return the first state of each combination in which an observation held, fewest faults first."""
        bit = len(self.question.invariants) + list(self.question.observations).index(name)
        found = []
        for combination, shard in self.shards.items():
            reference = shard.first_with(bit)
            if reference is not None:
                found.append(Violation(name, combination, reference, shard.depth_of(reference)))
        return sorted(found, key=lambda one: (sum(one.combination), one.combination))

    def states_in_layer(self, size: int) -> int:
        """Return the number of distinct states found with ``size`` faults and no fewer."""
        return sum(shard.count for combination, shard in self.shards.items() if sum(combination) == size)

    def cut_sets(self, name: str) -> list[Violation]:
        """Return the smallest fault sets of a property found so far, one shortest violation each, smallest first."""
        found = self.violations[name]
        return sorted(found, key=lambda v: (sum(v.combination), v.depth, tuple(-count for count in v.combination)))

    def named(self, combination: Combination) -> CutSet:
        """Return a combination as names of kinds with counts."""
        return tuple(sorted((kind.value, n) for kind, n in zip(self.kinds, combination, strict=True) if n))

    def named_cut_sets(self) -> dict[str, tuple[CutSet, ...]]:
        """Return the smallest fault sets found so far, by property."""
        return {name: tuple(self.named(v.combination) for v in self.cut_sets(name)) for name in self.violations}

    def set_aside(self, violation: Violation) -> None:
        """Search for larger fault sets with the same violation, as if this fault set did not violate the property."""
        self.aside.add((violation.name, violation.combination))

    def take_back(self, violation: Violation) -> None:
        """Stop searching for larger fault sets than those of a violation that was set aside."""
        self.aside.discard((violation.name, violation.combination))

    def open_questions(self, combination: Combination) -> list[str]:
        """Return the properties that neither this combination nor a smaller one is known to violate.

        For the others the combination cannot be smallest.
        """
        return [
            name
            for name, violations in self.violations.items()
            if not any(
                is_contained(violation.combination, combination)
                for violation in violations
                if (name, violation.combination) not in self.aside
            )
        ]

    def exhausted(self) -> bool:
        """Tell whether every layer was explored completely and no further layer can give new results."""
        size = len(self.layers)
        whole = size > 0 and all(report.complete for report in self.layers)
        return whole and not any(True for _ in self._worth_exploring(size))

    def _worth_exploring(self, size: int) -> Iterator[Combination]:
        for combination in layer(size, self.most):
            if self.open_questions(combination) and (self.only is None or self.only(self, combination)):
                yield combination

    def explore_layer(self, on_progress: OnProgress | None = None) -> LayerReport:
        """Explore every combination with one more fault than before, within the budget.

        Another kind can cover a kind: a power loss that loses nothing is a kill. Combinations with the covering kind
        come first. A property that they do not violate is not violated by the covered combinations either, which then
        need no exploration.
        """
        size = len(self.layers)
        report = LayerReport(size)
        self.layers.append(report)
        worth = list(self._worth_exploring(size))
        report.of = len(worth)
        covering = {combination: self._covering(combination) for combination in worth}
        self._explore_with_parts([c for c in worth if covering[c] is None], report, on_progress)
        remaining = [c for c in worth if covering[c] is not None]
        inferred = [c for c in remaining if self._is_inferred(c, covering[c])]
        report.explored += len(inferred)
        self._explore_with_parts([c for c in remaining if c not in inferred], report, on_progress)
        if report.explored < report.of and report.stopped is None:
            report.stopped = self.layers[size - 1].stopped if size else None
        if report.explored < report.of and report.stopped is None:
            raise AssertionError(f"{report.of - report.explored} combinations of {size} faults were left out unnoticed")
        return report

    def _explore_with_parts(
        self,
        combinations: Sequence[Combination],
        report: LayerReport,
        on_progress: OnProgress | None,
    ) -> None:
        """Explore combinations, and before them those of their parts that were only inferred so far."""
        for missing in self._missing_parts(combinations):
            catching_up = LayerReport(report.size)
            self._explore_all(missing, catching_up, on_progress)
            report.stopped = report.stopped or catching_up.stopped
        self._explore_all(combinations, report, on_progress)

    def _covering(self, combination: Combination) -> Combination | None:
        """Return another allowed combination whose runs include the runs of this combination, if any."""
        if not self.infer:
            return None
        counts = list(combination)
        for kind, by in COVERED_BY.items():
            if kind in self.kinds and by in self.kinds:
                covered, covers = self.kinds.index(kind), self.kinds.index(by)
                counts[covers] += counts[covered]
                counts[covered] = 0
        changed = tuple(counts)
        within = all(count <= most for count, most in zip(changed, self.most, strict=True))
        return changed if changed != combination and within else None

    def _is_inferred(self, combination: Combination, covering: Combination | None) -> bool:
        """Tell whether the completely explored covering combination violates nothing that is still open here."""
        if covering is None or covering not in self.shards or not self.shards[covering].complete:
            return False
        return set(self.open_questions(combination)) <= set(self.open_questions(covering))

    def _missing_parts(self, combinations: Iterable[Combination]) -> list[list[Combination]]:
        """Return the inferred combinations that are needed to explore these, by size, smallest first."""
        missing: set[Combination] = set()
        frontier = set(combinations)
        while frontier:
            parts = {part for one in frontier for _, part in without_one(one) if part not in self.shards}
            frontier = parts - missing
            missing |= parts
        sizes = sorted({sum(part) for part in missing})
        return [[part for part in missing if sum(part) == size] for size in sizes]

    @staticmethod
    def _finished(report: LayerReport, stopped: str | None) -> None:
        report.explored += stopped is None
        report.stopped = report.stopped or stopped

    def _parts_complete(self, combination: Combination) -> bool:
        return all(part in self.shards and self.shards[part].complete for _, part in without_one(combination))

    def _expected_cost(self, combination: Combination) -> int:
        return sum(self.shards[part].count for _, part in without_one(combination))

    @abstractmethod
    def _explore_all(
        self, combinations: Sequence[Combination], report: LayerReport, on_progress: OnProgress | None
    ) -> None:
        """Search combinations of which none contains another, each within the budget."""

    @abstractmethod
    def _backwards(self, violation: Violation) -> Iterator[tuple[str, Words]]:
        """Yield each state from the violation back to the initial state, with the function that made it."""

    def sought(self, open_names: Sequence[str]) -> int:
        """Return the predicates that end the search of a combination once all were seen; 0 if every state is needed."""
        if self.counted or (self.question.goal is not None and self.question.goal[0] in open_names):
            return 0
        return sum(1 << bit for bit, name in enumerate(self.question.invariants) if name in open_names)

    def keep(self, shard: States) -> None:
        """Add the states of a combination, or replace those from before; other threads can read meanwhile."""
        with self._lock:
            self.shards = {**self.shards, shard.combination: shard}

    def forget_states(self) -> None:
        """Drop the states of all combinations."""
        with self._lock:
            self.shards = {}

    def _record_violations(self, shard: States, open_names: Sequence[str]) -> None:
        for bit, name in enumerate(self.question.invariants):
            reference = shard.first_with(bit)
            if name in open_names and reference is not None:
                self._record(Violation(name, shard.combination, reference, shard.depth_of(reference)))

    def _record_undecided(self) -> None:
        assert self.question.goal is not None
        with self._lock:
            self.undecided.add(self.question.goal[0])

    def _record_stuck(self, shard: States, reference: int) -> None:
        assert self.question.goal is not None
        depth = shard.depth_of(reference)
        self._record(Violation(self.question.goal[0], shard.combination, reference, depth))

    def _record(self, violation: Violation) -> None:
        with self._lock:
            self.violations[violation.name].append(violation)

    def path(self, violation: Violation) -> list[int]:
        """Return the labels of the actions from the initial state to the violation."""
        run = list(self._backwards(violation))[::-1]
        return [_step_label(self.kernel, function, before, after) for (_, before), (function, after) in pairwise(run)]

    def alike(self, violation: Violation, most: int) -> list[Violation]:
        """Return further states with the same violation and the same faults, at any depth, if they are easy to find."""
        return [violation][:most]

    def states_along(self, violation: Violation) -> list[dict[str, int]]:
        """Return the concrete states from the initial state to the violation, in the variables of this system."""
        return [self.layout.unpack(row) for _, row in self._backwards(violation)][::-1]


AnyExploration = Exploration[Any]
"""An exploration by any engine."""


def _step_label(kernel: Kernel, function: str, before: Words, after: Words) -> int:
    """Return the label of an action that leads from one packed state to another.

    Raise :class:`AssertionError` if no action does, because then a stored parent is wrong.
    """
    for entry in kernel.successors(function, before):
        if (entry[:-1] == after).all():
            return int(entry[-1])
    raise AssertionError("a stored state is no successor of its stored parent")
