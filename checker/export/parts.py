"""Named parts inside an action or a definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proofka.checker.export.expressions import Expressions
from proofka.checker.export.names import Names
from proofka.checker.export.sharing import shared
from proofka.checker.export.steps import Step


@dataclass(frozen=True)
class Part:
    """A part with a name of its own within some text."""

    name: str
    place: int


def named_within(step: Step, expressions: Expressions, names: Names) -> list[Part]:
    """Return the shared parts of an action, named by kind: a variable's new value, a condition or a value."""
    new = {value: variable.name for change in step.changes for variable, value in reversed(change.values)}
    places = shared(expressions, step.roots, new)
    kinds = [
        f"new_{new[place]}" if place in new else "condition" if expressions.is_truth(place) else "value"
        for place in places
    ]
    return _named(places, kinds, names)


def named_in(place: int, expressions: Expressions, names: Names) -> list[Part]:
    """Return the shared parts of one expression."""
    places = shared(expressions, [place])
    kinds = ["condition" if expressions.is_truth(part) else "value" for part in places]
    return _named(places, kinds, names)


def _named(places: Sequence[int], kinds: Sequence[str], names: Names) -> list[Part]:
    """Return parts named by kind, with numbers if there are several of a kind."""
    local = names.inner()
    return [
        Part(local.take(kind if kinds.count(kind) == 1 else f"{kind}_1"), place)
        for place, kind in zip(places, kinds, strict=True)
    ]
