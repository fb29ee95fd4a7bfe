"""Levels shared out among threads in tiny pieces: everything that is stored is the same as with one thread."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker import breadth_first, embedded
from proofka.checker.breadth_first import AIM, PIECES, Search
from proofka.checker.budget import Budget, Meter
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Exploration, Question
from proofka.checker.kernel.gate import CUT_SHORT, ROUNDS, claim, is_last, new_gate, open_gate
from proofka.checker.kernel.visited import PARTITIONS
from proofka.checker.search_threads import search_threads
from proofka.checker.shard import Shard
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem, Variable
from proofka.model.published.protocols import protocol
from proofka.properties.verdict import Verdict
from tests.checker.asking import SMALL, example, run
from tests.checker.naive import Naive, freeze
from tests.checker.test_exploration import (
    KINDS,
    LOST,
    MOVE,
    NEVER,
    SLOW,
    action,
    check_runs,
    counters,
    explored,
    found_cut_sets,
    random_question,
    random_system,
)

MAZE_FAULTS: Mapping[Fault, int] = {SLOW: 1, LOST: 1, MOVE: 1}


@dataclass
class Taken:
    """The paths of a search: rounds that were shared out, those of them that a full box ended early, and so on."""

    rounds: int = 0
    stopped_early: int = 0
    alone: int = 0
    grown: int = 0
    """Partitions that grew once more, after their first rows."""


@contextmanager
def tiny(aim: float = AIM, parallel_rows: int = 4, box_bytes: int = 1, pieces: int = PIECES) -> Iterator[Taken]:
    """Share out levels of a few rows, with boxes of a few entries; count the rounds.

    ``aim``: how full boxes are to get; much more than 1 and every other piece fills one too soon.
    """
    taken = Taken()
    search, grow = Search._search, Shard._grow

    def count_rounds(self: Search, *arguments: Any) -> None:
        rounds, cut_short = int(self.gate[ROUNDS]), int(self.gate[CUT_SHORT])
        search(self, *arguments)
        taken.rounds += int(self.gate[ROUNDS]) - rounds
        taken.stopped_early += int(self.gate[CUT_SHORT]) - cut_short
        taken.alone += self.gate[ROUNDS] == rounds

    def count_growth(self: Shard, part: int, wanted: int) -> None:
        taken.grown += len(self._parents[part]) > 0
        grow(self, part, wanted)

    with (
        patch.object(breadth_first, "PARALLEL_ROWS", parallel_rows),
        patch.object(breadth_first, "BOX_BYTES", box_bytes),
        patch.object(breadth_first, "PIECES", pieces),
        patch.object(breadth_first, "AIM", aim),
        patch.object(embedded, "LARGE", 0),
        patch.object(Search, "_search", count_rounds),
        patch.object(Shard, "_grow", count_growth),
    ):
        yield taken


def stored(one: Exploration) -> dict[Any, dict[str, Any]]:
    """Return all stored content of each shard, except which of several successors is remembered."""
    return {
        combination: {
            "states": [shard.packed(part, slice(None)).tolist() for part in range(PARTITIONS)],
            "parents": [shard.rows(part)[1].tolist() for part in range(PARTITIONS)],
            "transitions": int(shard.transitions[0]),
            "segments": [(s.depth, s.source, s.starts.tolist()) for s in shard.segments],
            "levels": shard.level_sizes(),
            "seen": shard.seen,
            "first": [shard.first_with(bit) for bit in range(shard.first_seen.shape[1])],
            "first by partition": shard.first_seen.tolist(),
            "held": shard.held.tolist(),
            "complete": shard.complete,
        }
        for combination, shard in one.shards.items()
    }


def check_equal(one: Exploration, other: Exploration) -> None:
    assert stored(one) == stored(other)
    assert one.violations == other.violations
    assert one.undecided == other.undecided
    assert (one.states, one.transitions, one.depth) == (other.states, other.transitions, other.depth)
    assert [report.__dict__ for report in one.layers] == [report.__dict__ for report in other.layers]
    for name in one.question.names:
        assert [one.path(v) for v in one.cut_sets(name)] == [other.path(v) for v in other.cut_sets(name)]


def check_against_naive(one: Exploration, naive: Naive) -> None:
    assert found_cut_sets(one) == naive.cut_sets(one.question)
    for combination, shard in one.shards.items():
        unpacked = [
            freeze(one.layout.unpack(row)) for part in range(PARTITIONS) for row in shard.packed(part, slice(None))
        ]
        assert len(set(unpacked)) == len(unpacked)
        assert set(unpacked) == naive.own(combination)
    check_runs(one)


@pytest.mark.slow
def test_random_systems() -> None:
    """Per combination of faults: the definition's states, and the same rows, parents and cut sets on any threads."""
    taken = Taken()

    @settings(max_examples=25, derandomize=True)
    @given(st.randoms(use_true_random=False), st.sampled_from([AIM, 0.01, 50]), st.sampled_from([2, 3]))
    def compare(chance: random.Random, aim: float, threads: int) -> None:
        system = random_system(chance)
        question = random_question(chance, system, goal=True)
        question = replace(question, invariants={**question.invariants, "never": NEVER})
        at_most = dict.fromkeys(KINDS, 2)
        one = explored(system, question, at_most, 2)
        with tiny(aim, parallel_rows=1) as now:
            several = explored(system, question, at_most, 2, threads)
        for name, count in now.__dict__.items():
            setattr(taken, name, getattr(taken, name) + count)
        check_equal(one, several)
        check_against_naive(several, Naive(system, several.kinds, several.most, 2))

    compare()
    assert taken.rounds > 200, "levels were shared out"
    assert taken.alone == 0


