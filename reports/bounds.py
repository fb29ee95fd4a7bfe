"""The bounds of a result, line by line, for reports on paper."""

from __future__ import annotations

from collections.abc import Iterator

from proofka.properties.verdict import EngineRun, Result, Verdict
from proofka.reports import wording


def _would_explore_more(verdict: Verdict) -> str:
    return wording.would_explore_more(verdict.coverage)


LINES: tuple[tuple[str, wording.Words], ...] = (
    ("explored", lambda verdict: wording.bounds(verdict)),
    ("faults", lambda verdict: wording.fault_kinds(verdict.coverage)),
    ("sizes", lambda verdict: wording.sizes(verdict.coverage)),
    ("cut short", _would_explore_more),
    ("stopped", wording.stopped_at),
)
"""Headings of bounds, each with the words for a verdict."""


def bound_lines(result: Result) -> Iterator[str]:
    """Yield bounds as in ``sizes: records 2, log 3``, with the properties if not all properties share the bounds."""
    for title, words in LINES:
        for names, text in wording.grouped(result.verdicts, words):
            which = "" if len(names) == len(result.verdicts) else f" ({wording.listed(names)})"
            yield f"{title}: {text}{which}"


def layers(run: EngineRun) -> str:
    """Return ``states per number of faults: 206, 260,118``, starting with no fault."""
    return f"states per number of faults: {', '.join(map(wording.number, run.layers)) or 'none'}"
