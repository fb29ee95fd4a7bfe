"""Releases of a deployment that the register does not cover: newer ones, and ones between those that exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.patch_levels import newest_of_line
from proofka.model.deployment.release import JAVA
from proofka.properties.known_defects.affected import Release, release_from
from proofka.properties.known_defects.defect import release_in_words
from proofka.properties.known_defects.register import Known, products, rows_of
from proofka.properties.known_defects.releases import BROKER, releases_of


def unread_releases(deployment: Deployment) -> tuple[str, ...]:
    """Return a sentence for each product whose release the register does not cover, with what counts instead."""
    return tuple(dict.fromkeys(_sentences(deployment)))


def _sentences(deployment: Deployment) -> Iterator[str]:
    for product, release in releases_of(deployment):
        known = products().get(product)
        if known is None:
            continue
        of_kafka = product in (BROKER, JAVA)
        newest = newest_of_line(release) if of_kafka and release <= known.newest else known.newest
        if newest is not None and release > newest:
            name = "Kafka" if of_kafka else known.name
            listed = f"listed up to release {release_in_words(newest)}, as known on {known.day}"
            yield f"known defects of {name} are {listed}"
        elif older := _counts_as(known, release):
            name = f"{known.name} {release_in_words(release)}"
            yield f"no change log names {name}: its known defects are those of {release_in_words(older)}"


def _counts_as(known: Known, release: Release) -> Release | None:
    """Return the release before one that no change log names; None where some does, or none is older."""
    released = _released().get(known.product, ())
    if not release or any(one[: len(release)] == release for one in released):
        return None
    return max((one for one in released if one < release), default=None)


@cache
def _released() -> Mapping[str, tuple[Release, ...]]:
    """Return the releases of each client library that its change log names, oldest first."""
    return {row["product"]: tuple(map(release_from, row["releases"].split())) for row in rows_of("releases")}
