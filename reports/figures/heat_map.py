"""A heat map of portions of deployments by property: the share of each portion that violates the property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proofka.properties.audited import Portion
from proofka.properties.verdict import Status
from proofka.reports import wording
from proofka.reports.figures.drawing import DARK, GREY, INCH_A_CHARACTER, INCH_A_LINE, Sheet, sheet, short

COLOURS = "Oranges"
"""A colour map from light to dark in one hue, which is readable in print and with colour blindness."""

LIGHT_FROM = 0.65
"""Share from which the number in a cell is light, because the cell is dark."""

INCH_A_ROW, INCH_A_COLUMN, INCH_A_LABEL = 0.21, 0.42, 0.95
SLOPE = 0.72
"""Height of a heading per unit of its length, for a heading at 45 degrees."""

LEGEND = (
    "Per cent of the deployments of a row in which faults within the bounds violate the property. "
    "?: some deployments are undecided. ○: some deployments pass only because the witness was not reached. *: required."
)
OF_ALL = "deployments"


@dataclass(frozen=True)
class HeatMap:
    """The content of a heat map: a row for each portion; a text in ``rows`` is a heading.

    ``settings``: the headings of the columns of labels before the cells; empty if each row has one label.
    ``required``: the properties that are marked as required.
    """

    title: str
    rows: Sequence[Portion | str]
    settings: Sequence[str]
    required: Sequence[str]
    remarks: Sequence[str] = ()

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties, one for each column."""
        return tuple(dict.fromkeys(name for row in self.rows if isinstance(row, Portion) for name in row.statuses))

    @property
    def left(self) -> float:
        """Position of the left edge of the labels."""
        return -INCH_A_LABEL / INCH_A_COLUMN * max(len(self.settings), 2)

    def place(self, label: float) -> float:
        """Return the left edge of a column of labels; ``label`` + 0.5 gives the middle."""
        return self.left + label * INCH_A_LABEL / INCH_A_COLUMN


def draw_values(
    title: str, portions: Sequence[Portion], required: Sequence[str], remarks: Sequence[str], folder: Path, name: str
) -> list[Path]:
    """Draw a row for each value, or name, of one setting; settings are headings above their values."""
    rows: list[Portion | str] = []
    for portion in portions:
        ((setting, _),) = portion.values
        if setting and setting not in rows:
            rows.append(setting)
        rows.append(portion)
    return _draw(HeatMap(title, rows, (), required, remarks), folder, name)


def draw_combinations(
    title: str, portions: Sequence[Portion], required: Sequence[str], remarks: Sequence[str], folder: Path, name: str
) -> list[Path]:
    """Draw a row for each combination of values; settings are headings above columns of values."""
    settings = [setting for setting, _ in portions[0].values]
    return _draw(HeatMap(title, portions, settings, required, remarks), folder, name)


def _draw(drawn: HeatMap, folder: Path, name: str) -> list[Path]:
    columns, rows = len(drawn.properties), len(drawn.rows)
    with sheet(columns, rows, inch_a_column=INCH_A_COLUMN, inch_a_row=INCH_A_ROW) as made:
        before: tuple[tuple[str, str], ...] = ()
        for at, row in enumerate(drawn.rows):
            if isinstance(row, str):
                made.text(drawn.left, at + 0.6, row, fontweight="bold")
                continue
            for column, prop in enumerate(drawn.properties):
                _cell(made, column, at, row, prop)
            made.text(columns + 0.25, at + 0.5, wording.number(row.deployments), color=GREY)
            if drawn.settings:
                _combination(made, drawn, at, row.values, before)
                before = row.values
            else:
                made.text(-0.2, at + 0.5, short(row.values[0][1]), ha="right")
        rise = _headings(made, drawn)
        made.text(drawn.left, -rise, drawn.title, fontsize=11, fontweight="bold")
        characters = int((columns - drawn.left) * INCH_A_COLUMN / INCH_A_CHARACTER)
        made.paragraphs(drawn.left, rows + 0.5, [LEGEND, *drawn.remarks], characters)
        return made.write(folder, name)


def _combination(
    made: Sheet, drawn: HeatMap, row: int, values: Sequence[tuple[str, str]], before: Sequence[tuple[str, str]]
) -> None:
    """Write the labels of a combination of values, without labels that the row above has as well."""
    changed = next((n for n, pair in enumerate(values) if not before or pair != before[n]), len(values))
    if changed < len(values) - 1:
        line = [drawn.place(changed), len(drawn.properties)]
        made.axes.plot(line, [row, row], color=GREY, lw=0.5, clip_on=False)
    for label, (_, value) in list(enumerate(values))[changed:]:
        made.text(drawn.place(label + 0.5), row + 0.5, short(value, 14), ha="center")


def _headings(made: Sheet, drawn: HeatMap) -> float:
    """Write the headings of all columns, and return their height in rows."""
    headings = [(drawn.place(label + 0.5), setting) for label, setting in enumerate(drawn.settings)]
    headings += [(at + 0.5, f"{p}*" if p in drawn.required else p) for at, p in enumerate(drawn.properties)]
    headings.append((len(drawn.properties) + 0.5, OF_ALL))
    for x, heading in headings:
        style = {"rotation": 45, "rotation_mode": "anchor", "ha": "left", "va": "bottom"}
        made.text(x, -0.25, heading, fontweight="bold" if heading.endswith("*") else "normal", **style)
    longest = max(len(heading) for _, heading in headings)
    return (longest * INCH_A_CHARACTER * SLOPE + INCH_A_LINE) / INCH_A_ROW + 0.5


def _cell(made: Sheet, column: int, row: int, portion: Portion, prop: str) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    if prop not in portion.statuses:
        return
    share = portion.share(prop, Status.VIOLATED)
    undecided, vacuous = portion.share(prop, Status.UNKNOWN), portion.share(prop, Status.VACUOUS)
    colour = colormaps[COLOURS](share * 0.85) if share else "#f7f7f7"
    made.axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="white", lw=1.0))
    mark = ("?" if undecided else "") + ("○" if vacuous else "")
    number = per_cent(share) if share or not mark else ""
    dark = share >= LIGHT_FROM
    made.text(column + 0.5, row + 0.5, number + mark, ha="center", fontsize=7, color="white" if dark else DARK)


def per_cent(share: float) -> str:
    """Return a share as a whole number of per cent; 0 means none and 100 means all."""
    if 0 < share < 1:
        return str(min(99, max(1, round(share * 100))))
    return str(round(share * 100))
