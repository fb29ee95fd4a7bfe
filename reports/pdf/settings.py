"""The effective settings on paper with their origins, in two columns of small letters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any
from xml.sax.saxutils import escape

from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.setting import Ignored, Setting
from proofka.reports import wording
from proofka.reports.pdf.fonts import BOLD, TEXT, drawable

SIZE, LEADING = 6, 7.2
"""Height of letters and of lines, in points."""


def settings_table(deployment: Deployment, width: float) -> Iterator[Any]:
    """Yield a table of all settings, left column first, and a paragraph with settings without influence."""
    from reportlab.lib.colors import HexColor
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph, Table

    style = ParagraphStyle("setting", fontName=TEXT, fontSize=SIZE, leading=LEADING, splitLongWords=1)
    said = [Paragraph(_words(setting), style) for setting in deployment.settings]
    half = (len(said) + 1) // 2
    rows = list(zip_longest(said[:half], said[half:], fillvalue=""))
    if rows:
        rule = ("LINEBELOW", (0, 0), (-1, -1), 0.2, HexColor("#d5dae0"))
        tight = [("TOPPADDING", (0, 0), (-1, -1), 0.6), ("BOTTOMPADDING", (0, 0), (-1, -1), 1)]
        left = ("LEFTPADDING", (0, 0), (0, -1), 0)
        top = ("VALIGN", (0, 0), (-1, -1), "TOP")
        yield Table(rows, [width / 2] * 2, hAlign="LEFT", style=[rule, *tight, left, top])
    if deployment.ignored:
        without = "; ".join(f"{_words(one)} ({_drawn(one.reason)})" for one in deployment.ignored)
        yield Paragraph(f"Settings without influence on any property here: {without}", style)


def _words(setting: Setting | Ignored) -> str:
    """Return a setting as markup: scope, key, value and origin."""
    value = f'<font name="{BOLD}">{_drawn(setting.value)}</font>'
    return f"{_drawn(setting.scope)} {_drawn(setting.key)} = {value}, {_drawn(wording.origin(setting.origin))}"


def _drawn(text: str) -> str:
    return escape(drawable(wording.plain(text)))
