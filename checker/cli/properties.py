"""``proofka properties``: list the properties."""

from __future__ import annotations


def properties() -> None:
    """List the properties that are checked."""
    from dataclasses import replace

    from model.deployment import KNOWN_PROPERTIES, read_properties
    from model.deployment.transactional import Transactional
    from model.pipeline import declared
    from properties.catalogue import properties_of
    from reports.catalogue import print_properties
    from reports.console import console

    some = read_properties(kafka="4.0", assume={"replicas": "3"})
    transactional = Transactional(2, verified=True, epoch_each=True, first_is_zero=False, read_committed=True)
    any_deployment = replace(some, require=KNOWN_PROPERTIES, transactional=transactional)
    print_properties(console(), properties_of(declared(any_deployment)))
