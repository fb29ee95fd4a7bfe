"""Steps sorted by the state that they lead to, and marks that follow these steps backward."""

from __future__ import annotations

import numpy as np

from proofka.checker.kernel.predecessors import Numbers, by_target, mark_all_before, mark_sources


def numbers(*values: int) -> Numbers:
    return np.array(values, dtype=np.int32)


def test_sources_of_each_state_lie_together_in_the_order_read() -> None:
    steps = [(numbers(0, 0, 2), numbers(3, 1, 3)), (numbers(), numbers()), (numbers(3, 1), numbers(1, 3))]
    begin, sources = by_target(steps, 4)
    found = [sources[begin[state] : begin[state + 1]].tolist() for state in range(4)]
    assert found == [[], [0, 3], [], [0, 2, 1]]


def test_no_steps() -> None:
    begin, sources = by_target([], 2)
    assert begin.tolist() == [0, 0, 0]
    assert len(sources) == 0


def test_marks_stay_within_the_first_states() -> None:
    """State 3 leads to state 0, but is not one of the first three."""
    begin, sources = by_target([(numbers(1, 2, 3), numbers(0, 1, 0))], 4)
    marks = np.array([1, 0, 2], dtype=np.uint64)
    mark_all_before(begin, sources, marks)
    assert marks.tolist() == [1, 1, 3]


def test_faults_from_or_to_states_without_marks_change_nothing() -> None:
    marks = np.array([0, 4], dtype=np.uint64)
    mark_sources(numbers(0, 1, 2, 0), numbers(1, 5, 0, 0), np.array([1, 2], dtype=np.uint64), marks)
    assert marks.tolist() == [3, 4]
