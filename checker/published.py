"""The published replication protocols, explored whole: counts to hold against other people's engines."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import z3

from checker.breadth_first import load_loops
from checker.budget import Budget, Meter
from checker.checkpoint import Checkpoint
from checker.exploration import Exploration, Question, Violation
from checker.identity import Fingerprint, verdict_id
from checker.shard import Shard
from checker.solver import prove_domain_safety
from model.language import TransitionSystem
from properties.whole_space import InvariantCount, WholeSpace


def explore_whole(
    system: TransitionSystem,
    violated: Mapping[str, z3.BoolRef],
    budget: Budget,
    checkpoint: tuple[Path, float] | None = None,
) -> WholeSpace:
    """Explore every state of a system and count where each of ``violated`` (name -> term) holds.

    ``checkpoint``: the folder for snapshots, and how many seconds lie between two. Raises
    :class:`checker.checkpoint.CheckpointError` if it holds something else.
    """
    started = time.perf_counter()
    safe = prove_domain_safety(system)
    meter = Meter(budget, timed=False)
    question = Question({name: z3.simplify(term) for name, term in violated.items()}, None, {})
    kept = None
    if checkpoint is not None:
        prints = Fingerprint()
        asked: list[bytes | str] = [
            prints.of_system(safe),
            *(prints.of_term(term) for term in violated.values()),
            *violated,
        ]
        kept = Checkpoint(checkpoint[0], verdict_id(asked), checkpoint[1])
    exploration = Exploration(safe, question, {}, meter, budget.threads, counted=True, optimised=True, checkpoint=kept)
    load_loops()
    compiled = time.perf_counter()
    meter.start()
    report = exploration.explore_layer()
    finished = time.perf_counter()
    nothing = Shard((), exploration.layout.words, len(violated), has_goal=False, counted=True)
    shard = next(iter(exploration.shards.values()), nothing)
    violations = {name: found[0] for name, found in exploration.violations.items() if found}
    lengths = {name: violation.depth + 1 for name, violation in violations.items()}
    return WholeSpace(
        shard.count,
        exploration.transitions,
        tuple(shard.level_sizes()),
        {name: InvariantCount(shard.held_in(bit), lengths.get(name)) for bit, name in enumerate(violated)},
        round(finished - compiled, 6),
        round(compiled - started, 6),
        round(shard.measure() / max(shard.count, 1), 2),
        {name: _in_words(exploration, violation) for name, violation in violations.items() if violation.depth},
        report.stopped,
    )


def _in_words(exploration: Exploration, violation: Violation) -> list[str]:
    """The steps of a trace, one sentence each."""
    actions = [exploration.system.actions[label] for label in exploration.path(violation)]
    states = pairwise(exploration.states_along(violation))
    return [action.sentence(before, after) for action, (before, after) in zip(actions, states, strict=True)]
