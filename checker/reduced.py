"""A group of properties whose system has the chosen reductions applied."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from proofka.checker.kernel.canonical import Canonical
from proofka.checker.questions import Group, Prepared
from proofka.checker.reductions.choice import Reduction
from proofka.checker.reductions.ranking import rankings
from proofka.checker.reductions.symmetry import NotSymmetric, prove_symmetry
from proofka.checker.solver import Replayer
from proofka.checker.traces import hold_against, replay
from proofka.model.language import Permutation, Ranked, TransitionSystem


@dataclass(frozen=True)
class Reduced:
    """The system that is explored for a group; ``remarks`` names the reductions that do not apply, with reasons.

    ``keeps_runs``: a shortest run of this system is, action by action, a shortest run of the group's own system.
    """

    group: Group
    system: TransitionSystem
    canonical: Canonical | None
    keeps_runs: bool
    remarks: tuple[str, ...]

    def check_run(self, labels: Sequence[int], found: Sequence[Mapping[str, int]]) -> None:
        """Replay a run of the reduced system through Z3, and compare its states with the kernel's states.

        Raise :class:`ReplayMismatch` if they differ.
        """
        states = replay(self.system, Replayer(self.system), [self.system.actions[label] for label in labels])
        hold_against(states, found, () if self.canonical is None else self.canonical.ranked)


def reduce_group(prepared: Prepared, one: Group, reductions: Collection[Reduction]) -> Reduced:
    """Apply the chosen reductions, as far as they are applicable."""
    predicates = one.question.predicates
    system, remarks = one.system, list[str]()
    ranked: tuple[Ranked, ...] = ()
    if Reduction.RANKED_EPOCHS in reductions:
        found = rankings(system, predicates, prepared.constants)
        ranked = found.families
        remarks += [f"{name}s are not ranked: {reason}" for name, reason in found.refused.items()]
    permutations: tuple[Permutation, ...] = ()
    if Reduction.SYMMETRY in reductions:
        for symmetry in system.symmetries:
            try:
                permutations += prove_symmetry(symmetry, system, predicates)
            except NotSymmetric as reason:
                remarks.append(f"{symmetry.name} are not interchangeable: {reason}")
    canonical = Canonical(ranked, permutations) if ranked or permutations else None
    return Reduced(one, system, canonical, not permutations, tuple(remarks))
