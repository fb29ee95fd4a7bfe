"""The visited set against a Python dictionary: boxes filled and hashes chosen by hand, tables as full as can be."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proofka.checker.kernel import search, table, visited
from proofka.checker.kernel.components import Components
from proofka.checker.kernel.gate import PENDING, new_gate
from proofka.checker.kernel.layout import lay_out
from proofka.checker.kernel.native import Kernel, compile_kernel
from proofka.checker.kernel.visited import NO_STEP, PARTITION_BITS, PARTITIONS
from proofka.checker.kernel.wanted import EVERY_STATE
from proofka.checker.search_threads import search_threads
from proofka.checker.shard import INITIAL_STATE, MOST_LOAD, Shard, TooManyStates
from proofka.model.language import Variable

State = tuple[int, ...]
Found = tuple[State, int]
"""A successor, and the reference of the row it came from."""

ALL = (1 << 64) - 1
HIGHEST_HALF = (1 << 32) - 1
WORDS = (1, 2, 4)
BELOW = (1 << 8, 1 << 31)
"""A predicate holds where the low half of the first word is below this."""
GOAL_BIT = len(BELOW)
GOAL_BELOW = 1 << 30
"""The goal holds where the high half of the first word is below this."""


CHANCES = st.integers(0, 1 << 32).map(random.Random)
"""Seeded, not drawn number by number: these tests take thousands of numbers."""


def unmixed(value: int, shift: int) -> int:
    """Return the value before ``value ^= value >> shift``."""
    found = value
    for _ in range(64 // shift + 1):
        found = value ^ (found >> shift)
    return found


def state_with_hash(hashed: int, before: State) -> State:
    """Return the state with this hash that begins with the words ``before``: hashing a last word can be inverted."""
    value = 0x9E3779B97F4A7C15
    for word in before:
        value = ((value ^ word) * 0xFF51AFD7ED558CCD) & ALL
        value ^= value >> 32
    wanted = unmixed(hashed, 29) * pow(0xC4CEB9FE1A85EC53, -1, 1 << 64) & ALL
    wanted = unmixed(wanted, 32) * pow(0xFF51AFD7ED558CCD, -1, 1 << 64) & ALL
    state = (*before, value ^ wanted)
    assert hash_of(state) == hashed
    return state


def state_with_half_hash(half: int, part: int, low: int) -> State:
    """Return the state of one word with this half hash in this partition; ``low`` distinguishes several."""
    mixed = half << 32 | low << 4
    mixed |= (mixed >> 29 & 15) ^ part
    wanted = unmixed(mixed * pow(0xC4CEB9FE1A85EC53, -1, 1 << 64) & ALL, 32)
    state = ((wanted * pow(0xFF51AFD7ED558CCD, -1, 1 << 64) & ALL) ^ 0x9E3779B97F4A7C15,)
    assert (half_hash_of(state[0]), partition_of(state)) == (half, part)
    return state


def half_hash_of(word: int) -> int:
    return int(visited.half_hash_of(np.uint64(word)))


def hash_of(state: State) -> int:
    row = np.array(state, dtype=np.uint64)
    return int(table.hash_of(row.ctypes.data, len(state)))


def partition_of(state: State) -> int:
    return hash_of(state) % PARTITIONS


@cache
def kernel(words: int) -> Kernel:
    """Build a kernel with predicates alone, over states of any bits."""
    variables = [Variable(f"half{number}", 0, (1 << 32) - 1, 0) for number in range(2 * words)]
    layout = lay_out(variables)
    assert layout.words == words
    assert (layout.fields["half0"].word, layout.fields["half0"].shift) == (0, 0)
    predicates = [variables[0].term < bound for bound in BELOW]
    return compile_kernel(layout, {"step": []}, [*predicates, variables[1].term < z3.IntVal(GOAL_BELOW)])


def bits_of(state: State) -> int:
    low, high = state[0] & 0xFFFFFFFF, state[0] >> 32
    return sum((low < bound) << bit for bit, bound in enumerate(BELOW)) | (high < GOAL_BELOW) << GOAL_BIT


@dataclass
class Model:
    """A model of a shard, in dictionaries and lists."""

    smaller: set[State] = field(default_factory=set)
    order: list[list[State]] = field(default_factory=lambda: [[] for _ in range(PARTITIONS)])
    parents: list[list[int]] = field(default_factory=lambda: [[] for _ in range(PARTITIONS)])
    reference: dict[State, int] = field(default_factory=dict)
    led: dict[int, set[int]] = field(default_factory=dict)
    good: set[int] = field(default_factory=set)

    def enter(self, batch: Sequence[Found], own_step: bool) -> None:
        for state, row in batch:
            part = partition_of(state)
            if state not in self.reference and state in self.smaller:
                if own_step:
                    self.good.add(row)
                continue
            if state not in self.reference:
                reference = len(self.order[part]) << PARTITION_BITS | part
                self.reference[state] = reference
                self.order[part].append(state)
                self.parents[part].append(row)
                if bits_of(state) >> GOAL_BIT & 1:
                    self.good.add(reference)
            if own_step and self.reference[state] != row:
                self.led.setdefault(row, set()).add(self.reference[state])


def enter(
    shard: Shard, batch: Sequence[Found], *, pieces: int = 1, threads: int = 1, smaller: Sequence[Shard] = (), own: bool
) -> None:
    """Put a batch into boxes, piece after piece, and enter them."""
    words, dictionaries = shard.components.words, shard.components.dictionaries
    entries = np.zeros((pieces, PARTITIONS, max(len(batch), 1) * search.ENTRY), dtype=np.uint64)
    fills = np.zeros((pieces, PARTITIONS), dtype=np.int64)
    for number, (state, row) in enumerate(batch):
        piece, part = number * pieces // len(batch), partition_of(state)
        word = shard.components.encode(np.array(state, dtype=np.uint64))
        begin = fills[piece, part] * search.ENTRY
        entries[piece, part, begin : begin + search.ENTRY] = word, half_hash_of(word) << 32 | row
        fills[piece, part] += 1
    if not search.have_room(shard.places, fills, pieces):
        shard.reserve(fills.sum(axis=0))
    assert search.have_room(shard.places, fills, pieces)
    places = np.array([one.places for one in smaller], dtype=np.int64).reshape(-1, PARTITIONS, visited.PLACES)
    inspect, goal_bit = kernel(words).addresses["inspect"], GOAL_BIT if shard.has_goal else -1
    noted = (shard.seen_in, shard.first_seen, shard.held, shard.transitions)
    into = search.Visited(shard.places, places, inspect, goal_bit, own, *noted)
    no_rows, room = np.zeros(PARTITIONS, dtype=np.int64), np.zeros((threads, 64), dtype=np.int64)
    reached, scratch = np.zeros(pieces, dtype=np.int64), np.zeros((threads, 64), dtype=np.uint64)
    boxes = search.Boxes(words, words, visited.WHOLE_WORD, dictionaries, 1, 1.0, entries, fills, reached, scratch, room)
    nothing_more = search.Level(0, shard.places, no_rows, no_rows, EVERY_STATE, EVERY_STATE)
    gate = new_gate()
    gate[PENDING] = pieces
    with search_threads(threads) as crew:
        list(
            crew.map(
                lambda thread: search.search_rows(thread, threads, nothing_more, 0, boxes, into, gate),
                range(threads),
            )
        )
    assert gate[PENDING] == 0


def components_of(words: int) -> Components:
    return Components((words // 2, words - words // 2))


def new_shard(words: int, *, has_goal: bool = False, like: Shard | None = None) -> Shard:
    components = components_of(words) if like is None else like.components
    return Shard((0,), components, GOAL_BIT + has_goal, has_goal=has_goal, counted=True)


def find(shard: Shard, state: State) -> int:
    """Return the reference that the table gives for a state, or -1."""
    part = partition_of(state)
    word = np.uint64(shard.components.encode(np.array(state, dtype=np.uint64)))
    place, half = shard.places[part], visited.half_hash_of(word)
    if not place[visited.SLOTS]:
        return -1
    slot, slots = table.home(half, place[visited.SLOTS]), place[visited.SLOTS]
    index = visited.find(word, half, slot, place[visited.STATES], place[visited.TABLE], slots)
    return -1 if index < 0 else int(index) << PARTITION_BITS | part


def entries(shard: Shard, part: int) -> NDArray[np.uint32]:
    """Return the slots of a partition's table."""
    return shard._tables[part]


