"""Related entries: client rules, claims, properties, and sections of the semantics about a word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache

from proofka.model.deployment.required_properties import KNOWN_PROPERTIES
from proofka.properties.known_defects.defect import Treatment
from proofka.properties.known_defects.register import register
from proofka.properties.likely_settings import likely_settings
from proofka.reports.guide.entry import some, table

MOST_CLAIMS = 6
"""Number of claims that are printed in full; other claims are printed by id."""

_NAMED = re.compile(r"`([A-Za-z][\w.*-]*)[^`]*`")

_OF = {
    "Producer": ("producer", "consumer"),
    "Consumer": ("consumer",),
    "Brokers and controller": ("broker", "topic"),
    "Kafka Streams": ("producer", "consumer", "Kafka Streams"),
}
"""The components of the rules of a heading; the rules of a library are about its producer and consumer."""


def related(word: str, of: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield paragraphs about a word. ``of``: the components of a setting (``librdkafka producer``), or empty."""
    for row in table("rules"):
        if word in named_in(row) and (not of or set(of) & set(whose(row["of"]))):
            yield f"rule {row['id']}", rule_in_words(row)
    found = [row for row in table("claims") if word in row["words"].split()]
    asked = dict.fromkeys(name for row in found for name in row["properties"].split())
    bears_on = asked | dict.fromkeys(name for name in KNOWN_PROPERTIES if name in _likely(word))
    if bears_on and word not in asked:
        yield "bears on", f"{', '.join(bears_on)}, among others"
    yield from _defects(word, asked)
    yield from _claims(found)
    yield from some("semantics", _sections().get(word, ""))


def _likely(fault: str) -> frozenset[str]:
    """Return the properties whose violations by this kind of fault can depend on a setting."""
    return frozenset(name for row in likely_settings() if fault in row.faults for name in row.properties)


def rule_in_words(row: Mapping[str, str]) -> str:
    """Return a client rule as a sentence."""
    return f"{row['of']}, {row['releases']}: if {row['condition']}: {row['does']}".replace("`", "")


def claim_in_words(row: Mapping[str, str]) -> str:
    """Return a claim after its outcome, because a reader could mistake the sentence alone for a fact."""
    return f"[{row['outcome']}] {row['says']}"


def named_in(row: Mapping[str, str]) -> set[str]:
    """Return the settings that a rule names."""
    return set(_NAMED.findall(f"{row['condition']} {row['does']}"))


def whose(heading: str) -> tuple[str, ...]:
    """Return the components of the rules of a heading."""
    return _OF.get(heading, (f"{heading} producer", f"{heading} consumer"))


def _defects(fault: str, asked: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the properties besides ``asked`` that a fault can violate in releases with a modelled defect."""
    defects = [one for one in register() if one.treatment is Treatment.MODELLED and fault in one.needs]
    found = {name: [one.id for one in defects if name in one.breaks] for one in defects for name in one.breaks}
    others = [f"{name} ({', '.join(ids)})" for name, ids in found.items() if name not in asked]
    if others:
        yield "defects", f"also {', '.join(others)}, in releases with the defect (proofka defects ID explains a defect)"


def _claims(found: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    for row in found[:MOST_CLAIMS]:
        yield f"claim {row['id']}", claim_in_words(row)
    if more := found[MOST_CLAIMS:]:
        yield "claims", f"also {', '.join(row['id'] for row in more)} (proofka claims ID decides a claim)"


@cache
def _sections() -> Mapping[str, str]:
    return {row["word"]: f"docs/semantics.md: {row['sections']}" for row in table("sections")}
