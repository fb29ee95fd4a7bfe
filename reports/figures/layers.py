"""States per layer: number of distinct states by number of faults, all explorations together."""

from __future__ import annotations

from math import log10
from pathlib import Path

from proofka.properties.verdict import EngineRun
from proofka.reports import wording
from proofka.reports.figures.drawing import GREY, sheet

LOG_FROM = 100
"""Ratio of the largest and the smallest layer from which the lengths of bars are logarithmic."""

BAR, WIDTH, INCH_A_ROW = "#4393c3", 100.0, 0.26
INCH_A_UNIT = 0.045
CHARACTERS = 78


def draw_layers(run: EngineRun, name: str, file: Path) -> None:
    """Draw a bar for each layer into a file whose name ends in ``.png`` or ``.svg``. ``name``: the deployment's."""
    from matplotlib.patches import Rectangle

    layers = list(enumerate(run.layers))
    logarithmic = is_logarithmic(run.layers)
    with sheet(WIDTH, max(len(layers), 1), inch_a_column=INCH_A_UNIT, inch_a_row=INCH_A_ROW) as made:
        made.text(-18, -0.9, f"{name}: states per layer", fontsize=11, fontweight="bold")
        for row, (faults, states) in enumerate(layers):
            made.text(-1.5, row + 0.5, wording.counted(faults, "fault"), ha="right")
            length = share(states, run.layers, logarithmic=logarithmic) * WIDTH
            made.axes.add_patch(Rectangle((0, row + 0.12), length, 0.76, facecolor=BAR, edgecolor="none"))
            made.text(length + 1, row + 0.5, wording.number(states), color=GREY)
        scale = " The bars' lengths are logarithmic." if logarithmic else ""
        many = wording.number(run.states)
        said = f"Distinct states by number of faults, all explorations together: {many}.{scale}"
        made.paragraphs(-18, len(layers) + 0.5, [said], CHARACTERS)
        made.save(file)


def is_logarithmic(layers: tuple[int, ...]) -> bool:
    """Tell whether bars need logarithmic lengths to be comparable."""
    some = [states for states in layers if states]
    return bool(some) and max(some) >= LOG_FROM * min(some)


def share(states: int, layers: tuple[int, ...], *, logarithmic: bool) -> float:
    """Return the length of a bar as a share of the longest bar: 0 for no states, above 0 for one state."""
    if not states:
        return 0.0
    most = max(layers)
    return (log10(states) + 0.2) / (log10(most) + 0.2) if logarithmic else states / most
