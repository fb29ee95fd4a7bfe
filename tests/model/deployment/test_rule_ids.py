"""Identifiers of rules: each one that a message, note or origin names is in docs/client-rules.md once, and no other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_rules_are_documented() -> None:
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "model" / "deployment").glob("*.py"))
    used = {rule for source in sources for rule in re.findall(r"\b[PCBLAFKYJG][0-9]{2}\b", source)}
    page = (ROOT / "docs" / "client-rules.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| rule ([PCBLAFKYJG][0-9]{2}) \|", page, re.MULTILINE)
    assert sorted(used) == sorted(documented)
