"""Every property there is, by family."""

from __future__ import annotations

from model.state import Pipeline
from properties import agreement, availability, duplication, durability, ordering
from properties.property import Property

FAMILIES = (durability, duplication, ordering, agreement, availability)


def properties_of(pipeline: Pipeline) -> tuple[Property, ...]:
    """All properties of a pipeline, in the order in which they are reported."""
    return tuple(found for family in FAMILIES for found in family.properties(pipeline))
