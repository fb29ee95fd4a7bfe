"""``proofka properties``: list the properties."""

from __future__ import annotations


def properties() -> None:
    """List the properties that are checked."""
    from dataclasses import replace

    from model.deployment import KNOWN_PROPERTIES, read_properties
    from model.deployment.transactional import Transactional
    from model.pipeline import declared
    from properties.catalogue import properties_of
    from reports.console import console
    from reports.property_list import print_properties

    some = read_properties(kafka="4.0", assume={"replicas": "3"})
    transactional = Transactional(2, verified=True, epoch_each=True, first_is_zero=False, read_committed=True)
    producer = replace(some.producer, transactional=transactional)
    any_deployment = replace(some, require=KNOWN_PROPERTIES, producer=producer)
    print_properties(console(), properties_of(declared(any_deployment)))
