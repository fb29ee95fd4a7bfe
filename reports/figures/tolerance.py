"""Fault tolerance: a bar for each value of a setting, divided by the size of the smallest fault set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proofka.properties.audited import Tolerance
from proofka.reports import wording
from proofka.reports.figures.drawing import DARK, GREY, INCH_A_LINE, Sheet, sheet, short

MOST_FAULTS = 3
"""Number of faults from which smallest fault sets share one colour."""

COLOURS = {0: "#662506", 1: "#cc4c02", 2: "#fe9929", MOST_FAULTS: "#fee391"}
"""Colours by number of faults; fewer faults are darker."""

SAFE, VACUOUS, UNDECIDED = "#4393c3", "#d1e5f0", "#d9d9d9"
HATCHES = {VACUOUS: "....", UNDECIDED: "////"}
LIGHT = {"#662506", "#cc4c02", SAFE}
"""Colours with light text."""

INCH_A_ROW, BAR_INCHES, WIDTH = 0.21, 5.0, 100.0
LABEL = 50.0
LEAST_FOR_A_NUMBER = 6.0
CHARACTERS = 110
LEGEND = (
    "Number of faults that violate the weakest required property of a deployment; under “each property”, that "
    "property. “not violated”: no fault set within the bounds violates it. “vacuous”: not violated only because a "
    "witness was not reached. Bars of a setting's values count only deployments that occur with every value of the "
    "setting, all other settings equal."
)


def draw_tolerance(
    title: str, tolerances: Sequence[Tolerance], remarks: Sequence[str], folder: Path, name: str
) -> list[Path]:
    """Draw a bar for each of the tolerances, under the names of their groups."""
    rows: list[Tolerance | str] = []
    for tolerance in tolerances:
        if tolerance.group not in rows:
            rows.append(tolerance.group)
        rows.append(tolerance)
    with sheet(WIDTH, len(rows), inch_a_column=BAR_INCHES / WIDTH, inch_a_row=INCH_A_ROW) as made:
        for at, row in enumerate(rows):
            if isinstance(row, str):
                made.text(-LABEL, at + 0.6, row, fontweight="bold")
            else:
                made.text(-2, at + 0.5, short(row.label), ha="right")
                _bar(made, at, row)
        parts = dict.fromkeys(part for tolerance in tolerances for part in _parts(tolerance))
        _key(made, [part for part in _ORDER if part in parts])
        made.text(-LABEL, -2.2 - INCH_A_LINE / INCH_A_ROW, title, fontsize=11, fontweight="bold")
        made.paragraphs(-LABEL, len(rows) + 0.5, [LEGEND, *remarks], CHARACTERS)
        return made.write(folder, name)


Part = tuple[str, str]
"""The meaning of a part of a bar, and its colour."""

_FAULTS: dict[int, Part] = {
    faults: (
        "no fault needed"
        if not faults
        else wording.counted(faults, "fault") + (" or more" if faults == MOST_FAULTS else ""),
        colour,
    )
    for faults, colour in COLOURS.items()
}
_UNDECIDED, _VACUOUS, _SAFE = ("undecided", UNDECIDED), ("vacuous", VACUOUS), ("not violated", SAFE)
_ORDER = (*_FAULTS.values(), _UNDECIDED, _VACUOUS, _SAFE)


def _parts(tolerance: Tolerance) -> dict[Part, int]:
    """Return the number of deployments of each part of a bar."""
    parts: dict[Part, int] = {}
    for faults, deployments in sorted(tolerance.fewest.items()):
        part = _FAULTS[min(faults, MOST_FAULTS)]
        parts[part] = parts.get(part, 0) + deployments
    parts |= {_UNDECIDED: tolerance.undecided, _VACUOUS: tolerance.vacuous, _SAFE: tolerance.safe}
    return {part: deployments for part, deployments in parts.items() if deployments}


def _bar(made: Sheet, row: int, tolerance: Tolerance) -> None:
    from matplotlib.patches import Rectangle

    parts = _parts(tolerance)
    everything, x = sum(parts.values()), 0.0
    for (_, colour), deployments in parts.items():
        width = WIDTH * deployments / everything
        made.axes.add_patch(
            Rectangle(
                (x, row + 0.1), width, 0.8, facecolor=colour, hatch=HATCHES.get(colour), edgecolor="white", lw=0.6
            )
        )
        if width >= LEAST_FOR_A_NUMBER:
            light = "white" if colour in LIGHT else DARK
            made.text(x + width / 2, row + 0.5, wording.number(deployments), ha="center", fontsize=7, color=light)
        x += width
    made.text(WIDTH + 1.5, row + 0.5, wording.number(everything), color=GREY)


def _key(made: Sheet, parts: Sequence[Part]) -> None:
    from matplotlib.patches import Rectangle

    x = 0.0
    for text, colour in parts:
        made.axes.add_patch(
            Rectangle(
                (x, -1.4), 3, 0.8, facecolor=colour, hatch=HATCHES.get(colour), edgecolor="white", lw=0.6, clip_on=False
            )
        )
        made.text(x + 4, -1.0, text)
        x += 8 + 1.35 * len(text)
