"""Traces for people from paths of actions, replayed through Z3 before they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from proofka.checker.reductions.ranking import ranked_state
from proofka.checker.solver import Replayer
from proofka.model.language import Action, Ranked, State, TransitionSystem
from proofka.properties.property import Property
from proofka.properties.verdict import Change, CutSet, Shown, Step, Trace


class ReplayMismatch(Exception):
    """Kernel and solver disagree about a step, so one of the two interprets the terms wrongly."""


def cut_set(actions: Sequence[Action]) -> CutSet:
    """Return the faults among these actions, as a multiset."""
    kinds = [action.fault.value for action in actions if action.fault is not None]
    return tuple((kind, kinds.count(kind)) for kind in sorted(set(kinds)))


def replay(system: TransitionSystem, replayer: Replayer, actions: Sequence[Action]) -> list[dict[str, int]]:
    """Return the states of a run, the initial state first, computed by Z3.

    Raise :class:`ReplayMismatch`, naming the first step that is not allowed.
    """
    states = [system.initial]
    for number, action in enumerate(actions, 1):
        following = replayer.step(states[-1], action)
        if following is None:
            raise ReplayMismatch(f"step {number}, {action}, is not allowed")
        states.append(following)
    return states


def actions_of(system: TransitionSystem, actions: Sequence[Action]) -> list[Action]:
    """Return the actions of ``system`` with the same names and arguments.

    Raise :class:`ReplayMismatch` if one is missing.
    """
    return _actions_named(system, [(action.name, action.arguments) for action in actions])


def actions_of_steps(system: TransitionSystem, steps: Sequence[Step]) -> list[Action]:
    """Return the actions of ``system`` that the steps of a trace name. Raise :class:`ReplayMismatch` as above."""
    return _actions_named(system, [(step.action, step.arguments) for step in steps])


def _actions_named(system: TransitionSystem, names: Sequence[tuple[str, Mapping[str, int]]]) -> list[Action]:
    found = []
    for name, arguments in names:
        action = system.action(name, arguments)
        if action is None:
            told = ", ".join(f"{argument}={value}" for argument, value in arguments.items())
            raise ReplayMismatch(f"an action of the run is unknown to the model: {name}({told})")
        found.append(action)
    return found


def hold_against(states: Sequence[State], found: Sequence[Mapping[str, int]], ranked: Sequence[Ranked] = ()) -> None:
    """Compare the states computed by Z3 with the kernel's states, in the variables that the kernel kept.

    In the kernel's states, ranks replace the values of the families ``ranked``. Raise :class:`ReplayMismatch`, naming
    the first differing step and its differing variables.
    """
    for number, (state, theirs) in enumerate(zip(states, found, strict=True)):
        mine = ranked_state({name: state[name] for name in theirs}, ranked)
        wrong = [name for name, value in theirs.items() if mine[name] != value]
        if wrong:
            raise ReplayMismatch(f"after step {number} kernel and solver disagree on {', '.join(wrong)}")


def build_trace(
    system: TransitionSystem,
    replayer: Replayer,
    prop: Property,
    actions: Sequence[Action],
    found: Sequence[Mapping[str, int]] | None,
    ranked: Sequence[Ranked] = (),
    times: Sequence[int] | None = None,
) -> Trace:
    """Return the trace of a run.

    ``found``: the kernel's states (see :func:`hold_against`), or None if the kernel ran another system. ``times``: the
    time of each step, in ms. Raise :class:`ReplayMismatch` if Z3 does not reproduce every state, or if the property is
    not violated at the end.
    """
    states = replay(system, replayer, actions)
    if found is not None:
        hold_against(states, found, ranked)
    if prop.goal is None and not replayer.holds(states[-1], prop.violated):
        raise ReplayMismatch(f"{prop.name} is not violated at the end of the run")
    steps = steps_of(system, actions, states)
    if times is not None:
        steps = tuple(replace(step, at=at) for step, at in zip(steps, times, strict=True))
    return Trace(cut_set(actions), steps, prop.explain(states[-1]), shown_of(system, states[0]))


def shown_of(system: TransitionSystem, state: State) -> tuple[Shown, ...]:
    """Return the whole state in words, in the order of the system's displays."""
    return tuple(
        Shown(
            display.what,
            display.owner,
            display.render(state),
            None if display.entries is None else display.entries(state),
        )
        for display in system.displays
    )


def steps_of(system: TransitionSystem, actions: Sequence[Action], states: Sequence[State]) -> tuple[Step, ...]:
    """Return each step in words, with its changes."""
    described = [shown_of(system, state) for state in states]
    return tuple(
        _step(action, *neighbours, *views)
        for action, neighbours, views in zip(actions, pairwise(states), pairwise(described), strict=True)
    )


def _step(action: Action, before: State, after: State, was: Sequence[Shown], now: Sequence[Shown]) -> Step:
    changes = tuple(
        Change(new.what, old.value, new.value, new.entries)
        for old, new in zip(was, now, strict=True)
        if old.value != new.value
    )
    return Step(
        action.actor,
        action.lane,
        action.name,
        dict(action.arguments),
        action.sentence(before, after),
        None if action.fault is None else action.fault.value,
        changes,
    )
