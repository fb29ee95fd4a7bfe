"""The answers of two solvers: agreement, dispute, and no answer."""

from __future__ import annotations

from itertools import combinations

import pytest

from proofka.checker.obligations import second_solver
from proofka.checker.obligations.obligation import Kind, Obligation
from proofka.checker.obligations.second_solver import Answer, SolverMissing, agreement
from tests.checker.obligations.answers import asked

NEVER = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (< x x))\n(check-sat)\n"
ALWAYS = NEVER.replace("(< x x)", "(= x x)")
PIGEONS = 12


def pigeonholes() -> str:
    """Return the script that puts pigeons into too few holes, which takes solvers by cases very long."""
    inside = {(one, hole): f"in{one}_{hole}" for one in range(PIGEONS) for hole in range(PIGEONS - 1)}
    lines = ["(set-logic QF_LIA)", *(f"(declare-const {name} Bool)" for name in inside.values())]
    for one in range(PIGEONS):
        lines.append(f"(assert (or {' '.join(inside[one, hole] for hole in range(PIGEONS - 1))}))")
    for hole in range(PIGEONS - 1):
        for one, other in combinations(range(PIGEONS), 2):
            lines.append(f"(assert (not (and {inside[one, hole]} {inside[other, hole]})))")
    return "\n".join((*lines, "(check-sat)")) + "\n"


def test_agreement_is_counted_by_kind() -> None:
    found = agreement([Obligation(Kind.DOMAINS, 1, "a.", NEVER), Obligation(Kind.RANKS, 1, "b.", NEVER)])
    assert found.agreed == {Kind.DOMAINS: 1, Kind.RANKS: 1}
    assert "both answer unsat to all 2 obligations" in found.line
    assert found.line.startswith("solvers: Z3 ")
    assert " and cvc5 " in found.line


def test_an_answer_that_refutes_is_told_with_both_answers() -> None:
    found = asked(ALWAYS)
    (line,) = found.disputes()
    assert line.startswith("Z3 ")
    assert "answers sat, and cvc5" in line
    assert line.endswith("answers sat: domains-0001: a test.")
    assert not found.agreed
    assert "0 of 1 obligations" in found.line


@pytest.mark.parametrize("word", ["sat", "unknown"])
def test_solvers_that_differ_do_not_agree(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setattr(second_solver, "z3_answer", lambda script, seconds: Answer(word))
    found = asked(NEVER)
    (one,) = found.disputed if word == "sat" else found.undecided
    assert (one.z3.word, one.second.word) == (word, "unsat")
    assert not found.agreed


def test_no_answer_within_the_limit_is_no_agreement() -> None:
    found = agreement([Obligation(Kind.DOMAINS, 1, "a.", pigeonholes())], 0.05)
    (line,) = found.left_open()
    assert "cvc5" in line
    assert line.count("unknown (no answer within 0.05 s)") == 2
    assert not found.agreed
    assert not found.disputed


def test_a_script_that_cannot_be_read_is_no_agreement() -> None:
    for script in ("(assert (foo", "(set-logic QF_LIA)\n(assert foo)\n(check-sat)\n"):
        (one,) = asked(script).undecided
        assert "was not read" in one.z3.reason
        assert "was not read" in one.second.reason
    (one,) = asked("(set-logic QF_LIA)\n").disputed
    assert (one.z3.word, one.second.word) == ("sat", "unknown")


def test_the_missing_solver_is_said_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_solver, "find_spec", lambda name: None)
    with pytest.raises(SolverMissing, match=r'pip install "proofka\[cvc5\]"'):
        asked(NEVER)
