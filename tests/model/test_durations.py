"""Lengths of time: what they add up to, and that no rounding loses a run that is possible."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofka.model.durations import Duration, Quantity

SESSION = Quantity("session", 9000, 9000)
NETWORK = Quantity("network", 10, 100)
AWAY = Quantity("away", 1000, None)

quantities = st.builds(
    lambda name, least, more: Quantity(name, least, None if more is None else least + more),
    st.sampled_from("abc"),
    st.integers(0, 10**6),
    st.none() | st.integers(0, 10**6),
)
factors = st.fractions(-3, 3, max_denominator=7)
durations = st.lists(st.tuples(factors.filter(bool), quantities), max_size=4).map(lambda p: Duration(tuple(p)))


def bounds(duration: Duration) -> tuple[int, int | None]:
    return duration.at_least(), duration.at_most()


def test_a_setting_is_fixed_and_a_range_is_not() -> None:
    assert SESSION.is_fixed
    assert not NETWORK.is_fixed
    assert not AWAY.is_fixed


@pytest.mark.parametrize(("least", "most"), [(-1, 5), (-1, None), (5, 4)])
def test_quantity_refuses_an_impossible_range(least: int, most: int | None) -> None:
    with pytest.raises(ValueError, match="is no range of durations"):
        Quantity("network", least, most)


def test_sums_add_the_bounds() -> None:
    assert bounds(Duration.of(SESSION) + Duration.of(NETWORK)) == (9010, 9100)
    assert bounds(Duration.of(NETWORK, 3)) == (30, 300)


def test_a_difference_is_shortest_where_the_subtracted_duration_is_longest() -> None:
    assert bounds(Duration.of(SESSION) - Duration.of(NETWORK)) == (8900, 8990)


def test_two_uses_of_a_range_need_not_take_equally_long() -> None:
    """A message can take longer than the one before it; a setting is the same each time."""
    assert bounds(Duration.of(NETWORK) - Duration.of(NETWORK)) == (0, 90)
    assert (Duration.of(SESSION) - Duration.of(SESSION)).parts == ()


def test_bounds_are_rounded_outwards() -> None:
    assert bounds(Duration.of(Quantity("backoff", 99, 99), Fraction(1, 2))) == (49, 50)
    assert bounds(Duration.of(SESSION) - Duration.of(Quantity("beat", 1, 1), Fraction(1, 3))) == (8999, 9000)


def test_a_sum_with_an_unbounded_part_is_unbounded() -> None:
    assert bounds(Duration.of(SESSION) + Duration.of(AWAY)) == (10_000, None)
    assert bounds(Duration.of(SESSION) - Duration.of(AWAY)) == (0, 8000), "it can be away for longer than any session"


def test_no_time_is_shorter_than_none() -> None:
    assert bounds(Duration.of(NETWORK) - Duration.of(SESSION)) == (0, 0)


@given(durations, durations)
def test_bounds_are_a_range(one: Duration, other: Duration) -> None:
    for duration in (one, other, one + other, one - other):
        least, most = bounds(duration)
        assert least >= 0
        assert most is None or least <= most


@given(durations, st.data())
def test_no_possible_value_is_outside_the_bounds(duration: Duration, data: st.DataObject) -> None:
    """Any value of each part within its range: the sum lies within the bounds, or is shorter than no time at all."""
    total = Fraction(0)
    for factor, quantity in duration.parts:
        most = quantity.least + 10**6 if quantity.most is None else quantity.most
        total += factor * data.draw(st.integers(quantity.least, most))
    least, most_of_all = bounds(duration)
    assert total >= least or total < 0 or least == 0
    assert most_of_all is None or total <= most_of_all
