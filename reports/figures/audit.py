"""The figures of an audit: the influence of settings, and the number of faults that violate a property."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from proofka.properties.audited import Influence, Tolerance
from proofka.reports.figures.heat_map import draw_combinations, draw_values
from proofka.reports.figures.tolerance import draw_tolerance

MOST_ROWS = 60
"""Largest number of rows of a figure."""


CHOSEN = (
    "Settings are chosen one at a time, each because its values separate the remaining verdicts best. A number "
    "between 0 and 100 means that other settings decide as well."
)
ALL_ELSE_ALIKE = "Each setting counts only deployments that occur with every value of it, all other settings equal."


def draw_audit(influence: Influence, folder: Path) -> list[Path]:
    """Draw every figure that has data, and return the files."""
    required = influence.required
    tolerance, same = _telling(influence)
    files = draw_tolerance("Number of faults that violate a property", tolerance[:MOST_ROWS], same, folder, "tolerance")
    if outcomes := influence.by_outcome:
        files += draw_values("What deployments have in common", outcomes, required, [], folder, "outcomes")
    if values := influence.by_value[:MOST_ROWS]:
        remarks = [ALL_ELSE_ALIKE]
        if influence.without:
            remarks.append(f"No verdict changes with {', '.join(influence.without)} alone.")
        if influence.apart:
            remarks.append(
                f"Not compared, because no deployment occurs with every value: {', '.join(influence.apart)}."
            )
        files += draw_values("What each setting changes", values, required, remarks, folder, "settings")
    if combinations := influence.by_combination:
        files += draw_combinations("What decides most", combinations, required, [CHOSEN], folder, "combinations")
    return files


def _telling(influence: Influence) -> tuple[list[Tolerance], list[str]]:
    """Return all bars except those of settings with equal bars, and a remark about these settings."""
    settings = {setting for portion in influence.by_value for setting, _ in portion.values} | set(influence.without)
    bars: dict[str, set[frozenset[tuple[str, Fraction]]]] = {}
    for one in influence.tolerance:
        bars.setdefault(one.group, set()).add(_shares(one))
    same = [group for group, shares in bars.items() if group in settings and len(shares) == 1]
    remarks = [f"The same for every value of {', '.join(same)}."] if same else []
    return [one for one in influence.tolerance if one.group not in same], remarks


def _shares(tolerance: Tolerance) -> frozenset[tuple[str, Fraction]]:
    """Return a bar as shares, for any number of deployments."""
    numbers = {str(faults): n for faults, n in tolerance.fewest.items()}
    numbers |= {"safe": tolerance.safe, "vacuous": tolerance.vacuous, "undecided": tolerance.undecided}
    of = sum(numbers.values())
    return frozenset((name, Fraction(number, of)) for name, number in numbers.items() if number)
