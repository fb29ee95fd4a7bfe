"""States of a system that candidates for lemmas have to hold in: an exploration from the start, and random runs.

Candidates are only candidates, so the states need not be all states. A candidate that an unseen state refutes costs
time, and makes no proof wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from proofka.checker.budget import Budget, Meter
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.engine import EMBEDDED, Asked, explore_layer
from proofka.checker.fixed_point import leader_epochs_only, predicates_of
from proofka.checker.invariants.open_deployment import OpenDeployment
from proofka.checker.kernel.canonical import Canonical
from proofka.checker.kernel.layout import Layout
from proofka.checker.kernel.memory import call_expand, call_inspect, load_word
from proofka.checker.kernel.native import INSPECT
from proofka.checker.kernel.visited import PARTITIONS
from proofka.checker.questions import WITNESS
from proofka.checker.reductions.ranking import rankings
from proofka.model.faults import Fault

RUNS, RUN_LENGTH = 10_000, 80
"""Number of random runs, and the largest number of steps of each."""
STEPS_WITHOUT_FAULT = 0.8
"""Part of the steps of random runs that are no faults, if both kinds of step are possible."""

Values = Mapping[str, NDArray[np.int16]]
"""Variable -> its value in each state."""


@dataclass(frozen=True)
class Seen:
    """States in no order, of which no two need to differ.

    ``number``: number of states that were explored. ``is_closed``: these are all states, up to the labels of leader
    epochs. ``violated``: the properties that some explored state violates. ``witnessed``: the properties with an
    explored state that has the situation which they are about.
    """

    values: Values
    number: int
    is_closed: bool
    violated: frozenset[str]
    witnessed: frozenset[str]


def seen_states(one: OpenDeployment, *, states: int, seconds: float, seed: int = 0) -> Seen:
    """Explore a part of a deployment, with ranks in place of leader epochs, within these limits."""
    ranking = rankings(leader_epochs_only(one.group.system), predicates_of(one.group), one.prepared.constants)
    kinds = {action.fault for action in one.group.system.actions if action.fault is not None}
    budget = Budget(seconds=seconds, states=states)
    meter = Meter(budget)
    explorer = EMBEDDED.begin(lambda: "", budget)
    exploration = explorer.exploration(
        Asked(
            one.group.system,
            one.group.question,
            {},
            meter,
            optimised=True,
            unlimited=frozenset(kinds),
            canonical=Canonical(ranking.families),
            kept=False,
        )
    )
    assert isinstance(exploration, EmbeddedExploration)
    meter.start()
    _, report = explore_layer(explorer, exploration)
    names = exploration.question.names
    violated, observed = {name for name in names if exploration.cut_sets(name)}, exploration.observed()
    is_closed = report.stopped is None and not violated and not ranking.refused
    rows = [shard.packed(part, slice(None)) for shard in exploration.shards.values() for part in range(PARTITIONS)]
    if not is_closed:
        more, held = _random_runs(exploration, kinds, seed)
        rows.append(more)
        violated |= held & set(names)
        observed |= held
    witnessed = {name for name in names if WITNESS + name in observed}
    together = np.random.default_rng(seed).permutation(np.concatenate(rows))
    return Seen(
        _unpacked(together, exploration.layout),
        exploration.states,
        is_closed,
        frozenset(violated),
        frozenset(witnessed),
    )


def _unpacked(rows: NDArray[np.uint64], layout: Layout) -> Values:
    found = {}
    for name, field in layout.fields.items():
        bits = (rows[:, field.word] >> np.uint64(field.shift)) & np.uint64((1 << field.width) - 1)
        found[name] = bits.astype(np.int16) + np.int16(field.variable.low)
    return found


def _random_runs(exploration: EmbeddedExploration, kinds: set[Fault], seed: int) -> tuple[NDArray[np.uint64], set[str]]:
    """Return the states of random runs, one row each, in canonical form, and the predicates that hold in some."""
    kernel = exploration.kernel
    functions = np.array([kernel.addresses[name] for name in ("step", *sorted(kind.value for kind in kinds))])
    start = exploration.initial_row()
    rows = np.zeros((RUNS * RUN_LENGTH, len(start)), dtype=np.uint64)
    room = np.empty((sum(kernel.most_successors.values()) + 2) * (len(start) + 1), dtype=np.uint64)
    inspect = kernel.addresses[INSPECT]
    count, held = _run_at_random(functions, inspect, start, rows, room, RUN_LENGTH, STEPS_WITHOUT_FAULT, seed)
    question = exploration.question
    names = (*question.invariants, *question.observations)
    return rows[:count], {name for bit, name in enumerate(names) if held >> bit & 1}


@njit(cache=True)
def _run_at_random(
    functions: NDArray[np.int64],
    inspect: int,
    start: NDArray[np.uint64],
    rows: NDArray[np.uint64],
    room: NDArray[np.uint64],
    length: int,
    without_fault: float,
    seed: int,
) -> tuple[int, int]:
    """Fill ``rows`` with the states of random runs from ``start``; return the number of states, and the predicates that
    hold in some of the states, as bits.

    ``functions``: the addresses of the functions that expand a state, the steps without a fault first. ``inspect``: the
    address of the function that evaluates the predicates.
    """
    np.random.seed(seed)
    words = start.shape[0]
    entry = (words + 1) * 8
    state, out = room.ctypes.data, room.ctypes.data + words * 8
    count, held = 0, np.uint64(0)
    while count + length <= rows.shape[0]:
        room[:words] = start
        for _ in range(length):
            steps = call_expand(functions[0], state, out)
            number = steps
            for function in functions[1:]:
                number += call_expand(function, state, out + number * entry)
            if number == 0:
                break
            if steps == number or (steps > 0 and np.random.random() < without_fault):
                chosen = np.random.randint(0, steps)
            else:
                chosen = np.random.randint(steps, number)
            for word in range(words):
                room[word] = load_word(out + chosen * entry + word * 8)
            rows[count] = room[:words]
            held |= call_inspect(inspect, state)
            count += 1
    return count, int(held)
