"""Proofs of properties of deployments: candidates from states that were explored, cut down to an inductive set."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from proofka.checker.fixed_point import LEADER_EPOCH
from proofka.checker.invariants.goal_directed import Search
from proofka.checker.invariants.induction import NoAnswer
from proofka.checker.invariants.mining import mined
from proofka.checker.invariants.open_deployment import NotOpen, OpenDeployment, open_deployments, with_any_number
from proofka.checker.invariants.proof import Proof, Subject
from proofka.checker.invariants.proof import prove as confirmed_by_induction
from proofka.checker.invariants.seen_states import seen_states
from proofka.checker.invariants.statements import Statements, statements
from proofka.checker.invariants.wording import clause_in_words
from proofka.model.deployment.deployment import Deployment
from proofka.model.language.lemmas import Lemma, OpenSystem
from proofka.model.language.terms import Int, Not, Or

SECONDS = 60.0
"""Limit of time for the search for each part of a deployment, unless the user names one."""
MOST_STATES = 1_000_000
"""Largest number of explored states from which candidates are made."""
SHARE_OF_EXPLORING = 0.2
"""Part of the time for exploring."""

VIOLATED = "an explored run violates it, if times are left aside"
GOAL = "it asks that a goal stays within reach, which no invariant says"
NOT_WITNESSED = "no explored run has the situation that it is about"
NO_CLAUSES = "no inductive set of the candidates implies it"


def prove_deployment(
    deployment: Deployment, properties: Sequence[str] | None, kinds: Sequence[str] | None, seconds: float = SECONDS
) -> list[Proof]:
    """Search for proofs of properties (None: those that the deployment requires), for any number of faults of these
    kinds (None: of its own): a proof for each part of the deployment, in about ``seconds`` each.

    Raise :class:`NotOpen`.
    """
    wanted = tuple(dict.fromkeys(deployment.require if properties is None else properties))
    opened = with_any_number(deployment, kinds)
    parts = list(open_deployments(opened, wanted))
    goals = {name: GOAL for name in wanted if not any(name in one.subject.violated for one in parts)}
    if not parts:
        raise NotOpen(f"{deployment.name}: {', '.join(goals)}: {GOAL}")
    first, *others = (prove_part(one, seconds) for one in parts)
    return [replace(first, reasons={**first.reasons, **goals}), *others]


def prove_part(one: OpenDeployment, seconds: float = SECONDS, *, states: int = MOST_STATES) -> Proof:
    """Search for an invariant that implies the properties of a part of a deployment, for about ``seconds``."""
    deadline = time.monotonic() + seconds
    seen = seen_states(one, states=states, seconds=seconds * SHARE_OF_EXPLORING)
    reasons = {name: NOT_WITNESSED for name in one.subject.violated if name not in seen.witnessed}
    reasons |= {name: VIOLATED for name in one.subject.violated if name in seen.violated}
    asked = {name: term for name, term in one.subject.violated.items() if name not in reasons}
    found: dict[str, dict[tuple[int, ...], Lemma]] = {}
    if asked:
        system = one.subject.system
        reserved = max((f.reserved for f in one.prepared.model.system.ranked if f.name == LEADER_EPOCH), default=0)
        spoken = statements(system.variables, system.endless, reserved, seen.values)
        search = Search(system, spoken, mined(spoken))
        for place, (name, term) in enumerate(asked.items()):
            left = deadline - time.monotonic()
            try:
                clauses = search.clauses_for(term, left / (len(asked) - place))
            except NoAnswer:
                reasons[name] = f"no invariant found within {seconds:g} s"
                continue
            if clauses is None:
                reasons[name] = NO_CLAUSES
            else:
                found[name] = {tuple(clause): _lemma(clause, spoken, system) for clause in clauses}
    return _proof(one.subject, found, reasons, seconds)


def _proof(
    subject: Subject, found: Mapping[str, Mapping[tuple[int, ...], Lemma]], reasons: Mapping[str, str], seconds: float
) -> Proof:
    """Prove again what the search has found, from the terms of the open system."""
    if not found:
        return Proof(subject, (), (), (), reasons, (), ())
    lemmas = {clause: lemma for each in found.values() for clause, lemma in each.items()}
    implied = {name: subject.violated[name] for name in found}
    proof = confirmed_by_induction(replace(subject, candidates=tuple(lemmas.values()), violated=implied), seconds)
    return replace(
        proof, subject=replace(proof.subject, violated=subject.violated), reasons={**reasons, **proof.reasons}
    )


def _lemma(clause: Sequence[int], spoken: Statements, system: OpenSystem) -> Lemma:
    variables = {variable.name: variable for variable in system.variables}
    return Lemma(clause_in_words(clause, spoken, variables), Or(*_conditions(clause, spoken)))


def _conditions(clause: Sequence[int], spoken: Statements) -> Iterator[object]:
    for number in clause:
        term = spoken.all[number >> 1].term(Int)
        yield term if number & 1 else Not(term)