def maze(chance: random.Random, *, goal: bool) -> tuple[TransitionSystem, Question]:
    """Build a thousand states for each of several modes that faults lead to, in levels of dozens, with many ways to
    most.

    Some modes are left again, for states that take fewer faults; from some the goal cannot be reached any more.
    """
    high, modes = 9, 6
    places = tuple(Variable(f"x{i}", 0, high, 0) for i in range(3))
    mode = Variable("mode", 0, modes - 1, 0)
    x = [variable.term for variable in places]
    actions = []
    for i, variable in enumerate(places):
        after = places[(i + 1) % 3]
        wall = z3.And(x[i] == chance.randint(2, high - 1), after.term == chance.randint(2, high))
        slow = z3.And(mode.term == chance.randint(1, modes - 1), x[i] >= chance.randint(4, high))
        actions.append(action(f"up{i}", z3.And(x[i] < high, z3.Not(wall), z3.Not(slow)), {variable: x[i] + 1}))
        pair = z3.And(x[i] < high - 1, after.term < high, x[i] == after.term)
        actions.append(action(f"both{i}", pair, {variable: x[i] + 2, after: after.term + 1}))
    actions.append(action("again", z3.And(x[0] == high, mode.term != modes - 1), {places[0]: z3.IntVal(0)}))
    healed = z3.And(mode.term >= 1, mode.term <= 2, x[1] == chance.randint(1, high))
    actions.append(action("heal", healed, {mode: mode.term - 1}))
    for number, fault in enumerate((SLOW, LOST, MOVE)):
        where = z3.And(x[number] >= chance.randint(1, 4), mode.term + number + 1 < modes)
        actions.append(action(f"fault{number}", where, {mode: mode.term + number + 1}, fault))
    violated = {
        "never": NEVER,
        "far": z3.And(mode.term == chance.randint(2, 4), *(term >= high - 1 for term in x)),
        "last": z3.And(mode.term == modes - 1, x[0] == 0, x[1] == high),
    }
    wanted = z3.And(x[1] == high, x[2] == high, x[0] == high, mode.term != 4)
    return TransitionSystem("maze", (*places, mode), tuple(actions)), Question(
        violated, ("goal", wanted) if goal else None, {"corner": z3.And(x[0] == high, x[2] == high, mode.term == 3)}
    )