def check_tables(shard: Shard) -> None:
    """Assert that each row is in exactly one slot, and that no table is fuller than allowed."""
    for part in range(PARTITIONS):
        slots, count = entries(shard, part), int(shard.counts[part])
        used = slots[slots != 0]
        assert sorted(int(entry) & visited.INDEX for entry in used) == list(range(1, count + 1))
        assert count <= int(len(slots) * MOST_LOAD)
        assert shard.places[part, visited.SLOTS] == len(slots)
        assert shard.places[part, visited.ROOM] >= count
        assert shard.places[part, visited.TABLE] == slots.ctypes.data or not len(slots)


def check_same(shard: Shard, model: Model) -> None:
    """Assert that the shard has what the model has: order, parents and notes, and that the table finds all of it."""
    check_tables(shard)
    assert shard.count == len(model.reference)
    for part in range(PARTITIONS):
        states, parents = shard.packed(part, slice(None)), shard.rows(part)[1]
        assert [tuple(int(word) for word in row) for row in states] == model.order[part]
        assert parents.tolist() == model.parents[part]
        for bit in range(shard.first_seen.shape[1]):
            having = [row for row, state in enumerate(model.order[part]) if bits_of(state) >> bit & 1]
            assert shard.first_seen[part, bit] == (having[0] if having else -1)
            assert shard.held[part, bit] == len(having)
    for state, reference in model.reference.items():
        assert find(shard, state) == reference
        assert tuple(int(word) for word in shard.state(reference)) == state
        assert shard.parent(reference) == model.parents[partition_of(state)][reference >> PARTITION_BITS]
    if shard.has_goal:
        for reference in model.reference.values():
            part, row = reference % PARTITIONS, reference >> PARTITION_BITS
            assert bool(shard._good[part][row]) == (reference in model.good)
            successors = model.led.get(reference, set())
            assert int(shard._leads_to[part][row]) == (1 + max(successors) if successors else NO_STEP)


