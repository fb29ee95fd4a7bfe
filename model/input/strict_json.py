"""JSON without ambiguity: no member twice in one object, and only numbers that JSON has."""

from __future__ import annotations

import json
from typing import Any


class AmbiguousJson(ValueError):
    """JSON that other readers can read otherwise; the message names the ambiguous part."""


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raise ValueError: :class:`json.JSONDecodeError`, or :class:`AmbiguousJson`."""
    return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise AmbiguousJson(f"{json.dumps(twice)[:60]} stands twice in one object")
    return members


def _refuse_constant(word: str) -> Any:
    raise AmbiguousJson(f"{word} is no number of JSON")
