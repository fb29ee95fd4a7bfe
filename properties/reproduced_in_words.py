"""The outcome of a trace's replay in words, line by line.

This file needs the standard library alone, because a script that replays a trace without Proofka has a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from proofka.properties.reproduced import DIVERGED, NOT_FAILED, NOT_STEERABLE, REPRODUCED, ChangedSetting, Outcome

MARKS = {REPRODUCED: "✓", DIVERGED: "✗", NOT_FAILED: "✗", NOT_STEERABLE: "?"}
"""The mark before an outcome, by its kind."""


EPOCHS = "note: the sentences of the trace count leader epochs from 1, and Kafka counts them from 0"
"""The sentence below observations that name leader epochs."""


@dataclass(frozen=True)
class Line:
    """A line of text. ``first``: what stands before the line; ``rest``: before its parts, where the line is broken."""

    text: str
    first: str
    rest: str


def heading(properties: Sequence[str], faults: Mapping[str, int], steps: int) -> str:
    """Return what a replayed trace violates, with its faults and the number of its steps, in one line."""
    kinds = ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in faults.items())
    violated = f"{', '.join(properties)} violated by {{{kinds}}}, " if properties else ""
    return f"the trace: {violated}{steps} step{'' if steps == 1 else 's'}"


def in_words(
    name: str, outcome: Outcome, texts: Mapping[int, str], *, told: Sequence[ChangedSetting] = ()
) -> Iterator[Line]:
    """Yield the observations of each step, the changed settings, and the outcome of a trace of a deployment ``name``.

    ``texts``: the sentence of each step, by its number. ``told``: the changed settings of the trace before.
    """
    for step, facts in groupby(outcome.facts, key=lambda fact: fact.step):
        if step:
            yield Line(texts.get(step, ""), f"{step:3} ", "    ")
        for fact in facts:
            yield Line(f"{fact.source}: {fact.text}", "      ", "        ")
    if any("epoch" in fact.text for fact in outcome.facts):
        yield Line(EPOCHS, "  ", "    ")
    for changed in outcome.changed:
        if changed not in told:
            yield Line(f"changed: {changed_in_words(changed)}", "  ", "    ")
    if again := [f"{one.scope} {one.key}" for one in outcome.changed if one in told]:
        yield Line(f"changed as in the trace before: {', '.join(again)}", "  ", "    ")
    ran_on = f"Apache Kafka {outcome.kafka}, {ran(outcome)}"
    yield Line(f"{MARKS[outcome.kind]} {name}: {outcome.headline} ({ran_on})", "", "  ")
    for line in why(outcome):
        yield Line(line, "  ", "    ")


def changed_in_words(changed: ChangedSetting) -> str:
    """Return a changed setting in one line, with its reason."""
    before = f" instead of {changed.given}" if changed.given is not None else ""
    return f"{changed.scope} {changed.key}={changed.used}{before} ({changed.reason})"


def ran(outcome: Outcome) -> str:
    """Return the clients that ran, and the duration."""
    return f"{', '.join(outcome.clients) or 'no client'}, {outcome.seconds:g} s"


def why(outcome: Outcome) -> tuple[str, ...]:
    """Return the evidence of a reproduced trace, or what ended the replay of another one, a sentence each."""
    if outcome.kind == REPRODUCED:
        return outcome.evidence
    if outcome.kind == NOT_STEERABLE:
        return (f"reason: {outcome.reason}",)
    return (f"the model: {outcome.model}", f"observed: {outcome.observed}")
