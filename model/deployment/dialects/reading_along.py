"""Files that another one names or is laid over: they are read along with it, and are no configuration of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os.path import normpath

from model.deployment.dialects.component import Found


def without_those_read_along(found: Sequence[Found]) -> tuple[Found, ...]:
    """The same, where files that were read along with others describe nothing more by themselves.

    Their values are in what the others describe; what they say for nobody stays ignored.
    """
    readers = {normpath(name): one.file for one in found for name in one.along}
    return tuple(_alone(one, readers.get(normpath(one.file), "")) for one in found)


def _alone(found: Found, reader: str) -> Found:
    if not reader or found.along:
        return found
    return replace(found, components=(), rejected=(), notes=(f"is read along with {reader}",))
