"""What a run leaves behind that clocks ask for, and nothing else (docs/semantics.md, "Time")."""

from __future__ import annotations

from dataclasses import dataclass

from model.deployment.choices import Acks
from model.deployment.deployment import Deployment
from model.faults import FALLS_SILENT, LOSES_REQUESTS, Fault
from model.language import Variable, flag


@dataclass(frozen=True)
class History:
    """What is remembered for clocks alone: no action depends on it. Empty, or None, where nothing can come of it.

    ``fell_silent``, by broker: it died, and nobody closed its connections. ``unnoticed``: neither has the producer
    noticed since. ``lost_requests``: the connection of some request broke, and with acks=0 nobody waits for its answer.
    The group has no consumer because it threw out the one it had (``thrown_out``), or moved the partition in order
    (``handed_over``).
    """

    fell_silent: dict[int, Variable]
    unnoticed: dict[int, Variable]
    lost_requests: Variable | None
    thrown_out: Variable | None
    handed_over: Variable | None

    @property
    def variables(self) -> tuple[Variable, ...]:
        single = (self.lost_requests, self.thrown_out, self.handed_over)
        return (*self.fell_silent.values(), *self.unnoticed.values(), *(one for one in single if one is not None))


def declare_history(deployment: Deployment) -> History:
    """What is remembered of a run of this deployment, at its start."""
    possible = deployment.possible_faults
    numbers = range(1, deployment.brokers + 1) if FALLS_SILENT & possible else ()
    nobody_waits = deployment.acks is Acks.NONE and bool(LOSES_REQUESTS & possible)
    return History(
        {number: flag(f"broker_{number}_fell_silent") for number in numbers},
        {number: flag(f"broker_{number}_unnoticed") for number in numbers},
        flag("lost_requests") if nobody_waits else None,
        flag("thrown_out") if Fault.EVICTION in possible else None,
        flag("handed_over") if Fault.REBALANCE in possible else None,
    )
