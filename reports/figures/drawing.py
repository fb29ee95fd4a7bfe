"""Parts of every figure: the sheet, literal texts, and the output files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofka.model.input.whole_file import write_whole
from proofka.reports import wording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMS: Mapping[str, Mapping[str, str | None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
"""File formats of a figure, with the metadata to omit: the same figure must give the same file."""

STYLE: Mapping[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "svg.hashsalt": "proofka",
    "svg.fonttype": "path",
    "hatch.linewidth": 0.6,
}
DOTS_AN_INCH = 150
INCH_A_CHARACTER = 0.06
INCH_A_LINE = 0.17
LONGEST_LABEL = 28
GREY, DARK = "#6b6b6b", "#222222"


@dataclass(frozen=True)
class Sheet:
    """A figure in progress. A position is in units of the data: columns to the right, rows down."""

    figure: Figure
    axes: Axes

    def text(self, x: float, y: float, text: str, **style: Any) -> None:
        """Write a literal text, without mathematical notation."""
        style = {"color": DARK, "va": "center", **style}
        self.axes.text(x, y, wording.plain(text), parse_math=False, clip_on=False, **style)

    def paragraphs(self, x: float, y: float, texts: Sequence[str], characters: int) -> None:
        """Write texts below ``y``, in lines of at most ``characters`` characters."""
        broken = "\n".join(line for text in texts for line in textwrap.wrap(wording.plain(text), characters))
        self.axes.text(x, y, broken, parse_math=False, clip_on=False, color=GREY, va="top", linespacing=1.4)

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write the figure in every format, with room for all labels, and return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{name}.{form}" for form in FORMS]
        for file in files:
            self.save(file)
        return files

    def save(self, file: Path) -> None:
        """Write the figure in the format of the ending of the file's name, with room for all labels."""
        drawn = BytesIO()
        form = file.suffix[1:].lower()
        how: dict[str, Any] = {"format": form, "dpi": DOTS_AN_INCH, "bbox_inches": "tight", "pad_inches": 0.15}
        self.figure.savefig(drawn, metadata=dict(FORMS[form]), **how)
        write_whole(file, drawn.getvalue())


@contextmanager
def sheet(columns: float, rows: float, *, inch_a_column: float, inch_a_row: float) -> Iterator[Sheet]:
    """Yield an empty sheet without axes; labels can be outside of the data area."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(dict(STYLE)):
        made = Figure(figsize=(max(columns * inch_a_column, 0.1), max(rows * inch_a_row, 0.1)))
        FigureCanvasAgg(made)
        axes = made.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_xlim(0, columns)
        axes.set_ylim(rows, 0)
        yield Sheet(made, axes)


def short(label: str, longest: int = LONGEST_LABEL) -> str:
    """Return a label, cut to at most ``longest`` characters."""
    return label if len(label) <= longest else label[: longest - 1] + "…"
