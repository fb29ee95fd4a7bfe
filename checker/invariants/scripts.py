"""The conditions of a proof by induction as obligations, each a script that any solver reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import z3

from proofka.checker.invariants.induction import Conditions
from proofka.checker.obligations.obligation import Kind, Obligation
from proofka.checker.obligations.scripts import Scripts
from proofka.model.language import Variable
from proofka.model.language.lemmas import Lemma, OpenSystem
from proofka.model.language.terms import And, Or


def obligations_of(
    system: OpenSystem, lemmas: Sequence[Lemma], violated: Mapping[str, z3.BoolRef]
) -> tuple[Obligation, ...]:
    """Return what has to be impossible: that the initial state or a step breaks a lemma, and that a state with all
    lemmas violates a property. ``violated``: the properties that the lemmas imply.

    Each script has what its proof uses of the lemmas, so nothing outside of the scripts is part of the proof.
    """
    return tuple(
        Obligation(Kind.INVARIANTS, number, meaning, script)
        for number, (meaning, script) in enumerate(_scripts(system, lemmas, violated), 1)
    )


def _scripts(
    system: OpenSystem, lemmas: Sequence[Lemma], violated: Mapping[str, z3.BoolRef]
) -> Iterator[tuple[str, str]]:
    conditions = Conditions(system, lemmas)
    scripts = Scripts((*system.variables, *(Variable(one, 0, 0, 0) for one in conditions.inputs)))
    assumed = And(conditions.facts, *(one for lemma in lemmas for one in conditions.used(lemma)))
    false_first = Or(*map(conditions.broken, lemmas))
    initial = And(conditions.facts, conditions.initial, false_first)
    yield "the initial state has every lemma of the invariant.", scripts.without_domains(initial)
    for step in system.actions:
        false_after = Or(*(conditions.broken(lemma, step) for lemma in lemmas))
        script = scripts.without_domains(And(assumed, step.guard, false_after))
        yield f"{step} leads from a state with the invariant to a state with the invariant.", script
    for name, term in violated.items():
        yield f"no state with the invariant violates {name}.", scripts.without_domains(And(assumed, term))
