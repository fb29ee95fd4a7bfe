"""``proofka properties``: what is checked."""

from __future__ import annotations


def properties() -> None:
    """List the properties that are checked."""
    from model.deployment import read_properties
    from model.state import declare
    from properties.catalogue import properties_of
    from reports.catalogue import print_properties
    from reports.terminal import console

    any_deployment = read_properties(kafka="4.0", assume={"replicas": "3"})
    print_properties(console(), properties_of(declare(any_deployment)))
