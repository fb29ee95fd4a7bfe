"""The position of an application in the input that it reads from and sends on (semantics 3.1, P10 P12)."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.model.deployment.choices import OnRestart
from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault
from proofka.model.language import Variable, flag


@dataclass(frozen=True)
class Upstream:
    """The input of an application that commits its position in it: a source connector, a stream task, a relay.

    ``position``: the number of records committed at the last start. ``released``, by record: a ``flush()`` that waited
    for the record returned before the record was over (empty where that cannot happen).
    """

    position: Variable
    released: tuple[Variable, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (self.position, *self.released)


def declare_upstream(deployment: Deployment) -> Upstream | None:
    """Return the input at the start of a run; None where the application commits no position."""
    if not deployment.application.on_restart.has_position:
        return None
    records = deployment.bounds.records
    flushes = (
        deployment.application.on_restart is OnRestart.FROM_FLUSHED and deployment.producer.sender.flush_forgets_parts
    )
    releases = flushes and Fault.SPLIT_BATCH in deployment.faults.possible
    return Upstream(
        Variable("input_position", 0, records, 0),
        tuple(flag(f"released_{record}") for record in range(records if releases else 0)),
    )
