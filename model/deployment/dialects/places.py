"""Values that were read at substitute places, moved back to their real places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofka.model.deployment.dialects.component import Component, Found, Left
from proofka.model.deployment.given import Given

Places = Mapping[int, tuple[str, int]]
"""The real file and line of each substitute line."""


def moved(found: Found, places: Places) -> Found:
    """Return the content with all values from substitute lines at their real places."""
    if not places:
        return found
    return replace(
        found,
        components=tuple(_component(one, places) for one in found.components),
        ignored=tuple(_left(one, places) for one in found.ignored),
        rejected=tuple(_left(one, places) for one in found.rejected),
    )


def _component(one: Component, places: Places) -> Component:
    return replace(
        one,
        settings={key: _given(given, places) for key, given in one.settings.items()},
        application={key: _given(given, places) for key, given in one.application.items()},
        client=None if one.client is None else _given(one.client, places),
        version=None if one.version is None else _given(one.version, places),
    )


def _left(one: Left, places: Places) -> Left:
    return replace(one, given=_given(one.given, places))


def _given(given: Given, places: Places) -> Given:
    place = places.get(given.origin.line or 0) if given.origin.kind == "file" else None
    if place is None:
        return given
    return replace(given, origin=replace(given.origin, file=place[0], line=place[1]))
