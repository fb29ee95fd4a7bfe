"""Which faults are assumed possible, and how many."""

from __future__ import annotations

from model.deployment.bounds import read_number
from model.deployment.deployment import FaultBudget, Origin, Setting
from model.deployment.given import Settings
from model.faults import Fault

MOST_OF_A_KIND = 9
"""How many faults of one kind can happen when nothing limits them: more than any exploration reaches."""

TOTAL_RANGE = range(21)
FAULT_KEYS: tuple[str, ...] = ("total", *(kind.value for kind in Fault))
"""The keys of ``assume.faults``."""


def read_budget(given: Settings) -> tuple[FaultBudget, tuple[Setting, ...]]:
    """The fault budget. Kinds that are named are the only ones that can happen; if none is, all can."""
    total = read_number(given["total"], TOTAL_RANGE) if "total" in given else None
    caps = range(MOST_OF_A_KIND + 1)
    named = {kind.value: read_number(given[kind.value], caps) for kind in Fault if kind.value in given}
    at_most = named or {kind.value: MOST_OF_A_KIND for kind in Fault}
    default = Origin("default", "Proofka")
    settings = [
        Setting("assume", "faults.total", "any" if total is None else str(total), _origin("total", given, default))
    ]
    settings += [
        Setting("assume", f"faults.{kind}", str(count), _origin(kind, given, default))
        for kind, count in at_most.items()
    ]
    possible = tuple((kind, count) for kind, count in at_most.items() if count > 0)
    return FaultBudget(total, possible), tuple(settings)


def _origin(key: str, given: Settings, default: Origin) -> Origin:
    return given[key].origin if key in given else default
