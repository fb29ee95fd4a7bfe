"""A modelling assumption behind a pass, and its kind: the order in which reports list such assumptions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class AssumptionKind(StrEnum):
    """The kinds of modelling assumptions, in the order of reports.

    ``OF_DEPLOYMENT``: the assumption can be false in this deployment. Facts decide that no file states: behaviour of
    applications and operators, releases in detail, records, lengths of outages, other durations. ``OF_MODEL``: the
    model leaves something out in every deployment that has the mechanism.
    """

    OF_DEPLOYMENT = "of this deployment"
    OF_MODEL = "of the model"


@dataclass(frozen=True)
class ModellingAssumption:
    """A modelling assumption behind a pass, in words, with its kind."""

    text: str
    kind: AssumptionKind


def by_kind(assumptions: Iterable[ModellingAssumption]) -> tuple[ModellingAssumption, ...]:
    """Return assumptions in the order of their kinds; those of one kind keep their order."""
    return tuple(sorted(assumptions, key=lambda one: list(AssumptionKind).index(one.kind)))
