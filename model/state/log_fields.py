"""The fields of a slot of a replica's log: the batch, its leader epoch, and what else a broker reads of the entry."""

from __future__ import annotations

from collections.abc import Mapping

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.implied.cleaning import cleans, drops_markers, drops_tombstones
from proofka.model.deployment.implied.forgetting import brokers_forget_producers
from proofka.model.state.compaction import DROPPED, MARKER, REMOVED, REPLACED, Marker
from proofka.model.state.kept_numbers import FORGOTTEN

AS_APPENDED: Mapping[str, int] = {FORGOTTEN: 0, REMOVED: 0, MARKER: int(Marker.STANDS)}
"""The values that a leader gives to the fields of a new entry of its log, besides those that the entry itself has."""


def fields_of_log(deployment: Deployment, entries: int, last_sequence: int) -> dict[str, tuple[int, int]]:
    """Return a slot's fields, each with its lowest and highest value.

    ``entries`` counts the batches and markers; ``last_sequence`` is the highest sequence number of a batch.
    """
    fields = {"batch": (0, entries - 1), "epoch": (0, deployment.bounds.epochs)}
    if deployment.producer.idempotence:
        fields["producer_epoch"] = (0, deployment.bounds.producer_epochs - 1)
        fields["sequence"] = (-1, last_sequence)
    if brokers_forget_producers(deployment):
        fields[FORGOTTEN] = (0, 1)
    if cleans(deployment):
        fields[REMOVED] = (0, DROPPED if drops_tombstones(deployment) else REPLACED)
    if drops_markers(deployment):
        fields[MARKER] = (0, max(Marker))
    return fields
