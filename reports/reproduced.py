"""The outcome of a trace's replay on a real cluster, in words for every report, and on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console

from proofka.properties.reproduced import DIVERGED, NOT_FAILED, NOT_STEERABLE, REPRODUCED, ChangedSetting, Outcome
from proofka.properties.reproduced_in_words import MARKS, changed_in_words, in_words, ran, why
from proofka.reports.lines import print_wrapped

STYLE = {REPRODUCED: "bold", DIVERGED: "bold yellow", NOT_FAILED: "bold yellow", NOT_STEERABLE: "bold yellow"}
"""The style of an outcome on a terminal, by its kind."""


def brief(outcome: Outcome) -> str:
    """Return an outcome with its mark, in a few words: ``✗ diverged at step 3``."""
    where = f" at step {outcome.step}" if outcome.step is not None else ""
    return f"{MARKS[outcome.kind]} {outcome.kind}{where}"


def said(outcome: Outcome) -> str:
    """Return an outcome with its mark, release and date: ``✓ reproduced on Apache Kafka 4.1.1, 2026-11-27``."""
    return f"{brief(outcome)} on Apache Kafka {outcome.kafka}, {outcome.on}"


def changed_settings(outcome: Outcome) -> list[str]:
    """Return the settings that the replay changed, with the reason of each."""
    return [changed_in_words(one) for one in outcome.changed]


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


def print_outcome(
    out: Console, name: str, outcome: Outcome, *, texts: Mapping[int, str], told: Sequence[ChangedSetting] = ()
) -> None:
    """Print what was seen at each step, and then the outcome.

    ``texts``: the sentence of each step, by its number. ``told``: the changed settings of the trace before.
    """
    for line in in_words(name, outcome, texts, told=told):
        print_wrapped(out, line.text, first=line.first, rest=line.rest)
