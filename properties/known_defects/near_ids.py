"""Ids of defects that a misspelt id can mean."""

from __future__ import annotations

from itertools import takewhile

from proofka.properties.known_defects.register import register

MOST = 3


def near_ids(word: str) -> list[str]:
    """Return at most :data:`MOST` ids that differ from a word in one character, in two characters that changed places,
    or in a letter at the end. Other numbers name other defects, although they look alike."""
    asked = word.lower()
    ids = (defect.id for defect in register())
    return [one for one in ids if _is_near(asked, one.lower()) or one.lower()[:-2] == asked][:MOST]


def _is_near(one: str, other: str) -> bool:
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    left, right = one[same:], other[same:]
    changed_places = left[:2] == right[1::-1] and left[2:] == right[2:]
    return left[1:] == right or left == right[1:] or left[1:] == right[1:] or changed_places
