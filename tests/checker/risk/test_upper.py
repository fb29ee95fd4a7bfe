"""The upper end against inclusion and exclusion, against all numbers of active occurrences, and in simple cases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from proofka.checker.risk import diagram
from proofka.checker.risk.criticality import Critical
from proofka.checker.risk.errors import TooLarge
from proofka.checker.risk.sources import Source
from proofka.checker.risk.upper import Completions
from tests.checker.risk.small_systems import (
    SINGLE,
    SYSTEMS,
    WITH_CAUSES,
    WITH_WINDOWS,
    FaultSet,
    System,
    completes,
    critical,
    minimal_sets,
    random_systems,
    source,
    total,
)

MOST_ACTIVE = 9
"""Largest number of active occurrences that the enumeration counts; larger numbers have probabilities below 1e-6."""


def poisson(mean: float, number: int) -> float:
    return math.exp(-mean) * mean**number / math.factorial(number)


def at_least(mean: float, number: int) -> float:
    return 1.0 - sum(poisson(mean, below) for below in range(number))


def by_inclusion_and_exclusion(sources: Sequence[Source], what: Critical) -> float:
    """Return the number of completions of independent kinds: unions of events as sums over all groups of sets."""
    found = 0.0
    for arriving in sources:
        (kind,) = arriving.faults
        needed = [one for one in minimal_sets(what) if kind in one]
        for size in range(1, len(needed) + 1):
            for group in itertools.combinations(needed, size):
                most = {name: max(one.get(name, 0) for one in group) for one in group for name in one}
                most[kind] -= 1
                together = 1.0
                for other in sources:
                    together *= at_least(other.active, max(most.get(other.name, 0), 0))
                found += (-1) ** (size + 1) * arriving.a_year * together
    return found


def numbers_up_to(most: int, count: int) -> Iterator[tuple[int, ...]]:
    """Yield every tuple of this length whose numbers add up to ``most`` or less."""
    if not count:
        yield ()
        return
    for first in range(most + 1):
        yield from ((first, *rest) for rest in numbers_up_to(most - first, count - 1))


def by_enumeration(sources: Sequence[Source], sets: Sequence[FaultSet]) -> float:
    """Return the number of completions as a sum over all numbers of active occurrences of every source."""
    found = 0.0
    for numbers in numbers_up_to(MOST_ACTIVE, len(sources)):
        probability = math.prod(poisson(one.active, number) for one, number in zip(sources, numbers, strict=True))
        active = total(numbers, sources)
        found += probability * sum(one.a_year for one in sources if completes(active, one.faults, sets))
    return found


@pytest.mark.parametrize("system", [*random_systems(25, seed=7), *SYSTEMS[:5]], ids=lambda one: one.name)
def test_numbers_equal_inclusion_and_exclusion(system: System) -> None:
    expected = by_inclusion_and_exclusion(system.sources, system.critical)
    assert Completions(system.sources, system.critical).a_year == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda one: one.name)
def test_numbers_equal_the_sum_over_all_numbers_of_active_occurrences(system: System) -> None:
    expected = by_enumeration(system.sources, minimal_sets(system.critical))
    assert expected > 0
    assert Completions(system.sources, system.critical).a_year == pytest.approx(expected, rel=1e-6)


def test_each_fault_counts_where_a_single_fault_suffices() -> None:
    assert Completions(SINGLE, critical({"a": 1}, {"d": 1})).a_year == pytest.approx(3.0 + 11.0)


def test_a_cause_counts_once_where_it_completes_several_sets() -> None:
    zone = source("zone", 2.0, 0.1, {"a": 1, "c": 1})
    assert Completions([zone], critical({"a": 1}, {"c": 1}, {"a": 1, "c": 1})).a_year == pytest.approx(2.0)


def test_pairs_have_the_closed_form_of_two_windows() -> None:
    one, other = source("a", 3e-4, 1e-6), source("b", 7e-5, 2e-6)
    expected = 3e-4 * -math.expm1(-7e-5 * 2e-6) + 7e-5 * -math.expm1(-3e-4 * 1e-6)
    assert Completions([one, other], critical({"a": 1, "b": 1})).a_year == pytest.approx(expected, rel=1e-13)


def test_pairs_within_a_window_have_the_closed_form() -> None:
    one, other, pair = source("a", 3.0, 0.05), source("b", 7.0, 0.01), (("a", 1), ("b", 1))
    expected = 3.0 * -math.expm1(-7.0 * 0.01) + 7.0 * -math.expm1(-3.0 * 0.02)
    what = replace(critical(dict(pair)), windows={pair: 0.02})
    assert Completions([one, other], what).a_year == pytest.approx(expected, rel=1e-13)


def test_faults_of_a_cause_can_come_at_any_time_while_it_lasts() -> None:
    """A rollout kills a second broker long after it began, so a window does not tell these kills apart."""
    one, pair = source("a", 3.0, 0.05), (("a", 2),)
    rollout = source("rollout", 2.0, 0.2, {"a": 1})
    what = replace(critical(dict(pair)), windows={pair: 0.001})
    expected = 3.0 * -math.expm1(-(3.0 * 0.001 + 2.0 * 0.2)) + 2.0 * -math.expm1(-(3.0 * 0.001 + 2.0 * 0.2))
    assert Completions([one, rollout], what).a_year == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("system", WITH_WINDOWS, ids=lambda one: one.name)
def test_windows_lower_the_number_and_long_windows_change_nothing(system: System) -> None:
    short = Completions(system.sources, replace(system.critical, larger=())).a_year
    without = replace(system.critical, windows={}, larger=())
    longest = dict.fromkeys(system.critical.windows, 100.0)
    assert short < Completions(system.sources, without).a_year
    long = Completions(system.sources, replace(without, windows=longest)).a_year
    assert long == pytest.approx(Completions(system.sources, without).a_year)


def test_larger_sets_than_one_with_a_window_have_no_window() -> None:
    what = critical({"a": 1, "b": 1}, kinds=frozenset("abc")).within({(("a", 1), ("b", 1)): 0.01})
    assert what.larger == ((("a", 2), ("b", 1)), (("a", 1), ("b", 2)), (("a", 1), ("b", 1), ("c", 1)))
    assert what.beyond.every_set == what.larger
    assert what.only((("a", 1), ("b", 1))).larger == ()


def test_more_faults_than_explored_have_the_tail_of_a_poisson_variable() -> None:
    few = [source("a", 5.0, 0.02)]
    expected = 5.0 * sum(poisson(0.1, number) for number in range(3, 40))
    assert Completions(few, critical(complete_to=3)).a_year == pytest.approx(expected, rel=1e-13)


def test_numbers_of_many_active_occurrences_are_probabilities() -> None:
    many = [source("a", 40.0, 1.0)]
    assert Completions(many, critical({"a": 2})).a_year == pytest.approx(40.0 * (1 - math.exp(-40.0)))
    assert Completions(many, critical({"a": 41})).a_year == pytest.approx(40.0 * at_least(40.0, 40), rel=1e-9)


def test_kinds_that_do_not_matter_change_nothing() -> None:
    what = critical({"a": 2}, complete_to=2, kinds=frozenset("ab"))
    assert Completions(SINGLE, what).a_year == Completions(SINGLE[:2], what).a_year


def test_no_critical_set_means_no_violation() -> None:
    assert Completions(WITH_CAUSES, critical()).a_year == 0.0


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda one: one.name)
def test_longer_effects_never_lower_the_number(system: System) -> None:
    longer = [replace(one, lasts=one.lasts * 1.5) for one in system.sources]
    assert Completions(longer, system.critical).a_year >= Completions(system.sources, system.critical).a_year


@pytest.mark.parametrize("system", [*SYSTEMS, *WITH_WINDOWS], ids=lambda one: one.name)
def test_one_more_occurrence_is_the_derivative_by_the_rate(system: System) -> None:
    completions = Completions(system.sources, system.critical)
    for place, one in enumerate(system.sources):
        step = 1e-5 * one.a_year
        both = []
        for rate in (one.a_year + step, one.a_year - step):
            changed = list(system.sources)
            changed[place] = replace(one, a_year=rate)
            both.append(Completions(changed, system.critical).a_year)
        assert completions.for_one_more(one.name) == pytest.approx((both[0] - both[1]) / (2 * step), rel=1e-5, abs=1e-9)


def test_a_source_without_occurrences_takes_its_part_away() -> None:
    completions = Completions(WITH_CAUSES, critical({"a": 2}))
    others = [one for one in WITH_CAUSES if one.name != "rack"]
    assert completions.without("rack") == pytest.approx(Completions(others, critical({"a": 2})).a_year)
    assert completions.without("rack") < completions.a_year


def test_hundreds_of_sources_are_decided() -> None:
    many = [source(f"cause {number}", 0.01, 0.1, {"a": 1}) for number in range(250)]
    expected = 2.5 * (1 - math.exp(-0.25))
    assert Completions(many, critical({"a": 2})).a_year == pytest.approx(expected, rel=1e-9)


def test_diagrams_with_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagram, "MOST_NODES", 3)
    with pytest.raises(TooLarge, match=r"explore fewer faults \(--faults\) \(D03\)"):
        _ = Completions(WITH_CAUSES, critical({"a": 2, "b": 1}, complete_to=4)).a_year
