"""The text of Promela models."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import z3

from proofka.checker.export.assignments import Sequencer
from proofka.checker.export.exported import Exported, export_deployment
from proofka.checker.export.expressions import Expressions
from proofka.checker.export.promela import PromelaModel
from proofka.checker.export.steps import step_of
from proofka.model.language import TransitionSystem, Variable
from tests.checker.asking import example
from tests.checker.export.systems import turnstile
from tests.checker.test_exploration import action

GOLDEN = Path(__file__).parent / "golden"


def test_a_small_model_word_by_word() -> None:
    assert PromelaModel(turnstile()).text() == (GOLDEN / "turnstile_1.pml").read_text(encoding="utf-8")


@pytest.mark.slow
def test_one_step_for_each_action() -> None:
    exported = export_deployment(example("orders"), total=1)
    text = PromelaModel(exported).text()
    asserted = len(exported.violated)
    assert len(re.findall(r"^    :: d_step \{", text, flags=re.MULTILINE)) == len(exported.system.actions) + asserted
    assert text.count("(") == text.count(")")
    assert text.count("{") == text.count("}")
    assert max(map(len, text.splitlines())) <= 150
    assert len(text) < 900_000


def test_variables_have_the_smallest_type() -> None:
    variables = tuple(
        Variable(f"v{number}", low, high, low)
        for number, (low, high) in enumerate([(0, 1), (0, 255), (0, 256), (-1, 1), (-40_000, 0)])
    )
    text = PromelaModel(Exported("types", TransitionSystem("types", variables, ()), {})).text()
    assert re.findall(r"^(\w+) v\d", text, flags=re.MULTILINE) == ["bit", "byte", "short", "short", "int"]


def test_a_large_state_asks_for_room() -> None:
    variables = tuple(Variable(f"v{number}", 0, 9, 0) for number in range(1500))
    text = PromelaModel(Exported("large", TransitionSystem("large", variables, ()), {})).text()
    assert "-DVECTORSZ=1624" in text


def test_a_domain_that_no_type_holds() -> None:
    system = TransitionSystem("huge", (Variable("v", 0, 1 << 40, 0),), ())
    with pytest.raises(ValueError, match="v has values"):
        PromelaModel(Exported("huge", system, {})).text()


def test_assignments_follow_the_reads_of_their_variables() -> None:
    """A chain is put in order; in a circle one value is computed before."""
    x, y, z = (Variable(name, 0, 3, 0) for name in "xyz")
    expressions = Expressions({v.name: v for v in (x, y, z)})
    chain = step_of(action("chain", z3.BoolVal(True), {x: y.term, y: z.term, z: z3.IntVal(0)}), (z, y, x), expressions)
    ordered = Sequencer(expressions, ()).sequence(chain.changes)
    assert [one.change.variables for one in ordered] == [(x,), (y,), (z,)]
    assert not any(one.early for one in ordered)
    circle = step_of(action("circle", z3.BoolVal(True), {x: y.term, y: z.term, z: x.term}), (x, y, z), expressions)
    assert sum(one.early for one in Sequencer(expressions, ()).sequence(circle.changes)) == 1
