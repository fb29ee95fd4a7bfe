"""Events that a defect needs: what brings each about in a deployment.

``tables/events.csv`` has a row for each event that is not a fault of the model. ``faults``: kinds of fault, each of
which can bring the event about; ``any`` for an event of ordinary operation; ``outside`` where no fault does.
``settings``: conditions on settings, each of which can bring the event about as well. Releases decide about two events.
Of an event that nothing brings about, such as the deletion of the topic, no verdict speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from proofka.model.deployment.deployment import Deployment
from proofka.model.faults import Fault
from proofka.properties.known_defects.conditions import is_met
from proofka.properties.known_defects.defect import NOTHING
from proofka.properties.known_defects.register import rows_of
from proofka.properties.known_defects.releases import has_older_brokers, has_older_client

ORDINARY = "any"
OUTSIDE = "outside"

BY_RELEASES: Mapping[str, Callable[[Deployment], bool]] = {
    "old-client": has_older_client,
    "old-broker": has_older_brokers,
}
"""Event -> whether the releases of a deployment bring the event about."""


@dataclass(frozen=True)
class Event:
    """An event: the faults and the conditions on settings that bring the event about, unless it is ordinary."""

    faults: frozenset[Fault]
    settings: tuple[str, ...] = ()
    is_ordinary: bool = False


@cache
def events() -> Mapping[str, Event]:
    """Return each event by its name."""
    return {kind.value: Event(frozenset({kind})) for kind in Fault} | {
        row["event"]: _event(row) for row in rows_of("events")
    }


def _event(row: Mapping[str, str]) -> Event:
    words = row["faults"].split()
    settings = () if row["settings"] == NOTHING else tuple(row["settings"].split())
    faults = frozenset(Fault(word) for word in words if word not in (ORDINARY, OUTSIDE))
    return Event(faults, settings, is_ordinary=words == [ORDINARY])


def can_happen(event: str, deployment: Deployment, values: Mapping[str, frozenset[str]]) -> bool:
    """Tell whether an event can happen in a deployment with these values of settings."""
    one = events()[event]
    if one.is_ordinary or not one.faults.isdisjoint(deployment.faults.possible):
        return True
    if event in BY_RELEASES and BY_RELEASES[event](deployment):
        return True
    return any(is_met(condition, values) for condition in one.settings)
