"""The part of a certificate that comes from one exploration: its closed sets, and the claims that rest on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checker.combinations import Combination, without_one
from checker.embedded import EmbeddedExploration
from checker.exploration import AnyExploration, Violation
from checker.questions import WITNESS, Prepared
from checker.timing.loop import InTime
from model.faults import COVERED_BY
from model.language import Action, State
from properties.verdict import CutSet, Status, Trace, Verdict


@dataclass(frozen=True)
class Smallest:
    """A smallest fault set, with the actions of its trace. ``stuck_from``: for a goal, the last state of the trace."""

    faults: CutSet
    actions: tuple[Action, ...]
    stuck_from: State | None = None


@dataclass(frozen=True)
class Claim:
    """A claim on a property: ``up_to`` faults in total, the smallest fault sets, and a run to the witness."""

    property: str
    is_goal: bool
    id: str
    up_to: int
    smallest: tuple[Smallest, ...]
    witness: tuple[Action, ...] | None


@dataclass(frozen=True)
class Part:
    """An exploration with claims; ``closed``: the combinations whose sets are closed, smallest first."""

    exploration: EmbeddedExploration
    claims: tuple[Claim, ...]

    @property
    def closed(self) -> tuple[Combination, ...]:
        """The combinations that were explored to the end, with all combinations that they contain."""
        found: set[Combination] = set()
        for combination in sorted(self.exploration.shards, key=lambda one: (sum(one), one)):
            shard = self.exploration.shards[combination]
            if shard.closed and all(part in found for _, part in without_one(combination)):
                found.add(combination)
        return tuple(sorted(found, key=lambda one: (sum(one), one)))

    @property
    def covered(self) -> tuple[tuple[str, str], ...]:
        """The kinds of fault whose combinations rest on those of another kind, each with that kind."""
        if not self.exploration.infer:
            return ()
        kinds = self.exploration.kinds
        return tuple((kind.value, by.value) for kind, by in COVERED_BY.items() if kind in kinds and by in kinds)

    def is_ranked(self, combination: Combination) -> bool:
        """Tell whether a claim says that the goal is reached from every state of a combination."""
        named = dict(self.exploration.named(combination))
        return any(
            claim.is_goal and not any(is_within(one.faults, named) for one in claim.smallest) for claim in self.claims
        )


def is_within(faults: CutSet, others: Mapping[str, int]) -> bool:
    """Tell whether a fault set is contained in another one."""
    return all(count <= others.get(kind, 0) for kind, count in faults)


def uncertified(verdict: Verdict, exploration: AnyExploration, in_time: InTime) -> str | None:
    """Return the reason for which no claim on a property is written; None if a claim can be written."""
    if verdict.status is Status.UNKNOWN:
        return "the property is not decided"
    if verdict.coverage.any_number:
        return "the verdict is for any number of faults"
    if not isinstance(exploration, EmbeddedExploration):
        return "the states are not in the memory of this process"
    if exploration.canonical is not None:
        return "the states are stored up to symmetry or ranks"
    if verdict.lemmas or any(name == verdict.property for name, _ in exploration.aside) or in_time.undecided:
        return "the verdict rests on times"
    untimed = {exploration.named(violation.combination) for violation in exploration.cut_sets(verdict.property)}
    if untimed != set(verdict.cut_sets):
        return "the verdict rests on times"
    return None


def claim_of(
    verdict: Verdict, exploration: EmbeddedExploration, prepared: Prepared, ends: Mapping[CutSet, State]
) -> Claim:
    """Return the claim of a verdict. ``ends``: for a goal, the last state of each trace."""
    name = verdict.property
    goal = exploration.question.goal
    return Claim(
        name,
        goal is not None and goal[0] == name,
        verdict.id,
        verdict.coverage.complete_to,
        tuple(Smallest(trace.faults, _actions_of(trace, prepared), ends.get(trace.faults)) for trace in verdict.traces),
        _witness(exploration, name, prepared) if verdict.witness_reached else None,
    )


def _actions_of(trace: Trace, prepared: Prepared) -> tuple[Action, ...]:
    found = [prepared.model.system.action(step.action, step.arguments) for step in trace.steps]
    return tuple(action for action in found if action is not None)


def _witness(exploration: EmbeddedExploration, name: str, prepared: Prepared) -> tuple[Action, ...] | None:
    """Return a run of few faults to the witness of a property, if the exploration found one."""
    first: Sequence[Violation] = exploration.first_observed(WITNESS + name)
    if not first:
        return None
    return tuple(exploration.system.actions[label] for label in exploration.path(first[0]))
