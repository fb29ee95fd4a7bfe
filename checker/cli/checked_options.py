"""Options whose values are checked before a command begins its work."""

from __future__ import annotations

from pathlib import Path

from proofka.checker.cli.errors import fail


def known_property(name: str, option: str) -> str:
    """Return the name of a property. End the command if no property has the name."""
    from difflib import get_close_matches

    from proofka.model.deployment.known_properties import known_properties

    if name in known_properties():
        return name
    near = get_close_matches(name, known_properties(), n=1)
    advice = f"did you mean {near[0]}?" if near else "proofka properties lists all"
    fail(f"{option} {name}: no such property; {advice}")


def check_home(home: Path) -> None:
    """Refuse a folder that is no installation of Kafka."""
    from proofka.checker.cluster.errors import JarsUnavailable
    from proofka.checker.cluster.jars import release_of_home

    try:
        release_of_home(home)
    except JarsUnavailable as error:
        fail(f"--kafka-home: {error}")
