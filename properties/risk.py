"""The expected number of violations a year, as plain values for reports and JSON (docs/risk.md)."""

from __future__ import annotations

from dataclasses import dataclass

from proofka.properties.verdict import CutSet, Status


@dataclass(frozen=True)
class OfSet:
    """A smallest fault set with the number of completions a year if it were the only critical set.

    ``a_year`` is None if a kind has no rate. The numbers of several sets overlap, so they do not add up. ``order``: the
    faults of the trace in their order. ``least`` and ``most``: the time in ms that its run leaves between the first
    and the last fault (None: any time), or both None where the window was not computed. ``longer``: the kinds whose
    fault can be further from the last fault of this run than its effects last. ``proven``: the greatest time in ms
    between the faults in any run, or None; ``because``: the inequality that proves it, or the reason for None; empty if
    nobody asked.
    """

    faults: CutSet
    a_year: float | None
    runs_a_year: float
    order: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    longer: tuple[str, ...] = ()
    proven: int | None = None
    because: str = ""


@dataclass(frozen=True)
class OfSource:
    """The importance of a fault kind or a common cause.

    ``active``: expected number of its occurrences whose effects last at any moment. ``share``: the part of the upper
    end that vanishes without it. ``one_more``: the number that one more occurrence a year adds.
    """

    name: str
    is_cause: bool
    a_year: float
    active: float
    share: float
    one_more: float


@dataclass(frozen=True)
class Risk:
    """The expected number of violations of a property a year, from ``lower`` to ``upper``.

    ``rated``: the upper end as far as the faults with rates make it. ``upper`` is the same number, or None if nothing
    bounds the number from above, for the reasons in ``no_upper``. ``why_lower``: the reason for which the lower end is
    0, or empty. ``beyond``: the part of the upper end that fault sets would make alone that were not explored.
    ``complete_to``: the explored number of faults; None if every number was. ``sources``: the most important first.
    """

    property: str
    required: bool
    status: Status
    lower: float
    upper: float | None
    rated: float
    no_upper: tuple[str, ...]
    why_lower: str
    beyond: float
    complete_to: int | None
    sets: tuple[OfSet, ...]
    sources: tuple[OfSource, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RepairRisk:
    """The risks with a repair: its changes in words, with the risks of the same properties."""

    changes: tuple[str, ...]
    risks: tuple[Risk, ...]


@dataclass(frozen=True)
class RiskAnswer:
    """The answer of ``proofka risk``. ``remarks``: what the numbers rest on, a sentence each.

    ``repairs`` is None if nobody asked for them.
    """

    name: str
    risks: tuple[Risk, ...]
    remarks: tuple[str, ...]
    repairs: tuple[RepairRisk, ...] | None = None
