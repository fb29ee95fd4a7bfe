"""The text of a hover: the effective value of a setting, where the value comes from, and what the setting means."""

from __future__ import annotations

import re

from proofka.checker.cli.editor.reading import Reading
from proofka.model.deployment.setting import Setting
from proofka.reports import wording
from proofka.reports.guide.lookup import find

_WORD = re.compile(r"[A-Za-z][\w.\-]*")
MOST_PARAGRAPHS = 4
"""The largest number of paragraphs of the guide in a hover."""


def word_at(line: str, column: int) -> str:
    """Return the word around a column, which counts from 0; empty if there is none."""
    return next((found[0] for found in _WORD.finditer(line) if found.start() <= column <= found.end()), "")


def hover_text(reading: Reading, lines: list[str], line: int, column: int) -> str:
    """Return the hover at a place as Markdown; empty if nothing is known. ``line`` and ``column`` count from 0."""
    word = word_at(lines[line], column) if line < len(lines) else ""
    here = reading.settings_at(line + 1)
    settings = tuple(one for one in here if one.key in (word, word.removeprefix("spring.kafka.")))
    settings = settings or reading.settings_named(word) or (here if len(here) == 1 else ())
    parts = [_of_setting(one) for one in settings]
    entries = find(settings[0].key if settings else word)
    for entry in entries[:1]:
        parts += [f"{label}: {text}" if label else text for label, text in entry.paragraphs[:MOST_PARAGRAPHS]]
    return "\n\n".join(wording.plain(part) for part in parts)


def _of_setting(setting: Setting) -> str:
    origin = setting.origin
    where = "in this file" if origin.kind == "file" else wording.origin(origin)
    of_line = f", line {origin.line}" if origin.kind == "file" and origin.line else ""
    return f"**{setting.scope}.{setting.key} = {setting.value}** ({where}{of_line})"
