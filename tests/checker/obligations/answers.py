"""The answers of both solvers to one script."""

from __future__ import annotations

from proofka.checker.obligations.obligation import Kind, Obligation
from proofka.checker.obligations.second_solver import Agreement, agreement


def asked(script: str) -> Agreement:
    """Ask both solvers about a script."""
    return agreement([Obligation(Kind.DOMAINS, 1, "a test.", script)])


def answer(script: str) -> str:
    """Return the answer that both solvers give to a script; fail where they differ."""
    found = asked(script)
    if found.agreed:
        return "unsat"
    (one,) = (*found.disputed, *found.undecided)
    assert len(one.words) == 1, one
    return one.z3.word