def random_half(chance: random.Random) -> int:
    """Return a half hash, often at the table's beginning or end, or equal to others."""
    near = chance.randint(0, 3)
    return chance.choice([near, HIGHEST_HALF - near, 1 << 31, chance.getrandbits(32)])


def random_state(chance: random.Random, words: int) -> State:
    before = tuple(chance.choice([0, 1, chance.getrandbits(64)]) for _ in range(words - 1))
    if chance.random() < 0.3:
        return (*before, chance.choice([0, 1, ALL, chance.getrandbits(64)]))
    low = chance.choice([chance.getrandbits(32), chance.getrandbits(28) << 4 | chance.choice([0, 5, 15])])
    return state_with_hash(random_half(chance) << 32 | low, before)


def distinct_states(chance: random.Random, words: int, count: int) -> list[State]:
    found: dict[State, None] = {}
    while len(found) < count:
        found[random_state(chance, words)] = None
    return list(found)


@pytest.mark.slow
@settings(max_examples=60, derandomize=True)
@given(CHANCES, st.sampled_from(WORDS), st.integers(1, 3), st.sampled_from([1, 2, 3]), st.data())
def test_boxes_are_entered_as_into_a_dictionary(
    chance: random.Random, words: int, pieces: int, shares: int, data: st.DataObject
) -> None:
    """Batches with repetitions within and between them, into partitions that grow; however they are shared out."""
    shard, model = new_shard(words), Model()
    pool = distinct_states(chance, words, data.draw(st.integers(1, 400), label="different states"))
    for _ in range(data.draw(st.integers(1, 5), label="batches")):
        size = data.draw(st.integers(1, 300), label="batch")
        batch = [(chance.choice(pool), chance.getrandbits(32)) for _ in range(size)]
        enter(shard, batch, pieces=pieces, threads=shares, own=False)
        model.enter(batch, own_step=False)
    check_same(shard, model)
    absent = [state for state in distinct_states(chance, words, 50) if state not in model.reference]
    assert all(find(shard, state) == -1 for state in absent)


