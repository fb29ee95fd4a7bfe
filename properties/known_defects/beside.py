"""Known defects beside a pass: what the model does not have, and could violate the property in this deployment."""

from __future__ import annotations

from collections.abc import Mapping

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.known_properties import known_properties
from proofka.properties.known_defects.conditions import is_met, values_of
from proofka.properties.known_defects.defect import Defect, Treatment
from proofka.properties.known_defects.events import can_happen
from proofka.properties.known_defects.features import USES
from proofka.properties.known_defects.register import defects_of, products
from proofka.properties.known_defects.releases import BROKER, library_of, releases_of
from proofka.properties.verdict import KnownDefect

_OF_CONSUMERS = frozenset({"groups", "auto-commit", "new-group-protocol", "cooperative", "static-membership"})
"""Features that consumers use; with transactions or idempotence a defect can be of the producer all the same."""

_OF_PRODUCERS = frozenset({"transactions", "idempotence"})


def defects_beside(deployment: Deployment, prop: str) -> tuple[Defect, ...]:
    """Return the defects that the model does not have and that could violate ``prop`` in this deployment.

    A defect counts where a release of the deployment has it, the deployment can meet its conditions on settings and
    uses its features, and one of its events can happen with the kinds of fault that are possible.
    """
    return tuple(defect for defect in defects_here(deployment) if could_violate(defect, prop))


def could_violate(defect: Defect, prop: str) -> bool:
    """Tell whether a defect could violate a property: by its own row, or as a defect of a related property does."""
    return not known_properties()[prop].defects_of.union({prop}).isdisjoint(defect.breaks)


def defects_here(deployment: Deployment) -> tuple[Defect, ...]:
    """Return the defects that the model does not have and that could violate some property in this deployment."""
    values, consumer = values_of(deployment), library_of(deployment, "consumer")
    return tuple(
        defect
        for product, release in releases_of(deployment)
        for defect in defects_of(product)
        if defect.treatment is Treatment.NOTED
        and defect.affected.has(release)
        and (product in (BROKER, consumer) or not _is_of_consumers(defect))
        and _can_show(defect, deployment, values)
    )


def known_defects(deployment: Deployment, prop: str) -> tuple[KnownDefect, ...]:
    """Return the defects of :func:`defects_beside` as a verdict carries them."""
    return tuple(
        KnownDefect(one.id, products()[one.product].name, one.sentence, one.fix, one.source)
        for one in defects_beside(deployment, prop)
    )


def _is_of_consumers(defect: Defect) -> bool:
    return not _OF_CONSUMERS.isdisjoint(defect.features) and _OF_PRODUCERS.isdisjoint(defect.features)


def _can_show(defect: Defect, deployment: Deployment, values: Mapping[str, frozenset[str]]) -> bool:
    happens = not defect.needs or any(can_happen(event, deployment, values) for event in defect.needs)
    in_use = all(USES[feature](deployment) for feature in defect.features)
    return happens and in_use and all(is_met(condition, values) for condition in defect.settings)
