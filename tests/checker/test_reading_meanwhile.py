"""Progress is read while threads of the search add the states of fault combinations."""

from __future__ import annotations

import threading

from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question
from proofka.checker.shard import Shard
from tests.checker.test_exploration import NEVER, SLOW, counters, explored

COMBINATIONS = [(faults,) for faults in range(1, 150)]


def small() -> EmbeddedExploration:
    question = Question({"never": NEVER}, None, {"always": NEVER})
    found = explored(counters(3), question, {SLOW: 150}, 0)
    assert isinstance(found, EmbeddedExploration)
    return found


def empty(found: EmbeddedExploration, combination: tuple[int, ...]) -> Shard:
    return Shard(combination, found.components, 2, has_goal=False, counted=False)


def test_a_combination_added_during_an_iteration_does_not_disturb_it() -> None:
    found = small()
    begun = iter(found.shards.values())
    found.keep(empty(found, COMBINATIONS[0]))
    assert len(list(begun)) == 1
    assert len(found.shards) == 2


def test_progress_is_read_while_threads_add_combinations() -> None:
    found = small()
    threads = 3
    failed: list[Exception] = []

    def add(number: int) -> None:
        for combination in COMBINATIONS[number::threads]:
            found.keep(empty(found, combination))

    def read() -> None:
        try:
            while len(found.shards) <= len(COMBINATIONS):
                found.observed()
                found.first_observed("always")
                assert (found.states, found.depth) == (4**3, 9)
                assert found.transitions >= 0
                assert found.states_in_layer(150) == 0
        except (AssertionError, RuntimeError) as error:
            failed.append(error)

    workers = [threading.Thread(target=read), *(threading.Thread(target=add, args=[n]) for n in range(threads))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert failed == []
    assert set(found.shards) == {(0,), *COMBINATIONS}
