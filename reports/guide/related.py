"""What else speaks of a word: client rules, claims, properties that claims ask, and sections of the semantics."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache

from reports.guide.entry import some, table

MOST_CLAIMS = 6
"""How many claims are told in full; of others the ids are."""

_NAMED = re.compile(r"`([A-Za-z][\w.*-]*)[^`]*`")

_OF = {
    "Producer": ("producer", "consumer"),
    "Consumer": ("consumer",),
    "Brokers and controller": ("broker", "topic"),
    "Kafka Streams": ("producer", "consumer", "Kafka Streams"),
}
"""Whose settings the rules of a heading speak of; of a library's, those of its producer and consumer."""


def related(word: str, of: Collection[str]) -> Iterator[tuple[str, str]]:
    """Paragraphs on a word; ``of``: whose it is, where it is a setting (``librdkafka producer``)."""
    for row in table("rules"):
        if word in named_in(row) and (not of or set(of) & set(whose(row["of"]))):
            yield f"rule {row['id']}", rule_in_words(row)
    yield from _claims(word)
    yield from some("semantics", _sections().get(word, ""))


def rule_in_words(row: Mapping[str, str]) -> str:
    """A client rule as a sentence."""
    return f"{row['of']}, {row['releases']}: if {row['condition']}: {row['does']}".replace("`", "")


def claim_in_words(row: Mapping[str, str]) -> str:
    """What is claimed, after what became of it: the sentence alone would pass for true."""
    return f"[{row['outcome']}] {row['says']}"


def named_in(row: Mapping[str, str]) -> set[str]:
    """The settings that a rule names."""
    return set(_NAMED.findall(f"{row['condition']} {row['does']}"))


def whose(heading: str) -> tuple[str, ...]:
    """The components that the rules of a heading speak of."""
    return _OF.get(heading, (f"{heading} producer", f"{heading} consumer"))


def _claims(word: str) -> Iterator[tuple[str, str]]:
    found = [row for row in table("claims") if word in row["words"].split()]
    if not found:
        return
    asked = dict.fromkeys(name for row in found for name in row["properties"].split())
    if asked and word not in asked:
        yield "bears on", f"{', '.join(asked)}, among others (claims about it ask for these)"
    for row in found[:MOST_CLAIMS]:
        yield f"claim {row['id']}", claim_in_words(row)
    if more := found[MOST_CLAIMS:]:
        yield "claims", f"also {', '.join(row['id'] for row in more)} (proofka claims ID decides one)"


@cache
def _sections() -> Mapping[str, str]:
    return {row["word"]: f"docs/semantics.md: {row['sections']}" for row in table("sections")}
