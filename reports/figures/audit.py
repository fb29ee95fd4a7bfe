"""The figures of an audit: what makes the difference, and how many faults it takes."""

from __future__ import annotations

from pathlib import Path

from properties.audited import Influence
from reports.figures.heat_map import draw_combinations, draw_values
from reports.figures.tolerance import draw_tolerance

MOST_ROWS = 60
"""How many values of settings a figure has at most; a setting that does not fit is named instead."""


def draw_audit(influence: Influence, folder: Path) -> list[Path]:
    """Draw every figure that there is something to draw for, and return the files."""
    required, without = influence.required, influence.without
    remarks = [f"No difference at all: {', '.join(without)}."] if without else []
    tolerance = [one for one in influence.tolerance if one.group not in without]
    files = draw_tolerance("How many faults it takes", tolerance[:MOST_ROWS], remarks, folder, "tolerance")
    if outcomes := influence.by_outcome:
        files += draw_values("What deployments have in common", outcomes, required, [], folder, "outcomes")
    if values := influence.by_value[:MOST_ROWS]:
        files += draw_values("What each setting changes", values, required, remarks, folder, "settings")
    if combinations := influence.by_combination:
        files += draw_combinations("What decides", combinations, required, folder, "combinations")
    return files
