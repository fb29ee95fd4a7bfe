"""The fonts of the PDF: DejaVu, which has the marks of reports, from the folder of matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

TEXT, BOLD, ITALIC, MONO = "Text", "Text-Bold", "Text-Italic", "Mono"

_FILES: Mapping[str, str] = {
    TEXT: "DejaVuSans.ttf",
    BOLD: "DejaVuSans-Bold.ttf",
    ITALIC: "DejaVuSans-Oblique.ttf",
    MONO: "DejaVuSansMono.ttf",
}

MISSING = "\u25a1"
"""The replacement for a letter that is missing in the font."""


@cache
def register() -> frozenset[int]:
    """Register the fonts with reportlab, and return the code points that all fonts have."""
    from reportlab.pdfbase.pdfmetrics import registerFont, registerFontFamily
    from reportlab.pdfbase.ttfonts import TTFont

    fonts = {name: TTFont(name, str(_folder() / file)) for name, file in _FILES.items()}
    for font in fonts.values():
        registerFont(font)
    registerFontFamily(TEXT, normal=TEXT, bold=BOLD, italic=ITALIC, boldItalic=BOLD)
    return frozenset[int].intersection(*(frozenset(font.face.charToGlyph) for font in fonts.values()))


def drawable(text: str) -> str:
    """Return ``text`` with a box for each letter that cannot be drawn."""
    known = register()
    return "".join(letter if ord(letter) in known else MISSING for letter in text)


def _folder() -> Path:
    """Return the folder of matplotlib's fonts, without the import of matplotlib, which takes a second."""
    found = find_spec("matplotlib")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
    return Path(found.submodule_search_locations[0]) / "mpl-data" / "fonts" / "ttf"
