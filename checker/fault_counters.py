"""A system with an explicit fault budget: one counter for each kind of fault, and no actions marked as faults.

Any explorer of variables and actions (SPIN, TLC, the embedded engine in a single shard) then explores all
runs within the budget, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import z3

from proofka.model.faults import Fault
from proofka.model.language import Action, Display, TransitionSystem, Variable


def counter_name(kind: Fault) -> str:
    """Return the name of the variable that counts the faults of a kind, such as ``faults_power_loss``."""
    return f"faults_{kind.value.replace('-', '_')}"


def count_faults(system: TransitionSystem, at_most: Mapping[Fault, int], total: int) -> TransitionSystem:
    """Return the same system with counters that allow ``total`` faults over all kinds and ``at_most[kind]`` of each.

    Each present and allowed kind gets a counter. Its actions need room for one more fault and count the fault. Faults
    of other kinds are dropped. No action of the result is a fault.

    Its states are pairs of a state of ``system`` and the faults so far. So the result has more states than an ordinary
    check stores. An ordinary check explores each fault combination alone, and keeps a state only with the smallest
    combinations that reach the state.
    """
    if total < 0:
        raise ValueError(f"a total of {total} faults")
    present = {action.fault for action in system.actions}
    counters = {
        kind: Variable(counter_name(kind), 0, most, 0)
        for kind in Fault
        if kind in present and (most := min(at_most.get(kind, 0), total)) > 0
    }
    actions = tuple(
        _counted(action, counters, total)
        for action in system.actions
        if action.fault is None or action.fault in counters
    )
    shown = tuple(_display(kind, counter) for kind, counter in counters.items())
    return replace(
        system,
        variables=(*system.variables, *counters.values()),
        actions=actions,
        displays=(*system.displays, *shown),
    )


def _counted(action: Action, counters: Mapping[Fault, Variable], total: int) -> Action:
    if action.fault is None:
        return action
    counter = counters[action.fault]
    guard = z3.And(action.guard, *_room(counter, list(counters.values()), total))
    return replace(action, guard=guard, updates={**action.updates, counter: counter.term + 1}, fault=None)


def _room(counter: Variable, counters: Sequence[Variable], total: int) -> list[z3.BoolRef]:
    """Return the conditions that allow one more fault of this kind, and one more fault of any kind."""
    room = []
    if counter.high < total:
        room.append(counter.term < counter.high)
    if counter.high == total or sum(one.high for one in counters) > total:
        room.append(z3.Sum(*(one.term for one in counters)) < total)
    return room


def _display(kind: Fault, counter: Variable) -> Display:
    return Display(f"faults so far: {kind.value}", lambda state: str(state[counter.name]), (counter,))