@settings(max_examples=40, derandomize=True)
@given(CHANCES, st.sampled_from(WORDS), st.integers(1, 3), st.sampled_from([1, 2, 3]))
def test_states_of_smaller_combinations_are_not_entered(
    chance: random.Random, words: int, pieces: int, shares: int
) -> None:
    """The state is not entered, and a state with a step to this state is good; other steps are remembered."""
    pool = distinct_states(chance, words, chance.randint(2, 200))
    shard, model = new_shard(words, has_goal=True), Model()
    others = [new_shard(words, like=shard) for _ in range(chance.randint(0, 2))]
    for other in others:
        known = chance.sample(pool, chance.randint(1, len(pool) // 2))
        enter(other, [(state, 0) for state in known], own=False)
        model.smaller.update(known)
    first = [(state, INITIAL_STATE) for state in chance.sample(pool, len(pool) // 2)]
    enter(shard, first, smaller=others, own=False)
    model.enter(first, own_step=False)
    for own in (True, False, True):
        rows = list(model.reference.values()) or [0]
        batch = [(chance.choice(pool), chance.choice(rows)) for _ in range(150)] if model.reference else []
        enter(shard, batch, pieces=pieces, threads=shares, smaller=others, own=own)
        model.enter(batch, own_step=own)
    check_same(shard, model)
    assert not model.reference.keys() & model.smaller


def test_states_of_one_partition_with_one_half_hash() -> None:
    """Told apart by the whole word alone, and found from the table's last slot on round its end."""
    for half in (0, HIGHEST_HALF, 0xDEADBEEF):
        states = [state_with_half_hash(half, 7, low) for low in range(700)]
        assert len(set(states)) == 700
        shard, model = new_shard(1), Model()
        batch = [(state, number % 1000) for number, state in enumerate(states + states[::-1])]
        enter(shard, batch, pieces=2, own=False)
        model.enter(batch, own_step=False)
        assert shard.counts.tolist() == [700 if part == 7 else 0 for part in range(PARTITIONS)]
        check_same(shard, model)


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("batch_size", [1, 7, 100_000])
def test_full_table_is_searched_around_its_end(words: int, batch_size: int) -> None:
    """Every partition filled to the last free row, most hashes near the end of its table: the search goes round it."""
    chance = random.Random(words)
    shard, model = new_shard(words), Model()
    shard.reserve(np.full(PARTITIONS, 200))
    rooms = shard.places[:, visited.ROOM].tolist()
    assert all(room >= 200 for room in rooms)
    batch: list[Found] = []
    for part, room in enumerate(rooms):
        halves: set[int] = set()
        while len(halves) < room:
            halves.add(HIGHEST_HALF - chance.randint(0, 1 << 24) if chance.random() < 0.8 else chance.getrandbits(32))
        for half in halves:
            low = chance.getrandbits(28) << 4 | part
            batch.append((state_with_hash(half << 32 | low, (1,) * (words - 1)), chance.getrandbits(32)))
    chance.shuffle(batch)
    for first in range(0, len(batch), batch_size):
        enter(shard, batch[first : first + batch_size], own=False)
        if batch_size == 1 and first >= 300:  # one by one as far as it is quick, the others at once
            enter(shard, batch[first + 1 :], own=False)
            break
    model.enter(batch, own_step=False)
    assert shard.places[:, visited.ROOM].tolist() == rooms, "all had room"
    assert shard.counts.tolist() == rooms
    check_same(shard, model)
    enter(shard, batch[::5], pieces=3, own=False)
    assert shard.counts.tolist() == rooms, "nothing twice"
    assert words > 1 or any(wrapped(shard, part) for part in range(PARTITIONS)), "half hashes were chosen for that"


def wrapped(shard: Shard, part: int) -> bool:
    """Tell whether some entry lies before its home, because its search went past the end of the table."""
    words, slots = shard.rows(part)[0], entries(shard, part)
    return any(
        int(table.home(np.uint64(half_hash_of(int(words[(int(entry) & visited.INDEX) - 1]))), len(slots))) > slot
        for slot, entry in enumerate(slots)
        if entry
    )


@pytest.mark.parametrize("words", WORDS)
def test_one_state_in_each_partition(words: int) -> None:
    shard, model = new_shard(words), Model()
    chance = random.Random(5)
    batch: list[Found] = []
    while len(batch) < PARTITIONS:
        state = random_state(chance, words)
        if partition_of(state) == len(batch):
            batch.append((state, INITIAL_STATE))
    for one in batch:
        enter(shard, [one, one], own=False)
        model.enter([one, one], own_step=False)
    assert shard.counts.tolist() == [1] * PARTITIONS
    check_same(shard, model)


def test_order_of_entry_is_kept() -> None:
    """Thousands of states, in batches and pieces of any size: the same rows as one after the other."""
    chance = random.Random(1)
    states = distinct_states(chance, 2, 6000)
    batch = [(state, number) for number, state in enumerate(states + chance.sample(states, 3000))]
    shards = []
    for pieces, shares, size in ((1, 1, len(batch)), (3, 2, 1000), (2, 3, 77), (1, 2, 4096)):
        shard = new_shard(2)
        for first in range(0, len(batch), size):
            enter(shard, batch[first : first + size], pieces=pieces, threads=shares, own=False)
        shards.append(shard)
    model = Model()
    model.enter(batch, own_step=False)
    check_same(shards[0], model)
    for shard in shards[1:]:
        for part in range(PARTITIONS):
            for one, other in zip(shard.rows(part), shards[0].rows(part), strict=True):
                assert (one == other).all()
        check_tables(shard)
        assert (shard.first_seen == shards[0].first_seen).all()
        assert (shard.held == shards[0].held).all()


def growing_rooms() -> Iterator[int]:
    """Yield sizes around those at which a table or a file grows."""
    room = 1
    while room < 30_000:
        yield from (room, room + 1)
        room = room * 5 // 4 + 1


@pytest.mark.parametrize("has_goal", [False, True])
@pytest.mark.parametrize("words", WORDS)
def test_growing_keeps_everything(words: int, has_goal: bool) -> None:
    """At any size a partition may grow to: what was there is still there and found, and there is room as asked."""
    chance = random.Random(words)
    shard, model = new_shard(words, has_goal=has_goal), Model()
    batch = [(state, INITIAL_STATE) for state in distinct_states(chance, words, 300)]
    enter(shard, batch, own=False)
    model.enter(batch, own_step=False)
    for room in growing_rooms():
        more = np.array([room if part % 3 else 0 for part in range(PARTITIONS)])
        shard.reserve(more)
        assert (shard.places[:, visited.ROOM] >= shard.counts + more).all()
        assert all(find(shard, state) == reference for state, reference in list(model.reference.items())[::17])
    check_same(shard, model)
    later = [(state, INITIAL_STATE) for state in distinct_states(chance, words, 300)]
    enter(shard, later, own=False)
    model.enter(later, own_step=False)
    check_same(shard, model)


@settings(max_examples=60, derandomize=True)
@given(CHANCES, st.integers(1, 400), st.floats(0.05, 1), st.floats(1, 5))
def test_moved_entries_are_found_again(chance: random.Random, count: int, load: float, larger_by: float) -> None:
    """From tables up to the last slot full, to tables of any larger size."""
    words = np.array([state[0] for state in distinct_states(chance, 1, count)], dtype=np.uint64)
    old = np.zeros(max(count + 1, int(count / load)), dtype=np.uint32)
    new = np.zeros(int(len(old) * larger_by) + 1, dtype=np.uint32)
    visited.enter_all(words.ctypes.data, count, old.ctypes.data, len(old), visited.WHOLE_WORD)
    places = np.zeros((2, visited.PLACES), dtype=np.int64)
    for place, slots in zip(places, (old, new), strict=True):
        place[visited.STATES], place[visited.COUNT] = words.ctypes.data, count
        place[visited.TABLE], place[visited.SLOTS] = slots.ctypes.data, len(slots)
        place[visited.HASHED] = visited.WHOLE_WORD
    visited.move_partition(*places)
    for slots in (old, new):
        assert sorted(slots[slots != 0].tolist()) == sorted(old[old != 0].tolist())
        for index, word in enumerate(words):
            half = visited.half_hash_of(word)
            slot = table.home(half, len(slots))
            assert visited.find(word, half, slot, words.ctypes.data, slots.ctypes.data, len(slots)) == index


@settings(max_examples=20, derandomize=True)
@given(CHANCES, st.sampled_from(WORDS), st.booleans())
def test_a_loaded_shard_is_the_one_that_was_entered(chance: random.Random, words: int, has_goal: bool) -> None:
    """A restored shard has the same rows and references, and takes further states."""
    shard, model = new_shard(words, has_goal=has_goal), Model()
    pool = distinct_states(chance, words, 300)
    batch = [(state, chance.getrandbits(32)) for state in pool[:200]]
    enter(shard, batch, own=False)
    model.enter(batch, own_step=False)
    copy = new_shard(words, has_goal=has_goal, like=shard)
    for part, (states, parents) in enumerate(copy.allocate(shard.counts)):
        states[:], parents[:] = shard.rows(part)
    copy.enter_allocated(shard.counts)
    check_tables(copy)
    assert all(find(copy, state) == reference for state, reference in model.reference.items())
    assert all(find(copy, state) == -1 for state in pool[200:])
    rest = [(state, number) for number, state in enumerate(pool)]
    for one in (shard, copy):
        enter(one, rest, own=False)
    for part in range(PARTITIONS):
        for ours, theirs in zip(copy.rows(part), shard.rows(part), strict=True):
            assert (ours == theirs).all()


def test_more_states_than_references_can_name() -> None:
    """Said before any memory is taken for them."""
    shard = new_shard(1)
    with pytest.raises(TooManyStates, match="4,294,967,280"):
        shard.reserve(np.full(PARTITIONS, visited.MOST_STATES))
    assert shard.measure() == 0


def test_the_last_reference_is_no_initial_state() -> None:
    last = (visited.MOST_STATES - 2) << PARTITION_BITS | (PARTITIONS - 1)
    assert last < INITIAL_STATE
    assert visited.MOST_STATES - 1 <= visited.INDEX, "a slot has room for every index, and one"
