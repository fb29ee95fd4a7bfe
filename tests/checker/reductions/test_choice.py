"""Every reduction can be switched, and a check says the same with and without each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofka.checker.budget import Budget
from proofka.checker.check import check
from proofka.checker.reductions.choice import USED_UNLESS_TOLD_OTHERWISE, Reduction, UnknownReduction, chosen
from proofka.model.deployment.explored import Bounds
from proofka.model.faults import Fault
from proofka.properties.verdict import Result
from tests.checker.asking import SMALL, example

KINDS = (Fault.KILL, Fault.POWER_LOSS, Fault.CONSUMER_CRASH)


def said(result: Result) -> dict[str, object]:
    """Return the parts of a verdict for readers: status, smallest fault sets, lengths of traces, witnesses."""
    return {
        v.property: (v.status, v.cut_sets, [len(trace.steps) for trace in v.traces], v.witness_reached)
        for v in result.verdicts
    }


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        pytest.param("acks-0", SMALL, marks=pytest.mark.slow),
        pytest.param("orders", None, marks=pytest.mark.slow),
        pytest.param("acks-1", None, marks=pytest.mark.slow),
    ],
)
def test_no_reduction_changes_the_answer(name: str, bounds: Bounds | None) -> None:
    deployment = example(name, KINDS, total=1)
    deployment = replace(deployment, bounds=bounds or deployment.bounds)
    plain = check(deployment, budget=Budget(threads=1), reductions=frozenset())
    for reduction in Reduction:
        reduced = check(deployment, reductions=frozenset({reduction}))
        assert said(reduced) == said(plain), reduction
        assert [v.id for v in reduced.verdicts] == [v.id for v in plain.verdicts]
    assert said(check(deployment)) == said(plain)
    assert said(check(deployment, reductions=frozenset(Reduction))) == said(plain)


@pytest.mark.slow
def test_a_reduction_that_does_not_apply_says_why() -> None:
    result = check(example("orders", (Fault.KILL,), total=1), reductions=frozenset({Reduction.SYMMETRY}))
    notes = [note for verdict in result.verdicts for note in verdict.notes]
    assert any("not interchangeable" in note and "fence" in note for note in notes)


def test_choices() -> None:
    assert chosen([], []) == USED_UNLESS_TOLD_OTHERWISE
    assert chosen(["Symmetry"], ["cone-of-influence"]) == {Reduction.SYMMETRY, Reduction.COVERED_FAULTS}


@pytest.mark.parametrize(("more", "less"), [(["cone"], []), ([], ["all"]), (["symmetry"], ["symmetry"])])
def test_wrong_choices_are_refused(more: list[str], less: list[str]) -> None:
    with pytest.raises(UnknownReduction):
        chosen(more, less)
