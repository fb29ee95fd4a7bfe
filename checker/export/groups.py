"""Groups of variables with similar names, to write unchanged variables briefly."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from proofka.checker.export.names import Names
from proofka.model.language import Variable

SMALLEST = 3
"""Smallest number of variables in a group."""


@dataclass(frozen=True)
class VariableGroup:
    """Variables whose names begin alike, under one name; ``inner`` are the smaller groups in it."""

    name: str
    variables: tuple[Variable, ...]
    inner: tuple[VariableGroup, ...]

    def same(self, changed: Collection[Variable]) -> list[VariableGroup | Variable]:
        """Return the unchanged variables: whole groups if possible, and single variables."""
        if not any(variable in changed for variable in self.variables):
            return [self]
        found: list[VariableGroup | Variable] = []
        homes = {variable: group for group in self.inner for variable in group.variables}
        for variable in self.variables:
            home = homes.get(variable)
            if home is None:
                found += [] if variable in changed else [variable]
            elif variable == home.variables[0]:
                found += home.same(changed)
        return found


def group(variables: Sequence[Variable], names: Names) -> VariableGroup:
    """Return all variables as one group, ``vars``, with inner groups by the first words of their names."""
    return VariableGroup("vars", tuple(variables), _inner(variables, 0, names))


def _inner(variables: Sequence[Variable], words: int, names: Names) -> tuple[VariableGroup, ...]:
    by_prefix: dict[str, list[Variable]] = {}
    for variable in variables:
        parts = variable.name.split("_")
        if len(parts) > words:
            by_prefix.setdefault("_".join(parts[: words + 1]), []).append(variable)
    found: list[VariableGroup] = []
    for prefix, members in by_prefix.items():
        if len(members) < SMALLEST:
            continue
        inner = _inner(members, words + 1, names)
        if len(members) == len(variables) or (len(inner) == 1 and len(inner[0].variables) == len(members)):
            found += inner
        else:
            found.append(VariableGroup(names.take(f"{prefix}_variables"), tuple(members), inner))
    return tuple(found)
