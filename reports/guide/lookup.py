"""The entries of the guide on a word, and the words that are close to an unknown word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache

from proofka.reports.guide import other_names, settings, words
from proofka.reports.guide.entry import Entry

MOST_NEAR = 5
LEAST_ALIKE = 0.7
"""Smallest similarity (difflib's ratio) of a misspelt word and its suggestion."""

_NUMBERED_MARK = re.compile(r"^!\d+$")
"""The mark of a pass with its number of known defects, as in ``holds !3``."""

LONGEST = 100
"""Largest length of a word in characters: comparing longer words takes too long."""


def find(word: str) -> list[Entry]:
    """Return every entry on a word in any case, or an empty list. A plural in ``s`` finds the singular.

    If entries have the same spelling in the same case, only these are returned.
    """
    key = word.strip().removeprefix("--").strip()
    own_name, key = key, _NUMBERED_MARK.sub("!", key.removeprefix("spring.kafka."))
    if not key or len(key) > LONGEST:
        return []
    if key.lower() not in _spellings() and key.lower().removesuffix("s") in _spellings():
        key = key[:-1]
    if key.lower() not in _spellings():
        # A pattern of Kafka's names (listener.*) says nothing about a name of Spring.
        found = settings.setting_by_pattern(own_name)
        return [found] if found is not None else []
    spellings = {key} if key in _spellings().get(key.lower(), ()) else set(_spellings().get(key.lower(), ()))
    return [entry for spelling in sorted(spellings) for entry in _entries(spelling)]


def near(word: str) -> list[str]:
    """Return the names that are closest to a word: similar spellings first, then names that contain the word."""
    key = word.strip().lower()[:LONGEST]
    if not key:
        return []
    within = sorted((one for one in _spellings() if len(key) > 3 and key in one), key=lambda one: (len(one), one))
    alike = get_close_matches(key.replace("_", "."), _spellings(), n=MOST_NEAR, cutoff=LEAST_ALIKE)
    return [_spellings()[one][0] for one in dict.fromkeys([*alike, *within])][:MOST_NEAR]


@cache
def named() -> tuple[Mapping[str, Entry], ...]:
    """Return the entries that are not settings, by kind."""
    return (
        words.properties(),
        words.faults(),
        words.assumptions(),
        words.values(),
        words.bounds(),
        words.rules(),
        words.refusals(),
        words.verdicts(),
        words.statuses(),
        words.claims(),
        other_names.anomalies(),
        words.terms(),
        words.reductions(),
        words.marks(),
    )


@cache
def _spellings() -> Mapping[str, tuple[str, ...]]:
    """Map every name in lower case to its spellings."""
    every = [name for kind in named() for name in kind]
    every += [*settings.owners(), *settings.names_elsewhere()]
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(every):
        found.setdefault(name.lower(), []).append(name)
    return {lower: tuple(names) for lower, names in found.items()}


def _entries(name: str) -> list[Entry]:
    found = [kind[name] for kind in named() if name in kind]
    if name in settings.owners():
        found.append(settings.setting(name))
    if name in settings.names_elsewhere() and (
        name not in settings.owners() or any(of != name for _, of, _ in settings.names_elsewhere()[name])
    ):
        found.append(settings.name_elsewhere(name))
    return found
