"""The outcome of a trace's replay on a real cluster, on a terminal."""

from __future__ import annotations

from itertools import groupby

from rich.console import Console

from properties.reproduced import DIVERGED, NOT_FAILED, NOT_STEERABLE, REPRODUCED, Outcome
from reports.lines import print_wrapped

MARKS = {REPRODUCED: "✓", DIVERGED: "✗", NOT_FAILED: "✗", NOT_STEERABLE: "?"}
"""The mark before an outcome, by its kind."""


def print_outcome(out: Console, name: str, outcome: Outcome, *, texts: dict[int, str]) -> None:
    """Print what was seen at each step, and then the outcome. ``texts``: the sentence of each step, by its number."""
    for step, facts in groupby(outcome.facts, key=lambda fact: fact.step):
        if step:
            print_wrapped(out, texts.get(step, ""), first=f"{step:3} ", rest="    ")
        for fact in facts:
            print_wrapped(out, f"{fact.source}: {fact.text}", first="      ", rest="        ")
    for changed in outcome.changed:
        before = f" instead of {changed.given}" if changed.given is not None else ""
        line = f"changed: {changed.scope} {changed.key}={changed.used}{before}, for {changed.reason}"
        print_wrapped(out, line, first="  ", rest="    ")
    ran = f"Apache Kafka {outcome.kafka}, {', '.join(outcome.clients) or 'no client'}, {outcome.seconds:g} s"
    print_wrapped(out, f"{MARKS[outcome.kind]} {name}: {outcome.headline} ({ran})", first="", rest="  ")
    for line in _why(outcome):
        print_wrapped(out, line, first="  ", rest="    ")


def _why(outcome: Outcome) -> list[str]:
    if outcome.kind == REPRODUCED:
        return list(outcome.evidence)
    if outcome.kind == NOT_STEERABLE:
        return [f"reason: {outcome.reason}"]
    return [f"the model: {outcome.model}", f"observed: {outcome.observed}"]
