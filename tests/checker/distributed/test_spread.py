"""Facts about a combination whose states are spread over partitions, whole or not."""

from __future__ import annotations

from dataclasses import replace

from proofka.checker.distributed.plan import Report
from proofka.checker.distributed.spread import ROW_BITS, SpreadStates, summed

SEEN, LATER, NEVER = range(3)
ONE = Report(
    (1,), 0, 7, 100, 2, 1, 3, (0, 2), 3, (1, 2, 3, 1), (2, 3, 4, 5), ((1, 4), (3, 6), (0, -1)), (2, 1, 0), 0.1, 9
)
OTHER = Report(
    (1,), 1, 6, 50, 2, 0, 3, (3, 0), 2, (0, 1, 1, 2, 2), (0, 1, 1, 1, 2), ((1, 2), (4, 5), (0, -1)), (1, 0, 0), 0.1, 9
)


def spread(complete: bool = True, sought: int = 0, one: Report = ONE, other: Report = OTHER) -> SpreadStates:
    return SpreadStates((1,), complete, sought, (one, other))


def test_complete_search_knows_its_counts_depths_and_first_states() -> None:
    states = spread()
    assert (states.settled, states.deepest) == (None, None)
    assert states.level_sizes() == [1, 3, 4, 3, 2]
    assert (states.count, states.depth, states.transition_count, states.bytes) == (13, 4, 19, 150)
    assert states.seen == 1 << SEEN | 1 << LATER
    assert [states.held_in(bit) for bit in range(3)] == [3, 1, 0]
    assert states.first_with(NEVER) is None
    assert states.first_with(SEEN) == 0 << ROW_BITS | 4, "of two that are as deep the first partition's"
    assert states.first_with(LATER) == 0 << ROW_BITS | 6
    assert [states.depth_of(reference) for reference in (4, 6, 1 << ROW_BITS | 2, 1 << ROW_BITS | 5)] == [1, 3, 1, 4]


def test_row_that_waits_to_be_entered_limits_the_settled_depth() -> None:
    """Depths are certain up to that of the least deep row on its way; deeper states may be nearer than is known."""
    states = spread(complete=False)
    assert states.settled == 2
    assert states.level_sizes() == [1, 3, 4]
    assert states.count == 13
    assert states.seen == 1 << SEEN | 1 << LATER
    assert states.first_with(SEEN) == 4
    assert states.first_with(LATER) is None
    shallow = spread(complete=False, other=replace(OTHER, sent_from=1))
    assert (shallow.settled, shallow.first_with(SEEN)) == (1, 4)
    shallower = spread(complete=False, other=replace(OTHER, sent_from=0))
    assert (shallower.settled, shallower.first_with(SEEN)) == (0, None)


def test_states_handed_over_and_not_continued_settle_no_depth() -> None:
    waiting = spread(False, 0, replace(ONE, sent_from=None, waiting=True), replace(OTHER, sent_from=None))
    assert waiting.settled == -1
    assert waiting.level_sizes() == []
    assert waiting.first_with(SEEN) is None


def test_a_search_that_ended_because_everything_sought_was_seen() -> None:
    """At depth 3: what some partition found deeper is not counted, nor are steps from there on."""
    states = spread(sought=1 << SEEN | 1 << LATER)
    assert states.deepest == 3
    assert states.level_sizes() == [1, 3, 4, 3]
    assert (states.count, states.depth) == (11, 3)
    assert states.transition_count == 2 + 4 + 5
    assert spread(sought=1 << SEEN).deepest == 1
    assert spread(sought=1 << SEEN).seen == 1 << SEEN, "the other one was first seen deeper"
    assert spread(sought=1 << NEVER | 1 << SEEN).deepest is None


def test_an_idle_superstep_changes_only_new_states() -> None:
    idle = replace(ONE, waiting=True).idle()
    assert idle == replace(
        ONE, entered=0, replaced=0, expanded=0, sent=(0, 0), sent_from=None, seconds=0.0, waiting=True
    )


def test_sums() -> None:
    assert summed([]) == []
    assert summed([[], [0, 0]]) == []
    assert summed([[1, 2], [0, 0, 3, 0], []]) == [1, 2, 3]
