"""The controller's record of a replica that is moved to another broker (semantics 6.8)."""

from __future__ import annotations

from dataclasses import dataclass

import z3

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.outages import modelled_brokers
from proofka.model.faults import Fault
from proofka.model.language import Variable, flag
from proofka.model.language.terms import And, Not


@dataclass(frozen=True)
class Reassignment:
    """A replica that is moved to broker ``to``, which had none.

    ``moved``: the broker that the replica is moved from (0 = nobody has asked yet). ``is_complete``: the old broker has
    no replica any more.
    """

    to: int
    moved: Variable
    is_complete: Variable

    def takes_from(self, number: int) -> z3.BoolRef:
        """Tell whether the replica that is moved, or was moved, is this broker's."""
        return self.moved.term == number

    def removed(self, number: int) -> z3.BoolRef:
        """Tell whether the broker had a replica and has none any more."""
        return And(self.is_complete.is_set, self.takes_from(number))

    def assigned(self, number: int) -> z3.BoolRef:
        """Tell whether the broker has a replica, or will have one."""
        return self.moved.term != 0 if number == self.to else Not(self.removed(number))

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.moved, self.is_complete)


def declare_reassignment(deployment: Deployment) -> Reassignment | None:
    """Return the variables of a reassignment that nobody has asked for yet; None where nobody will ask."""
    if Fault.REASSIGNMENT not in deployment.faults.possible:
        return None
    moved = Variable("reassigned", 0, deployment.cluster.replicas, 0)
    return Reassignment(modelled_brokers(deployment), moved, flag("reassignment_is_complete"))
