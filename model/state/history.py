"""Facts about a run that only clocks read (docs/semantics.md, "Time")."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.choices import Acks
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.cleaning import reading_is_timed
from proofka.model.deployment.implied.outages import modelled_brokers, outages_of_consumer
from proofka.model.faults import DELAYS_READING, FALLS_SILENT, LOSES_REQUESTS, Fault
from proofka.model.language import Variable, flag, present


@dataclass(frozen=True)
class History:
    """The variables that only clocks read; no action depends on them. Each is empty, or None, where it cannot matter.

    ``fell_silent``, by broker: the broker died, and nobody closed its connections. ``unnoticed``, by broker: in
    addition, the producer has not noticed since. ``lost_requests``: the connection of some request broke, and with
    acks=0 nobody waits for its answer. ``thrown_out``: the group has no consumer because it evicted the one it had.
    ``handed_over``: the group has none because it moved the partition in order. ``consumer_was_out``: the group was
    without its consumer. ``brokers_were_out``: some broker was away, cut off, or no longer led. The last two exist
    where they decide whether a record is read in time.
    """

    fell_silent: dict[int, Variable]
    unnoticed: dict[int, Variable]
    lost_requests: Variable | None
    thrown_out: Variable | None
    handed_over: Variable | None
    consumer_was_out: Variable | None
    brokers_were_out: Variable | None

    @property
    def variables(self) -> tuple[Variable, ...]:
        single = (
            self.lost_requests,
            self.thrown_out,
            self.handed_over,
            self.consumer_was_out,
            self.brokers_were_out,
        )
        return (*self.fell_silent.values(), *self.unnoticed.values(), *present(*single))


def declare_history(deployment: Deployment) -> History:
    """Return the history variables of a deployment, in their initial state."""
    possible = deployment.faults.possible
    numbers = range(1, modelled_brokers(deployment) + 1) if FALLS_SILENT & possible else ()
    nobody_waits = deployment.producer.acks is Acks.NONE and bool(LOSES_REQUESTS & possible)
    return History(
        {number: flag(f"broker_{number}_fell_silent") for number in numbers},
        {number: flag(f"broker_{number}_unnoticed") for number in numbers},
        flag("lost_requests") if nobody_waits else None,
        flag("thrown_out") if Fault.EVICTION in possible else None,
        flag("handed_over") if Fault.REBALANCE in possible else None,
        flag("consumer_was_out") if reading_is_timed(deployment) and outages_of_consumer(deployment) else None,
        flag("brokers_were_out") if reading_is_timed(deployment) and possible & DELAYS_READING else None,
    )
