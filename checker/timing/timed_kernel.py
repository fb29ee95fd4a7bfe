"""Machine code for timed re-exploration: compiled once for a group of properties, used for the slice of each.

Every property of a group is re-explored in its own cone of influence, again with each new lemma. All of these slices
are parts of one system, and monitors are tables, so one kernel serves them all (checker/kernel/part.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import z3

from proofka.checker.exploration import MOST_PREDICATES, Question
from proofka.checker.kernel.layout import Layout, extended, lay_out, written_by_clients
from proofka.checker.kernel.native import MOST_CLOCKS, Kernel, compile_kernel, optimise
from proofka.checker.kernel.part import Part, part_of
from proofka.model.faults import Fault
from proofka.model.language import Action, ClockKey, TransitionSystem

OPTIMISE_AFTER = 10_000_000
"""States, explored or expected, from which better machine code is worth its three seconds. Monitors take most of the
time of a timed re-exploration, so better code saves only a tenth of the time."""

STEP = "step"
"""Name of the kernel's function for fault-free steps."""


@dataclass(frozen=True)
class Slice:
    """A part of a compiled system, with an action for each label of the whole, and its machine code."""

    system: TransitionSystem
    part: Part


class TimedKernel:
    """The machine code of ``system``, which contains every slice of ``questions``, compiled on first use.

    ``clocks``: the condition of each clock that the system sees; monitors refer to clocks by their place here.
    ``begin``: a layout of some of the system's variables, used as the beginning of the layout if possible.
    """

    def __init__(
        self,
        system: TransitionSystem,
        questions: Iterable[Question],
        clocks: Mapping[ClockKey, z3.BoolRef],
        begin: Layout | None = None,
    ) -> None:
        self.system = system
        predicates = {term.get_id(): term for question in questions for term in question.predicates}
        self._predicates = list(predicates.values())
        self._bits = {key: bit for bit, key in enumerate(predicates)}
        self._clocks = clocks
        self.places = {key: place for place, key in enumerate(clocks)}
        names = {variable.name for variable in system.variables}
        if begin is not None and begin.fields.keys() <= names:
            self._layout = extended(begin, system.variables)
        else:
            self._layout = lay_out(system.variables, written_by_clients(system.actions))
        self._kernel: Kernel | None = None
        self._is_optimised = False
        self._explored = 0

    @property
    def fits(self) -> bool:
        """Tell whether one kernel can evaluate all predicates and clocks."""
        return len(self._predicates) <= MOST_PREDICATES and len(self._clocks) <= MOST_CLOCKS

    def begins_with(self, layout: Layout) -> bool:
        """Tell whether states begin with the words of a layout: each of its fields has the same place here."""
        own = self._layout.fields
        return self._layout.words >= layout.words and all(own.get(n) == f for n, f in layout.fields.items())

    def count(self, states: int) -> None:
        """Add the number of states explored with this kernel, for which better code becomes worthwhile."""
        self._explored += states

    def slice_for(self, system: TransitionSystem, question: Question, *, expected: int) -> Slice:
        """Return the part given by ``system``, for its question; ``expected``: the expected number of states."""
        bits = [self._bits[term.get_id()] for term in question.predicates]
        optimised = max(self._explored, expected) >= OPTIMISE_AFTER
        part = part_of(self._compiled(optimised=optimised), self._layout, self.system, system, bits)
        own = {action.key: action for action in system.actions}
        actions = tuple(own.get(action.key) or _without_effect(action) for action in self.system.actions)
        needs = {key: each for key, each in system.needs.items() if key in own}
        return Slice(replace(system, actions=actions, needs=needs), part)

    def _compiled(self, *, optimised: bool) -> Kernel:
        if self._kernel is None:
            clocks = list(self._clocks.values())
            self._kernel = compile_kernel(
                self._layout, _groups(self.system.actions), self._predicates, clocks=clocks, optimised=optimised
            )
            self._is_optimised = optimised
        elif optimised and not self._is_optimised:
            self._kernel, self._is_optimised = optimise(self._kernel), True
        return self._kernel


def _groups(actions: Sequence[Action]) -> dict[str, list[tuple[int, Action]]]:
    """Return the actions with their labels: fault-free steps, and the steps of each kind of fault."""
    groups: dict[str, list[tuple[int, Action]]] = {STEP: []}
    for kind in Fault:
        if any(action.fault is kind for action in actions):
            groups[kind.value] = []
    for label, action in enumerate(actions):
        groups[STEP if action.fault is None else action.fault.value].append((label, action))
    return groups


def _without_effect(action: Action) -> Action:
    """Return a placeholder for an action that a slice does not have, to keep the labels of the whole."""
    return replace(action, updates={}, fault=None)
