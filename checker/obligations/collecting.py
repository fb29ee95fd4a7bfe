"""The obligations behind the verdicts on a deployment, collected from the same functions that ask Z3."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from proofka.checker.fixed_point import RANKS, leader_epochs_only, predicates_of, with_epochs
from proofka.checker.obligations.obligation import Impossible, Kind, Obligation
from proofka.checker.obligations.scripts import Scripts, cycle_script
from proofka.checker.obligations.simplification import simplifications
from proofka.checker.questions import Group, Prepared, group, simplify
from proofka.checker.reductions.choice import Reduction
from proofka.checker.reductions.ranking import asked_of_z3
from proofka.checker.reductions.symmetry import NotSymmetric, differences, prove_symmetry
from proofka.checker.solver import impossible_actions, unsafe_updates
from proofka.checker.timing.contradictions import in_words
from proofka.checker.timing.network import Contradiction
from proofka.model.deployment.deployment import Deployment
from proofka.model.pipeline import build
from proofka.properties.catalogue import properties_of
from proofka.properties.property import Property


def obligations_of(
    deployment: Deployment, reductions: Collection[Reduction] = (), cycles: Iterable[Contradiction] = ()
) -> tuple[Obligation, ...]:
    """Return what the verdicts on a deployment leave to a solver, each question once.

    The model is built anew. ``reductions``: those that the verdicts rest on. ``cycles``: the contradictions of the
    timing lemmas, which only an exploration finds.
    """
    found = Collected()
    prepared, properties = _add_system(deployment, found)
    for one in _explored(deployment, prepared, properties, reductions):
        if Reduction.RANKED_EPOCHS in reductions:
            asked = asked_of_z3(one.system, one.question.predicates, prepared.constants)
            found.add(Kind.RANKS, asked, Scripts(prepared.system.variables))
        if Reduction.SYMMETRY in reductions:
            found.add(Kind.SYMMETRY, _of_symmetries(one), Scripts(prepared.system.variables))
    if deployment.faults.any_number:
        # Which of these rankings decided a property is known only after exploring.
        for ranks in RANKS:
            _add_ranked(with_epochs(deployment, ranks), found)
    for cycle in cycles:
        found.add_cycle(cycle)
    return found.in_order()


class Collected:
    """Obligations of all kinds, each script once."""

    def __init__(self) -> None:
        self._meanings: dict[Kind, dict[str, str]] = {kind: {} for kind in Kind}

    def add(self, kind: Kind, asked: Iterable[Impossible], scripts: Scripts) -> None:
        """Add conditions that no state within the domains fulfils."""
        for meaning, condition in asked:
            self._meanings[kind].setdefault(scripts.within_domains(condition), meaning)

    def add_with_constants(self, asked: Iterable[Impossible], scripts: Scripts, constants: dict[str, int]) -> None:
        """Add conditions that no values fulfil, of which the constants have theirs."""
        for meaning, condition in asked:
            self._meanings[Kind.CONSTANTS].setdefault(scripts.with_constants(condition, constants), meaning)

    def add_cycle(self, cycle: Contradiction) -> None:
        """Add the contradiction of a timing lemma."""
        (lemma,) = in_words([cycle])
        meaning = f"no times of steps keep the bounds of this lemma: {lemma.inequality}."
        self._meanings[Kind.CYCLES].setdefault(cycle_script(cycle.edges), meaning)

    def in_order(self) -> tuple[Obligation, ...]:
        """Return the obligations, sorted by kind, and numbered within each kind."""
        return tuple(
            Obligation(kind, number, meaning, script)
            for kind, found in self._meanings.items()
            for number, (script, meaning) in enumerate(found.items(), 1)
        )


def _add_system(deployment: Deployment, found: Collected) -> tuple[Prepared, Sequence[Property]]:
    """Add the obligations of every system of a deployment, and return the system and its properties."""
    simplified = simplify(build(deployment))
    prepared = simplified.proved()
    properties = properties_of(prepared.model.pipeline)
    constants = {str(variable): value.as_long() for variable, value in simplified.constants}
    whole = Scripts(simplified.model.system.variables)
    found.add_with_constants(simplifications(simplified, properties), whole, constants)
    scripts = Scripts(simplified.system.variables)
    found.add(Kind.IMPOSSIBLE_ACTIONS, impossible_actions(simplified.system, prepared.system), scripts)
    found.add(Kind.DOMAINS, unsafe_updates(prepared.system), scripts)
    return prepared, properties


def _explored(
    deployment: Deployment, prepared: Prepared, properties: Sequence[Property], reductions: Collection[Reduction]
) -> Iterator[Group]:
    """Yield the groups of properties that a check explores; without a total of faults, also each property alone.

    Without a total, a check explores further groups, of which the properties alone have the same obligations.
    """
    yield from group(prepared, properties, cone=Reduction.CONE in reductions)
    if deployment.faults.is_open_ended:
        for prop in properties:
            yield from group(prepared, [prop])


def _of_symmetries(one: Group) -> Iterator[Impossible]:
    for symmetry in one.system.symmetries:
        try:
            prove_symmetry(symmetry, one.system, one.question.predicates)
        except NotSymmetric:
            continue
        yield from differences(symmetry, one.system, one.question.predicates)


def _add_ranked(deployment: Deployment, found: Collected) -> None:
    """Add the obligations of a search for any number of faults."""
    prepared, properties = _add_system(deployment, found)
    scripts = Scripts(prepared.system.variables)
    for one in group(prepared, properties):
        asked = asked_of_z3(leader_epochs_only(one.system), predicates_of(one), prepared.constants)
        found.add(Kind.RANKS, asked, scripts)
