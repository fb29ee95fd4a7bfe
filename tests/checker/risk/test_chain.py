"""The upper end against a continuous-time Markov chain, solved by linear equations, and by the model checker Storm.

Effects last exponentially long in the chain. The number depends on their mean alone (docs/risk.md, the exact number).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from proofka.checker.risk.sources import Source
from proofka.checker.risk.upper import Completions
from tests.checker.risk.small_systems import SYSTEMS, FaultSet, System, completes, minimal_sets, total
from tests.checker.risk.test_upper import numbers_up_to

MOST_ACTIVE = 7
"""Largest number of active occurrences in the chain; an occurrence beyond it is lost, which changes little."""

Numbers = tuple[int, ...]

CHOSEN = [SYSTEMS[place] for place in (1, 3, 4, 5, 6)]
WITH_STORM = [*CHOSEN, SYSTEMS[9]]


def steps(numbers: Numbers, sources: Sequence[Source]) -> Mapping[Numbers, float]:
    """Return the rates of the steps to other numbers of active occurrences."""
    found = {}
    for place, one in enumerate(sources):
        if sum(numbers) < MOST_ACTIVE:
            found[(*numbers[:place], numbers[place] + 1, *numbers[place + 1 :])] = one.a_year
        if numbers[place]:
            found[(*numbers[:place], numbers[place] - 1, *numbers[place + 1 :])] = numbers[place] / one.lasts
    return found


def reward(numbers: Numbers, sources: Sequence[Source], sets: Sequence[FaultSet]) -> float:
    """Return the rate of completing occurrences with these numbers of active occurrences."""
    active = total(numbers, sources)
    return sum(one.a_year for one in sources if completes(active, one.faults, sets))


@pytest.mark.parametrize("system", CHOSEN, ids=lambda one: one.name)
def test_upper_ends_are_those_of_a_markov_chain(system: System) -> None:
    states = list(numbers_up_to(MOST_ACTIVE, len(system.sources)))
    place = {numbers: number for number, numbers in enumerate(states)}
    generator = np.zeros((len(states), len(states)))
    for numbers in states:
        for following, rate in steps(numbers, system.sources).items():
            generator[place[numbers], place[following]] += rate
            generator[place[numbers], place[numbers]] -= rate
    balance = np.vstack([generator.T, np.ones(len(states))])
    stationary = np.linalg.lstsq(balance, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    sets = minimal_sets(system.critical)
    expected = sum(stationary[place[numbers]] * reward(numbers, system.sources, sets) for numbers in states)
    assert Completions(system.sources, system.critical).a_year == pytest.approx(expected, rel=1e-4)


def in_prism(system: System) -> str:
    """Return the chain in the language of PRISM and Storm, with a reward for each completing occurrence a year."""
    count = len(system.sources)
    sets = minimal_sets(system.critical)
    active = "+".join(f"n{place}" for place in range(count))
    lines = ["ctmc", "module active"]
    lines += [f"n{place}: [0..{MOST_ACTIVE}] init 0;" for place in range(count)]
    for place, one in enumerate(system.sources):
        lines.append(f"<> {active} < {MOST_ACTIVE} -> {one.a_year!r}: (n{place}'=n{place}+1);")
        lines.append(f"<> n{place} > 0 -> n{place}/{one.lasts!r}: (n{place}'=n{place}-1);")
    lines += ["endmodule", 'rewards "completions"']
    for numbers in numbers_up_to(MOST_ACTIVE, count):
        rate = reward(numbers, system.sources, sets)
        if rate:
            where = " & ".join(f"n{place}={number}" for place, number in enumerate(numbers))
            lines.append(f"{where}: {rate!r};")
    return "\n".join([*lines, "endrewards"]) + "\n"


@pytest.mark.parametrize("system", WITH_STORM, ids=lambda one: one.name)
def test_upper_ends_are_those_of_the_model_checker_storm(system: System, tmp_path: Path) -> None:
    stormpy = pytest.importorskip("stormpy", minversion="2.0", reason="Storm is not installed")
    file = tmp_path / "chain.prism"
    file.write_text(in_prism(system), encoding="utf-8")
    program = stormpy.parse_prism_program(str(file))
    (formula,) = stormpy.parse_properties('R{"completions"}=? [ LRA ]', program)
    model = stormpy.build_model(program, [formula])
    found = stormpy.model_checking(model, formula).get_value(model.initial_states[0])
    assert Completions(system.sources, system.critical).a_year == pytest.approx(found, rel=1e-4)
