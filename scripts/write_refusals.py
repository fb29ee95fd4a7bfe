"""Writes docs/refusals.md from model/deployment/tables/refusals.csv. Run it if a test reports that the page differs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from proofka.model.deployment.codes import Code, codes  # noqa: E402

PAGE = ROOT / "docs" / "refusals.md"

HEAD = """# Refusals

A check refuses a configuration that needs a mechanism which the model lacks. The message says "not modelled yet", names
the place, and ends with a code, as in `(N12)`. Each code has one reason; `proofka help N12` explains the code. A code
keeps its reason in later versions: no code is used again for another reason.

Rules by which the real clients and brokers refuse a configuration have other ids: [client-rules.md](client-rules.md).
[modelled.md](modelled.md) says what is modelled.

| code | of | refused | why | instead |
|---|---|---|---|---|"""

_SECTION = re.compile(r"docs/semantics\.md")


def text() -> str:
    """Return the page in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    yield from map(_row, codes().values())


def _row(code: Code) -> str:
    why = _SECTION.sub("[semantics.md](semantics.md)", code.why)
    cells = (code.code, code.of, code.what, why, code.instead)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
