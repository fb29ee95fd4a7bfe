"""The outcome of a trace's replay on a real cluster, on a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from properties.reproduced import Outcome
from properties.reproduced_in_words import in_words
from reports.lines import print_wrapped


def print_outcome(out: Console, name: str, outcome: Outcome, *, texts: Mapping[int, str]) -> None:
    """Print what was seen at each step, and then the outcome. ``texts``: the sentence of each step, by its number."""
    for line in in_words(name, outcome, texts):
        print_wrapped(out, line.text, first=line.first, rest=line.rest)
