"""States as one word: what is numbered is found again, by any thread, while dictionaries grow and after a snapshot."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.typing import NDArray

from proofka.checker.budget import Budget, Meter
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import Question
from proofka.checker.kernel import components as components_module
from proofka.checker.kernel.components import COUNT, LEVEL, SMALLEST, Components, encode, encode_like
from proofka.checker.kernel.layout import Layout, lay_out
from proofka.model.language import TransitionSystem, Variable
from tests.checker.test_exploration import action

HALVES = ((0, 1), (1, 1), (2, 3))
States = NDArray[np.uint64]


@njit(nogil=True)
def encode_rows(dictionaries: NDArray[np.int64], rows: States, words: States) -> None:
    """Number the states one after the other, each with the state before as its neighbour."""
    for number in range(len(rows)):
        state = rows.ctypes.data + number * rows.shape[1] * 8
        if number == 0:
            words[number] = encode(dictionaries, state)
        else:
            words[number] = encode_like(dictionaries, state, state - rows.shape[1] * 8, words[number - 1])


def random_states(chance: random.Random, halves: tuple[int, int], count: int, different: int) -> States:
    """Return ``count`` random states, with at most ``different`` values of each half."""
    first, second = ([[chance.getrandbits(64) for _ in range(words)] for _ in range(different)] for words in halves)
    return np.array([chance.choice(first) + chance.choice(second) for _ in range(count)], dtype=np.uint64)


def encoded(components: Components, states: States) -> States:
    words = np.zeros(len(states), dtype=np.uint64)
    encode_rows(components.dictionaries, states, words)
    return words


@settings(max_examples=40, derandomize=True)
@given(st.integers(0, 1 << 32).map(random.Random), st.sampled_from(HALVES), st.integers(1, 400), st.integers(1, 100))
def test_a_state_has_one_word_and_a_word_one_state(
    chance: random.Random, halves: tuple[int, int], count: int, different: int
) -> None:
    components, states = Components(halves), random_states(chance, halves, count, different)
    words = encoded(components, states)
    assert (components.decode(words) == states).all()
    assert len(set(words.tolist())) == len({tuple(state) for state in states.tolist()})
    assert [components.encode(state) for state in states] == words.tolist()
    for place, (first, last) in enumerate(((0, halves[0]), (halves[0], sum(halves)))):
        if len(components.counts):
            assert components.counts[place] == len({tuple(state) for state in states[:, first:last].tolist()})


def test_nothing_is_lost_while_a_dictionary_grows() -> None:
    """Past several tables: every half keeps the number that it was given, and is found in the table in use."""
    components, chance = Components((1, 2)), random.Random(1)
    states = random_states(chance, (1, 2), 60_000, 40_000)
    words = encoded(components, states)
    assert (components.dictionaries[:, LEVEL] >= 3).all()
    assert (encoded(components, states) == words).all(), "no half has a second number"
    assert (components.decode(words) == states).all()


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_agree_on_every_number(threads: int) -> None:
    """All of them number the same states, in orders of their own, while tables grow under them."""
    components, chance = Components((1, 2)), random.Random(threads)
    states = random_states(chance, (1, 2), 50_000, 30_000)
    orders = [np.array(chance.sample(range(len(states)), len(states))) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda order: encoded(components, np.ascontiguousarray(states[order])), orders))
    for order, words in zip(orders, found, strict=True):
        assert (components.decode(words) == states[order]).all()
        back = np.empty_like(words)
        back[order] = words
        assert (back == encoded(components, states)).all()
    assert components.counts == (len(np.unique(states[:, 0])), len(np.unique(states[:, 1:], axis=0)))


def test_halves_that_are_read_back_keep_their_numbers() -> None:
    """A checkpoint reads halves back in this way."""
    components, chance = Components((1, 2)), random.Random(7)
    states = random_states(chance, (1, 2), 20_000, 9_000)
    words = encoded(components, states)
    copy = Components((1, 2))
    for place, count in enumerate(components.counts):
        copy.halves(place, 0, count)[:] = components.halves(place, 0, count)
        copy.use_halves(place, count)
    assert copy.counts == components.counts
    assert (encoded(copy, states) == words).all()
    assert copy.counts == components.counts, "nothing is new"


def test_memory_is_counted_once() -> None:
    """Growth since the last time counts; reserved memory that nothing wrote to takes none."""
    components = Components((1, 2))
    assert components.bytes == components.grown()
    before = components.bytes
    encoded(components, random_states(random.Random(3), (1, 2), 1000, 100))
    counts = components.counts
    assert components.grown() == components.bytes - before == (counts[0] + 2 * counts[1]) * 8
    assert components.grown() == 0


def test_a_full_dictionary_is_known_before_it_is_full() -> None:
    components = Components((1, 2))
    assert components.has_room(components.room)
    components.encode(np.array([1, 2, 3], dtype=np.uint64))
    assert not components.has_room(components.room)
    components.dictionaries[1, COUNT] = components.room - 10
    assert components.has_room(10)
    assert not components.has_room(11)
    assert Components((0, 1)).has_room(1 << 60), "a word needs no dictionary"


@pytest.mark.parametrize(("bits", "stopped"), [(20, None), (13, "states")])
def test_an_exploration_stops_before_a_dictionary_is_full(
    monkeypatch: pytest.MonkeyPatch, bits: int, stopped: str | None
) -> None:
    """The result up to then is right, and the exploration does not claim to be complete."""
    monkeypatch.setattr(components_module, "ROOM_BITS", bits)
    monkeypatch.setattr(components_module, "LEAST_ROOM_BITS", bits)
    names = [Variable(f"counter{number}", 0, 9, 0) for number in range(4)]
    wide = [Variable(f"wide{number}", 0, 1 << 31, 0) for number in range(3)]
    steps = [
        action(f"count {variable.name}", variable.term < 9, {variable: variable.term + 1, wide[0]: variable.term})
        for variable in names
    ]
    system = TransitionSystem("counters", (*names, *wide), tuple(steps))
    question = Question({"never": z3.BoolVal(False)}, None, {})
    found = EmbeddedExploration(system, question, {}, Meter(Budget(), timed=False), 2)
    assert found.explore_layer().stopped == stopped
    (shard,) = found.shards.values()
    assert shard.complete == (stopped is None)
    assert all(count <= 1 << bits for count in found.components.counts)


def test_a_table_is_never_more_than_half_full() -> None:
    components, number = Components((1, 1)), 0
    while number < 5 << SMALLEST:
        number += 1
        components.encode(np.array([number, 1], dtype=np.uint64))
        level = int(components.dictionaries[0, LEVEL])
        assert 2 * number <= 1 << SMALLEST + level


def test_variables_apart_lie_in_words_of_their_own() -> None:
    """Words of these variables follow the other words; a state in one word has no such variables."""
    brokers = [Variable(f"broker{number}", 0, 255, 0) for number in range(9)]
    clients = [Variable(f"client{number}", 0, 15, 0) for number in range(3)]
    apart = {variable.name for variable in clients}
    layout = lay_out([*clients, *brokers], apart)
    assert layout.halves == (2, 1)
    assert {layout.fields[name].word for name in apart} == {2}
    assert {layout.fields[one.name].word for one in brokers} == {0, 1}
    assert lay_out([*clients, *brokers[:3]], apart).words == 1
    assert lay_out(brokers, apart).halves == lay_out(clients * 0 + brokers).halves == (1, 1)
    assert Layout({}, 5).halves == (2, 3)
