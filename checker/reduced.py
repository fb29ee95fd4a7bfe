"""A group of properties whose system has the chosen reductions applied."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from checker.kernel.canonical import Canonical
from checker.questions import Group, Prepared
from checker.reductions.choice import Reduction
from checker.reductions.dead_variables import reset_dead_variables
from checker.reductions.invisible_steps import find_invisible_steps, prioritise_invisible_steps
from checker.reductions.ranking import rankings
from checker.reductions.symmetry import NotSymmetric, prove_symmetry
from checker.solver import Replayer
from checker.traces import hold_against, replay
from model.language import Permutation, Ranked, TransitionSystem


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
    system, remarks, keeps_runs = one.system, list[str](), True
    if Reduction.DEAD_VARIABLES in reductions:
        system = reset_dead_variables(system, predicates)
    if Reduction.INVISIBLE_STEPS in reductions:
        steps = find_invisible_steps(system, predicates)
        system, keeps_runs = prioritise_invisible_steps(system, predicates, steps), not steps.merged
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
    return Reduced(one, system, canonical, keeps_runs and not permutations, tuple(remarks))
