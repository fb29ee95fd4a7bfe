"""Needs that never end: an action that waits until a clock shows more than any clock shows (docs/reductions.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import z3
from z3.z3util import get_vars

from proofka.model.language import Action, TransitionSystem
from proofka.model.language.terms import And, Not


def without_endless(system: TransitionSystem) -> TransitionSystem:
    """Return the system in which no action is enabled while one of its needs never ends.

    So the exploration without clocks leaves out runs that no value of a clock allows.
    """
    return replace(system, actions=tuple(_enabled_in_time(system, action) for action in system.actions))


def _enabled_in_time(system: TransitionSystem, action: Action) -> Action:
    stopped = [Not(runs) for runs in _endless(system, action)]
    known = action.guard.children()
    missing = [one for one in stopped if not any(one.eq(other) for other in known)]
    return replace(action, guard=And(action.guard, *missing)) if missing else action


def _endless(system: TransitionSystem, action: Action) -> Iterator[z3.BoolRef]:
    """Yield the conditions under which the action waits without end, without those that only clocks can read."""
    remembered = {variable.name for variable in system.history}
    for need in system.needs_of(action):
        if need.is_endless and remembered.isdisjoint(map(str, get_vars(need.clock.runs))):
            yield need.clock.runs
