"""Rows of an exploration whose layout has gaps, as rows of a certificate."""

from __future__ import annotations

import random

import numpy as np
import pytest

from proofka.checker.certificates.rows import Closing
from proofka.checker.certificates.writing import field_lines
from proofka.checker.kernel.layout import WORD_BITS, Field
from proofka.model.language import Variable


def random_fields(dice: random.Random) -> list[Field]:
    """Return fields of several words, with gaps before some of them."""
    fields: list[Field] = []
    word, shift = 0, 0
    for number in range(dice.randrange(1, 60)):
        width = dice.randrange(1, 9)
        shift += dice.choice([0, 0, dice.randrange(20)])
        if shift + width > WORD_BITS:
            word, shift = word + dice.choice([1, 1, 2]), dice.randrange(3)
        fields.append(Field(Variable(f"v{number}", 0, 2**width - 1, 0), word, shift, width))
        shift += width
    return fields


def places_by_the_page(lines: list[str], widths: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Return the word and the first bit of each field, as docs/certificates.md says."""
    places: dict[str, tuple[int, int]] = {}
    word, free = 0, 0
    for line in lines:
        if line == "(word)":
            word, free = word + 1, 0
        else:
            name = line.removeprefix("(field ").removesuffix(")")
            places[name] = word, free
            free += widths[name]
    return places


@pytest.mark.parametrize("seed", range(40))
def test_rows_without_gaps_have_the_values_at_the_places_of_the_page(seed: int) -> None:
    dice = random.Random(seed)
    fields = random_fields(dice)
    words = fields[-1].word + dice.choice([1, 3])
    rows = np.array([[dice.getrandbits(64) for _ in range(words)] for _ in range(9)], dtype=np.uint64)
    closed = Closing(fields).closed(rows)
    widths = {field.variable.name: field.width for field in fields}
    places = places_by_the_page(list(field_lines(fields)), widths)
    for row, packed in zip(rows, closed, strict=True):
        rest = [int(word) for word in packed]
        for field in fields:
            word, bit = places[field.variable.name]
            value = int(row[field.word]) >> field.shift & (1 << field.width) - 1
            assert rest[word] >> bit & (1 << field.width) - 1 == value
            rest[word] &= ~(((1 << field.width) - 1) << bit)
        assert not any(rest)


def test_fields_without_gaps_stay() -> None:
    fields = [Field(Variable("a", 0, 3, 0), 0, 0, 2), Field(Variable("b", 0, 1, 0), 0, 2, 1)]
    assert not Closing(fields).moves
    assert Closing([Field(fields[1].variable, 0, 3, 1)]).moves
