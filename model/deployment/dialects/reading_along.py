"""Files that another file names or that lie under it: they are read with that file, and are no configuration by
themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os.path import normpath

from proofka.model.deployment.dialects.component import Found


def without_those_read_along(found: Sequence[Found]) -> tuple[Found, ...]:
    """Return the findings, in which files that were read with others have no components of their own.

    Their values are in the components of the others; their other values remain ignored.
    """
    readers = {normpath(name): one.file for one in found for name in one.along}
    return tuple(_alone(one, readers.get(normpath(one.file), "")) for one in found)


def _alone(found: Found, reader: str) -> Found:
    if not reader or found.along:
        return found
    return replace(found, components=(), rejected=(), notes=(f"is read with {reader}",))
