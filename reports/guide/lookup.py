"""What the guide has on a word, and which words are near to one that it does not have."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache

from reports.guide import settings, words
from reports.guide.entry import Entry

MOST_NEAR = 5
LEAST_ALIKE = 0.7
"""Words that have less in common than this (by difflib's ratio) are no slips of each other."""

LONGEST = 100
"""No word is so long; comparing longer ones takes long."""


def find(word: str) -> list[Entry]:
    """Every entry on a word, in whatever case it is written; nothing if there is none.

    Entries whose name is written exactly so come alone, where there are any.
    """
    key = word.strip().removeprefix("--").removeprefix("spring.kafka.").strip()
    if not key or len(key) > LONGEST:
        return []
    if key.lower() not in _spellings():
        found = settings.setting_by_pattern(key)
        return [found] if found is not None else []
    spellings = {key} if key in _spellings().get(key.lower(), ()) else set(_spellings().get(key.lower(), ()))
    return [entry for spelling in sorted(spellings) for entry in _entries(spelling)]


def near(word: str) -> list[str]:
    """The names that are nearest to a word: those with a part like it first, then those that are written like it."""
    key = word.strip().lower()[:LONGEST]
    if not key:
        return []
    within = sorted((one for one in _spellings() if len(key) > 3 and key in one), key=lambda one: (len(one), one))
    alike = get_close_matches(key.replace("_", "."), _spellings(), n=MOST_NEAR, cutoff=LEAST_ALIKE)
    return [_spellings()[one][0] for one in dict.fromkeys([*alike, *within])][:MOST_NEAR]


@cache
def named() -> tuple[Mapping[str, Entry], ...]:
    """The words that are no settings, by kind."""
    return (
        words.properties(),
        words.faults(),
        words.assumptions(),
        words.rules(),
        words.verdicts(),
        words.statuses(),
        words.claims(),
    )


@cache
def _spellings() -> Mapping[str, tuple[str, ...]]:
    """Every name in small letters -> how it is written."""
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
