"""``proofka properties``: list the properties."""

from __future__ import annotations


def properties() -> None:
    """List the properties that are checked."""
    from dataclasses import replace

    from proofka.model.deployment import KNOWN_PROPERTIES, read_properties
    from proofka.model.deployment.transactional import Transactional
    from proofka.model.pipeline import declared
    from proofka.properties.catalogue import properties_of
    from proofka.reports.console import console
    from proofka.reports.property_list import print_properties

    some = read_properties(kafka="4.0", assume={"replicas": "3"})
    transactional = Transactional(2, verified=True, epoch_each=True, first_is_zero=False, read_committed=True)
    producer = replace(some.producer, transactional=transactional)
    any_deployment = replace(some, require=KNOWN_PROPERTIES, producer=producer)
    print_properties(console(), properties_of(declared(any_deployment)))
