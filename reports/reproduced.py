"""The outcome of a trace's replay on a real cluster, in words for every report, and on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import Console

from properties.reproduced import DIVERGED, NOT_FAILED, NOT_STEERABLE, REPRODUCED, Outcome
from reports.lines import print_wrapped

MARKS = {REPRODUCED: "✓", DIVERGED: "✗", NOT_FAILED: "✗", NOT_STEERABLE: "?"}
"""The mark before an outcome, by its kind."""

STYLE = {REPRODUCED: "bold", DIVERGED: "bold yellow", NOT_FAILED: "bold yellow", NOT_STEERABLE: "bold yellow"}
"""The style of an outcome on a terminal, by its kind."""


def brief(outcome: Outcome) -> str:
    """Return an outcome with its mark, in a few words: ``✗ diverged at step 3``."""
    where = f" at step {outcome.step}" if outcome.step is not None else ""
    return f"{MARKS[outcome.kind]} {outcome.kind}{where}"


def said(outcome: Outcome) -> str:
    """Return an outcome with its mark, release and date: ``✓ reproduced on Apache Kafka 4.1.1, 2026-11-27``."""
    return f"{brief(outcome)} on Apache Kafka {outcome.kafka}, {outcome.on}"


def ran(outcome: Outcome) -> str:
    """Return the clients that ran, and the duration."""
    return f"{', '.join(outcome.clients) or 'no client'}, {outcome.seconds:g} s"


def why(outcome: Outcome) -> list[str]:
    """Return the evidence of a reproduced trace, or what ended the replay of another one, a sentence each."""
    if outcome.kind == REPRODUCED:
        return list(outcome.evidence)
    if outcome.kind == NOT_STEERABLE:
        return [f"reason: {outcome.reason}"]
    return [f"the model: {outcome.model}", f"observed: {outcome.observed}"]


def changed_settings(outcome: Outcome) -> list[str]:
    """Return the settings that the replay changed, with the reason of each."""
    return [
        f"{one.scope} {one.key}={one.used}{'' if one.given is None else f' instead of {one.given}'}, for {one.reason}"
        for one in outcome.changed
    ]


def with_reasons(outcome: Outcome) -> str:
    """Return an outcome with its clients and its reasons in one line."""
    return f"{said(outcome)} ({ran(outcome)}): {'; '.join(why(outcome))}"


def in_short(outcome: Outcome) -> str:
    """Return an outcome with its clients, its reasons and the changed settings in one line."""
    names = ", ".join(f"{one.scope} {one.key}={one.used}" for one in outcome.changed)
    changed = f"; changed for the replay: {names}" if names else ""
    return with_reasons(outcome) + changed


def observed_at(outcomes: tuple[Outcome, ...], step: int) -> Iterator[str]:
    """Yield what was observed at a step, and whether a replay ended there. Step 0 is before the first step.

    Of several replays, each line begins with the release.
    """
    for outcome in outcomes:
        of = f"{outcome.kafka}: " if len(outcomes) > 1 else ""
        for fact in outcome.facts:
            if fact.step == step:
                yield f"{of}{fact.source}: {fact.text}"
        if outcome.step == step:
            yield f"{of}{MARKS[outcome.kind]} {outcome.kind} here"


def print_outcome(out: Console, name: str, outcome: Outcome, *, texts: dict[int, str]) -> None:
    """Print what was seen at each step, and then the outcome. ``texts``: the sentence of each step, by its number."""
    for step, facts in groupby(outcome.facts, key=lambda fact: fact.step):
        if step:
            print_wrapped(out, texts.get(step, ""), first=f"{step:3} ", rest="    ")
        for fact in facts:
            print_wrapped(out, f"{fact.source}: {fact.text}", first="      ", rest="        ")
    for line in changed_settings(outcome):
        print_wrapped(out, f"changed: {line}", first="  ", rest="    ")
    ran_on = f"Apache Kafka {outcome.kafka}, {ran(outcome)}"
    print_wrapped(out, f"{MARKS[outcome.kind]} {name}: {outcome.headline} ({ran_on})", first="", rest="  ")
    for line in why(outcome):
        print_wrapped(out, line, first="  ", rest="    ")
