"""All properties, by family."""

from __future__ import annotations

from proofka.model.deployment.required_properties import ASKED_BY_DEFAULT
from proofka.model.state.pipeline import Pipeline
from proofka.model.state.shared_terms import shared
from proofka.properties import agreement, answers, availability, duplication, loss, ordering, transactions
from proofka.properties.property import Property

FAMILIES = (loss, answers, duplication, transactions, ordering, agreement, availability)


@shared
def properties_of(pipeline: Pipeline) -> tuple[Property, ...]:
    """Return the properties that are checked for a pipeline, in the order of reports.

    Properties outside of ``ASKED_BY_DEFAULT`` are checked only if they are required.
    """
    asked = {*ASKED_BY_DEFAULT, *pipeline.deployment.require}
    found = (prop for family in FAMILIES for prop in family.properties(pipeline))
    return tuple(prop for prop in found if prop.name in asked)
