"""The controller's decisions about the partition (semantics 6.3)."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.language import Variable, present, variables_of
from proofka.model.state.reassignment import Reassignment


@dataclass(frozen=True)
class Controller:
    """The controller's decisions (semantics 6.3): leader (0 = none), leader epoch, ISR and unfenced brokers.

    ``elr``: the eligible leader replicas. ``last_known_leader``: the last leader of a partition that has no leader now
    (0 = the partition has one). They are empty and None where the brokers keep none. ``reassignment``: None where no
    replica is moved.
    """

    leader: Variable
    epoch: Variable
    isr: dict[int, Variable]
    unfenced: dict[int, Variable]
    elr: dict[int, Variable]
    last_known_leader: Variable | None
    reassignment: Reassignment | None

    @property
    def variables(self) -> tuple[Variable, ...]:
        own = (self.leader, self.epoch, *self.isr.values(), *self.unfenced.values(), *self.elr.values())
        return (*own, *present(self.last_known_leader), *variables_of(self.reassignment))
