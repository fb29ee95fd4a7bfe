"""The choice of reductions: each can be switched on and off, and none changes a verdict (docs/reductions.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from proofka.model.input.input_error import InputError


class Reduction(StrEnum):
    """The reductions: each makes the state space smaller and keeps every verdict."""

    CONE = "cone-of-influence"
    COVERED_FAULTS = "covered-faults"
    RANKED_EPOCHS = "ranked-epochs"
    SYMMETRY = "symmetry"


USED_UNLESS_TOLD_OTHERWISE = frozenset({Reduction.CONE, Reduction.COVERED_FAULTS})


class UnknownReduction(InputError):
    """No reduction has this name."""


def chosen(switched_on: Iterable[str], switched_off: Iterable[str]) -> frozenset[Reduction]:
    """Return the reductions to use.

    Raise :class:`UnknownReduction` for an unknown name, or for a name that is switched on and off.
    """
    more, less = {_named(name) for name in switched_on}, {_named(name) for name in switched_off}
    if both := more & less:
        raise UnknownReduction(f"{', '.join(sorted(both))}: switched on and off at once")
    return (USED_UNLESS_TOLD_OTHERWISE | more) - less


def _named(name: str) -> Reduction:
    try:
        return Reduction(name.strip().lower())
    except ValueError:
        raise UnknownReduction(f"{name}: unknown reduction; choose from {', '.join(Reduction)}") from None


def words(reductions: Collection[Reduction]) -> str:
    """Return the reductions in the form used in reports."""
    return ", ".join(sorted(reductions)) or "none"
