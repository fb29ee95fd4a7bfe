"""From a path of actions to a trace that people read, replayed through Z3 before anyone sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from checker.solver import Replayer
from model.language import Action, State, TransitionSystem, describe
from properties.property import Property
from properties.verdict import Change, CutSet, Step, Trace


class ReplayMismatch(Exception):
    """Kernel and solver disagree about a step: one of the two readings of the terms is wrong."""


def cut_set(actions: Sequence[Action]) -> CutSet:
    """The faults among these actions, as a multiset."""
    kinds = [action.fault.value for action in actions if action.fault is not None]
    return tuple((kind, kinds.count(kind)) for kind in sorted(set(kinds)))


def replay(system: TransitionSystem, replayer: Replayer, actions: Sequence[Action]) -> list[dict[str, int]]:
    """The states of a run, the initial one first, as Z3 computes them.

    Raises :class:`ReplayMismatch` naming the first step that is not allowed.
    """
    states = [system.initial]
    for number, action in enumerate(actions, 1):
        following = replayer.step(states[-1], action)
        if following is None:
            raise ReplayMismatch(f"step {number}, {action}, is not allowed")
        states.append(following)
    return states


def build_trace(
    system: TransitionSystem,
    replayer: Replayer,
    prop: Property,
    actions: Sequence[Action],
    packed: Sequence[Mapping[str, int]],
) -> Trace:
    """The trace of a run found by the kernel, whose states (of the variables it kept) are ``packed``.

    Raises :class:`ReplayMismatch` if Z3 does not reproduce every state, or finds the property not violated at the end.
    """
    states = replay(system, replayer, actions)
    for number, (mine, theirs) in enumerate(zip(states, packed, strict=True)):
        wrong = [name for name, value in theirs.items() if mine[name] != value]
        if wrong:
            raise ReplayMismatch(f"after step {number} kernel and solver disagree on {', '.join(wrong)}")
    if prop.goal is None and not replayer.holds(states[-1], prop.violated):
        raise ReplayMismatch(f"{prop.name} is not violated at the end of the run")
    return Trace(cut_set(actions), steps_of(system, actions, states), prop.explain(states[-1]))


def steps_of(system: TransitionSystem, actions: Sequence[Action], states: Sequence[State]) -> tuple[Step, ...]:
    """Each step in words, with what it changed."""
    described = [describe(system, state) for state in states]
    return tuple(
        _step(action, *neighbours, *views)
        for action, neighbours, views in zip(actions, pairwise(states), pairwise(described), strict=True)
    )


def _step(action: Action, before: State, after: State, was: Mapping[str, str], now: Mapping[str, str]) -> Step:
    changes = tuple(Change(what, was[what], now[what]) for what in now if was[what] != now[what])
    return Step(
        action.actor,
        action.lane,
        action.name,
        dict(action.arguments),
        action.sentence(before, after),
        None if action.fault is None else action.fault.value,
        changes,
    )
