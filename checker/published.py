"""The published replication protocols, explored completely, to compare counts with other engines."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import pairwise

import z3

from proofka.checker.breadth_first import load_loops
from proofka.checker.budget import Budget, Meter
from proofka.checker.engine import EMBEDDED, Asked, Engine, explore_layer
from proofka.checker.exploration import AnyExploration, Found, Question, Violation
from proofka.checker.identity import Fingerprint, verdict_id
from proofka.checker.kernel.components import Components
from proofka.checker.shard import Shard
from proofka.checker.solver import prove_domain_safety
from proofka.model.language import TransitionSystem
from proofka.properties.whole_space import InvariantCount, WholeSpace


def explore_whole(
    system: TransitionSystem,
    violated: Mapping[str, z3.BoolRef],
    budget: Budget,
    engine: Engine = EMBEDDED,
) -> WholeSpace:
    """Explore every state of a system with ``engine``, and count the states in which each of ``violated`` holds.

    ``violated`` maps names to terms. Raise :class:`checker.checkpoint.CheckpointError` if the engine's folder belongs
    to another question.
    """
    started = time.perf_counter()
    safe = prove_domain_safety(system)
    meter = Meter(budget, timed=False)
    question = Question({name: z3.simplify(term) for name, term in violated.items()}, None, {})

    def identity() -> str:
        prints = Fingerprint()
        return verdict_id([prints.of_system(safe), *(prints.of_term(term) for term in violated.values()), *violated])

    explorer = engine.begin(identity, budget)
    exploration = explorer.exploration(Asked(safe, question, {}, meter, counted=True, optimised=True))
    load_loops()
    compiled = time.perf_counter()
    meter.start()
    exploration, report = explore_layer(explorer, exploration)
    finished = time.perf_counter()
    nothing = Shard((), Components(exploration.layout.halves), len(violated), has_goal=False, counted=True)
    shard: Found = next(iter(exploration.shards.values()), nothing)
    violations = {name: found[0] for name, found in exploration.violations.items() if found}
    lengths = {name: violation.depth + 1 for name, violation in violations.items()}
    return WholeSpace(
        shard.count,
        exploration.transitions,
        tuple(shard.level_sizes()),
        {name: InvariantCount(shard.held_in(bit), lengths.get(name)) for bit, name in enumerate(violated)},
        round(finished - compiled, 6),
        round(compiled - started, 6),
        round((shard.bytes + exploration.shared_bytes) / max(shard.count, 1), 2),
        {name: _in_words(exploration, violation) for name, violation in violations.items() if violation.depth},
        report.stopped,
    )


def _in_words(exploration: AnyExploration, violation: Violation) -> list[str]:
    """Return the steps of a trace, one sentence each."""
    actions = [exploration.system.actions[label] for label in exploration.path(violation)]
    states = pairwise(exploration.states_along(violation))
    return [action.sentence(before, after) for action, (before, after) in zip(actions, states, strict=True)]
