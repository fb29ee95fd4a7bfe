"""The system of states with ranks in place of epochs: each step ends with the ranks.

For any number of faults, and with the reduction of ranked epochs, the explorer keeps one state of all those that differ
only in the labels of epochs: the one with ranks (checker/reductions/ranking.py). Here the ranks are part of the system,
as terms: the next value of each epoch is its rank among the next values of all of them. So a checker needs no rule
about ranks. No guard asks whether a further epoch fits below a bound, so an epoch beyond the bound is a value outside
its domain, and a checker refuses the step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import z3

from proofka.checker.certificates.systems import asked_of, filler, written
from proofka.checker.certificates.text import SystemText
from proofka.checker.fixed_point import LEADER_EPOCH, RANKS, with_epochs
from proofka.checker.questions import Prepared, prepare
from proofka.checker.reductions.ranking import check_ranked
from proofka.model.deployment.deployment import Deployment
from proofka.model.language import Action, Ranked, TransitionSystem, Variable
from proofka.model.pipeline import build
from proofka.model.replication import controller
from proofka.model.sequencing import idempotence
from proofka.properties.catalogue import properties_of


def models_with_ranks(deployment: Deployment) -> Iterator[Prepared]:
    """Yield the models of a search to a fixed point, in the order in which the search tries them."""
    for ranks in RANKS:
        yield prepare(build(with_epochs(deployment, ranks)))


def ranked_text(
    prepared: Prepared, kept: Collection[str], properties: Sequence[str], families: Collection[str] = (LEADER_EPOCH,)
) -> SystemText:
    """Return the text of the part of a system with these variables, with ranks in place of the epochs of ``families``.

    Raise :class:`~proofka.checker.reductions.ranking.NotRankable` if a term does more with these epochs than compare
    them and copy them, and ValueError for a variable or a property that the model does not have.
    """
    whole = prepared.model.system
    variables = tuple(variable for variable in whole.variables if variable.name in kept)
    known = {prop.name: prop for prop in properties_of(prepared.model.pipeline)}
    if len(variables) < len(set(kept)) or not known.keys() >= set(properties):
        raise ValueError("the model lacks a variable of the part, or a property of a claim")
    unbounded = _Unbounded(prepared)
    asked = [asked_of(known[name], unbounded) for name in properties]
    actions = [written(action, set(kept), unbounded) for action in whole.actions]
    part = replace(whole, variables=variables, actions=tuple(action for action in actions if action.updates))
    predicates = [term for one in asked for term in (one.term, one.witness)]
    ranked = part.actions
    for declared in (family for family in whole.ranked if family.name in families):
        family = _rankable(declared, part, predicates, prepared)
        if family is not None:  # without new epochs their number is finite as it is
            ranked = tuple(_with_ranks(action, family) for action in ranked)
    return SystemText(variables, ranked, asked)


@dataclass(frozen=True)
class _Unbounded:
    """A function that fills constants into a term, and the truth into the conditions that a further epoch fits."""

    prepared: Prepared

    def __call__(self, term: z3.ExprRef) -> z3.ExprRef:
        pipeline = self.prepared.model.pipeline
        fits = [controller.epoch_left(pipeline)]
        fits += [idempotence.epoch_left(pipeline)] if pipeline.deployment.producer.idempotence else []
        return filler(self.prepared)(z3.substitute(term, *((one, z3.BoolVal(True)) for one in fits)))


def _rankable(
    declared: Ranked, part: TransitionSystem, predicates: Sequence[z3.BoolRef], prepared: Prepared
) -> Ranked | None:
    """Return the family of the part, if relabelling it is a bisimulation. Raise NotRankable.

    The proof gives the newest epoch one value more than its domain has, so that a test of the bound is no test of the
    end of the domain, and is refused as any comparison with a number.
    """
    newest = declared.newest
    wide = replace(newest, high=newest.high + 1)

    def wider(variable: Variable) -> Variable:
        return wide if variable == newest else variable

    system = replace(
        part,
        variables=tuple(map(wider, part.variables)),
        actions=tuple(
            replace(action, updates={wider(variable): value for variable, value in action.updates.items()})
            for action in part.actions
        ),
    )
    family = replace(declared, variables=tuple(map(wider, declared.variables)), newest=wide)
    proved = check_ranked(family, system, predicates, prepared.constants)
    if proved is None:
        return None
    own = tuple(newest if variable == wide else variable for variable in proved.variables)
    return replace(proved, variables=own, newest=newest)


def _with_ranks(action: Action, family: Ranked) -> Action:
    """Return the action with ranks as next values of the family; the action itself if it assigns none of them."""
    if not any(variable in action.updates for variable in family.variables):
        return action
    after = {variable: action.updates.get(variable, variable.term) for variable in family.variables}
    first, last = family.reserved + 1, family.newest.high + 1
    ranks = {first: z3.IntVal(first)}
    for value in range(first, last):
        is_there = z3.Or(*(term == value for term in after.values()))
        ranks[value + 1] = ranks[value] + z3.If(is_there, z3.IntVal(1), z3.IntVal(0))
    return replace(action, updates={**action.updates, **{one: _rank(term, ranks) for one, term in after.items()}})


def _rank(value: z3.ArithRef, ranks: dict[int, z3.ArithRef]) -> z3.ArithRef:
    """Return the rank of a value; a value below all those that ranks replace is its own rank."""
    found = value
    for one, rank in ranks.items():
        found = z3.If(value == one, rank, found)
    return found
