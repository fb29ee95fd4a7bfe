"""The fault budget: the faults that are assumed possible, and their numbers."""

from __future__ import annotations

from collections.abc import Iterable

from proofka.model.deployment.bounds import read_number
from proofka.model.deployment.era import Behaviour
from proofka.model.deployment.explored import MOST_OF_A_KIND, FaultBudget, most_of
from proofka.model.deployment.given import Given, Settings
from proofka.model.deployment.setting import Origin, Setting
from proofka.model.faults import OF_SOME_RELEASES, ONCE, ONLY_BY_NAME, Fault

ANY = "any"
"""The text of a number without a limit."""

TOTAL_RANGE = range(21)
FAULT_KEYS: tuple[str, ...] = ("total", *(kind.value for kind in Fault))
"""The keys of ``assume.faults``."""


def kinds_by_default(era: Behaviour) -> tuple[Fault, ...]:
    """Return the kinds that can happen if none is named, with brokers of this era."""
    effective = {Fault.CONTROLLER_STALL: era.restart_before_fenced, Fault.MIXED_FETCHES: era.mixes_fetches}
    suffered = frozenset(kind for kind, has_effect in effective.items() if has_effect)
    return tuple(kind for kind in Fault if kind not in ONLY_BY_NAME | (OF_SOME_RELEASES - suffered))


def read_budget(given: Settings, by_default: Iterable[Fault]) -> tuple[FaultBudget, tuple[Setting, ...]]:
    """Read the fault budget. If any kind is named, only named kinds can happen; otherwise those ``by_default``.

    ``any``: no limit on the number of a kind. A total of ``any`` lifts the limit of every kind that has no number.
    """
    unlimited = "total" in given and _is_any(given["total"])
    total = None if unlimited or "total" not in given else read_number(given["total"], TOTAL_RANGE, or_word=ANY)
    named = {kind.value: given[kind.value] for kind in Fault if kind.value in given}
    without_limit = {kind for kind, said in named.items() if _is_any(said) and Fault(kind) not in ONCE}
    at_most = {
        kind: MOST_OF_A_KIND if kind in without_limit else _number_of(Fault(kind), said) for kind, said in named.items()
    }
    if not named:
        at_most = {kind.value: MOST_OF_A_KIND for kind in by_default}
        without_limit = set(at_most) if unlimited else set()
    if unlimited and not without_limit:
        total = sum(at_most.values())
    any_number = tuple(kind for kind in at_most if kind in without_limit) if total is None else ()

    default = Origin("default", "Proofka")
    altogether = "any" if any_number else "as many as time allows" if total is None else str(total)
    settings = [Setting("assume", "faults.total", altogether, _origin("total", given, default))]
    settings += [
        Setting(
            "assume", f"faults.{kind}", "any" if kind in without_limit else str(count), _origin(kind, given, default)
        )
        for kind, count in at_most.items()
    ]
    possible = tuple((kind, count) for kind, count in at_most.items() if count > 0)
    return FaultBudget(total, possible, any_number), tuple(settings)


def _number_of(kind: Fault, given: Given) -> int:
    return read_number(given, range(most_of(kind) + 1), or_word=None if kind in ONCE else ANY)


def _is_any(given: Given) -> bool:
    return given.value.strip().lower() == ANY


def _origin(key: str, given: Settings, default: Origin) -> Origin:
    return given[key].origin if key in given else default