@pytest.mark.parametrize("goal", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_states(seed: int, goal: bool) -> None:
    """Entering marks rows of partitions that others grow and enter: all of it is as with one thread."""
    system, question = maze(random.Random(seed), goal=goal)
    one = explored(system, question, MAZE_FAULTS, 2)
    assert one.states > 5000
    for threads, aim, box_bytes, pieces in ((2, AIM, 1, 4), (3, 0.2, 1, 4), (3, AIM, 1 << 10, 2), (2, 50, 1, 1)):
        with tiny(aim, box_bytes=box_bytes, pieces=pieces) as taken:
            several = explored(system, question, MAZE_FAULTS, 2, threads)
        assert taken.rounds > 20
        assert taken.grown > PARTITIONS
        assert taken.stopped_early > 0 or aim != 50
        check_equal(one, several)


@pytest.mark.slow
def test_thousands_of_states_are_those_of_the_definition() -> None:
    system, question = maze(random.Random(0), goal=True)
    with tiny():
        several = explored(system, question, MAZE_FAULTS, 2, 3)
    check_against_naive(several, Naive(system, several.kinds, several.most, 2))


def test_maze_has_faults_and_unreachable_goals() -> None:
    """Some of it needs faults, and from some of it the goal cannot be reached."""
    found = [explored(*maze(random.Random(seed), goal=True), MAZE_FAULTS, 2) for seed in range(3)]
    assert any(one.cut_sets("goal") for one in found)
    assert all(one.cut_sets("far") or one.cut_sets("last") for one in found)
    assert all(len([shard for shard in one.shards.values() if shard.count > 300]) >= 3 for one in found)


@pytest.mark.parametrize(
    ("name", "constants"),
    [
        ("kip-320", (2, 2, 2, 2)),
        ("kip-101", (2, 2, 2, 2)),
        ("truncate-to-hw", (3, 1, 1, 1)),
    ],
)
def test_published_protocols(name: str, constants: tuple[int, int, int, int]) -> None:
    replicas, log_size, records, epochs = constants
    explored_once = protocol(name, replicas=replicas, log_size=log_size, records=records, epochs=epochs)
    question = Question(explored_once.violated, None, {})

    def count(threads: int) -> EmbeddedExploration:
        found = EmbeddedExploration(
            explored_once.system, question, {}, Meter(Budget(), timed=False), threads, counted=True
        )
        found.explore_layer()
        return found

    one = count(1)
    for threads, aim, pieces in ((2, AIM, 4), (3, 0.2, 2), (2, 50, 1)):
        with tiny(aim, parallel_rows=16, box_bytes=1 << 9, pieces=pieces) as taken:
            several = count(threads)
        assert taken.rounds > 10
        assert taken.stopped_early > 0 or aim != 50
        assert taken.grown > PARTITIONS
        check_equal(one, several)


@pytest.mark.slow
def test_a_deployment() -> None:
    """Recoverability, which is a goal, and losses, up to one fault of any kind."""
    deployment = replace(example("acks-all-min-isr-1", total=1), bounds=SMALL)

    def verdicts(threads: int) -> tuple[tuple[Verdict, ...], list[dict[Any, dict[str, Any]]]]:
        done = run(deployment, ["no-acked-loss", "recoverability"], Budget(threads=threads))
        return done.verdicts(), [stored(one) for one in done.explorations]

    one = verdicts(1)
    with tiny(parallel_rows=32, box_bytes=1 << 11) as taken:
        several = verdicts(3)
    assert taken.rounds > 10
    assert one == several


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_size_of_boxes_changes_nothing(threads: int) -> None:
    one = explored(counters(15), Question({"never": NEVER}, None, {}), {SLOW: 1}, 1)
    for pieces in (1, 2, 5):
        for box_bytes in (1, 1 << 12):
            with tiny(pieces=pieces, box_bytes=box_bytes) as taken:
                other = explored(counters(15), Question({"never": NEVER}, None, {}), {SLOW: 1}, 1, threads)
            assert (taken.rounds > 10) == (threads > 1)
            assert taken.alone > 0
            check_equal(one, other)


def chain_and_fan(width: int) -> TransitionSystem:
    """Build one state, then ``width`` states at once that all lead to the same two: the opposite of few successors."""
    stage, choice = Variable("stage", 0, 3, 0), Variable("choice", 0, width, 0)
    fan = [action(f"fan{n}", stage.term == 0, {stage: z3.IntVal(1), choice: z3.IntVal(n)}) for n in range(width)]
    meet = action("meet", stage.term == 1, {stage: z3.IntVal(2), choice: z3.IntVal(0)})
    part = action("part", z3.And(stage.term == 1, choice.term < width), {stage: z3.IntVal(2), choice: z3.IntVal(1)})
    stay = action("stay", stage.term == 2, {stage: z3.IntVal(3)})
    back = action("back", stage.term == 3, {stage: z3.IntVal(2)})
    return TransitionSystem("fan", (stage, choice), (*fan, meet, part, stay, back))


@pytest.mark.parametrize("width", [1, 17, 200])
def test_a_row_with_very_many_successors(width: int) -> None:
    """Boxes hold at least what one row leads to, however small they are; what meets is entered once, by the first."""
    system = chain_and_fan(width)
    stage = system.variables[0].term
    question = Question({"end": stage == 3}, ("back", stage == 2), {})
    one = explored(system, question, {}, 0)
    assert one.states == 1 + width + 2 + 2
    for threads in (2, 3):
        with tiny(0.01) as taken:
            check_equal(one, explored(system, question, {}, 0, threads))
        assert (taken.rounds > 0) == (width > 4)
    check_against_naive(one, Naive(system, (), (), 0))


@pytest.mark.parametrize("limit", [1, 500, 3000])
def test_stopped_run_stores_a_beginning_of_the_whole_run(limit: int) -> None:
    """Out of budget in the middle of a shared level: what is stored is a beginning of the whole run's rows."""
    whole = explored(counters(20), Question({"never": NEVER}, None, {}), {}, 0)
    with tiny() as taken, patch.object(breadth_first, "ROWS_BETWEEN_CHECKS", 8):
        cut = explored(counters(20), Question({"never": NEVER}, None, {}), {}, 0, 3, Budget(states=limit))
    assert cut.layers[0].stopped == "states"
    assert taken.rounds > 0 or limit == 1
    (ours,), (theirs,) = cut.shards.values(), whole.shards.values()
    assert limit < ours.count < theirs.count
    for part in range(PARTITIONS):
        (_, mine), (_, yours) = ours.rows(part), theirs.rows(part)
        assert np.array_equal(mine, yours[: len(mine)])
        assert np.array_equal(ours.packed(part, slice(None)), theirs.packed(part, slice(0, len(mine))))


def test_threads_that_cannot_start_are_heard() -> None:
    """The compiled loops would wait for such threads without end."""
    start = threading.Thread.start
    started: list[threading.Thread] = []

    def start_one(self: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(self)
        start(self)

    with patch.object(threading.Thread, "start", start_one), pytest.raises(RuntimeError, match="can't start"):
        explored(counters(15), Question({"never": NEVER}, None, {}), {}, 0, 2)
    started[0].join(10)
    assert not started[0].is_alive()


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_the_last_to_arrive_decides(threads: int) -> None:
    """Many more rounds than the gate has room for numbers: in each one thread alone is last, and all claims differ."""
    gate = new_gate()
    claims: list[list[int]] = [[] for _ in range(threads)]
    last = [0] * threads

    def work(thread: int) -> None:
        for _ in range(300):
            claims[thread].append(int(claim(gate)))
            if is_last(gate, threads):
                last[thread] += 1
                open_gate(gate)

    with search_threads(threads) as crew:
        list(crew.map(work, range(threads)))
    assert sum(last) == 300
    assert all(sorted(round) == list(range(threads)) for round in zip(*claims, strict=True))
